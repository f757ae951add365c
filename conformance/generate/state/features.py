"""Features that a program may use, one bit each; each program draws a set of them (swarm testing).

The steps that a feature switches on name it in their `step` decorator. Seeds depend on the bits: add new
features at the end, before DEVICES, which is drawn apart.
"""

from __future__ import annotations

ALWAYS = 0
"""Stands for no feature: steps that every program may use."""

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
) = ALL = tuple(1 << n for n in range(20))

CAPABILITY = {
    VIEWS: "views",
    INPLACE: "inplace",
    MODES: "modes",
    DETACH: "detach",
    DATA: "data",
    RETAIN: "retain",
    DOUBLE: "double",
    GRAD_CALL: "grad_call",
    HOOKS: "hooks",
    FUNCTIONS: "functions",
    AS_STRIDED: "views",
    DEVICES: "devices",
}
"""Capabilities that an implementation must declare for a feature; the other features depend on its operations
alone.
"""
