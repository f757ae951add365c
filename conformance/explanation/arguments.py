"""Arguments checked as torch's parser checks them, for its own words where a call was refused.

The signatures are data, ``specs/torch_signatures.json``. The parser is that of
``torch/csrc/utils/python_arg_parser.cpp``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import specs
from conformance.adapters.reference_state import DTYPE, TENSOR

_KINDS = {"Tensor": "Tensor", "Scalar": "Number", "int64_t": "int", "SymInt": "int", "double": "float",
          "bool": "bool", "TensorList": "tuple of Tensors", "IntArrayRef": "tuple of ints",
          "SymIntArrayRef": "tuple of ints", "ArrayRef": "tuple of floats", "ScalarType": "torch.dtype",
          "Layout": "torch.layout", "MemoryFormat": "torch.memory_format", "Device": "torch.device",
          "Generator": "torch.Generator"}  # fmt: skip
"""The kinds of parameters that are checked, by the words that messages have for them."""
_NUMPY = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"), "other": ("x2",)}
"""The other keywords by which numpy's users may call a parameter."""
_TAKE_NUMBERS = frozenset(
    name + suffix
    for name in ("add", "sub", "mul", "div", "divide", "multiply", "subtract", "true_divide", "floor_divide",
                 "remainder", "fmod", "eq", "ne")
    for suffix in ("", "_")
)  # fmt: skip
"""Functions whose tensor parameters take Python numbers."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a signature."""

    kind: str
    name: str
    size: bool
    may_be_none: bool
    optional: bool
    keyword_only: bool

    @property
    def words(self) -> str:
        return _KINDS.get(self.kind, "object")


@dataclass(frozen=True)
class Signature:
    """The parameters that a function takes, in order."""

    text: str
    parameters: tuple[Parameter, ...]
    deprecated: bool

    @property
    def positional(self) -> int:
        return sum(not p.keyword_only for p in self.parameters)

    @property
    def least(self) -> int:
        return sum(not p.optional for p in self.parameters)


class Refused(Exception):
    """The arguments do not fit a signature; the text says why."""


@cache
def known() -> dict[str, Any]:
    """The signatures on file."""
    found: dict[str, Any] = json.loads(Path(specs.__file__).with_name("torch_signatures.json").read_text())
    return found


@cache
def _read(text: str) -> Signature:
    parameters, keyword_only = [], False
    plain = text.removesuffix("|deprecated")
    for part in filter(None, plain.split(", ")):
        if part == "*":
            keyword_only = True
            continue
        kind, _, rest = part.partition(" ")
        name, _, default = rest.partition("=")
        parameters.append(
            Parameter(
                re.sub(r"[\[?*].*", "", kind).rpartition("::")[2],
                name,
                "[" in kind,
                kind.endswith("?") or default == "None",
                bool(default) or (kind.endswith("?") and keyword_only),
                keyword_only,
            )
        )
    return Signature(plain, tuple(parameters), plain != text)


def _is(kind: str, x: Any) -> bool:
    """Tell whether a value is of a kind that one element or number can be of."""
    if isinstance(x, TENSOR):
        plain = not x.ndim and not x.requires_grad
        return (kind in ("Scalar", "double") and plain) or (kind == "bool" and plain) or (kind in (
            "int64_t", "SymInt") and plain and not x.is_floating_point())  # fmt: skip
    if kind == "bool":
        return isinstance(x, bool)
    if kind in ("int64_t", "SymInt"):
        return hasattr(type(x), "__index__") and not isinstance(x, bool)
    if kind == "double":
        return isinstance(x, (int, float)) or hasattr(type(x), "__float__")
    return isinstance(x, (int, float, complex)) or hasattr(type(x), "dtype")


def _fits(parameter: Parameter, x: Any, name: str) -> bool:
    kind = parameter.kind
    if kind == "Tensor":
        return isinstance(x, TENSOR) or (name in _TAKE_NUMBERS and isinstance(x, (int, float, complex)))
    if kind in ("Scalar", "int64_t", "SymInt", "double", "bool"):
        return _is(kind, x)
    if kind in ("IntArrayRef", "SymIntArrayRef"):
        if isinstance(x, (tuple, list)):
            return not x or _is("int64_t", x[0])
        return parameter.size and _is("int64_t", x)
    if kind == "TensorList":
        return isinstance(x, (tuple, list))
    if kind == "ScalarType":
        return isinstance(x, DTYPE) or x in (float, int, bool, complex)
    if kind == "Device":
        return isinstance(x, (str, int)) or type(x).__name__ == "device"
    if kind in ("c10::string_view", "string_view"):
        return isinstance(x, str)
    return True


