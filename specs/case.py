"""Cases: small ordinary PyTorch programs that witness rules; listing and running them.

The cases live in ``specs/cases`` (one module a chapter). Here a case runs as it is, with ``torch`` bound to
any torch-shaped namespace; ``conformance/program`` parses cases into Programs.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import inspect
import re
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import CodeType, FunctionType, SimpleNamespace
from typing import Any

from specs.active_rules import torch_release
from specs.callbacks import CLASSES, custom_function
from specs.case_words import Says, Words
from specs.chapter import as_written, calls_others, code_of, functions_of, helpers_of, shared_in, tree_of
from specs.rule import RULES, classify, classify_warning

CASES_DIR = Path(__file__).parent / "cases"
_RULES_NAMED = re.compile(r"\bRules?: ([\w/-]+(?:,\s+[\w/-]+)*)\.")
_CALLED_LATER = (ast.Lambda, ast.GeneratorExp, ast.FunctionDef, ast.ClassDef)
_SEED = re.compile(r"\bseed (\d{3}_[0-9a-f]{16}\.txt)")


@dataclass(frozen=True, slots=True)
class Case:
    """One witness program, with the rules that its docstring names and the position of its text."""

    chapter: str
    name: str
    rules: tuple[str, ...]
    seeds: tuple[str, ...]
    truth: str
    text: str
    line: int
    path: Path

    @property
    def id(self) -> str:
        return f"{self.chapter}/{self.name}"

    @property
    def is_program(self) -> bool:
        """True if it can be read as a program, because all its rules are about tensors.

        Cases about not being observed cannot: running a program means observing it. Nor can those that
        collect in a list what hooks are given.
        """
        about_tensors = all(RULES[rule].in_programs for rule in self.rules if rule in RULES)
        return about_tensors and self.chapter != "observed" and " = []" not in self.text

    @property
    def devices(self) -> int:
        """Number of accelerators that it uses: 0, 1 or 2."""
        return ("cuda" in self.text) + ("cuda:1" in self.text)

    def holds_for(self, torch_version: str) -> bool:
        """True if all its rules hold for that torch release."""
        return all(RULES[rule].holds_for(torch_version) for rule in self.rules if rule in RULES)

    @property
    def helpers(self) -> tuple[str, ...]:
        """Sources of what it needs of its chapter and of those that it imports from."""
        return helpers_of(self.path, self.name)

    @property
    def calls_others(self) -> bool:
        """True if it names anything of those, or an attribute that is called as one of them."""
        return calls_others(self.path, self.name)

    @property
    def script(self) -> str:
        """The case as a script that runs by itself beside specs."""
        imports = "import torch\n\nfrom specs.case import refused, warned"
        return "\n\n\n".join([imports, *self.helpers, self.text, f"{self.name}()\n"])

    def departed_by(self, torch_version: str) -> bool:
        """True if that torch release is known to diverge from one of its rules."""
        return any(RULES[rule].departed_by(torch_version) for rule in self.rules if rule in RULES)


@dataclass(frozen=True, slots=True)
class CaseResult:
    """The result of running a case; ``line`` and ``source`` are those that failed with ``error``, None if it
    passed.
    """

    case: Case
    passed: bool
    line: int | None = None
    source: str | None = None
    why: str | None = None
    error: Exception | None = None

    def __str__(self) -> str:
        if self.passed:
            return f"{self.case.id}: held"
        return f"{self.case.id}: {self.case.chapter}.py:{self.line}: {self.source}\n    {self.why}"


class NotAsExpected(AssertionError):
    """A line of a case did not do what the case says."""


def rule_of(exc: BaseException) -> str | None:
    """Return the rule of a refusal: the one it carries, or the one that its wording belongs to."""
    return getattr(exc, "rule", None) or classify(type(exc).__name__, str(exc), torch_release())


@contextlib.contextmanager
def refused(rule: str, by_any: bool = False, words: Words | None = None) -> Iterator[None]:
    """Check that the line inside is refused by that rule, or ``by_any`` exception at all, and in PyTorch's
    ``words``, if given.
    """
    try:
        yield
    except Exception as exc:
        actual = rule if by_any else rule_of(exc)
        if actual != rule:
            raise NotAsExpected(
                f"expected a refusal by {rule}, got {type(exc).__name__} ({actual or 'no known rule'}): {exc}"
            ) from exc
        if words is not None and (told := words.differ(rule, exc)):
            raise NotAsExpected(told) from exc
    else:
        raise NotAsExpected(f"expected a refusal by {rule}, but the line succeeded")


@contextlib.contextmanager
def warned(rule: str) -> Iterator[None]:
    """Check that the line inside succeeds and warns by that rule."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    actual = [getattr(w.message, "rule", None) or classify_warning(str(w.message)) for w in caught]
    if rule not in actual:
        texts = "; ".join(str(warning.message) for warning in caught) or "silence"
        raise NotAsExpected(f"expected a warning by {rule}, got {texts}")


