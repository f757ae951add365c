"""Saying that something of PyTorch's is not modelled: by name, and never by a wrong result.

`reference_impl/namespace/missing.py` says it of names that the reference lacks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class NotModelled(NotImplementedError):
    """PyTorch has it, and the reference does not; ``what`` is its name, with ``torch`` in front."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is not modelled by the reference")
        self.what = what


class NoSuchName(NotModelled, AttributeError):
    """A name of PyTorch's that the reference lacks; an AttributeError, as ``hasattr`` wants it."""

    def __init__(self, what: str, owner: Any) -> None:
        super().__init__(what)
        self.name, self.obj = what.rpartition(".")[2], owner


def refuse_unless_default(function: str, given: Mapping[str, Any], **defaults: Any) -> None:
    """Refuse arguments that are not modelled, unless they have the value that changes nothing.

    Raises TypeError, as Python does, for a name that is not among ``defaults``.
    """
    for name, value in given.items():
        if name not in defaults:
            raise TypeError(f"{function.rpartition('.')[2]}() got an unexpected keyword argument {name!r}")
        default = defaults[name]
        if value is not default and (type(value) is not type(default) or value != default):
            raise NotModelled(f"torch.{function}({name}={value!r})")
