"""The four ties of every rule: cited by the reference, witnessed by a case, reached by programs, missed
when gone.

That a case's assertions hold on torch is ``test_cases``; that generated programs reach the rules is
``tests/quality``.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

import reference_impl
from conformance.adapters import load
from conformance.comparison.compare import Agree, compare
from conformance.execution.case import parse_case
from conformance.execution.run import run
from conformance.program.parsing import ProgramError
from reference_impl.base.rules import knocked_out
from specs.active_rules import modelling
from specs.case import Case, cases, run_case
from specs.rule import CHANGING_RELEASES, RULES
from together import together

ROOT = Path(__file__).parents[2]
MARKS = (
    "by", "refuse", "refuse_by", "warn", "warn_once", "warn_or_hold", "count_birth", "need_late_kernel",
)  # fmt: skip


def _chosen(values: list[ast.expr]) -> set[str]:
    """The texts that an expression may be."""
    chosen = [each for v in values for each in ((v.body, v.orelse) if isinstance(v, ast.IfExp) else (v,))]
    return {each.value for each in chosen if isinstance(each, ast.Constant)}


def chapter_of(rule: str) -> str:
    """The chapter of a rule by its id."""
    return rule.partition("/")[0]


@cache
def cited() -> frozenset[str]:
    """Every rule-shaped string in the reference and in the op bodies."""
    found: set[str] = set()
    for folder in ("reference_impl", "specs"):
        for path in (ROOT / folder).rglob("*.py"):
            if "cases" in path.parts:
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") in MARKS:
                    found |= _chosen(node.args[node.func.id == "count_birth" :][:1])
                if isinstance(node, ast.keyword) and node.arg == "counts_itself":
                    found |= _chosen([node.value])
                if isinstance(node, ast.Dict):
                    found |= {
                        v.value for v in node.values if isinstance(v, ast.Constant) and v.value in RULES
                    }
    return frozenset(found)


def test_every_rule_is_cited_by_the_reference() -> None:
    """No rule stands without a line that embodies it."""
    assert sorted(set(RULES) - cited()) == []


def test_every_citation_is_a_rule() -> None:
    """No line claims a rule that nobody wrote down."""
    assert sorted(cited() - set(RULES)) == []


@pytest.mark.parametrize("chapter", sorted({case.chapter for case in cases()}))
def test_the_reference_passes_every_case(chapter: str) -> None:
    """A case holds on the reference, whichever torch it models of those that know the case's rules."""
    listed = [case for case in cases() if case.chapter == chapter]
    assert [] == [case.id for case in listed if not any(map(case.holds_for, CHANGING_RELEASES))]
    failed = []
    for release in CHANGING_RELEASES:
        with modelling(release):  # once for all: what holds is looked up anew each time
            results = [run_case(case, reference_impl) for case in listed if case.holds_for(release)]
        failed += [f"as torch {release}: {result}" for result in results if not result.passed]
    assert [] == failed


@together("rule", RULES, by=chapter_of)
def test_every_rule_is_missed_when_it_is_knocked_out(rule: str) -> None:
    """Without the rule, one of the cases that name it fails: a rule nobody misses is decoration."""
    witnesses = [case for case in cases() if rule in case.rules]
    assert witnesses, f"no case names {rule}"
    killers = [case.id for case in witnesses if not _as_latest(case, rule)]
    assert killers, f"{rule} can be knocked out without any of {[case.id for case in witnesses]} failing"


BEYOND = frozenset({
    "backward/nodes_that_save_nothing_run_again", "backward_order/the_earlier_node_is_left_out_by_a_failure",
    "backward_order/a_failed_node_has_not_given_up_what_it_saved", "data/a_views_base_is_not_swapped_along",
    "detach/no_gradient_flows_through_detach", "device/a_moved_tensor_without_grad_is_a_leaf",
    "double/zeros_without_memory_are_laid_out_by_rows", "double/a_quotient_by_a_count_has_memory",
    "function/plain_arguments_give_plain_results", "function/saved_output_has_its_history",
    "grad_assign/grad_can_be_assigned", "grad_assign/complex_grad_can_be_assigned",
    "hook/hook_without_result_changes_nothing", "hook/hook_before_a_write_sees_the_old_values_gradient",
    "known_divergences/retained_grad_of_a_view_that_nobody_uses",
    "leaf/edges_lead_to_accumulators_and_to_nothing", "lifetime/graph_keeps_its_leaves_alive",
    "myths/myth_a_write_always_breaks_backward", "myths/myth_a_leafs_grad_is_none_for_being_a_leaf",
    "myths_graph/myth_a_node_saves_all_inputs", "nn/linear_without_bias_is_a_product",
    "op_dtypes/a_rounded_result_without_elements_has_strides_by_rows",
    "save/addition_saves_nothing", "save/a_saved_result_outlives_its_history",
    "save/a_write_before_saving_does_no_harm", "saved_hooks/hooks_see_what_is_saved",
    "view/a_no_grad_view_is_a_leaf_that_requires_grad", "window/what_the_base_repeats_is_divided",
    "write/a_result_of_the_same_kind_fits", "write_history/an_earlier_use_keeps_its_history",
})  # fmt: skip
"""Cases of what their rule does not do: an implementation fails them that goes beyond the rule."""


@together("case", cases(), by=lambda case: case.chapter, row_id=lambda case: case.id)
def test_a_case_fails_without_the_rule_that_it_names_first(case: Case) -> None:
    """That rule is convicted where a failure is not explained otherwise."""
    assert _as_latest(case, case.rules[0]) is (case.id in BEYOND)


DEPENDENCIES = [(rule.id, other) for rule in RULES.values() for other in rule.depends]


@together("rule, other", DEPENDENCIES, by=lambda pair: chapter_of(pair[0]))
def test_a_rule_cannot_be_judged_without_those_it_depends_on(rule: str, other: str) -> None:
    """Without the other rule one of its cases fails, or shows something else on the way."""
    witnesses = [case for case in cases() if rule in case.rules]
    assert any(not _as_latest(case, other) or _differs(case, other) for case in witnesses)


def _differs(case: Case, without: str) -> bool:
    """Tell whether the case, read as a program, gives another result without the rule."""
    try:
        program = parse_case(case).program
    except ProgramError:
        return False
    with modelling(_latest(case)):
        right = run(program, load("reference"))
        with knocked_out(without):
            return not isinstance(compare(right, run(program, load("reference"))), Agree)


def _as_latest(case: Case, without: str) -> bool:
    """True if the case passes without the rule, on the latest torch that knows all of its rules."""
    with modelling(_latest(case)), knocked_out(without):
        return run_case(case, reference_impl).passed


def _latest(case: Case) -> str:
    """The latest torch that knows all rules of the case."""
    return next(release for release in reversed(CHANGING_RELEASES) if case.holds_for(release))
