"""The one place that makes findings: of a judgement, of a broken case, and of an observer effect.

Each ends with a script that runs by itself under torch. Who is at fault is decided in `comparison.judge`; the
words of a value stand in `words`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from conformance.comparison.compare import Diverge, Divergence
from conformance.comparison.judge import Decision, Judgement
from conformance.program import Program
from conformance.program.printing import READING, script, statement
from conformance.report import words
from conformance.report.value import Finding, Verdict, Witnessed
from specs.case import Case

TORCH = "torch"


def of_judgement(where: str, program: Program, judgement: Judgement, refused: Iterable[int]) -> Finding:
    """Make the finding of a program that diverges; the expected value is torch's wherever it took part.

    ``refused`` are the steps that the script wraps in ``try``.
    """
    first, sides = judgement.first, judgement.decided_by
    assert first is not None
    assert isinstance(judgement.comparison, Diverge)
    suite = judgement.decision is Decision.SUITE
    return of_divergence(
        where,
        program,
        first,
        sides,
        refused,
        swap=suite and sides[1] == TORCH,
        blames=Verdict.BROKEN_SUITE if suite else Verdict.NONCONFORMANCE,
        because=judgement.because,
        downstream=sum(d.downstream for d in judgement.comparison.divergences),
    )


def of_divergence(
    where: str,
    program: Program,
    first: Divergence,
    sides: tuple[str, str],
    refused: Iterable[int],
    *,
    blames: Verdict,
    because: tuple[str, ...],
    downstream: int = 0,
    swap: bool = False,
    reading: int | None = None,
) -> Finding:
    """Make the finding of a program's first divergence; ``swap`` exchanges the two sides.

    ``reading`` is the step of the program that was inserted to make the difference; `first` does not count
    it.
    """
    values: tuple[Any, Any] = (first.expected, first.actual)
    if swap:
        values, sides = values[::-1], sides[::-1]
    expected, actual = map(words.value, values)
    at = first.step + (reading is not None)
    notes = {} if reading is None else {reading: ["# ^ this reading makes the difference"]}
    steps = (step for index, step in enumerate(program) if index != reading)
    return Finding(
        where=where,
        blames=blames,
        line=statement(program[at]),
        name=first.name or "",
        fact=first.fact,
        expected=expected,
        actual=actual,
        because=because,
        downstream=downstream,
        script=script(
            program, refused=refused, notes=notes | {at: _printing(first, sides, (expected, actual))}
        ),
        sides=sides,
        ops=(*dict.fromkeys(step.op for step in steps if step.op != program[at].op), program[at].op),
    )


def without_causes(finding: Finding, causes: tuple[str, ...]) -> Finding:
    """Say of a finding that its expected value is that of the reference without some rules: the difference
    shows behind one that they explain.
    """
    expected = f"reference without {', '.join(causes)}"
    script = finding.script.replace(f"\n# {finding.sides[0]}: ", f"\n# {expected}: ")
    return replace(finding, sides=(expected, finding.sides[1]), script=script)


def of_case(case: Case, result: Witnessed, side: str, blames: Verdict, script: str) -> Finding:
    """Make the finding of a case that broke on a side."""
    return Finding(
        where=f"case {case.id}",
        blames=blames,
        line=result.line,
        name="",
        fact="case",
        expected="as the case says",
        actual=result.why,
        because=tuple(dict.fromkeys((*result.explained_by[:1], *case.rules))),
        downstream=0,
        script=script,
        sides=("the case", side),
        ops=(case.id,),
        explained_by=result.explained_by,
    )


def _printing(first: Divergence, sides: tuple[str, str], values: tuple[str, str]) -> list[str]:
    """Return the lines that print the diverging fact, and the value of each side as a comment."""
    fact = first.fact.partition(".")[0]
    # NB: errors may have several lines, of which a comment is one.
    lines = [f"# {side}: {' '.join(value.splitlines())}" for side, value in zip(sides, values, strict=True)]
    if first.name is not None and fact in READING:
        lines.insert(0, f"print({READING[fact].format(first.name)})")
    return lines
