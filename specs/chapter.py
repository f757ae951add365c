"""The modules in ``specs/cases``: their code, and what their functions need of elsewhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dis import get_instructions
from functools import cache, lru_cache
from importlib.machinery import SourceFileLoader
from inspect import CO_NEWLOCALS
from pathlib import Path
from types import CodeType

_SHARED = "specs.cases."


@lru_cache(maxsize=8)
def tree_of(path: Path) -> ast.Module:
    """Parse a module; few trees are kept, since those of all chapters would fill each worker.

    Callers must not change them.
    """
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def code_of(path: Path, cuda: str) -> CodeType:
    """Return the code of a module for the device ``cuda``. Python keeps what it has compiled, as of any
    module, unless another device must be written into it.
    """
    text = path.read_text(encoding="utf-8")
    if cuda == "cuda" or "cuda" not in text:
        return compiled(path)
    return compile(_OnDevice(cuda).visit(ast.parse(text)), str(path), "exec", dont_inherit=True)


@lru_cache(maxsize=8)
def compiled(path: Path) -> CodeType:
    """Return the code of a module as it stands."""
    name = f"{_SHARED}{path.stem}"
    found = SourceFileLoader(name, str(path)).get_code(name)
    assert found is not None
    return found


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


def functions_of(path: Path) -> list[CodeType]:
    """Return the code of each function at the top level of a module, in their order."""
    return [each for each in _definitions_in(path) if each.co_flags & CO_NEWLOCALS]


def classes_of(path: Path) -> list[CodeType]:
    """Return the code of each class at the top level of a module, in their order."""
    return [each for each in _definitions_in(path) if not each.co_flags & CO_NEWLOCALS]


def _definitions_in(path: Path) -> Iterator[CodeType]:
    for each in compiled(path).co_consts:
        if isinstance(each, CodeType) and each.co_name.isidentifier():
            yield each


def as_written(definition: CodeType, lines: list[str]) -> str:
    """Return the source of a definition: it ends before the next line that is not indented."""
    first = end = definition.co_firstlineno
    for number, line in enumerate(lines[first:], first + 1):
        if line and line[0] not in " )]}":
            break
        if line.strip():
            end = number
    return "\n".join(lines[first - 1 : end])


def calls_others(path: Path, name: str) -> bool:
    """Tell whether a module's function names anything that the module has beside torch and specs."""
    (own,) = (each for each in functions_of(path) if each.co_name == name)
    return not _names_in(own).isdisjoint(_bound_in(path) - {"torch", "refused", "warned"})


@cache
def _bound_in(path: Path) -> frozenset[str]:
    """The names that a module binds."""
    return frozenset(each.argval for each in get_instructions(compiled(path)) if each.opname == "STORE_NAME")


def _names_in(code: CodeType) -> set[str]:
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*map(_names_in, inner))


def shared_in(module: str) -> Path | None:
    """Return the file of a module that holds what chapters share, or None if its name is of another kind."""
    if not module.startswith(_SHARED):
        return None
    return Path(__file__).parent / "cases" / f"{module.removeprefix(_SHARED)}.py"


@cache
def _shared_by(path: Path) -> dict[str, Path]:
    """The names that a module imports from other modules of its kind, with the file of each."""
    imports = [node for node in tree_of(path).body if isinstance(node, ast.ImportFrom)]
    files = ((node, shared_in(node.module or "")) for node in imports)
    return {alias.name: file for node, file in files if file is not None for alias in node.names}


@lru_cache(maxsize=8)
def _defined(path: Path) -> dict[str, ast.stmt]:
    """The functions, classes and modules that a module names at its top level, but for what is given."""
    found: dict[str, ast.stmt] = {}
    for node in tree_of(path).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Import) and node.names[0].name != "torch":
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
        where = _shared_by(path).get(named.id, path)
        helper = _defined(where).get(named.id)
        if helper is not None:
            yield from _needed(where, helper)
            yield ast.unparse(helper) if isinstance(helper, ast.Import) else _source(where, helper)


def _source(path: Path, node: ast.stmt) -> str:
    return "\n".join(path.read_text(encoding="utf-8").split("\n")[node.lineno - 1 : node.end_lineno])
