"""Swarm: the groups of features a program may use, and how often each kind of step is drawn when they are on.

Plain maths shares one budget, whatever the number of ops, so that arithmetic does not drown the semantics.
What the steps look like is their families' business.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any

from conformance.generate import (
    astray,
    backward,
    devices,
    flags,
    functions,
    grad_call,
    grads,
    hooks,
    leaves,
    maths,
    training,
    ways_out,
    windows,
    writes,
)
from conformance.generate.choices import weighted
from conformance.generate.groups import (
    DATA,
    DELETE,
    DETACH,
    DEVICES,
    DOUBLE,
    DTYPES,
    FLAGS,
    FUNCTIONS,
    GRAD_CALL,
    GRADS,
    HOOKS,
    INPLACE,
    MODES,
    OPERATORS,
    RETAIN,
    ROOTS,
    TRAINING,
    VIEWS,
    WAYS_OUT,
    WINDOWS,
)

Action = Callable[[Any, Any], bool]

FEATURES = {
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
    WINDOWS: "views",
    DEVICES: "devices",
}
"""Groups that an implementation must name among its features; the others go by its operations alone."""

ALWAYS: dict[Action, int] = {leaves.leaf: 9, maths.maths: 20, backward.backward: 11, grads.read: 3}

WITH: dict[int, dict[Action, int]] = {
    VIEWS: {maths.view: 18},
    INPLACE: {writes.write: 11, writes.assign_operator: 3, writes.fill: 5, writes.scatter: 1},
    MODES: {flags.switch_off: 1},
    DETACH: {flags.detach: 5, flags.detach_in_place: 3},
    DATA: {flags.data: 4, flags.set_data: 3},
    FLAGS: {flags.set_flag: 7},
    RETAIN: {flags.retain: 6},
    GRADS: {grads.assign: 6, grads.read: 3},
    GRAD_CALL: {grad_call.grad_call: 8, grad_call.by_edge: 2},
    DOUBLE: {},
    ROOTS: {},
    DTYPES: {maths.cast: 4, grads.own_dtype: 3},
    OPERATORS: {maths.operator: 10},
    DELETE: {flags.delete: 3},
    HOOKS: {hooks.on_tensor: 8, hooks.on_leaf: 3, hooks.on_node: 4, hooks.on_several: 2},
    FUNCTIONS: {functions.call: 10},
    TRAINING: {training.parameter: 3, training.optimizer: 4, training.loss: 3, training.linear: 2},
    WAYS_OUT: {ways_out.array: 3, ways_out.copied: 3, ways_out.counted: 1},
    WINDOWS: {windows.strided: 6, windows.pairs: 5, windows.turned: 2, windows.resized: 1, windows.moved: 1},
    DEVICES: {devices.move: 14, devices.go: 4, devices.bring: 3, devices.meet: 3, devices.misplaced: 2},
}
"""Kinds of step, with weights, by the group that switches them on."""

EMITS: dict[Action, tuple[str, ...]] = {
    grads.read: (".grad",),
    grads.assign: (".grad=",),
    grads.own_dtype: (".grad_dtype=",),
    flags.detach: ("detach",),
    flags.detach_in_place: ("detach_",),
    flags.data: (".data",),
    flags.set_data: (".data=",),
    flags.set_flag: (".requires_grad=", "requires_grad_"),
    flags.retain: ("retain_grad",),
    flags.delete: ("del",),
    flags.switch_off: ("torch.set_grad_enabled",),
    writes.scatter: ("__setitem__",),
    hooks.on_tensor: ("register_hook",),
    hooks.on_leaf: ("register_post_accumulate_grad_hook",),
    hooks.on_node: (".grad_fn", "register_prehook"),
    hooks.on_several: ("torch.autograd.graph.register_multi_grad_hook",),
    functions.call: ("Double.apply",),
    grad_call.grad_call: ("torch.autograd.grad",),
    maths.cast: ("double", "float", "to"),
    training.parameter: ("torch.nn.Parameter",),
    training.optimizer: ("torch.optim.SGD", "step", "zero_grad"),
    training.loss: ("torch.nn.functional.mse_loss", "torch.nn.functional.l1_loss"),
    training.linear: ("torch.nn.functional.linear",),
    ways_out.array: ("numpy", "torch.from_numpy"),
    ways_out.copied: ("torch.tensor", "torch.as_tensor"),
    ways_out.counted: ("torch.autograd.graph.increment_version",),
    grad_call.by_edge: ("torch.autograd.graph.get_gradient_edge",),
    windows.strided: ("as_strided",),
    windows.pairs: (".real", ".imag", "torch.view_as_real", "torch.view_as_complex"),
    windows.turned: ("transpose_", "t_", "unsqueeze_", "squeeze_", "swapdims_"),
    windows.resized: ("resize_",),
    windows.moved: ("set_",),
    devices.move: ("cuda", "cpu", "to"),
    devices.bring: ("copy_",),
}
"""The operations an implementation must have for a kind of step, where the op table does not say."""

BITS = 19
ASTRAY, ODD = 4, 4
"""For so many usual steps, when drawing wildly, one of these."""
_EAGER = VIEWS | INPLACE


def allowed(features: Collection[str]) -> int:
    """The groups an implementation's features leave standing."""
    groups = (1 << n for n in range(BITS + 1))  # the last is DEVICES
    return sum(group for group in groups if FEATURES.get(group) is None or FEATURES[group] in features)


def groups(choices: Any, mask: int) -> int:
    """The groups of one program: each with even chances, views and writes likelier than not, devices less.

    NB: where there are no devices nothing is drawn about them, so that a seed goes on meaning what it did.
    """
    k = choices.word() << 16 | choices.word()  # a word has 16 bits, fewer than are needed
    eager = (0, 0, VIEWS, _EAGER)[k >> BITS & 3]
    drawn = k & ((1 << BITS) - 1) | eager
    if mask & DEVICES and not choices.below(3):
        drawn |= DEVICES
    return drawn & mask


@lru_cache(maxsize=4096)
def actions(mask: int, may: Callable[[str], bool], empty: frozenset[Action]) -> tuple[Action, ...]:
    """The kinds of step of a program with these groups, as often as they are to be drawn."""
    weights = dict(ALWAYS)
    for group, extra in WITH.items():
        if mask & group:
            for action, weight in extra.items():
                weights[action] = weights.get(action, 0) + weight
    drawn = {
        action: weight
        for action, weight in weights.items()
        if action not in empty and all(may(op) for op in EMITS.get(action, ()))
    }
    return weighted(drawn)


@lru_cache(maxsize=4096)
def wild(mask: int, may: Callable[[str], bool], empty: frozenset[Action]) -> tuple[Action, ...]:
    """The kinds of step where validity does not matter: some are calls gone astray, some are of any op."""
    usual = actions(mask, may, empty)
    return usual + (astray.astray,) * (len(usual) // ASTRAY) + (maths.odd,) * (len(usual) // ODD)