def _parse(name: str, signature: Signature, args: Sequence[Any], keywords: Mapping[str, Any]) -> None:
    """Raise `Refused` unless the arguments fit the signature."""
    parameters, given = signature.parameters, 0
    most = signature.positional
    spread = most == 1 and parameters[0].kind in ("IntArrayRef", "SymIntArrayRef")
    if len(args) > most and not spread:
        raise Refused(_too_many(name, signature, len(args)))
    left = len(keywords)
    for at, parameter in enumerate(parameters):
        by_keyword = given >= len(args)
        if not by_keyword and parameter.keyword_only:
            raise Refused(_too_many(name, signature, len(args)))
        names = (parameter.name, *_NUMPY.get(parameter.name, ()))
        key = next((n for n in names if n in keywords), None) if by_keyword else None
        there = not by_keyword or key is not None
        x = args[given] if not by_keyword else keywords.get(key or "")
        if not there:
            if not parameter.optional:
                raise Refused(_missing(name, parameters[at:]))
        elif x is None and parameter.may_be_none:
            pass
        elif not _fits(parameter, x, name):
            if spread and not given and not by_keyword and _is("int64_t", x):
                given = len(args)
                continue
            place = "" if by_keyword else f" (position {given + 1})"
            raise Refused(
                f"{name}(): argument '{parameter.name}'{place} must be {parameter.words}, not {_type_name(x)}"
            )
        if not by_keyword:
            given += 1
        elif key is not None:
            left -= 1
    if left:
        raise Refused(_unexpected(name, signature, args, keywords))


def _type_name(x: Any) -> str:
    return "Tensor" if type(x) is TENSOR else type(x).__name__


def _too_many(name: str, signature: Signature, count: int) -> str:
    most, least = signature.positional, signature.least
    if least != most:
        return f"{name}() takes from {least} to {most} positional arguments but {count} were given"
    verb = "was" if count == 1 else "were"
    return f"{name}() takes {most} positional argument{'s' * (most != 1)} but {count} {verb} given"


def _missing(name: str, parameters: Sequence[Parameter]) -> str:
    absent = [f'"{p.name}"' for p in parameters if not p.optional]
    plural = "s" if len(absent) == 1 else ""  # torch's own slip
    return f"{name}() missing {len(absent)} required positional argument{plural}: {', '.join(absent)}"


def _unexpected(name: str, signature: Signature, args: Sequence[Any], keywords: Mapping[str, Any]) -> str:
    names = [p.name for p in signature.parameters]
    for key in keywords:
        if key not in names:
            return f"{name}() got an unexpected keyword argument '{key}'"
        if names.index(key) < len(args):
            return f"{name}() got multiple values for argument '{key}'"
    return f"{name}() got unexpected keyword arguments"


def why_refused(
    name: str, texts: Sequence[str], args: Sequence[Any], keywords: Mapping[str, Any]
) -> str | None:
    """Return what torch says of the arguments of a call, or None if some signature takes them."""
    signatures = [_read(text) for text in texts]
    said = []
    for signature in signatures:
        try:
            _parse(name, signature, args, keywords)
        except Refused as refusal:
            said.append(str(refusal))
        else:
            return None
    if len(said) == 1:
        return said[0]
    count = len(args) + len(keywords)
    plausible = [
        text
        for text, signature in zip(said, signatures, strict=True)
        if signature.least <= count <= len(signature.parameters) and not signature.deprecated
    ]
    return plausible[0] if len(plausible) == 1 else _no_combination(name, signatures, args, keywords)


def _no_combination(
    name: str, signatures: Sequence[Signature], args: Sequence[Any], keywords: Mapping[str, Any]
) -> str:
    given = "".join(f"{key}={_type_name(x)}, " for key, x in keywords.items())
    told = ", ".join(map(_type_name, args)) + (", " if args and given else "") + given
    first = f"{name}() received an invalid combination of arguments - got ({told}), but expected "
    options = [_told(s) for s in signatures if not s.deprecated]
    if len(options) == 1:
        return first + options[0]
    return first + "one of:\n" + "".join(f" * {option}\n" for option in options)


def _told(signature: Signature) -> str:
    parts, starred = [], False
    for p in signature.parameters:
        if p.keyword_only and not starred:
            parts.append("*")
            starred = True
        default = re.search(rf"\b{p.name}=([^,]*)", signature.text)
        parts.append(f"{p.words} {p.name}" + (f" = {default[1]}" if default else ""))
    return f"({', '.join(parts)})"
