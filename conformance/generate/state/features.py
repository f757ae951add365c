"""The groups of features that a program's swarm switches on or off, one bit each."""

from __future__ import annotations

(
    VIEWS,
    INPLACE,
    MODES,
    DETACH,
    DATA,
    DOUBLE,
    REQUIRES_GRAD,
    RETAIN,
    ROOTS,
    GRADS,
    GRAD_CALL,
    DTYPES,
    OPERATORS,
    DELETE,
    HOOKS,
    FUNCTIONS,
    TRAINING,
    INTEROP,
    AS_STRIDED,
    DEVICES,
) = (1 << n for n in range(20))
