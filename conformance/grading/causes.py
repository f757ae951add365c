"""The findings of a whole run by their causes: what chunks found each by itself is one finding here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from conformance.comparison.tolerance.op_effects import aliases, is_declared, writes
from conformance.execution.op_reach import speaks_of_gradients
from conformance.program import reads
from conformance.program.parsing import parse
from conformance.report.value import Finding, Verdict

FLAGS = frozenset(["is_leaf", "requires_grad", "retains_grad", "is_view"])
"""Facts that do not depend on what an operation computes."""


def sign_of(finding: Finding) -> tuple[object, ...]:
    """Return the properties by which a difference that no rule explains is taken for another: its fact after
    one operation, or what should have been refused or was and what came instead. After a backward, which does
    what others left to it, it is also the only other operation that is left, and may be at fault itself.
    What shows behind known causes is no kind of its own for that: they only made it show elsewhere.
    """
    shared = finding.blames, finding.flaky
    at = tuple(map(_kind_of, finding.ops[-1:]))
    if finding.fact in FLAGS and not any(map(speaks_of_gradients, at)):
        return *shared, finding.fact, finding.expected, finding.actual, tuple(map(family_of, at))
    if finding.fact != "outcome":
        alone = finding.not_reduced or not any(map(speaks_of_gradients, at))
        others = () if alone else others_in(finding.script)
        return *shared, finding.fact, at, others if len(others) == 1 else ()
    came_to = tuple(":".join(said.split(":")[:2]) for said in (finding.expected, finding.actual))
    refused = any(said.startswith("refused ") for said in came_to)
    return *shared, *came_to, () if refused else at


def others_in(script: str) -> tuple[str, ...]:
    """Return the operations of a script before its last, but for those that make tensors of nothing."""
    return tuple(_kind_of(step.op) for step in parse(script).steps[:-1] if reads(step))


def family_of(op: str) -> str:
    """Return the family of an operation of the op table: it writes, may give a view, or neither. Others are
    alone.
    """
    if writes(op):
        return "a write"
    if not is_declared(op):
        return op
    return "an op" if aliases(op) == "never" else "a view"


def _kind_of(op: str) -> str:
    """Return an operation; all custom functions are one."""
    return "apply" if op.endswith(".apply") else op


def by_cause(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """One finding a cause: the fewest rules that explain those of programs, each with the shortest of its
    programs, which counts the others. What no rule explains goes by its sign; cases stand for themselves.
    """
    kept: dict[object, list[Finding]] = {}
    left: list[Finding] = []
    for finding in findings:
        if finding.explained_by and not (finding.flaky or finding.is_of_case):
            left.append(finding)
        else:
            key = finding.where if finding.is_of_case else sign_of(finding)
            kept.setdefault(key, []).append(finding)
    while left:
        votes: dict[tuple[Verdict, str], list[int]] = {}
        for finding in left:
            for rank, rule in enumerate(finding.explained_by):
                explained, ranks, alike = votes.get((finding.blames, rule), (0, 0, 0))
                votes[finding.blames, rule] = [explained - 1, ranks + rank, alike - finding.alike]
        blames, rule = min(votes, key=lambda each: (votes[each], each[1]))
        kept[blames, rule] = [f for f in left if f.blames == blames and rule in f.explained_by]
        left = [f for f in left if f not in kept[blames, rule]]
    return tuple(_merged(group, key) for key, group in kept.items())


def _merged(group: list[Finding], cause: object) -> Finding:
    """Return the shortest of the findings of one cause, which counts them all."""
    if len(group) == 1:
        return group[0]
    shortest = min(group, key=lambda f: (bool(f.not_reduced), len(f.script.splitlines()), -f.alike))
    common = [r for r in shortest.explained_by if all(r in f.explained_by for f in group)]
    common.sort(key=lambda rule: (shortest.blames, rule) != cause)
    missed = shortest.refusal_missed if len({f.refusal_missed for f in group}) == 1 else ()
    because = tuple(dict.fromkeys((*missed, *common, *shortest.because)))
    return replace(shortest, alike=sum(f.alike for f in group), explained_by=tuple(common), because=because)
