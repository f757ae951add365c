"""Calls of hooks on saved tensors are observed as those of other hooks are."""

from __future__ import annotations

import json
from typing import Any

import pytest

import reference_impl
from conformance import adapters
from conformance.adapters.torch_shaped import TorchShaped
from conformance.execution import json_form
from conformance.execution.run import run
from conformance.program.parsing import parse
from specs.fact import GRAD_FACTS, POSITION


@pytest.fixture(params=["torch", "reference"])
def adapter(request: pytest.FixtureRequest) -> Any:
    if request.param == "torch":
        pytest.importorskip("torch")
    return adapters.load(request.param)


SAVING = """
a = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t * 2 if t.is_floating_point() else t):
    b = a.exp()
    c = a.square()
d = b + c
d.backward(d)
"""


def test_calls_of_hooks_on_saved_tensors_are_observed(adapter: Any) -> None:
    """A tensor that was packed shows at the step that saved it, one that was unpacked at the backward."""
    trace = run(parse(SAVING), adapter)
    seen = [[given[0][GRAD_FACTS.index("value")] for _, given in step.calls] for step in trace.observations]
    square, exp = [1.0, 2.0], trace[1].facts["b"][POSITION["value"]]
    assert [[], [exp], [square], [], [square, exp]] == seen
    assert {1} == {of for step in trace.observations for of, _ in step.calls}


def test_a_packed_number_is_observed(adapter: Any) -> None:
    """A hook may pack what is no tensor; JSON keeps it."""
    text = "a = torch.ones(2, requires_grad=True)\n"
    text += "with torch.autograd.graph.saved_tensors_hooks(lambda t: 3, lambda t: t):\n    b = a * a\n"
    trace = run(parse(text + "b.backward(b)\n"), adapter)
    assert ((1, ("3",)),) == trace[2].calls
    form = json.loads(json.dumps(json_form.trace_to_json(trace)))
    assert trace[2].calls == json_form.trace_from_json(form)[2].calls


def test_an_adapter_that_takes_hooks_on_saved_tensors_by_name_shows_no_calls() -> None:
    """It calls them by itself, so that no call of the program is compared from there on."""

    class ByName(TorchShaped):
        saving = None

        def mode(self, session: None, name: str) -> Any:
            return reference_impl.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t * 2)

    trace = run(parse(SAVING), ByName(reference_impl, "by name", "1"))
    assert [(), None, None, None, None] == [seen.calls for seen in trace.observations]
