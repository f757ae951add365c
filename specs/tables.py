"""Tables in TOML, of which Python keeps what it has parsed, as it does of modules.

To parse those of the rules takes a sixth of the time of all imports.
"""

from __future__ import annotations

import tomllib
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any


class _AsLiteral(SourceFileLoader):
    """Compiles a table to the literal of its dictionary."""

    def source_to_code(self, data: Any, path: Any, **options: Any) -> CodeType:  # type: ignore[override]
        found = tomllib.loads(bytes(data).decode("utf-8"))
        return compile(repr(found), str(path), "eval", dont_inherit=True)


def table(path: Path) -> dict[str, Any]:
    """Read a table of strings, numbers, flags, lists and tables of these; raises as `tomllib.loads` does."""
    name = f"{__name__}.{path.stem}"
    code = _AsLiteral(name, str(path)).get_code(name)
    assert code is not None
    found: dict[str, Any] = eval(code, {})
    return found
