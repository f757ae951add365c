"""Swarm testing: the features that a program may use, and its steps with their weights.

All plain ops share one weight, whatever their number, so that arithmetic does not drown autograd. The steps
themselves are drawn in ``steps``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any

from conformance.generate.state.choices import weighted
from conformance.generate.state.features import (
    ALL,
    CAPABILITY,
    COMPLEX,
    DERIVATIVES,
    DEVICES,
    DOUBLE,
    DTYPES,
    GRAD_CALL,
    GROUPS,
    HOOKS,
    INPLACE,
    LAYER_FUNCTIONS,
    VIEWS,
)
from conformance.generate.state.registry import ENTRIES, Draw
from conformance.generate.steps import (
    anomaly,
    as_strided,
    autograd_grad,
    backward,
    call_op,
    complex_ops,
    custom_functions,
    derivatives,
    devices,
    grad_attribute,
    half_precision,
    histories,
    hooks,
    inference,
    inplace,
    interop,
    invalid_calls,
    layer_derivatives,
    layer_functions,
    leaves,
    modules,
    requires_grad,
    reruns,
    training,
    training_loops,
    view_writes,
)

MODULES = (
    leaves, call_op, backward, grad_attribute, inplace, requires_grad, autograd_grad, hooks, custom_functions,
    training, interop, as_strided, devices, modules, training_loops, layer_functions, reruns, anomaly,
    view_writes, complex_ops, derivatives, layer_derivatives,
    half_precision, inference, histories,
)  # fmt: skip
"""The modules of steps. Their order is part of what a seed means."""

STEPS = tuple(
    sorted((entry for m in MODULES for entry in ENTRIES[m.__name__]), key=lambda entry: entry.feature)
)
"""Kinds of step, first those that are always drawn, then by feature."""

TOSSED = DEVICES - 1
"""The features that are drawn one by one, each with a chance of five in eight: all but DEVICES."""
_IN_A_GROUP = 400
"""So many of 2048 programs are of a group."""
_COMPLEX = 160
"""So many more compute with complex numbers besides."""
_DERIVATIVES = 100
"""And so many more differentiate each op in each dtype as often as any other."""
_EAGER = (0, 0, VIEWS, VIEWS | INPLACE)
"""Features that are switched on in addition, so that views and writes are likelier than not."""
INVALID_SHARE, ANY_OP_SHARE = 1, 2
"""For so many usual steps an unchecked turn has one invalid call, and one of any op."""


def allowed(capabilities: Collection[str]) -> int:
    """The features that an implementation's capabilities leave."""
    return sum(one for one in ALL if one not in CAPABILITY or CAPABILITY[one] in capabilities)


def draw_features(choices: Any, mask: int) -> int:
    """Draw the features of one program, out of those in the mask.

    Without devices nothing is drawn about them, so that seeds draw the same programs as without the feature.
    The highest bits say whether the program is of one of the GROUPS, and of which. Every other one with
    layers has nothing that some of these leave out, nor has one in eight of those that differentiate each op.
    """
    k, more, yet_more = (next(choices.words) << 16 | next(choices.words) for _ in range(3))
    drawn = (k | more & yet_more) & TOSSED | _EAGER[k >> TOSSED.bit_length() & 3]
    k >>= TOSSED.bit_length() + 2
    if k < _IN_A_GROUP:
        drawn |= GROUPS[k * len(GROUPS) // _IN_A_GROUP]
        if drawn & LAYER_FUNCTIONS and k & 1:
            drawn &= ~(DOUBLE | GRAD_CALL | HOOKS)
    elif k < _IN_A_GROUP + _COMPLEX:
        drawn |= COMPLEX | DTYPES
    elif k < _IN_A_GROUP + _COMPLEX + _DERIVATIVES:
        drawn |= DERIVATIVES | DTYPES | DOUBLE | GRAD_CALL
        if not k & 7:
            drawn &= ~(DOUBLE | GRAD_CALL | HOOKS)
    if mask & DEVICES and not choices.below(3):
        drawn |= DEVICES
    return drawn & mask


@lru_cache(maxsize=512)
def actions(features: int, supports: Callable[[str], bool], empty: frozenset[str]) -> tuple[Draw, ...]:
    """The steps of a program with these features, each as often as it is to be drawn.

    ``empty`` are the vocabulary's lists without recipes.
    """
    weights: dict[Draw, int] = {}
    for draw, feature, weight, emits, recipes in STEPS:
        on = not feature or features & feature
        if on and recipes not in empty and all(map(supports, emits)):
            weights[draw] = weights.get(draw, 0) + weight
    return weighted(weights)


@lru_cache(maxsize=512)
def openers(features: int) -> tuple[Draw, ...]:
    """The first kind of step of each feature of a group: programs of the group begin with it."""
    mine = [entry for entry in STEPS if entry.feature & features > DEVICES]
    return tuple({entry.feature: entry.draw for entry in reversed(mine)}.values())


@lru_cache(maxsize=512)
def unchecked_actions(
    features: int, supports: Callable[[str], bool], empty: frozenset[str]
) -> tuple[Draw, ...]:
    """The steps of turns without regard to validity: the usual ones, invalid calls, and any op."""
    usual = actions(features, supports, empty)
    invalid = (invalid_calls.invalid_call,) * (len(usual) // INVALID_SHARE)
    return usual + invalid + (call_op.any_op,) * (len(usual) // ANY_OP_SHARE)
