"""Adapters are found by name, say clearly what is wrong with them, and need little to take part."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import reference_impl
from conformance import adapters
from conformance.adapters.errors import AdapterError
from conformance.adapters.torch_shaped import TorchShaped
from conformance.comparison.compare import Agree, Diverge, compare
from conformance.execution.case import check_case, parse_case
from conformance.execution.run import run
from conformance.execution.trace import Refused
from conformance.program.parsing import parse
from reference_impl.base.session import STATE
from reference_impl.core.access import node_of
from specs.case import cases
from specs.fact import FACTS
from together import together

HELD = [c for c in cases() if c.is_program and c.holds_for(adapters.load("reference").torch)]
SCALARS = parse(
    "a = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)\n"
    "b = torch.tensor(-3.0, dtype=torch.float64, requires_grad=True)\n"
    "c = a * b\nd = c + 1.0\ne = d.relu()\nf = 2.0 - a\nf.backward()\n"
)


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("tensorflow", "no adapter 'tensorflow'"),
        ("nowhere.py", "no file"),
        ("no_such_module:thing", "cannot be imported"),
        ("json:thing", "json has no thing"),
        ("json:decoder", "lacks start, perform, facts, refusal"),
    ],
)
def test_what_is_no_adapter_says_so_in_one_line(spec: str, problem: str) -> None:
    """The error has a problem and a hint, and no line break."""
    with pytest.raises(AdapterError, match=problem) as caught:
        adapters.load(spec)
    assert "\n" not in str(caught.value)


def test_a_missing_torch_is_said_with_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without torch installed the user gets a hint, not a traceback."""
    from conformance.adapters import torch

    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(AdapterError, match="pip install torch"):
        torch.load()


def test_an_old_torch_is_said_with_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    """A torch that no rule speaks of is not graded."""
    from types import SimpleNamespace

    from conformance.adapters import torch

    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(__version__="1.13.1"))
    with pytest.raises(AdapterError, match="too old"):
        torch.load()


FIVE_FUNCTIONS = """
name, version = "mine", "0.1"
def start(): return {}
def perform(session, step, operands):
    if step.op != "torch.tensor": raise NotImplementedError(step.op)
    return [operands[0][0]]
class Box(list): pass
def facts(session, value): return {"is_leaf": True}
def refusal(error): return None
"""


def test_five_functions_in_a_file_are_an_adapter(tmp_path: Path) -> None:
    """A module takes part; what it does not show is unseen, what it lacks unsupported."""
    path = tmp_path / "mine.py"
    path.write_text(FIVE_FUNCTIONS.replace("return [operands[0][0]]", "return Box()"), encoding="utf-8")
    trace = run(SCALARS, adapters.load(str(path)))
    assert ["Done", "Done", "Unsupported"] == [type(seen.outcome).__name__ for seen in trace.observations[:3]]
    assert not trace.complete


def test_micrograd_agrees_where_it_can() -> None:
    """micrograd's forward values and the grads of a first backward are right."""
    pytest.importorskip("micrograd")
    found = compare(run(SCALARS, adapters.load("reference")), run(SCALARS, adapters.load("micrograd")))
    assert isinstance(found, Agree)
    assert found.compared > 50
    assert found.unseen > 50


def test_micrograd_overwrites_the_grad_of_the_root() -> None:
    """micrograd's backward sets the root's grad to 1, where PyTorch accumulates."""
    pytest.importorskip("micrograd")
    program = parse(
        "a = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)\na.backward()\na.backward()\n"
    )
    found = compare(run(program, adapters.load("reference")), run(program, adapters.load("micrograd")))
    assert isinstance(found, Diverge)
    assert (2, "a", "grad.value", 2.0, 1.0) == (
        found.first.step, found.first.name, found.first.fact, found.first.expected, found.first.actual
    )  # fmt: skip


def test_null_is_wrong_about_everything_that_matters() -> None:
    """The null adapter never refuses, and has only leaves and no grads."""
    found = compare(run(SCALARS, adapters.load("reference")), run(SCALARS, adapters.load("null")))
    assert isinstance(found, Diverge)
    assert {"value", "requires_grad", "is_leaf", "grad_fn", "grad"} <= {d.fact for d in found.divergences}


@together("case", HELD, by=lambda case: case.chapter, row_id=lambda case: case.id)
def test_cases_hold_as_programs_too(case: Any) -> None:
    """A case holds as it stands, and also parsed, run on the reference and read off the trace."""
    parsed = parse_case(case)
    trace = run(parsed.program, adapters.load("reference"))
    broken = [(f.expectation, f.actual) for f in check_case(parsed, trace) if f.status == "broken"]
    assert [] == broken
    refused = [seen.outcome for seen in trace.observations if isinstance(seen.outcome, Refused)]
    assert [] == [outcome for outcome in refused if "?" in outcome.message], "a detail is missing"


def test_a_clean_start_forgets_what_an_earlier_program_left_open() -> None:
    """`start` resets the modes and everything open, and leaves the settings of the process alone."""
    reference = adapters.load("reference")
    STATE.enabled, STATE.inference, STATE.warn_always = False, True, True
    STATE.saved_tensors_hooks.append((repr, repr))
    STATE.unordered_hooks.append("MulBackward0")
    reference.start()
    reference.stop(None)
    assert (True, False, True) == (STATE.enabled, STATE.inference, STATE.warn_always)
    assert not STATE.saved_tensors_hooks
    assert not STATE.unordered_hooks


class Retaining(TorchShaped):
    """Retains every grad, by a `perform` of its own."""

    def perform(self, session: None, step: Any, operands: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
        result = super().perform(session, step, operands)
        if getattr(result, "requires_grad", False):
            result.retain_grad()
        return result


def test_a_subclass_that_is_shaped_like_torch_performs_by_its_own_way() -> None:
    """It is not passed over for the way that is sooner."""
    program = parse("a = torch.ones(2, requires_grad=True)\nb = a * 2\n")
    trace = run(program, Retaining(reference_impl, "retaining", "1"))
    assert [False, True] == [trace[1].facts[name][FACTS.index("retains_grad")] for name in "ab"]


def test_raw_state_leaves_a_stale_view_as_it_is() -> None:
    """A view of what was written to shows the flag of its base, and gets no history by being read."""
    raw_state = adapters.load("reference").raw_state
    leaf = reference_impl.ones(2, requires_grad=True)
    base = reference_impl.zeros(2, dtype=reference_impl.float64)
    view = base[:1]
    assert [((2,), "float32", True, True), ((1,), "float64", False, True)] == [*map(raw_state, (leaf, view))]
    base.mul_(leaf)
    assert ((2,), "float64", True, False) == raw_state(base)
    assert ((1,), "float64", True, True) == raw_state(view)
    assert node_of(view) is None
    assert view.grad_fn is not None
    assert ((1,), "float64", True, False) == raw_state(view)
