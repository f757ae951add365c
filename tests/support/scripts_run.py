"""Running a script on torch or on the reference, and keeping what it prints."""

from __future__ import annotations

import contextlib
import io
import warnings
from typing import Any

from conformance.adapters.torch_words import told_by_torch


def printed(side: Any, script: str) -> list[str]:
    """The lines that a script prints; refusals speak torch's words."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        space: dict[str, Any] = {"torch": side, "print": _print, "__name__": "script"}
        exec(script, space)
    return out.getvalue().splitlines()


def _print(*given: Any) -> None:
    words = [told_by_torch(each) if isinstance(each, Exception) else repr(each) for each in given]
    print(*(word.replace("-0.", "0.") for word in words))
