"""The modules in ``specs/cases``: their code without imports, and what their functions need of elsewhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

_SHARED = "specs.cases."


@lru_cache(maxsize=8)
def tree_of(path: Path) -> ast.Module:
    """Parse a module; few trees are kept, since those of all chapters would fill each worker.

    Callers must not change them.
    """
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def code_of(path: Path, cuda: str) -> Any:
    """Compile a module for the device ``cuda``, without its imports of torch and specs, which are bound when
    it is run.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if not _is_given(node)]
    return compile(tree if cuda == "cuda" else _OnDevice(cuda).visit(tree), str(path), "exec")


class _OnDevice(ast.NodeTransformer):
    """Replaces `cuda` by another kind of device."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if isinstance(node.value, str) and node.value.startswith("cuda"):
            node.value = node.value.replace("cuda", self._kind)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.Attribute:
        self.generic_visit(node)
        if node.attr in ("cuda", "is_cuda"):
            node.attr = node.attr.replace("cuda", self._kind)
        return node


def _is_given(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import):
        return node.names[0].name == "torch"
    return isinstance(node, ast.ImportFrom) and (node.module or "").startswith("specs")


@cache
def shared_by(path: Path) -> dict[str, Path]:
    """Return the names that a module imports from other modules of its kind, with the file of each."""
    return {
        alias.name: Path(__file__).parent / "cases" / f"{node.module[len(_SHARED) :]}.py"
        for node in tree_of(path).body
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(_SHARED)
        for alias in node.names
    }


@lru_cache(maxsize=8)
def _defined(path: Path) -> dict[str, ast.stmt]:
    """The functions, classes and modules that a module names at its top level, but for what is given."""
    found: dict[str, ast.stmt] = {}
    for node in tree_of(path).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Import) and not _is_given(node):
            found |= {alias.asname or alias.name: node for alias in node.names}
    return found


def helpers_of(path: Path, name: str) -> tuple[str, ...]:
    """Return the sources of all that a module's function needs beside torch and specs: imports first, then
    functions and classes, each before those that call it.
    """
    found = dict.fromkeys(_needed(path, _defined(path)[name]))
    return tuple(sorted(found, key=lambda source: not source.startswith("import ")))


def _needed(path: Path, node: ast.stmt) -> Iterator[str]:
    for named in ast.walk(node):
        if not isinstance(named, ast.Name) or getattr(node, "name", "") == named.id:
            continue
        where = shared_by(path).get(named.id, path)
        helper = _defined(where).get(named.id)
        if helper is not None:
            yield from _needed(where, helper)
            yield ast.unparse(helper) if isinstance(helper, ast.Import) else _source(where, helper)


def _source(path: Path, node: ast.stmt) -> str:
    return "\n".join(path.read_text(encoding="utf-8").split("\n")[node.lineno - 1 : node.end_lineno])
