"""Swarm: the groups of features a program may use, and how often each kind of step is drawn when they are on.

Plain maths shares one budget, whatever the number of ops, so that arithmetic does not drown the semantics.
What the steps look like is their families' business.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any

from conformance.generate.state.choices import weighted
from conformance.generate.state.features import (
    AS_STRIDED,
    DATA,
    DELETE,
    DETACH,
    DEVICES,
    DOUBLE,
    DTYPES,
    FUNCTIONS,
    GRAD_CALL,
    GRADS,
    HOOKS,
    INPLACE,
    INTEROP,
    MODES,
    OPERATORS,
    REQUIRES_GRAD,
    RETAIN,
    ROOTS,
    TRAINING,
    VIEWS,
)
from conformance.generate.steps import (
    as_strided,
    autograd_grad,
    backward,
    call_op,
    custom_functions,
    devices,
    grad_attribute,
    hooks,
    inplace,
    interop,
    invalid_calls,
    leaves,
    requires_grad,
    training,
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
    AS_STRIDED: "views",
    DEVICES: "devices",
}
"""Groups that an implementation must name among its features; the others go by its operations alone."""

ALWAYS: dict[Action, int] = {
    leaves.leaf: 9,
    call_op.functional_op: 20,
    backward.backward: 11,
    grad_attribute.read: 3,
}

WITH: dict[int, dict[Action, int]] = {
    VIEWS: {call_op.view: 18},
    INPLACE: {inplace.write: 11, inplace.assign_operator: 3, inplace.fill: 5, inplace.scatter: 1},
    MODES: {requires_grad.switch_off: 1},
    DETACH: {requires_grad.detach: 5, requires_grad.detach_in_place: 3},
    DATA: {requires_grad.data: 4, requires_grad.set_data: 3},
    REQUIRES_GRAD: {requires_grad.set_flag: 7},
    RETAIN: {requires_grad.retain: 6},
    GRADS: {grad_attribute.assign: 6, grad_attribute.read: 3},
    GRAD_CALL: {autograd_grad.grad: 8, autograd_grad.by_gradient_edge: 2},
    DOUBLE: {},
    ROOTS: {},
    DTYPES: {call_op.cast: 4, grad_attribute.own_dtype: 3},
    OPERATORS: {call_op.operator: 10},
    DELETE: {requires_grad.delete: 3},
    HOOKS: {hooks.on_tensor: 8, hooks.on_leaf: 3, hooks.on_node: 4, hooks.on_several: 2},
    FUNCTIONS: {custom_functions.call: 10},
    TRAINING: {training.parameter: 3, training.optimizer: 4, training.loss: 3, training.linear: 2},
    INTEROP: {interop.array: 3, interop.copied: 3, interop.increment_version: 1},
    AS_STRIDED: {
        as_strided.strided: 6,
        as_strided.pairs: 5,
        as_strided.turned: 2,
        as_strided.resized: 1,
        as_strided.moved: 1,
    },
    DEVICES: {
        devices.move: 14,
        devices.switch_device: 4,
        devices.bring: 3,
        devices.meet: 3,
        devices.misplaced: 2,
    },
}
"""Kinds of step, with weights, by the group that switches them on."""

EMITS: dict[Action, tuple[str, ...]] = {
    grad_attribute.read: (".grad",),
    grad_attribute.assign: (".grad=",),
    grad_attribute.own_dtype: (".grad_dtype=",),
    requires_grad.detach: ("detach",),
    requires_grad.detach_in_place: ("detach_",),
    requires_grad.data: (".data",),
    requires_grad.set_data: (".data=",),
    requires_grad.set_flag: (".requires_grad=", "requires_grad_"),
    requires_grad.retain: ("retain_grad",),
    requires_grad.delete: ("del",),
    requires_grad.switch_off: ("torch.set_grad_enabled",),
    inplace.scatter: ("__setitem__",),
    hooks.on_tensor: ("register_hook",),
    hooks.on_leaf: ("register_post_accumulate_grad_hook",),
    hooks.on_node: (".grad_fn", "register_prehook"),
    hooks.on_several: ("torch.autograd.graph.register_multi_grad_hook",),
    custom_functions.call: ("Double.apply",),
    autograd_grad.grad: ("torch.autograd.grad",),
    call_op.cast: ("double", "float", "to"),
    training.parameter: ("torch.nn.Parameter",),
    training.optimizer: ("torch.optim.SGD", "step", "zero_grad"),
    training.loss: ("torch.nn.functional.mse_loss", "torch.nn.functional.l1_loss"),
    training.linear: ("torch.nn.functional.linear",),
    interop.array: ("numpy", "torch.from_numpy"),
    interop.copied: ("torch.tensor", "torch.as_tensor"),
    interop.increment_version: ("torch.autograd.graph.increment_version",),
    autograd_grad.by_gradient_edge: ("torch.autograd.graph.get_gradient_edge",),
    as_strided.strided: ("as_strided",),
    as_strided.pairs: (".real", ".imag", "torch.view_as_real", "torch.view_as_complex"),
    as_strided.turned: ("transpose_", "t_", "unsqueeze_", "squeeze_", "swapdims_"),
    as_strided.resized: ("resize_",),
    as_strided.moved: ("set_",),
    devices.move: ("cuda", "cpu", "to"),
    devices.bring: ("copy_",),
}
"""The operations an implementation must have for a kind of step, where the op table does not say."""

BITS = 19
INVALID_SHARE, ANY_OP_SHARE = 4, 4
"""For so many usual steps, when drawing wildly, one of these."""
_EAGER = VIEWS | INPLACE


def allowed(features: Collection[str]) -> int:
    """The groups an implementation's features leave standing."""
    groups = (1 << n for n in range(BITS + 1))  # the last is DEVICES
    return sum(group for group in groups if FEATURES.get(group) is None or FEATURES[group] in features)


def draw_features(choices: Any, mask: int) -> int:
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
def actions(mask: int, supports: Callable[[str], bool], empty: frozenset[Action]) -> tuple[Action, ...]:
    """The kinds of step of a program with these groups, as often as they are to be drawn."""
    weights = dict(ALWAYS)
    for group, extra in WITH.items():
        if mask & group:
            for action, weight in extra.items():
                weights[action] = weights.get(action, 0) + weight
    drawn = {
        action: weight
        for action, weight in weights.items()
        if action not in empty and all(supports(op) for op in EMITS.get(action, ()))
    }
    return weighted(drawn)


@lru_cache(maxsize=4096)
def unchecked_actions(
    mask: int, supports: Callable[[str], bool], empty: frozenset[Action]
) -> tuple[Action, ...]:
    """The kinds of step where validity does not matter: some are calls gone astray, some are of any op."""
    usual = actions(mask, supports, empty)
    wrong = (invalid_calls.invalid_call,) * (len(usual) // INVALID_SHARE)
    return usual + wrong + (call_op.any_op,) * (len(usual) // ANY_OP_SHARE)