def _case(path: Path, lines: list[str], function: CodeType) -> Case:
    doc = inspect.getdoc(FunctionType(function, {})) or ""
    rules = tuple(rule.strip() for group in _RULES_NAMED.findall(doc) for rule in group.split(","))
    return Case(
        chapter=path.stem,
        name=function.co_name,
        rules=tuple(dict.fromkeys(rules)),
        seeds=tuple(dict.fromkeys(_SEED.findall(doc))),
        truth=_RULES_NAMED.split(doc.partition("\n\n")[0])[0].strip().replace("\n", " "),
        text=as_written(function, lines),
        line=function.co_firstlineno,
        path=path,
    )


@cache
def cases(folder: Path = CASES_DIR) -> tuple[Case, ...]:
    """Read all cases below ``folder``, by chapter, in the order of the files.

    They are found in the code that Python keeps of each file, since to parse all takes a second.
    """
    found = []
    for path in sorted(folder.glob("*.py")):
        if path.stem.startswith("_"):
            continue
        lines = path.read_text(encoding="utf-8").split("\n")
        found += [_case(path, lines, each) for each in functions_of(path) if each.co_name[0] != "_"]
    return tuple(found)


def functions(
    chapter: str, namespace: Any, folder: Path = CASES_DIR, cuda: str = "cuda"
) -> dict[str, Callable[[], None]]:
    """Return a chapter's cases with ``torch`` bound to ``namespace``, and the device ``cuda`` for `cuda`."""
    given = {"torch": namespace, "refused": refused, "warned": warned}
    scope = {"__name__": chapter, "__builtins__": _builtins(namespace, cuda), **given}
    exec(code_of(folder / f"{chapter}.py", cuda), scope)
    functions = {name: value for name, value in scope.items() if inspect.isfunction(value)}
    return {name: value for name, value in functions.items() if value.__globals__ is scope}


def _builtins(namespace: Any, cuda: str) -> dict[str, Any]:
    """Python's builtins, but that to import torch gives the namespace, and what is shared is bound to it."""

    def given(name: str, scope: Any = None, local: Any = None, names: Any = (), level: int = 0) -> Any:
        if name == "torch":
            return namespace
        file = shared_in(name)
        if file is None:
            return __import__(name, scope, local, names, level)
        return _shared(file, names, namespace, cuda)

    return vars(builtins) | {"__import__": given}


def _shared(file: Path, names: Iterable[str], namespace: Any, cuda: str) -> SimpleNamespace:
    """Return custom functions, or other functions that chapters share, in a namespace."""
    scope: dict[str, Any] = {"__builtins__": _builtins(namespace, cuda)}
    if not CLASSES.keys() >= set(names):
        exec(code_of(file, cuda), scope)
    found = {name: _custom(name, namespace) if name in CLASSES else scope[name] for name in names}
    return SimpleNamespace(**found)


def _custom(name: str, namespace: Any) -> Any:
    try:
        return custom_function(name, namespace)
    except AttributeError as error:
        return _Absent(f"{name} cannot be made: {error}")


class _Absent:
    """Stands for a custom function that a namespace has no base class for."""

    def __init__(self, why: str) -> None:
        self._why = why

    def __getattr__(self, name: str) -> Any:
        raise NotImplementedError(self._why)


_ENTERED: list[Any] = []
"""Modes that stay entered: PyTorch leaves one when its object dies."""


