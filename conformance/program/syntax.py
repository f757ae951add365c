"""Tables of Python's syntax: signs of operators, names of dtypes, and operations that return a tuple."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

BINARY = {
    "__add__": "+", "__sub__": "-", "__mul__": "*", "__truediv__": "/", "__pow__": "**", "__matmul__": "@",
    "__gt__": ">", "__lt__": "<", "__ge__": ">=", "__le__": "<=", "__eq__": "==", "__ne__": "!=",
}  # fmt: skip
REFLECTED = {"__radd__": "+", "__rsub__": "-", "__rmul__": "*", "__rtruediv__": "/", "__rpow__": "**"}
AUGMENTED = {
    "__iadd__": "+=", "__isub__": "-=", "__imul__": "*=", "__itruediv__": "/=", "__ipow__": "**=",
}  # fmt: skip
UNARY = {"__neg__": "-"}

TUPLES = frozenset([
    "unbind", "split", "chunk", "torch.unbind", "torch.split", "torch.chunk", "torch.autograd.grad",
    "parameters", "buffers",
])  # fmt: skip
"""Operations that return a tuple, so that one name is bound as `b, = ...`."""

_FLOATING = ("float64", "double", "float32", "float", "float16", "half", "bfloat16")
_COMPLEX = ("complex128", "cdouble", "complex64", "cfloat")
_INTEGER = ("int64", "long", "int32", "int", "int16", "short", "int8", "uint8", "bool")
DTYPE_NAMES = frozenset([*_FLOATING, *_COMPLEX, *_INTEGER])
SIGN_OF: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.MatMult: "@", ast.Gt: ">",
    ast.Lt: "<", ast.GtE: ">=", ast.LtE: "<=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
METHOD_OF = {sign: op for op, sign in BINARY.items()}
REFLECTED_METHOD_OF = {sign: op for op, sign in REFLECTED.items()}
REFLECTED_METHOD_OF.update(
    {">": "__lt__", "<": "__gt__", ">=": "__le__", "<=": "__ge__", "==": "__eq__", "!=": "__ne__"}
)
AUGMENTED_METHOD_OF = {sign[:-1]: op for op, sign in AUGMENTED.items()}
ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "**": operator.pow,
}  # fmt: skip
BUILTINS: dict[str, Callable[..., Any]] = {"float": float, "complex": complex, "int": int, "slice": slice}
