"""Views that are copied, and pieces that autograd takes for copies; their ops: ``specs/ops/copies.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_impl.base import dtypes
from reference_impl.core.access import array_of, node_of, set_gradient_edge, showing
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.non_differentiable import underivable
from specs.ops.helpers import axis_of


def _as_copy(view: Tensor) -> Tensor:
    """A copy of a view in its place as the result of a node."""
    made: Tensor = view.clone_contiguous()
    set_gradient_edge(made, node_of(view), view.output_nr)
    return made


def _copy_of(view: str) -> Callable[..., Any]:
    """Make the form of a view that has memory of its own."""

    def copied(x: Tensor, *args: Any, **named: Any) -> Any:
        made = getattr(x, f"_{view}_copy")(*args, **named)
        return made if isinstance(made, Tensor) else tuple(map(_as_copy, made))

    copied.__name__ = f"{view}_copy"
    copied.__doc__ = f"`{view}`, in memory of its own."
    return copied


def view_copy(x: Tensor, *size: Any, dtype: Any = None) -> Tensor:
    """`view`, in memory of its own; as another dtype it has no history."""
    if dtype is None and len(size) == 1 and isinstance(size[0], dtypes.dtype):
        (dtype,) = size
    return x.view(dtype).clone() if dtype is not None else x._view_copy(*size)


_VIEWS = ("alias", "diagonal", "expand", "permute", "select", "slice", "split", "squeeze", "t", "transpose",
          "unbind", "unfold", "unsqueeze")  # fmt: skip


def unsafe_split(x: Tensor, split_size: Any, dim: int = 0) -> Any:
    """Split into pieces that autograd takes for copies, though they share the memory."""
    pieces = x._unsafe_split(split_size, dim)
    return tuple(showing(_as_copy(piece), array_of(piece), piece) for piece in pieces)


def unsafe_chunk(x: Tensor, chunks: int, dim: int = 0) -> Any:
    """Chunk into such pieces, see `unsafe_split`."""
    if chunks < 1:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    size = array_of(x).shape[axis_of(dim, x.ndim)]
    return unsafe_split(x, -(-size // chunks) if size else (0,) * chunks, dim)


BOTH: dict[str, Any] = {
    "unsafe_chunk": unsafe_chunk, "unsafe_split": unsafe_split, "unsafe_split_with_sizes": unsafe_split,
}  # fmt: skip
"""Functions that are methods too, by name."""
FUNCTIONS: dict[str, Any] = {f"{name}_copy": _copy_of(name) for name in _VIEWS} | {
    "as_strided_copy": lambda x, *args, **named: x.as_strided(*args, **named).clone_contiguous(),
    "detach_copy": lambda x: underivable(x.detach().clone_contiguous(), x, "detach_copy", "NotImplemented"),
    "split_with_sizes_copy": _copy_of("split"),
    "view_copy": view_copy,
}
"""Functions that are not methods, by name."""
