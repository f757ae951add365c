"""Invalid calls: arguments of the wrong kind, too few, too many, or none.

Any kind of step may be drawn unchecked; listed here are the mistakes that no table of arguments contains.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.state.choices import weighted
from conformance.generate.state.features import DATA, GRAD_CALL, GRADS, INPLACE, INTEROP, MODES, REQUIRES_GRAD
from conformance.generate.state.gen_state import GenState, Kwargs
from conformance.generate.state.tensor_info import TensorInfo
from conformance.generate.steps import leaves
from conformance.generate.steps.backward import root

InvalidCall = tuple[str, tuple[Any, ...], Kwargs, int]
"""An operation, its arguments (`X`, `Y` and the keys of `MADE` stand for tensors), keywords, and number of
results.
"""


class _Placeholder:
    """Stands for a tensor to be picked or made."""


X, Y, C, N, B, D, H, S, V, E, M, W, P = (_Placeholder() for _ in range(13))
MADE: dict[_Placeholder, tuple[str, str, tuple[leaves.Shape, ...]]] = {
    C: ("complex", "complex128", ()),
    N: ("indices", "int64", ()),
    B: ("bool", "bool", ()),
    D: ("any", "float64", ()),
    H: ("any", "bfloat16", ()),
    S: ("any", "float32", ((),)),
    V: ("any", "float32", ((2, 1, 2), (1, 2, 3))),
    E: ("any", "float32", ((0,), (2, 0), (0, 2))),
    M: ("bool", "bool", ((2, 2), (1, 2), (0, 2))),
    W: ("any", "float32", ((2,),)),
    P: ("indices", "int64", ((2,), (3,))),
}
"""Placeholders for tensors made for the call: their values, dtype, and shapes (if none, that of X)."""

CALLS: tuple[InvalidCall, ...] = (
    ("backward", (X, 1.0), (), 0),
    ("backward", (X, C), (), 0),
    ("backward", (X, C), (), 0),
    ("backward", (X, None), (("inputs", 1.0),), 0),
    ("backward", (X,), (("inputs", [1.0]),), 0),
    ("backward", (X,), (("inputs", []),), 0),
    ("torch.autograd.backward", ([1.0],), (), 0),
    ("torch.autograd.backward", (1.0,), (), 0),
    ("torch.autograd.backward", (X, [1.0]), (), 0),
    ("torch.autograd.backward", ([X, Y], [None]), (), 0),
    ("torch.autograd.backward", (X,), (("grad_variables", [Y]),), 0),
    ("torch.autograd.backward", (X, [Y]), (("grad_variables", [Y]),), 0),
    ("torch.autograd.grad", (X, []), (), 1),
    ("torch.autograd.grad", (X, [1.0]), (), 1),
    ("torch.autograd.grad", (1.0, X), (), 1),
    ("torch.autograd.grad", ([X, Y], X, [Y]), (), 1),
    ("torch.autograd.grad", (X, Y), (("materialize_grads", True), ("allow_unused", False)), 1),
    ("torch.autograd.grad", (X, Y), (("only_inputs", False), ("allow_unused", True)), 1),
    ("requires_grad_", (X, 1), (), 0),
    (".requires_grad=", (X, 1), (), 0),
    ("torch.tensor", ([1.0, 2.0],), (("requires_grad", 1),), 1),
    (".grad=", (X, 1.0), (), 0),
    (".data=", (X, 1.0), (), 0),
    ("__setitem__", (X, 0, "one"), (), 0),
    ("__getitem__", (X, slice(None, None, -1)), (), 1),
    ("__getitem__", (X, 1.5), (), 1),
    ("__getitem__", (X, Y), (), 1),
    ("clamp", (X,), (), 1),
    ("neg", (X, Y), (), 1),
    ("add_", (X,), (), 0),
    ("item", (X,), (), 1),
    ("__len__", (X,), (), 1),
    ("__len__", (S,), (), 1),
    ("__bool__", (X,), (), 1),
    ("t", (V,), (), 1),
    ("flatten", (V, 2, 0), (), 1),
    ("gather", (V, 0, N), (), 1),
    ("index_select", (V, 1, N), (), 1),
    ("index_select", (S, 0, N), (), 1),
    ("__getitem__", (V, ([0, 1], [0, 0, 0])), (), 1),
    ("__getitem__", (V, [True, False, True, False]), (), 1),
    ("__getitem__", (V, [[0], [0]]), (), 1),
    ("index_add", (V, 0, P, W), (), 1),
    ("mv", (M, W), (), 1),
    ("__setitem__", (X, [0], D), (), 0),
    ("abs", (B,), (), 1),
    ("abs_", (C,), (), 0),
    ("deg2rad", (C,), (), 1),
    ("maximum", (C, C), (), 1),
    ("maximum", (X, C), (), 1),
    ("masked_fill", (N, B, X), (), 1),
    ("amax", (E,), (), 1),
    ("amin", (E,), (), 1),
    ("amax", (E, 0), (), 1),
    ("amin", (E, -1), (), 1),
    ("mean", (N,), (), 1),
    ("norm", (N,), (), 1),
    ("add", (N, N), (("alpha", 0.5),), 1),
    ("numpy", (H,), (), 1),
    ("sub", (B, B), (), 1),
    ("pow", (N, -1), (), 1),
    ("torch.where", (X, X, Y), (), 1),
    ("masked_fill", (X, X, 1.0), (), 1),
    ("index_select", (X, 0, X), (), 1),
    ("index_select", (X, 0, N), (), 1),
    ("gather", (X, 0, X), (), 1),
    ("gather", (X, -1, N), (), 1),
    ("gather", (Y, 0, N), (), 1),
    ("index_select", (Y, 0, N), (), 1),
    ("__setitem__", (X, [0], N), (), 0),
    ("fill_", (X, 1j), (), 0),
    (".data=", (X, N), (), 0),
    ("torch.set_grad_enabled", (1,), (), 0),
    ("is_inference", (X,), (), 1),
    ("is_inference", (X,), (), 1),
    ("torch.is_inference_mode_enabled", (), (), 1),
    ("torch.is_grad_enabled", (), (), 1),
)
"""Calls that people get wrong."""

FEATURE_OF = {
    ".data=": DATA,
    ".grad=": GRADS,
    ".requires_grad=": REQUIRES_GRAD,
    "requires_grad_": REQUIRES_GRAD,
    "torch.set_grad_enabled": MODES,
    "is_inference": MODES,
    "torch.is_inference_mode_enabled": MODES,
    "torch.is_grad_enabled": MODES,
    "torch.autograd.grad": GRAD_CALL,
    "numpy": INTEROP,
    "__setitem__": INPLACE,
    "abs_": INPLACE,
    "add_": INPLACE,
    "fill_": INPLACE,
}
"""The feature that an operation belongs to, if any."""

_OF_ROOT = weighted({True: 3, False: 1})


def invalid_call(state: GenState, about: Any = None) -> bool:
    """One of the invalid calls, on any tensors."""
    op, args, kwargs, outs = state.pick(CALLS)
    if not state.supports(op) or FEATURE_OF.get(op, 0) & ~state.features:
        return False
    x = (root(state) if "grad" in op and state.pick(_OF_ROOT) else None) or state.any_tensor()
    if x.store.inexact and X in args and args[0] is N:
        return False  # whether it fits an integer would be for rounding to say
    given = {X: x, Y: state.any_tensor()}
    for placeholder, (values, dtype, shapes) in MADE.items():
        if placeholder in args:
            if not (dtype in state.dtypes or dtype in state.float_dtypes) or (shapes and not state.full_api):
                return False
            shape = state.pick(shapes) if shapes else x.shape
            given[placeholder] = leaves.make_leaf(state, shape, values, dtype)
    names = (state.fresh_name(),) if outs else ()
    done = state.emit(
        op,
        tuple([_put(value, given) for value in args]),
        tuple([(name, _put(value, given)) for name, value in kwargs]),
        names,
    )
    if done:
        for name in names:
            state.bind_measured(name, (x,))
        if "inputs" not in dict(kwargs):
            state.refresh_aliases(x)
    return True


def _put(value: Any, given: dict[_Placeholder, TensorInfo]) -> Any:
    if isinstance(value, _Placeholder):
        return given[value].ref
    return [_put(item, given) for item in value] if isinstance(value, list) else value
