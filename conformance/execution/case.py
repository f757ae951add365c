"""A case read as a program with expectations, for implementations that no torch-shaped namespace shows.

Where an implementation is torch-shaped a case runs as it stands (`specs.case`); here its text is parsed, run
like any program, and its trace held against the lines. What an observation cannot show (who is whose base,
which node follows which) is listed as unchecked, never passed over in silence.
"""

from __future__ import annotations

import ast
import textwrap
from dataclasses import dataclass
from functools import cache
from typing import Any

from conformance.execution.trace import Crashed, Observation, Refused, Trace, Unsupported
from conformance.program import Program
from conformance.program.parsing import Lowering, ProgramError, dotted, names_in
from specs.case import Case
from specs.fact import GRAD_FACTS, POSITION, UNSEEN

_FLAGS = frozenset(["is_leaf", "requires_grad", "retains_grad", "output_nr", "grad", "grad_fn"])


@dataclass(frozen=True, slots=True)
class Expectation:
    """A fact that must hold after `step`, or a rule that must refuse or warn from `start` on.

    `fact` is one of FACTS, `grad.<fact>`, `outcome` or `warnings`; for the last two `value` is the rule.
    """

    line: int
    start: int
    step: int
    name: str | None
    fact: str
    value: Any


@dataclass(frozen=True, slots=True)
class CaseProgram:
    """A case as a program, what it expects, and the assertions that cannot be read off a trace."""

    id: str
    rules: tuple[str, ...]
    program: Program
    expectations: tuple[Expectation, ...]
    unchecked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CaseFinding:
    """One expectation held against a trace: `status` is held, broken or unseen."""

    expectation: Expectation
    status: str
    actual: Any = None


class _CaseLowering(Lowering):
    """Lowers a case's body; its assertions and expectation blocks become expectations."""

    def __init__(self, taken: set[str]) -> None:
        super().__init__(taken)
        self.expectations: list[Expectation] = []
        self.unchecked: list[str] = []

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assert(test=ast.BoolOp(op=ast.And(), values=tests)):
                for test in tests:
                    self.assertion(test)
            case ast.Assert(test=test):
                self.assertion(test)
            case ast.With(
                items=[
                    ast.withitem(
                        context_expr=ast.Call(func=ast.Name(id="refused" | "warned" as kind), args=[rule])
                    )
                ],
                body=body,
            ):
                start = len(self.steps)
                self.statements(body)
                fact = "outcome" if kind == "refused" else "warnings"
                self.expect(node, None, fact, ast.literal_eval(rule), start)
            case _:
                super().statement(node)

    def expect(
        self, node: ast.AST, name: str | None, fact: str, value: Any, start: int | None = None
    ) -> None:
        step = len(self.steps) - 1
        line = getattr(node, "lineno", 0)
        self.expectations.append(Expectation(line, step if start is None else start, step, name, fact, value))

    def assertion(self, test: ast.expr) -> None:
        """Turn one comparison into an expectation, if an observation can show it."""
        match test:
            case ast.Compare(left=left, ops=[ast.Is() | ast.Eq()], comparators=[right]):
                read = _reading(left)
                if read is not None:
                    try:
                        value = _value(right)
                    except ValueError:
                        pass
                    else:
                        self.expect(test, read[0], read[1], value)
                        return
        self.unchecked.append(ast.unparse(test))


