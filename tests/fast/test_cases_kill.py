"""Bugs in the reference that no rule is, each shown by the case that was written for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import reference_impl
from reference_impl.base import modes
from reference_impl.base.session import STATE
from reference_impl.core import inplace
from reference_impl.core.hooks import RemovableHandle
from reference_impl.core.tensor import Tensor
from reference_impl.nn import Module
from reference_impl.optim import SGD
from specs.case import cases, run_case

CASES = {case.id: case for case in cases()}
Plant = Callable[[pytest.MonkeyPatch], None]


def decorated_calls_leak(cls: type, when: bool | None = None) -> Plant:
    """Have a decorated function that fails leave its mode on, if the mode records ``when`` says."""

    def call(mode: Any, function: Any) -> Any:
        def in_mode() -> Any:
            again = type(mode)._again(mode)
            again.__enter__()
            result = function()
            again.__exit__()
            return result

        STATE.enabled = getattr(mode, "_outside", STATE.enabled)
        return in_mode if when in (None, mode._enabled) else modes._Mode.__call__(mode, function)

    return lambda patch: patch.setattr(cls, "__call__", call)


def remove_takes_the_first(patch: pytest.MonkeyPatch) -> None:
    """Have a handle remove the oldest hook, whichever is its own."""
    patch.setattr(RemovableHandle, "remove", lambda self: self._hooks.pop(min(self._hooks, default=0), None))


def remove_takes_all(patch: pytest.MonkeyPatch) -> None:
    """Have a handle remove every hook."""
    patch.setattr(RemovableHandle, "remove", lambda self: self._hooks.clear())


def remove_takes_the_last(patch: pytest.MonkeyPatch) -> None:
    """Have a handle remove the newest hook."""
    patch.setattr(RemovableHandle, "remove", lambda self: self._hooks and self._hooks.popitem())


def a_block_keeps_its_hook(patch: pytest.MonkeyPatch) -> None:
    """Have the end of a handle's block do nothing."""
    patch.setattr(RemovableHandle, "__exit__", lambda self, *error: None)


def a_block_takes_all_hooks(patch: pytest.MonkeyPatch) -> None:
    """Have the end of a handle's block remove every hook."""
    patch.setattr(RemovableHandle, "__exit__", lambda self, *error: self._hooks.clear())


def clone_shares_memory(patch: pytest.MonkeyPatch) -> None:
    """Have a clone show the elements of the original."""
    own = Tensor.clone

    def clone(x: Any) -> Any:
        made = own(x)
        made._array, made._storage = x._array, x._storage
        return made

    patch.setattr(Tensor, "clone", clone)


def clone_shares_the_counter(patch: pytest.MonkeyPatch) -> None:
    """Have writes to a clone count for the original."""
    own = Tensor.clone

    def clone(x: Any) -> Any:
        made = own(x)
        made._version_counter = x._version_counter
        return made

    patch.setattr(Tensor, "clone", clone)


def copies_do_not_count(patch: pytest.MonkeyPatch) -> None:
    """Have ``copy_`` into a view of a leaf under no_grad count for nobody."""
    own = Tensor.copy_

    def copy_(x: Any, y: Any) -> Any:
        before = x._version
        result = own(x, y)
        if x._is_view() and x._base.is_leaf and not STATE.enabled:
            x._version_counter[0] = before
        return result

    patch.setattr(Tensor, "copy_", copy_)


def writes_return_an_alias(patch: pytest.MonkeyPatch) -> None:
    """Have a fill return a view of what it wrote."""
    own = Tensor.fill_
    patch.setattr(Tensor, "fill_", lambda x, value: inplace.alias(own(x, value)))


def zero_grad_keeps(owner: type, filling: bool) -> Plant:
    """Have ``zero_grad`` do nothing where it fills, or where it forgets."""
    own = owner.zero_grad  # type: ignore[attr-defined]

    def zero_grad(self: Any, set_to_none: bool = True) -> None:
        if set_to_none is filling:
            own(self, set_to_none)

    return lambda patch: patch.setattr(owner, "zero_grad", zero_grad)


def operators_refuse(patch: pytest.MonkeyPatch) -> None:
    """Have an operator refuse what is foreign to it at once."""
    patch.setattr(Tensor, "__mul__", Tensor.mul)


PLANTED: list[tuple[str, Plant]] = [
    ("mode/a_function_that_fails_under_no_grad_ends_its_mode", decorated_calls_leak(modes.no_grad)),
    (
        "mode/a_function_that_fails_under_no_grad_ends_its_mode",
        decorated_calls_leak(modes.set_grad_enabled, False),
    ),
    ("mode/a_function_that_fails_while_it_records_ends_its_mode", decorated_calls_leak(modes.enable_grad)),
    (
        "mode/a_function_that_fails_while_it_records_ends_its_mode",
        decorated_calls_leak(modes.set_grad_enabled, True),
    ),
    (
        "mode/a_function_that_fails_in_inference_mode_ends_its_mode",
        decorated_calls_leak(modes.inference_mode),
    ),
    ("hook/the_other_hook_stays", remove_takes_the_first),
    ("hook/the_other_hook_stays", remove_takes_the_last),
    ("hook/the_other_hook_stays", remove_takes_all),
    ("hook/a_hook_lasts_as_long_as_its_block", a_block_keeps_its_hook),
    ("hook/a_hook_lasts_as_long_as_its_block", a_block_takes_all_hooks),
    ("copy/a_clone_shares_nothing", clone_shares_memory),
    ("copy/a_clone_shares_nothing", clone_shares_the_counter),
    ("copy/a_clone_can_be_written_after_the_original_was_saved", clone_shares_memory),
    ("version/a_copy_into_a_leafs_view_counts_for_all", copies_do_not_count),
    ("write/a_write_returns_its_tensor", writes_return_an_alias),
    ("optim/after_zero_grad_a_step_sees_its_own_gradient_alone", zero_grad_keeps(SGD, True)),
    ("optim/after_zero_grad_a_step_sees_its_own_gradient_alone", zero_grad_keeps(SGD, False)),
    ("nn_module/zero_grad_of_a_module", zero_grad_keeps(Module, True)),
    ("nn_module/zero_grad_of_a_module", zero_grad_keeps(Module, False)),
    ("op/operators_leave_foreign_operands_to_python", operators_refuse),
]


@pytest.mark.parametrize(("case", "plant"), PLANTED, ids=lambda given: getattr(given, "__qualname__", given))
def test_a_case_fails_with_the_bug_that_it_was_written_for(
    case: str, plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The case holds without the bug, and one of its lines fails with it."""
    assert run_case(CASES[case], reference_impl).passed
    with monkeypatch.context() as patch:
        plant(patch)
        assert not run_case(CASES[case], reference_impl).passed
    assert run_case(CASES[case], reference_impl).passed
