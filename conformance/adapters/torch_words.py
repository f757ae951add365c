"""Torch's own words for what the reference says: a search engine knows those.

Most texts are those that cases made torch say (``specs/torch_says.toml``). Where torch words a refusal in
several ways, ``specs/torch_words.toml`` has them, by the ``case`` or the ``name`` among its details.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import specs
from conformance.adapters.reference_state import TENSOR, RawFacts, in_anomaly_mode, subject_of
from specs.active_rules import torch_release
from specs.case_words import UNKNOWN
from specs.dtype_names import C_TYPES, SCALARS
from specs.errors import Refusal
from specs.rule import RULES, version_key
from specs.tables import table

_FIXED = C_TYPES | {"int64": "int64_t", "int16": "int16_t", "int8": "int8_t", "uint8": "uint8_t"}
"""The names of C++ by their width."""
_FORMS: dict[str, Any] = {
    "by": lambda shape: "x".join(map(str, shape)),
    "count": len,
    "count_all": lambda shape: _product(shape),
    "each": lambda shapes: ", ".join(str(list(shape)) for shape in shapes),
    "scalar": lambda dtype: SCALARS.get(_plain(dtype), _plain(dtype)),
    "c++": lambda dtype: C_TYPES.get(_plain(dtype), _plain(dtype)),
    "fixed": lambda dtype: _FIXED.get(_plain(dtype), _plain(dtype)),
    "tensor": lambda dtype: f"torch.{SCALARS.get(_plain(dtype), 'Float')}Tensor",
}
"""The forms of a field: ``{shape:by}`` is 2x3."""
_WHERE_ANOMALY_SAYS_MORE = (
    "Hint: the backtrace further above shows the operation that failed to compute its gradient. The variable "
    "in question was changed in there or anywhere later. Good luck!"
)


def _plain(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def _product(shape: Any) -> int:
    out = 1
    for size in shape:
        out *= size
    return out


_UNKNOWN = object()


class _Words(string.Formatter):
    """Fills a text with details; ``...`` stands for those that are not known."""

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> Any:
        try:
            return super().get_field(field_name, args, kwargs)
        except (KeyError, IndexError, TypeError, AttributeError):
            return _UNKNOWN, field_name

    def format_field(self, value: Any, format_spec: str) -> str:
        if value is _UNKNOWN:
            return UNKNOWN
        return str(_FORMS[format_spec](value) if format_spec in _FORMS else value)


@cache
def _cases() -> dict[str, dict[str, str]]:
    return table(Path(specs.__file__).with_name("torch_words.toml"))


def _text(rule: str, details: Mapping[str, Any]) -> str:
    """Return torch's text of a refusal by a rule, of the case that the details tell."""
    known = _cases().get(rule, {})
    for key in (details.get("case"), details.get("name"), ""):
        if key is not None and key in known:
            return known[key]
    return RULES[rule].torch_says if rule in RULES else ""


Subject = tuple[str, list[int], str, int]
"""The tensor that a refusal is about: dtype, shape, name of its node, its number among the outputs."""


def speak_as_torch() -> None:
    """Have refusals give torch's text where a script asks for theirs."""
    Refusal.__str__ = told_by_torch  # type: ignore[method-assign]  # this is the point


def told_by_torch(error: BaseException) -> str:
    """Return the text of an exception in torch's words: of a refusal those of its rule."""
    if isinstance(error, Refusal) and hasattr(error, "rule"):
        tensor, node, saved, _ = subject_of(error.__traceback__)
        return said_by_torch(error, subject_told(tensor, node, saved))
    return as_torch_names_things(str(error))


def subject_told(tensor: Any, node: Any = None, saved: Any = None) -> Subject | None:
    """Return the facts of a tensor that a refusal is about which torch's words have; a result that a ``node``
    has ``saved`` is that node's.
    """
    if not isinstance(tensor, TENSOR):
        return None
    raw = RawFacts(tensor)
    if saved is not None and node is not None and saved.is_output:
        return raw.dtype, list(raw.array.shape), node.name(), saved.output_nr
    return raw.dtype, list(raw.array.shape), "" if raw.node is None else raw.node.name(), raw.nr


def as_torch_names_things(text: str) -> str:
    """Return a text of Python's with torch's names for the reference's modules and classes."""
    text = re.sub(
        r"^property '(\w+)' of 'Tensor' object has no (?:setter|deleter)$",
        r"attribute '\1' of 'torch._C.TensorBase' objects is not writable",
        text,
    )
    return re.sub(r"\breference_impl\b", "torch", text).replace("'Size' object", "'torch.Size' object")


def said_by_torch(error: Refusal, subject: Subject | None) -> str:
    """Return what torch says of a refusal, as far as the reference knows the details."""
    details = dict(error.details)
    if subject is not None:
        details.setdefault("dtype", subject[0])
    text = _filled(error.rule, details) or error.in_own_words()
    if error.rule == "save/modified-refused" and subject is not None:
        dtype, shape, node, number = subject
        what = f"[torch.{SCALARS.get(dtype, 'Float')}Tensor {shape}]"
        what += f", which is output {number} of {_short(node)}," if node else ""
        text = text.replace("[torch.FloatTensor [...]]", what)
        if in_anomaly_mode():
            text = re.sub("Hint: .*", _WHERE_ANOMALY_SAYS_MORE, text)
    return text


def _short(node: str) -> str:
    """Return a node's name as torch's texts have it: since 2.13 without the end that tells of a backward."""
    if version_key(torch_release()) < (2, 13):
        return node
    return node.rstrip("0123456789").removesuffix("Backward")


def warned_by_torch(warning: Warning) -> str:
    """Return what torch says of a warning of the reference."""
    return _filled(getattr(warning, "rule", ""), getattr(warning, "details", {})) or str(warning)


def _filled(rule: str, details: Mapping[str, Any]) -> str:
    shown = {name: list(value) if isinstance(value, tuple) else value for name, value in details.items()}
    return _Words().vformat(_text(rule, details), (), shown)
