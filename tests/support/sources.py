"""The sources of the three packages, read as trees: what they import, define and say."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[2]
OURS = ("specs", "reference_impl", "conformance")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def modules() -> tuple[Path, ...]:
    """Every Python file of the three packages."""
    return tuple(path for package in OURS for path in files(package))


def files(folder: str) -> list[Path]:
    """Every Python file of a folder and of those in it."""
    return sorted((ROOT / folder).rglob("*.py"))


@cache
def tree(path: Path) -> ast.Module:
    """The file's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """The nodes of the tree, walked once."""
    return tuple(ast.walk(tree(path)))


@cache
def name_of(path: Path) -> str:
    """The path below the root."""
    return path.relative_to(ROOT).as_posix()


@cache
def dotted(path: Path) -> str:
    """The module's name as imports write it."""
    return name_of(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def strings(nodes: ast.AST) -> set[str]:
    """The constants that are strings."""
    return {n.value for n in ast.walk(nodes) if isinstance(n, ast.Constant) and isinstance(n.value, str)}


@cache
def imports(path: Path) -> tuple[str, ...]:
    """The dotted names that a file imports, also inside functions and for types alone."""

    def walk() -> Iterator[str]:
        for node in nodes(path):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{name_of(path)}:{node.lineno} imports relatively"
                yield from (f"{node.module}.{alias.name}" for alias in node.names)

    return tuple(walk())


@cache
def all_dotted() -> frozenset[str]:
    """The names of all modules of the three packages."""
    return frozenset(map(dotted, modules()))


@cache
def imported_modules(path: Path) -> frozenset[str]:
    """The modules of the three packages that a file imports."""
    names = all_dotted()
    met = (name if name in names else name.rpartition(".")[0] for name in imports(path))
    return frozenset(met) & names - {dotted(path)}


@cache
def documented(path: Path) -> tuple[tuple[str, str], ...]:
    """Each docstring of a file, with the name of what it describes; those of values follow them."""
    return tuple(_documented(path))


def _documented(path: Path) -> Iterator[tuple[str, str]]:
    for node in nodes(path):
        if isinstance(node, (ast.Module, ast.ClassDef)):
            for value, after in pairwise(node.body):
                if isinstance(value, (ast.Assign, ast.AnnAssign)) and isinstance(after, ast.Expr):
                    text = getattr(after.value, "value", None)
                    if isinstance(text, str):
                        yield ast.unparse(value).partition(" ")[0], text
        if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)):
            text = ast.get_docstring(node)
            if text:
                yield getattr(node, "name", "the module"), text


def public_names(path: Path) -> set[str]:
    """The functions, classes and values that a module defines at its top level and does not call private."""
    found: set[str] = set()
    for node in tree(path).body:
        if isinstance(node, (ast.ClassDef, *FUNCTIONS)):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return {name for name in found if not name.startswith("_")}


def own_names(path: Path) -> set[str]:
    """Every name that a file defines or assigns, attributes and slots among them."""
    found: set[str] = set()
    for node in nodes(path):
        if isinstance(node, (ast.ClassDef, *FUNCTIONS)):
            found.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
            if node.id == "__slots__":
                found |= strings(tree(path))
    return found


def private_reads(path: Path) -> Iterator[tuple[int, str]]:
    """The private attributes that a file reads or writes of anything but ``self``, by name or by string."""
    for node in nodes(path):
        name = ""
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") not in ("self", "cls"):
            name = node.attr
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("getattr", "setattr", "hasattr"):
            name = getattr(node.args[1], "value", "") if isinstance(node.args[1], ast.Constant) else ""
        if name.startswith("_") and not name.startswith("__"):
            yield node.lineno, name


@cache
def used_elsewhere() -> frozenset[str]:
    """The names that one module uses of another, dotted."""
    found: set[str] = set()
    for path in modules():
        known = {name.rpartition(".")[2]: name for name in imports(path)}
        found.update(known.values())
        for node in nodes(path):
            if isinstance(node, ast.Attribute) and getattr(node.value, "id", None) in known:
                found.add(f"{known[node.value.id]}.{node.attr}")
    return frozenset(found)
