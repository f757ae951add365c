"""The groups of features that a program's swarm switches on or off, one bit each."""

from __future__ import annotations

(
    VIEWS,
    INPLACE,
    MODES,
    DETACH,
    DATA,
    DOUBLE,
    FLAGS,
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
    WAYS_OUT,
    WINDOWS,
    DEVICES,
) = (1 << n for n in range(20))
