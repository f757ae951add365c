"""Views that are copied: ops of their own with the formulas of the views. Programs do not call them."""

from __future__ import annotations

from functools import wraps
from typing import Any

import numpy as np

from specs.op import Op, op
from specs.ops import slice as pieces
from specs.ops import view as views


def _copy_of(view: Op, node: str = "", name: str = "") -> Op:
    """The op that has what a view shows in memory of its own, by rows.

    NB: of several pieces it makes views, which are copied afterwards.
    """

    @wraps(view.body)
    def copied(*given: Any, **how: Any) -> Any:
        made = view.body(*given, **how)
        return made if view.view == "multi" else np.array(made, order="C")

    copied.__name__ = f"_{view.key.rstrip('_')}_{name.strip('_') or 'copy'}"
    facts: dict[str, Any] = {"view": "multi"} if view.view == "multi" else {}
    if view.name in ("select", "slice"):
        facts |= {"complex_history": False, "kernel": f"{view.name}_copy"}
    made = op(
        name=name or f"_{view.name}_copy", node=node or f"{view.node}_copy", internal=True, dtypes="keep",
        complex=True, **facts,
    )(copied)  # fmt: skip
    return made.wrt(**{operand: formula.fn for operand, formula in view.formulas.items()})


_VIEWS = (
    views.view, views.alias, views.transpose, views.permute, views.t, views.unsqueeze, views.squeeze_all,
    views.squeeze_dim, views.squeeze_dims, views.expand, pieces.select, pieces.slice_, pieces.diagonal,
    pieces.unfold, pieces.unbind, pieces.split_size, pieces.split_sizes,
)  # fmt: skip

OPS = {
    made.key: made
    for made in (
        *map(_copy_of, _VIEWS),
        _copy_of(pieces.split_size, "UnsafeSplitBackward0", "_unsafe_split"),
        _copy_of(pieces.split_sizes, "UnsafeSplitWithSizesBackward0", "_unsafe_split"),
    )
}
"""By key: ``_view_copy``, ``_split_size_unsafe_split``, ..."""
globals().update(OPS)  # an op is found by being a module's attribute
