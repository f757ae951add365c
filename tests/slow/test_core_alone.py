"""The core is a complete, simpler autograd: without fidelity it passes every case that needs none."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

import reference_impl
from reference_impl.core import extension_points
from reference_impl.core.extension_points import core_alone
from specs.active_rules import modelling
from specs.case import Case, cases, run_case
from specs.rule import CHANGING_RELEASES, RULES
from together import together

ROOT = Path(__file__).parents[2]
BESIDE = ("fidelity/*.py", "base/device.py", "base/grad_dtype.py")
"""The places of rules that the core does without."""

NEEDS_MORE = {
    "around/autocast_casts_a_leaf_once": "autocast comes between an op and its operands",
    "around/autocast_casts_products_alone": "autocast comes between an op and its operands",
    "around/autocast_keeps_its_casts_through_nested_blocks": "autocast comes between an op and its operands",
    "around/checkpoints_compute_in_half_precision_again": "autocast comes between an op and its operands",
    "around/functions_under_autocast": "autocast comes between an op and its operands",
    "resize/a_conjugate_lies_where_its_source_does": "conjugates lie elsewhere in the core",
    "casts_rarer/types_under_older_names": "it calls torch.Tensor()",
    "copy_storage/old_names_make_tensors": "it calls torch.Tensor()",
    "op_made/the_old_constructor_takes_no_flag": "it calls torch.Tensor()",
    "forward_levels/an_out_is_filled_inside_a_level_too": "it gives out=",
    "forward_levels/zeros_without_memory_have_some_as_a_tangent": "zeros have memory there",
    "functional_maps/a_map_takes_and_gives_tensors": "a map gives tensors that stand for many",
    "functional_maps/custom_functions_in_a_map_are_asked_for_their_rule": (
        "a map gives tensors that stand for many"
    ),
    "functional_own_rules/a_function_says_how_it_is_mapped": "a map gives tensors that stand for many",
    "functional_products/maps_and_calls_of_functions": "a map gives tensors that stand for many",
    "functional_refusals/maps_need_a_dimension_that_all_have": "a map gives tensors that stand for many",
    "functional_windows/rules_are_called_for_each_call": "a map gives tensors that stand for many",
    "functional_windows/windows_of_an_element_end_where_it_does": "a map gives tensors that stand for many",
    "grad_borders/forward_mode_refuses_what_it_cannot_follow": "it gives out=",
    "grad_borders/modes_by_dtype_and_device": "autocast comes between an op and its operands",
    "grad_dtype/a_grad_dtype_does_not_leak_to_what_comes_back": "it assigns a grad_dtype",
    "gradcheck/gradients_have_the_dtype_of_their_inputs": "it assigns a grad_dtype",
    "inference/kernels_that_take_a_view_ask_for_the_version": "its kernels look at inference tensors",
    "inference_alone/a_product_of_inference_tensors_counts_nothing": "its kernel counts as a write",
    "linalg_refusals/transforms_of_hermitian_signals_over_several_dimensions": "conjugates are shown apart",
    "nodes_told/nothing_may_be_saved_beside_a_result": "a map gives tensors that stand for many",
    "op_conjugates/a_conjugate_of_a_part_of_a_conjugate_follows_a_write": "conjugates are shown apart",
    "op_conjugates/a_conjugate_of_a_conjugate_shows_the_memory": "conjugates are shown apart",
    "op_conjugates/a_conjugate_is_a_view_until_it_is_resolved": "conjugates are shown apart",
    "op_conjugates/a_write_through_a_view_of_a_conjugate_is_replayed": "conjugates are shown apart",
    "op_conjugates/imaginary_parts_of_a_conjugate_are_negative": "conjugates are shown apart",
    "op_conjugates/numpy_of_a_conjugate_is_refused": "conjugates are shown apart",
    "op_made/tensors_are_made_of_numbers": "it calls torch.Tensor()",
    "op_products/a_vector_times_a_matrix_begins_at_version_one": "its kernel counts as a write",
    "op_unusual_values/results_that_are_rarely_asked_for": "it calls torch.Tensor()",
    "resize/output_that_does_not_fit_is_resized": "it gives out=",
    "resize/set_takes_memory_and_no_conjugate_bit": "conjugates are shown apart",
    "write_memory/an_element_that_is_shown_twice_is_filled_where_it_is_named": "it writes some elements",
}
"""The cases that the core alone fails although they name no rule of those places, each with its reason."""


@cache
def rules_beside_the_core() -> frozenset[str]:
    """The rules that files in `BESIDE` name."""
    files = [file for place in BESIDE for file in (ROOT / "reference_impl").glob(place)]
    strings = {
        node.value
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return frozenset(strings & RULES.keys())


def passes(case: Case) -> bool:
    """True if a case holds on the core alone, as the latest torch that knows its rules."""
    release = next(release for release in reversed(CHANGING_RELEASES) if case.holds_for(release))
    with modelling(release), core_alone():
        return run_case(case, reference_impl).passed


ALONE = [case for case in cases() if not case.devices and not rules_beside_the_core() & set(case.rules)]


@together("case", ALONE, by=lambda case: case.chapter, row_id=lambda case: case.id)
def test_the_core_alone_passes_the_cases_that_need_no_more(case: Case) -> None:
    """Grad modes, histories, views, in-place writes, hooks and double backward need no fidelity."""
    assert (case.id not in NEEDS_MORE) == passes(case)


def test_few_cases_need_more_than_the_core() -> None:
    """Six cases in seven are about autograd itself."""
    assert len(ALONE) >= len(cases()) * 6 // 7


def test_fidelity_makes_a_difference() -> None:
    """Without fidelity a lone gradient is copied: the core really is alone."""
    stolen = next(case for case in cases() if "grad/stolen-when-alone" in case.rules)
    assert not passes(stolen)
    assert run_case(stolen, reference_impl).passed


def test_only_extension_points_are_filled() -> None:
    """A function of another name would never be called."""

    def nowhere() -> None: ...

    with pytest.raises(TypeError, match="no extension point 'nowhere'"):
        extension_points.fill(nowhere)
