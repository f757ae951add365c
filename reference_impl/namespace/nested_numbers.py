"""Nested sequences of numbers, of which ``torch.tensor`` makes tensors: what of them is refused, and how."""

from __future__ import annotations

from typing import Any, NoReturn

PYTHON_NUMBERS = frozenset([float, int, bool, complex])


def refuse_data(data: Any) -> NoReturn:
    """Refuse what is no nested sequence of numbers, in torch's order: the shape is read first."""
    shape, first = [], data
    while isinstance(first, (list, tuple)) and first:
        shape.append(len(first))
        first = first[0]
    if isinstance(first, str):
        raise (
            ValueError("too many dimensions 'str'") if shape else TypeError("new(): invalid data type 'str'")
        )
    _need_even(data, shape, 0)
    raise RuntimeError(f"Could not infer dtype of {type(_odd_one(data)).__name__}")


def _need_even(data: Any, shape: list[int], dim: int) -> None:
    """Refuse sequences of another length than the first one at their depth."""
    if dim == len(shape):
        return
    if not isinstance(data, (list, tuple)):
        raise TypeError(f"expected TensorOptions or a sequence, not {type(data).__name__}")
    if len(data) != shape[dim]:
        raise ValueError(f"expected sequence of length {shape[dim]} at dim {dim} (got {len(data)})")
    for item in data:
        _need_even(item, shape, dim + 1)


def _odd_one(data: Any) -> Any:
    """Return the first part of nested sequences that is no number."""
    if not isinstance(data, (list, tuple)):
        return data
    return next((odd for odd in map(_odd_one, data) if type(odd) not in PYTHON_NUMBERS), 0)
