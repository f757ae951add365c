"""The status of each rule after a check, from what cases and findings say of it together.

Cases and findings come from `cases` and `campaign`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TypeVar

from conformance.grading.tally import Tally
from conformance.report.value import Finding, RuleResult, Status, Verdict, Witnessed
from specs.rule import RULES

T = TypeVar("T", bound=Hashable)

LIBRARY = frozenset(rule.id for rule in RULES.values() if not rule.in_programs)
"""The rules that no program could show to hold: what is built on tensors."""


@dataclass
class Blame:
    """The rules that cases convict, those that programs do or make suspect, and of others the rule behind
    which they could not be judged; ``explains`` counts the cases and programs that a rule explains.
    """

    broken: set[str] = field(default_factory=set)
    suspect: set[str] = field(default_factory=set)
    flaky: set[str] = field(default_factory=set)
    behind: dict[str, str] = field(default_factory=dict)
    explains: Counter[str] = field(default_factory=Counter)


def rule_statuses(
    rules: Iterable[str], tally: Tally, witnessed: Mapping[str, Sequence[Witnessed]], limited: bool
) -> dict[str, RuleResult]:
    """Return the result of each rule, in the order given; ``limited``: the implementation says that it cannot
    do everything.

    A rule is broken if it is one of the fewest that explain why cases fail, blocked if its cases fail for
    another rule or if it depends on a broken one. Rules that explain the other findings are suspect, or
    broken where no case held them.
    """
    rules = tuple(rules)
    held = {rule for rule in rules if held_by(rule, witnessed.get(rule, ()))}
    confirmed = {rule for rule in tally.confirmed if rule not in tally.lacking}
    run = dict.fromkeys(case for cases in witnessed.values() for case in cases)
    blame = blamed(run, tally.findings, held, confirmed)
    results = {}
    for rule in rules:
        cases = witnessed.get(rule, ())
        status = _status(rule, cases, blame, held | confirmed, limited and not tally.broken)
        results[rule] = RuleResult(
            rule,
            status,
            fired=tally.fired.get(rule, 0),
            compared=tally.compared.get(rule, 0),
            cases=len(cases),
            cases_failed=sum(case.broken for case in cases),
            why=_why(rule, status, cases, blame, tally.lacking),
            explains=blame.explains[rule],
        )
    return results


def held_by(rule: str, cases: Sequence[Witnessed]) -> bool:
    """Tell whether cases hold a rule: one shows it, and no other that passed lacked what shows it there."""
    return any(case.holds(rule) for case in cases) and not any(dict(case.lacking).get(rule) for case in cases)


def unconfirmed(rules: Iterable[str], witnessed: Sequence[Witnessed]) -> frozenset[str]:
    """The rules that programs can show and no case holds."""
    return frozenset(
        rule
        for rule in rules
        if RULES[rule].in_programs and not held_by(rule, [each for each in witnessed if rule in each.rules])
    )


def blamed(
    cases: Iterable[Witnessed], findings: Iterable[Finding], held: set[str], confirmed: set[str]
) -> Blame:
    """The blame for the cases that failed and for the differences of programs."""
    blame = Blame()
    broken = [case for case in cases if case.broken]
    beside = [replace(case, explained_by=rules) for case in broken for rules in case.beside]
    _convict([*broken, *beside], held, blame)
    _suspect(
        [finding for finding in findings if not finding.where.startswith("case ")], held, confirmed, blame
    )
    blame.flaky -= blame.suspect | blame.broken
    for rule in sorted(blame.broken | blame.suspect, key=_depth, reverse=True):
        blame.behind.pop(rule, None)
        if more_basic := _depended_on(rule, blame.broken):
            blame.broken.discard(rule)
            blame.suspect.discard(rule)
            blame.behind[rule] = more_basic
    return blame


def _convict(cases: Sequence[Witnessed], held: set[str], blame: Blame) -> None:
    """Convict the fewest rules that explain the failed cases: by doing the same; where no rule does, by
    failing at the same line. What then remains is put down to a convicted rule that fires there, or else
    convicts the rule that the case names first; a case about what is built on tensors (`library`) is put down
    to such a rule before another is convicted for it. A rule that another case held is not acquitted by that
    where one that names it fails as it does without the rule. A case that fails otherwise than without any
    of its own rules convicts none: what explains how it failed is suspect, though it held elsewhere.
    """
    left = list(cases)
    for case in cases:
        named_first = set(case.alike).intersection(case.rules[:1])
        held = held - named_first.union(case.explained_by).intersection(case.rules)
    for tier in ("explained_by", "alike"):
        options = {case: _options(case, getattr(case, tier), held) for case in left}
        for case in [case for case in left if not case.explained_by]:
            known = _behind(options[case], blame) or _behind(case.fired if _of_library(case) else (), blame)
            options[case] = known or options[case]
        for rule in _fewest(options, blame):
            explained = [case for case in left if rule in options[case]]
            if not explained:
                del blame.explains[rule]
                continue
            blame.broken.add(rule)
            if tier == "alike":
                built = [case for case in left if _of_library(case) and case not in explained]
                explained += [
                    case for case in built if rule in case.alike
                ]  # held elsewhere, and yet convicted
            for case in explained:
                left.remove(case)
                _block(case, rule, blame)
    for case in left:
        undiagnosed = not case.fired or case.died
        shown = [rule for rule in case.rules if undiagnosed or rule in case.alike]
        suspects = (*shown, *case.explained_by, *case.rules)
        (rule,) = _behind(case.fired, blame) or suspects[:1]
        (blame.broken if rule in blame.broken or shown else blame.suspect).add(rule)
        blame.explains[rule] += 1
        _block(case, rule, blame)


def _of_library(case: Witnessed) -> bool:
    """Tell whether a case is about what is built on tensors, and breaks where they do."""
    return any(rule in LIBRARY for rule in case.rules[:1])


def _options(case: Witnessed, rules: Iterable[str], held: set[str]) -> tuple[str, ...]:
    """The rules that may be convicted of the failure of a case: not those of which other cases are witness
    that they hold; the first that the case names comes first.
    """
    options = [rule for rule in rules if rule in case.rules or rule not in held]
    return tuple(
        sorted(options, key=lambda rule: case.rules.index(rule) if rule in case.rules else len(options))
    )


def _behind(rules: Iterable[str], blame: Blame) -> tuple[str, ...]:
    """The convicted one of these rules that explains most, if there is one."""
    convicted = [rule for rule in rules if rule in blame.broken]
    return (max(convicted, key=lambda rule: blame.explains[rule]),) if convicted else ()


def _block(case: Witnessed, rule: str, blame: Blame) -> None:
    for other in case.rules:
        blame.behind.setdefault(other, rule)


def _suspect(findings: Sequence[Finding], held: set[str], confirmed: set[str], blame: Blame) -> None:
    """Suspect the fewest rules that explain the differences which no convicted rule explains; one that does
    just the same is convicted itself, unless a case held it, and with it others that do so each time.

    What cases or other programs held is acquitted, unless nothing else does just the same.
    """
    left: dict[Finding, tuple[str, ...]] = {}
    for finding in findings:
        options = finding.concerns
        if finding.flaky:
            blame.flaky |= set(options) - held or set(options)
        elif finding.blames is not Verdict.CONFORMS:
            known = _behind(finding.explained_by or options[:1], blame)
            blame.explains.update(dict.fromkeys(known, finding.alike))
            if not known:
                named = (options,) if finding.explained_by else (options, finding.because)
                open_to = (_open(rules, finding.fact, held | confirmed) for rules in named)
                left[finding] = next(filter(None, open_to), options)
    for rule, alike in _fewest(left, blame, lambda finding: finding.alike, _by_rank).items():
        sure = rule not in held and any(rule in finding.explained_by for finding in alike)
        (blame.broken if sure else blame.suspect).add(rule)
        if sure:  # what nothing tells apart is broken together
            tied = set.intersection(*(set(finding.explained_by) for finding in alike)) - held - confirmed
            blame.broken |= tied
            blame.explains.update(dict.fromkeys(tied - {rule}, blame.explains[rule]))


def _open(rules: tuple[str, ...], fact: str, acquitted: set[str]) -> tuple[str, ...]:
    """Return the rules that may be suspect of a fact: not those that were seen to hold, and of the
    library's only those that decide it.
    """
    kind = fact.partition(".")[0]
    others = {rule for rule in LIBRARY.intersection(rules) if kind not in RULES[rule].decides}
    return tuple(rule for rule in rules if rule not in acquitted | others)


def _by_rank(finding: Finding, rank: int) -> float:
    """Return the weight of a rule that a finding names: where none explains it, the later the less."""
    return 1.0 if finding.explained_by else 1 / (1 + rank)


def _fewest(
    options: Mapping[T, tuple[str, ...]],
    blame: Blame,
    weight: Callable[[T], int] = lambda thing: 1,
    says: Callable[[T, int], float] = lambda thing, rank: 1.0,
) -> dict[str, list[T]]:
    """Few rules that explain all that can be explained, each with what it explains: always the one that
    explains most of what is left, by what its rank ``says``; of equals, that which comes first most often,
    then the more basic one.
    """
    left = dict(options)
    chosen: dict[str, list[T]] = {}
    while left := {thing: rules for thing, rules in left.items() if rules}:
        counts: defaultdict[str, float] = defaultdict(float)
        for thing, rules in left.items():
            for rank, rule in enumerate(rules):
                counts[rule] += says(thing, rank)
        first = Counter(rules[0] for rules in left.values())
        best = min(counts, key=lambda rule: (-counts[rule], -first[rule], _depth(rule), rule))
        chosen[best] = [thing for thing, rules in left.items() if best in rules]
        blame.explains[best] += sum(map(weight, chosen[best]))
        left = {thing: rules for thing, rules in left.items() if best not in rules}
    return chosen


@cache
def _depth(rule: str) -> int:
    """The longest way down from a rule to one that depends on nothing."""
    return max((1 + _depth(other) for other in RULES[rule].depends), default=0) if rule in RULES else 0


def _blocking(rule: str, blame: Blame) -> str:
    """The broken rule because of which a rule could not be judged, or nothing."""
    return blame.behind.get(rule) or _depended_on(rule, blame.broken)


def _depended_on(rule: str, broken: set[str]) -> str:
    """The first broken rule on which a rule depends, at once or by others, or nothing."""
    for other in RULES[rule].depends if rule in RULES else ():
        if found := other if other in broken else _depended_on(other, broken):
            return found
    return ""


def _status(rule: str, cases: Sequence[Witnessed], blame: Blame, held: set[str], limited: bool) -> Status:
    for status, blamed in (
        (Status.BROKEN, blame.broken),
        (Status.SUSPECT, blame.suspect),
        (Status.FLAKY, blame.flaky),
    ):
        if rule in blamed:
            return status
    if rule in blame.behind:
        return Status.BLOCKED
    if rule in held:
        return Status.HELD
    if _blocking(rule, blame):
        return Status.BLOCKED
    if any(case.not_exercised or case.held or case.lacking for case in cases):
        return Status.NOT_EXERCISED
    if limited or any(case.unsupported for case in cases):
        return Status.UNSUPPORTED
    return Status.NOT_EXERCISED


def _why(
    rule: str, status: Status, cases: Sequence[Witnessed], blame: Blame, lacking: Mapping[str, str]
) -> str:
    """Return why a rule is unsupported, not exercised or blocked; else nothing."""
    if status is Status.BLOCKED:
        return f"behind {_blocking(rule, blame)}"
    if status is Status.UNSUPPORTED:
        said = (case.why for case in cases if case.unsupported and case.why)
        return next(said, "the adapter lacks what the rule speaks of")
    if status is Status.NOT_EXERCISED:
        unseen = (dict(case.lacking).get(rule, "") for case in cases)
        said = (why for why in (*unseen, *(case.why for case in cases if case.not_exercised)) if why)
        return next(said, lacking.get(rule, "no case and no program reached it"))
    return ""
