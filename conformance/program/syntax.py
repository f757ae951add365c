"""The signs of Python's operators, and the operations that bind a tuple: shared by printing and parsing."""

from __future__ import annotations

BINARY = {
    "__add__": "+", "__sub__": "-", "__mul__": "*", "__truediv__": "/", "__pow__": "**", "__matmul__": "@",
    "__gt__": ">", "__lt__": "<", "__ge__": ">=", "__le__": "<=", "__eq__": "==", "__ne__": "!=",
}  # fmt: skip
REFLECTED = {"__radd__": "+", "__rsub__": "-", "__rmul__": "*", "__rtruediv__": "/", "__rpow__": "**"}
IN_PLACE = {
    "__iadd__": "+=", "__isub__": "-=", "__imul__": "*=", "__itruediv__": "/=", "__ipow__": "**=",
}  # fmt: skip
UNARY = {"__neg__": "-"}

TUPLES = frozenset(
    ["unbind", "split", "chunk", "torch.unbind", "torch.split", "torch.chunk", "torch.autograd.grad"]
)
"""Operations that return a tuple, so that one name is bound as `b, = ...`."""
