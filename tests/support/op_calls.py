"""The calls on which `test_ops_declarations` compares ops with torch: operands by shape, dtype and layout;
attributes.

Between them they meet 0-d, empty, broadcast and transposed operands, each dtype promotion and each attribute.
No test lives here.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np

from specs.op import Op


class Leaf:
    """An operand to be made: shape, dtype, and the order of its dimensions in memory (slowest first)."""

    def __init__(
        self, *shape: int, dtype: str = "float32", columns: bool = False, order: tuple[int, ...] | None = None
    ) -> None:
        self.shape, self.dtype, self.order = shape, dtype, (1, 0) if columns else order

    def __repr__(self) -> str:
        return f"{'x'.join(map(str, self.shape)) or '0d'}-{self.dtype}{self.order or ''}"


T = Leaf
ONE = [
    T(), T(2), T(2, 3), T(3, 3, columns=True), T(0), T(2, dtype="float64"), T(2, 1, 3),
    *(T(2, 3, 2, order=o) for o in permutations(range(3))),
]  # fmt: skip
SAME = [(T(), T()), (T(2), T(2)), (T(2, 3), T(2, 3)), (T(0), T(0))]
PAIRS = [
    *SAME, (T(2, 3), T(3)), (T(3), T(2, 3)), (T(2, 1), T(1, 3)), (T(), T(2)), (T(2), T()), (T(0), T(1)),
    (T(2), T(2, dtype="float64")), (T(2, dtype="float64"), T()), (T(2, dtype="int64"), T(2)),
    (T(2), T(dtype="float64")), (T(3, 3, columns=True), T(3, 3)), (T(3, 3), T(3, 3, columns=True)),
    (T(3, 3, columns=True), T(3, 3, columns=True)), (T(2, 3, 2, order=(2, 0, 1)), T(3, 2, columns=True)),
    (T(3, 2), T(2, 3, 2, order=(1, 2, 0))), (T(2, 1), T(2, 3, columns=True)),
]  # fmt: skip
NUMBERED = [(x, n) for x in (T(), T(2), T(2, 3), T(3, 3, columns=True)) for n in (2, 0.5)]
EITHER = [*PAIRS, *NUMBERED, (T(2, dtype="int64"), 2), (T(2, dtype="int64"), 0.5)]
DIMS = [
    (T(2, 3), (0,)), (T(2, 3), (-1,)), (T(2, 3), (1, 0)), (T(2, 1, 3), (0, -1)), (T(), (0,)), (T(2, 3), ()),
]  # fmt: skip
MATRICES = [
    (T(2, 3), T(3, 2)), (T(3, 3, columns=True), T(3, 2)), (T(2, 3), T(3, 3, columns=True)),
    (T(1, 3), T(3, 1)), (T(0, 3), T(3, 2)), (T(2, 0), T(0, 2)), (T(3, 1, columns=True), T(1, 2)),
]  # fmt: skip
BATCHES = [
    (2,), (2, 3), (1, 2), (4, 2, 3), (1, 2, 3), (2, 1, 2, 3), (4, 3, 2), (3, 2), (1, 3, 2), (0, 2, 3),
    (2, 1, 3, 2),
]  # fmt: skip


def _fits(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    try:
        np.matmul(np.zeros(a), np.zeros(b))
    except ValueError:
        return False
    return True


Calls = list[tuple[tuple[Any, ...], dict[str, Any]]]


def plain(*rows: Any) -> Calls:
    return [(row if isinstance(row, tuple) else (row,), {}) for row in rows]


def each_dim(keepdims: tuple[bool, ...] = (False, True)) -> Calls:
    return [((x,), {"dim": d, "keepdim": k}) for x, d in DIMS for k in keepdims]


NUMBER_FIRST = [
    *[(n, x) for n in (2, 0.5) for x in (T(), T(2), T(3, 3, columns=True))],
    (2, T(2, dtype="int64")),
]

CALLS: dict[str, Calls] = {
    "add": [*plain(*EITHER), ((T(2), T(2)), {"alpha": 2}), ((T(2), T(1)), {"alpha": 0.5})],
    "sub": [*plain(*EITHER), ((T(2), T(2)), {"alpha": 2}), ((T(2), 2), {"alpha": 0.5})],
    "rsub": [*plain(*PAIRS), ((T(2), T(2)), {"alpha": 2})],
    "rsub_scalar": [*plain(*NUMBERED), ((T(2), 2), {"alpha": 2})],
    "pow_scalar": plain(*NUMBERED, (T(2), 0), (T(2), 1), (T(2), 3.0), (T(2), -1), (T(2, dtype="int64"), 2)),
    "rpow_number": plain(*NUMBERED, (T(2), 0), (T(2), 1)),
    "rpow_tensor": plain((T(2), T(2))),
    "pow_base": plain((2, T(2)), (0.5, T(2, 3))),
    "where": plain(
        *[
            (T(2, dtype="bool"), x, y)
            for x, y in [
                (T(2), T(2)),
                (T(2), T()),
                (T(3, 2), T(2)),
                (T(2), 0.0),
                (1.0, T(2)),
                (2, T(1)),
                (T(2), T(2, dtype="float64")),
            ]
        ],
        (T(2, 3, dtype="bool"), T(3), T(2, 1)),
        (T(3, 3, dtype="bool"), T(3, 3, columns=True), T(3, 3)),
    ),
    "where_else_number": plain(
        (T(2, dtype="bool"), T(2), 0.5), (T(2, dtype="bool"), T(2, dtype="int64"), 0.5)
    ),
    "where_number": plain((T(2, dtype="bool"), 2, T(2)), (T(2, dtype="bool"), 2, T(2, dtype="bool"))),
    "where_values": plain((T(2, dtype="bool"), T(2), T(2)), (T(2, dtype="bool"), T(2), 0)),
    "clamp": [
        ((x,), {"min": low, "max": high})
        for x in [T(), T(2, 3), T(3, 3, columns=True), T(6, dtype="int64")]
        for low, high in ((0, 2), (None, 1), (0.5, None), (2, 1))
    ],
    "sum_dim": [
        *each_dim(),
        ((T(2, 3),), {"dim": None}),
        ((T(3, 3, columns=True),), {"dim": (0,), "keepdim": True}),
        ((T(2, 3, dtype="int64"),), {"dim": (0,)}),
        ((T(0, 3),), {"dim": (0,)}),
    ],
    "mean_dim": [*each_dim(), ((T(2, 3),), {"dim": None})],
    "amax": [*each_dim(), ((T(2, 3),), {})],
    "amin": [*each_dim(), ((T(2, 3),), {})],
    "sum_all": plain(*ONE, T(2, dtype="int64"), T(2, dtype="bool")),
    "prod_all": plain(*ONE, T(2, dtype="int64")),
    "cumprod": [
        *[((x,), {"dim": d}) for x in (T(2, 3), T(3, 3, columns=True), T(3, 1)) for d in (0, 1)],
        ((T(),), {"dim": 0}),
    ],
    "prod_dim": [
        ((x,), {"dim": d, "keepdim": k})
        for x in (T(2, 3), T(2, 1, 3))
        for d in (0, 1, -1)
        for k in (False, True)
    ]
    + [((T(),), {"dim": 0})],
    "cumsum": [
        ((x,), {"dim": d})
        for x in (T(2, 3), T(1, 3), T(3, 3, columns=True), T(2, 3, dtype="int64"))
        for d in (0, -1)
    ]
    + [((T(),), {"dim": 0}), ((T(2),), {"dim": 0})],
    "flip": [
        ((x,), {"dims": d}) for x in (T(2, 3), T(3, 3, columns=True)) for d in ((0,), (1,), (0, 1), (-1,), ())
    ]
    + [((T(),), {"dims": d}) for d in ((0,), (-1,), ())]
    + [((T(0),), {"dims": (0,)}), ((T(2, 3, 2, order=(2, 0, 1)),), {"dims": (1,)})],
    "dot": plain((T(3), T(3)), (T(0), T(0)), (T(1), T(1))),
    "mv": plain(
        (T(2, 3), T(3)), (T(3, 3, columns=True), T(3)), (T(0, 3), T(3)), (T(2, 0), T(0)), (T(1, 1), T(1))
    ),
    "mm": plain(*MATRICES),
    "bmm": plain((T(2, 2, 3), T(2, 3, 2)), (T(1, 1, 2), T(1, 2, 1)), (T(0, 2, 3), T(0, 3, 2))),
    "matmul": plain(
        *[(T(*a), T(*b)) for a in BATCHES for b in BATCHES if _fits(a, b)], (T(3, 3, columns=True), T(3, 3))
    ),
    "rmatmul": plain((T(3), T(2, 3))),
    "rtruediv": plain((T(2), 2), (T(2, 3), 0.5)),
    "tanh_backward": plain(*SAME),
    "sigmoid_backward": plain(*SAME),
    "threshold_backward": [((x, y), {"threshold": 0}) for x, y in SAME],
    "copy_": plain(
        (T(2), T(2)),
        (T(2, 3), T(3)),
        (T(2, 3), T()),
        (T(2), T(2, dtype="float64")),
        (T(2), T(2, dtype="int64")),
    ),
    "softplus_backward": [((x, y), {"beta": 2, "threshold": 3}) for x, y in SAME],
    "leaky_relu_backward": [((x, y), {"negative_slope": 0.5}) for x, y in SAME],
    "elu_backward": [((x, y), {"alpha": 2}) for x, y in SAME],
    "hardtanh_backward": [((x, y), {"min_val": -1, "max_val": 1}) for x, y in SAME],
    "silu_backward": plain(*SAME),
    "gelu_backward": plain(*SAME),
    "leaky_relu": [((x,), {"negative_slope": 0.5}) for x in ONE],
    "threshold": [((x,), {"threshold": 0.5, "value": 2}) for x in ONE],
    "addmm": [
        ((T(*shape), x, y), given)
        for x, y in MATRICES
        for shape in ((x.shape[0], y.shape[1]), (1, y.shape[1]))
        for given in ({}, {"beta": 2, "alpha": 0.5})
    ],
    "addmv": [((T(2), T(2, 3), T(3)), given) for given in ({}, {"beta": 2, "alpha": 0.5})],
    "addr": [((T(2, 3), T(2), T(3)), given) for given in ({}, {"beta": 2, "alpha": 0.5})],
    "outer": plain((T(2), T(3))),
    "div_rounded": [
        (pair, {"rounding_mode": mode})
        for pair in ((T(2), T(2)), (T(2, 3), T(3)), (T(2), 2), (T(2, dtype="int64"), 2))
        for mode in ("floor", "trunc")
    ],
    "baddbmm": [((T(2, 2, 2), T(2, 2, 3), T(2, 3, 2)), given) for given in ({}, {"beta": 2, "alpha": 0.5})],
    "addbmm": [((T(2, 2), T(2, 2, 3), T(2, 3, 2)), given) for given in ({}, {"beta": 2, "alpha": 0.5})],
    **{
        name: [((T(2), T(2), T(2)), {}), ((T(2, 3), T(3), T(2, 1)), {"value": 2})]
        for name in ("addcmul", "addcdiv")
    },
    "round_decimals": [((x,), {"decimals": n}) for x in ONE for n in (0, 1, -1)],
    "lerp_number": plain((T(2), T(2), 0.5), (T(2, 3), T(3), 0.25)),
    "lerp_tensor": plain((T(2), T(2), T(2)), (T(2, 3), T(3), T(2, 1))),
    **{name: plain(*PAIRS[:10]) for name in ("atan2", "hypot", "remainder_tensor", "fmod_tensor")},
    "fill_number_": plain((T(2), 2), (T(), 0.5)),
    "fill_tensor_": plain((T(2), T()), (T(), T(dtype="float64"))),
}
"""Calls of the ops that need special ones, by key."""

USUAL: dict[tuple[str, ...], list[Any]] = {
    ("tensor",): ONE,
    ("tensor", "tensor"): PAIRS,
    ("tensor", "either"): EITHER,
    ("tensor", "number"): NUMBERED,
    ("wrapped", "tensor"): NUMBER_FIRST,
}
"""The calls of all others, by the kinds of their operands."""


def calls_of(op: Op) -> Calls:
    """The calls of an op, or of the op whose in-place form it is."""
    found = CALLS.get(op.key) or CALLS.get(op.key.removesuffix("_"))
    if found is not None:
        return found
    kinds = tuple(operand.kind.name for operand in op.operands)
    needed = [a.name for a in op.attributes if a.required]
    if kinds not in USUAL or needed:
        why = f"for its arguments {', '.join(needed)}" if needed else f"for operands of the kinds {kinds}"
        raise LookupError(f"{op.name} has no calls in tests/support/op_calls.py {why}")
    return plain(*(SAME if op.dtypes == "same" and len(kinds) == 2 else USUAL[kinds]))
