"""PyTorch's names of dtypes in its messages."""

from __future__ import annotations

from typing import Any

SCALARS = {
    "float64": "Double", "float32": "Float", "float16": "Half", "bfloat16": "BFloat16",
    "int64": "Long", "int32": "Int", "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool",
    "complex64": "ComplexFloat", "complex128": "ComplexDouble",
}  # fmt: skip
"""The names that it has for them."""

C_TYPES = {
    "float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
    "int64": "long int", "int32": "int", "int16": "short int", "int8": "signed char",
    "uint8": "unsigned char", "bool": "bool", "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}  # fmt: skip
"""Those of C++, in others."""


def scalar_type(of: Any) -> str:
    """The name of a tensor's or an array's dtype, or of a dtype."""
    return SCALARS[_name(of)]


def type_in_c(of: Any) -> str:
    """Its name in C++."""
    return C_TYPES[_name(of)]


def _name(of: Any) -> str:
    return str(getattr(of, "dtype", of).name)