@contextlib.contextmanager
def plain_state(namespace: Any) -> Iterator[None]:
    """Turn grad mode on and show every warning each time; restore both afterwards, and leave inference mode
    if the case was left in it.
    """
    set_enabled = getattr(namespace, "set_grad_enabled", None)
    set_always = getattr(namespace, "set_warn_always", None)
    is_always = getattr(namespace, "is_warn_always_enabled", lambda: False)
    was_always = is_always()
    try:
        if set_always:
            set_always(True)
        if set_enabled:
            set_enabled(True)
        yield
    finally:
        if set_always:
            set_always(was_always)
        if getattr(namespace, "is_inference_mode_enabled", bool)():
            _ENTERED.append(namespace.inference_mode(False))
            _ENTERED[-1].__enter__()
        if set_enabled:
            set_enabled(True)


def run_case(
    case: Case,
    namespace: Any,
    folder: Path = CASES_DIR,
    cuda: str = "cuda",
    any_refusal: bool = False,
    until: str | None = None,
    says: Says | None = None,
) -> CaseResult:
    """Run one case, with the device ``cuda`` for `cuda`; an exception fails the line that raised it.

    With ``any_refusal``, an exception of any kind is the refusal that is expected of a line. Who asks only
    whether it fails at a line of the text ``until`` needs nothing after the last statement with such a line.
    Where ``says`` gives the text of a namespace's exceptions in PyTorch's words, those are compared, too.
    """
    try:
        function = functions(case.chapter, namespace, folder, cuda)[case.name]
    except Exception as exc:
        return _failure(case, exc, folder / f"{case.chapter}.py")
    if until is not None and (shorter := _code_until(case, until)) is not None:
        exec(shorter, function.__globals__)
        function = function.__globals__[case.name]
    if any_refusal or says is not None:
        words = None if says is None else Words(case.id, says)
        function.__globals__["refused"] = partial(refused, by_any=any_refusal, words=words)
    try:
        with plain_state(namespace), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function()
    except Exception as exc:
        return _failure(case, exc, folder / f"{case.chapter}.py")
    return CaseResult(case, passed=True)


@cache
def _code_until(case: Case, line: str) -> CodeType | None:
    """Return the code of a case without the statements after the last one that has a line of that text; None
    where it has none, where what it calls may have it, too, or where it makes what is called later.
    """
    at = {number for number, text in enumerate(case.text.split("\n"), 1) if text.strip() == line}
    elsewhere = case.path.read_text(encoding="utf-8").count(f"{line}\n") > len(at)
    if not at or (elsewhere and case.calls_others):
        return None
    tree = ast.parse(case.text)
    (definition,) = tree.body
    assert isinstance(definition, ast.FunctionDef)
    there = [each for each in definition.body if at & {*range(each.lineno, (each.end_lineno or 0) + 1)}]
    if any(isinstance(node, _CALLED_LATER) for each in there for node in ast.walk(each)):
        return None
    definition.body = [each for each in definition.body if each.lineno <= there[-1].lineno]
    return compile(ast.increment_lineno(tree, case.line - 1), str(case.path), "exec", dont_inherit=True)


def _failure(case: Case, exc: Exception, path: Path) -> CaseResult:
    """Return the result of a failed case; the line is the last one of the case's file in the traceback."""
    lines = [frame.lineno for frame in traceback.extract_tb(exc.__traceback__) if frame.filename == str(path)]
    line = (lines[-1] if lines else None) or case.line
    source = path.read_text(encoding="utf-8").splitlines()[line - 1].strip()
    why = str(exc) if isinstance(exc, NotAsExpected) else f"{type(exc).__name__}: {exc}".rstrip(": ")
    return CaseResult(case, passed=False, line=line, source=source, why=why, error=exc)


def attributes_at(case: Case, line: int, folder: Path = CASES_DIR) -> tuple[tuple[str, ...], ...]:
    """Return the dotted words on a line of the case's file: `torch.nn.Linear(2, 2).weight` has the paths
    `torch`, `nn`, `Linear` and `weight` alone.
    """
    found = []
    for node in ast.walk(tree_of(folder / f"{case.chapter}.py")):
        if isinstance(node, ast.Attribute) and node.lineno <= line <= (node.end_lineno or line):
            words, owner = [node.attr], node.value
            while isinstance(owner, ast.Attribute):
                words, owner = [owner.attr, *words], owner.value
            found.append((owner.id, *words) if isinstance(owner, ast.Name) else tuple(words[-1:]))
    return tuple(found)
