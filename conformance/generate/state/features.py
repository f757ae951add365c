"""Features that a program may use, one bit each; each program draws a set of them (swarm testing).

The steps that a feature switches on name it in their `step` decorator. Seeds depend on the bits: add new
features at the end, and to GROUPS: DEVICES and what comes after it are drawn apart.
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
    NN_MODULES,
    LOOPS,
    LAYER_FUNCTIONS,
    CHECKPOINTS,
    FUNCTIONAL,
    ANOMALY,
    COMPLEX,
    DERIVATIVES,
) = ALL = tuple(1 << n for n in range(28))

GROUPS = (
    *(NN_MODULES,) * 4, *(NN_MODULES | LOOPS,) * 3, *(LOOPS,) * 3, *(LAYER_FUNCTIONS,) * 2,
    LAYER_FUNCTIONS | LOOPS, *(CHECKPOINTS,) * 2, NN_MODULES | CHECKPOINTS, *(FUNCTIONAL,) * 2,
    ANOMALY,
)  # fmt: skip
"""Features of what people write around autograd. A program in five or six draws one of these groups, so that
the others stay as they are; the features are never tossed one by one. COMPLEX and DERIVATIVES are of no
group: they come to programs that are like all others.
"""

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
    NN_MODULES: "modules",
    CHECKPOINTS: "checkpoint",
    FUNCTIONAL: "functional",
    ANOMALY: "anomaly",
    DEVICES: "devices",
}
"""Capabilities that an implementation must declare for a feature; the other features depend on its operations
alone.
"""