def _reading(node: ast.expr) -> tuple[str, str] | None:
    """The name and fact that an expression such as `x.grad.tolist()` reads, or None."""
    match node:
        case ast.Call(func=ast.Name(id="str"), args=[ast.Attribute(attr="device") as device]):
            return _reading(device)
    called = isinstance(node, ast.Call) and not node.args and not node.keywords
    path = dotted(node.func if called and isinstance(node, ast.Call) else node)
    if path is None or path.count(".") == 0:
        return None
    name, *words = path.split(".")
    if called:
        match words:
            case ["tolist" | "item"]:
                return name, "value"
            case ["_is_view"]:
                return name, "is_view"
            case ["grad_fn", "name"]:
                return name, "grad_fn"
            case ["grad", "tolist" | "item"]:
                return name, "grad.value"
            case ["grad", "grad_fn", "name"]:
                return name, "grad.grad_fn"
        return None
    match words:
        case [word] if word in _FLAGS or word in ("dtype", "shape", "device"):
            return name, word
        case ["grad", word] if word in GRAD_FACTS:
            return name, f"grad.{word}"
    return None


def _value(node: ast.expr) -> Any:
    """The literal that an assertion compares with; raises ValueError where it is none."""
    path = dotted(node)
    if path is not None and path.startswith("torch."):
        return path.removeprefix("torch.")
    match node:
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str() as word)]):
            return float(word)
    return ast.literal_eval(node)


@cache
def parse_case(case: Case) -> CaseProgram:
    """The case as a program; raises `ProgramError` where its body is no straight line, or of more than
    tensors.
    """
    if not case.is_program:
        raise ProgramError(None, f"{case.id} is about more than tensors")
    tree = ast.parse(textwrap.dedent(case.text))
    function = tree.body[0]
    if not isinstance(function, ast.FunctionDef):
        raise ProgramError(function, f"{case.id} is no function")
    lowering = _CaseLowering(names_in(tree))
    lowering.statements(function.body)
    program = Program(tuple(lowering.steps))
    return CaseProgram(case.id, case.rules, program, tuple(lowering.expectations), tuple(lowering.unchecked))


def check_case(case: CaseProgram, trace: Trace) -> tuple[CaseFinding, ...]:
    """Hold a trace of the case's program (observed after each step) against its expectations."""
    return tuple(_check(expectation, trace) for expectation in case.expectations)


def _check(expectation: Expectation, trace: Trace) -> CaseFinding:
    seen = trace.observations[expectation.start : expectation.step + 1]
    if any(isinstance(o.outcome, Unsupported) for o in trace.observations[: expectation.step + 1]):
        return CaseFinding(expectation, "unseen")
    if expectation.fact == "outcome":
        actual: Any = [o.outcome for o in seen if isinstance(o.outcome, (Refused, Crashed))]
        held = len(actual) == 1 and isinstance(actual[0], Refused) and actual[0].rule == expectation.value
        return CaseFinding(expectation, "held" if held else "broken", actual)
    if expectation.fact == "warnings":
        if any(o.warnings is None for o in seen):
            return CaseFinding(expectation, "unseen")
        warned = [rule for o in seen for rule in o.warnings or ()]
        return CaseFinding(expectation, "held" if expectation.value in warned else "broken", warned)
    actual = _actual(expectation, seen[-1]) if seen else UNSEEN
    if actual is UNSEEN:
        return CaseFinding(expectation, "unseen")
    return CaseFinding(expectation, "held" if _agrees(expectation.value, actual) else "broken", actual)


def _actual(expectation: Expectation, seen: Observation) -> Any:
    """The observed value of an expectation's fact; a name bound to nothing shows None."""
    facts = seen.facts.get(expectation.name or "")
    if facts is None or len(facts) == 1:
        return UNSEEN if facts is None or expectation.fact != "value" else facts[0]
    fact, _, inner = expectation.fact.partition(".")
    value = facts[POSITION[fact]]
    if not inner or value is UNSEEN or value is None:
        return value
    return value[GRAD_FACTS.index(inner)] if len(value) == len(GRAD_FACTS) else value


def _agrees(expected: Any, actual: Any) -> bool:
    """Equality as the assertion has it; `item()` of a one-element tensor is its only element."""
    while isinstance(actual, list) and not isinstance(expected, list) and len(actual) == 1:
        actual = actual[0]
    return bool(expected == actual) and (expected is None) == (actual is None)
