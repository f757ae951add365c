"""Torch's own words for what the reference says: a search engine knows those."""

from __future__ import annotations

from typing import Any

from specs.errors import Refusal
from specs.rule import RULES

_TYPES = {"float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16", "int64": "Long",
          "int32": "Int", "bool": "Bool", "complex64": "ComplexFloat",
          "complex128": "ComplexDouble"}  # fmt: skip


class _Details(dict[str, Any]):
    """Details, with ``...`` for those that are not known."""

    def __missing__(self, key: str) -> str:
        return "..."


def said_by_torch(error: Refusal, subject: tuple[str, list[int], str, int] | None) -> str:
    """Return what torch says of a refusal, as far as the reference knows the details.

    ``subject`` is the tensor that it is about: dtype, shape, name of its node, its number among the outputs.
    """
    text = _filled(error.rule, error.details) or str(error)
    if error.rule == "save/modified-refused" and subject is not None:
        dtype, shape, node, number = subject
        what = f"[torch.{_TYPES.get(dtype, 'Float')}Tensor {shape}]"
        what += f", which is output {number} of {node}," if node else ""
        text = text.replace("[torch.FloatTensor [...]]", what)
    return text


def warned_by_torch(warning: Warning) -> str:
    """Return what torch says of a warning of the reference."""
    return _filled(getattr(warning, "rule", ""), {}) or str(warning)


def _filled(rule: str, details: dict[str, Any]) -> str:
    text = RULES[rule].torch_says if rule in RULES else ""
    shown = {name: list(value) if isinstance(value, tuple) else value for name, value in details.items()}
    return text.format_map(_Details(shown))
