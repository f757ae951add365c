"""Running a program observes what a script run by hand would see."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from typing import Any

import jsonschema
import pytest

import reference_impl
from conformance import adapters
from conformance.adapters.torch_shaped import TorchShaped
from conformance.execution import json_form
from conformance.execution.op_reach import EVERYTHING
from conformance.execution.run import Runner, run
from conformance.execution.trace import DONE, UNBOUND, Refused, Unsupported
from conformance.program.parsing import parse
from specs.active_rules import knocked_out, modelling
from specs.fact import FACTS, GRAD_FACTS, POSITION, UNSEEN


@pytest.fixture(params=["torch", "reference"])
def adapter(request: pytest.FixtureRequest) -> Any:
    if request.param == "torch":
        pytest.importorskip("torch")
    return adapters.load(request.param)


def outcomes(trace: Any) -> list[str]:
    return [type(seen.outcome).__name__ for seen in trace.observations]


def fact(trace: Any, step: int, name: str, which: str) -> Any:
    return trace[step].facts[name][POSITION[which]]


def test_facts_after_each_step(adapter: Any) -> None:
    """A plain step shows what it names, one that differentiates every live tensor, in reading order."""
    trace = run(
        parse("a = torch.tensor([1.0, 2.0], requires_grad=True)\nb = a.mul(a)\nc = b.sum()\nc.backward()\n"),
        adapter,
    )
    assert [
        ["a"],
        ["a", "b"],
        ["b", "c"],
        ["a", "b", "c"],
    ] == [list(seen.facts) for seen in trace.observations]
    leaf = ([1.0, 2.0], "float32", (2,), "cpu", True, True, False, None, 0, False, 0, None)
    assert leaf == trace[1].facts["a"]
    assert (
        [1.0, 4.0],
        "float32",
        (2,),
        "cpu",
        False,
        True,
        False,
        "MulBackward0",
        0,
        False,
        0,
        UNSEEN,
    ) == trace[2].facts["b"]
    assert ("float32", (2,), "cpu", [2.0, 4.0], False, True, None) == fact(trace, 3, "a", "grad")
    assert len(FACTS) == len(trace[0].facts["a"])


def test_a_failing_step_binds_nothing_and_the_rest_goes_on(adapter: Any) -> None:
    """A refusal leaves its name unbound; a step that names it is not run; the state is still observed."""
    trace = run(
        parse("a = torch.tensor([1.0, 2.0])\nb = torch.autograd.grad(a, a)\nc = b.neg()\nd = a.neg()\n"),
        adapter,
    )
    assert ["Done", "Refused", "Unbound", "Done"] == outcomes(trace)
    assert {"a", "d"} == set(trace[3].facts)


def test_a_failing_rebinding_keeps_the_old_binding(adapter: Any) -> None:
    """`a += 1` that is refused leaves `a` what it was, as in Python."""
    trace = run(parse("a = torch.tensor([1.0], requires_grad=True)\na += 1\nb = a.neg()\n"), adapter)
    assert [DONE, Refused("write/leaf-refused"), DONE] == [seen.outcome for seen in trace.observations]


def test_none_is_bound_and_shown(adapter: Any) -> None:
    """Reading an empty grad binds None; a step that uses it is not run."""
    trace = run(parse("a = torch.tensor([1.0])\ng = a.grad\nh = g.neg()\n"), adapter)
    assert (None,) == trace[1].facts["g"]
    assert UNBOUND == trace[2].outcome


def test_deleted_names_are_gone(adapter: Any) -> None:
    """`del` unbinds; deleting what is not bound is not run."""
    trace = run(parse("a = torch.tensor([1.0])\ndel a\ndel a\n"), adapter)
    assert ["Done", "Done", "Unbound"] == outcomes(trace)
    assert {} == trace[1].facts


def test_versions_are_shown_as_they_are(adapter: Any) -> None:
    """A view begins at the version of its base: what was written before it got its name counts."""
    trace = run(parse("a = torch.tensor([1.0, 2.0])\na.add_(1.0)\nb = a.view(-1)\nb.mul_(2.0)\n"), adapter)
    assert (2, 2) == (fact(trace, 3, "a", "version"), fact(trace, 3, "b", "version"))


def test_versions_of_gradients_count_from_the_binding(adapter: Any) -> None:
    """The engine writes into gradients as often as it likes: of them and their views the change is shown."""
    program = parse(
        "a = torch.ones(2, requires_grad=True)\nb = a.sum()\nb.backward(retain_graph=True)\nb.backward()\n"
        "c = a.grad\nd = c.view(-1)\nd.mul_(2.0)\ne = d + 1\n"
    )
    trace = run(program, adapter)
    assert (0, 1) == (fact(trace, 4, "c", "version"), fact(trace, 7, "d", "version"))


def test_the_version_of_a_copy_of_an_inference_tensor_is_shown_as_it_is(adapter: Any) -> None:
    """The one write that makes the copy counts; what other kernels write is chance."""
    program = parse(
        "with torch.inference_mode():\n    a = torch.ones(2)\nb = a.clone()\nc = a.sum()\nd = b.clone()\n"
    )
    trace = run(program, adapter)
    assert [1, 0, 0] == [fact(trace, 3, name, "version") for name in "bcd"]


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ("with torch.no_grad():\n    b = a.neg()\n", False),
        ("with torch.no_grad():\n    with torch.enable_grad():\n        b = a.neg()\n", True),
        ("with torch.set_grad_enabled(False):\n    c = a.neg()\nb = a.neg()\n", True),
        ("b = torch.no_grad()(lambda: a.neg())()\n", False),
        ("c = torch.no_grad()(lambda: a.neg())()\nb = a.neg()\n", True),
        ("torch.set_grad_enabled(False)\nb = a.neg()\n", False),
        ("with torch.no_grad():\n    torch.set_grad_enabled(True)\nb = a.neg()\n", True),
    ],
)
def test_grad_modes(adapter: Any, text: str, needs: bool) -> None:
    """Modes nest, end where their block ends, and decorate; none outlives its program."""
    trace = run(parse("a = torch.tensor([1.0], requires_grad=True)\n" + text), adapter)
    assert needs == fact(trace, -1, "b", "requires_grad")
    assert adapter.namespace.is_grad_enabled()


def test_several_results(adapter: Any) -> None:
    """A tuple is unpacked; `*_` drops the rest; a wrong count binds nothing, as in Python."""
    trace = run(
        parse("a = torch.tensor([1.0, 2.0])\nb, c = a.unbind()\nd, *_ = a.unbind()\ne, = a.unbind()\n"),
        adapter,
    )
    assert ["Done", "Done", "Done", "Unbound"] == outcomes(trace)
    assert (2.0, 1.0) == (fact(trace, 1, "c", "value"), fact(trace, 2, "d", "value"))


def test_densities(adapter: Any) -> None:
    """Touched shows what a step names, end nothing before the end; all show everything at the end."""
    program = parse("a = torch.tensor([1.0])\nb = a.neg()\nc = b.neg()\nd = c.neg()\n")
    assert [1, 2, 2, 4] == [len(seen.facts) for seen in run(program, adapter, "touched").observations]
    assert [0, 0, 0, 4] == [len(seen.facts) for seen in run(program, adapter, "end").observations]


def test_what_is_looked_at_grows_with_the_steps_and_not_with_what_is_live(adapter: Any) -> None:
    """At first all that is live is looked at after each write, later as often as its number allows."""
    live = "".join(f"t{at} = torch.zeros(1)\n" for at in range(20))
    written = "t0.add_(1.0)\n" * 300
    trace = run(parse(live + written), adapter)
    looks = [len(seen.facts) for seen in trace.observations[20:]]
    assert [20] * 12 == looks[:12]
    assert {1: 85, 20: 15} == Counter(looks[100:200])
    assert [20] * 300 == [len(s.facts) for s in run(trace.program, adapter, EVERYTHING).observations[20:]]


def test_a_grad_put_on_a_non_leaf_is_seen(adapter: Any) -> None:
    """The economy on grads of non-leaves misses none that is assigned."""
    text = (
        "a = torch.tensor([1.0], requires_grad=True)\nb = a.neg()\nc = b.neg()\nd = c.detach()\nb.grad = d\n"
    )
    trace = run(parse(text), adapter)
    assert [1.0] == fact(trace, 4, "b", "grad")[GRAD_FACTS.index("value")]


def test_warnings_are_rules_and_reading_facts_is_silent(adapter: Any) -> None:
    """A step that warns shows the rule, observing does not, and Python's filters are restored."""
    before = warnings.filters, warnings.showwarning
    trace = run(parse("a = torch.tensor([1.0], requires_grad=True)\nb = a.neg()\ng = b.grad\n"), adapter)
    assert [(), (), ("grad/non-leaf-read-warns",)] == [seen.warnings for seen in trace.observations]
    assert before == (warnings.filters, warnings.showwarning)


@pytest.mark.parametrize("reading", ["is_leaf", "requires_grad", "grad_fn", "output_nr"])
def test_a_reading_that_fails_but_once_is_told(reading: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure of the first reading is reported even if reading again would succeed."""
    once = iter([RuntimeError("out of order")])
    healthy = getattr(reference_impl.Tensor, reading)

    def failing(x: Any) -> Any:
        for error in once:
            raise error
        return healthy.fget(x)

    monkeypatch.setattr(reference_impl.Tensor, reading, property(failing))
    shaped = TorchShaped(reference_impl, "shaped", "1")
    trace = run(parse("a = torch.tensor([1.0])\nb = a.neg()\n"), shaped)
    assert "RuntimeError: out of order" == trace[0].crash
    assert trace[1].crash is None


def test_what_the_namespace_lacks_is_unsupported(adapter: Any) -> None:
    """A name that is not there is said to be unsupported, not refused and not crashed."""
    trace = run(parse("a = torch.tensor([1.0])\nb = a.no_such_method()\n"), adapter)
    assert isinstance(trace[1].outcome, Unsupported)


def test_stepping_is_running(adapter: Any) -> None:
    """One step at a time leaves the trace that running at once leaves."""
    program = parse("a = torch.tensor([2.0], requires_grad=True)\nb = a.mul(a)\nb.backward()\nb.backward()\n")
    with Runner(adapter, "touched") as runner:
        for step in program:
            runner.step(step)
        trace = runner.finish()
    assert run(program, adapter, "touched") == trace


def test_the_reference_says_which_rules_fired() -> None:
    """Rules fire in the step they apply to."""
    trace = run(
        parse("a = torch.tensor([2.0], requires_grad=True)\na.add_(1.0)\n"), adapters.load("reference")
    )
    assert "write/leaf-refused" in trace[1].fired


def test_what_is_knocked_out_fires_and_what_does_not_hold_does_not() -> None:
    """A mutant is told by the rule that it lacks; a rule of other releases has no say in this one."""
    reference, text = adapters.load("reference"), "a = torch.ones(2)\nb = torch.ones(2)\na.grad = b\n"
    with knocked_out("grad/assign-none-clears"):
        cleared = run(parse("a = torch.ones(2)\na.grad = None\n"), reference)
    assert "grad/assign-none-clears" in cleared[1].fired
    for release, told in (("2.13.0", False), ("2.15.0", True)):
        with modelling(release):
            assert told is ("grad/assign-asks-history" in run(parse(text), reference)[2].fired)


def test_traces_have_a_json_form(adapter: Any) -> None:
    """A trace survives JSON, refusals, plain values and grads included, and fits its schema."""
    text = (
        "a = torch.tensor([1.0, float('nan')], requires_grad=True)\n"
        "a.add_(1)\ng = a.grad\nb = a.sum()\nb.backward()\n"
    )
    trace = run(parse(text), adapter)
    form = json.loads(json.dumps(json_form.trace_to_json(trace)))
    jsonschema.validate(form, json_form.schema("trace"))
    assert form == json_form.trace_to_json(json_form.trace_from_json(form))


def test_a_warning_is_heard_once(adapter: Any) -> None:
    """Numpy says of a cast what torch says; the reference lets it say nothing."""
    trace = run(parse("a = torch.tensor([complex(2.0, 3.0)])\nb = a.long()\n"), adapter)
    assert ("data/complex-to-real-warns",) == trace[1].warnings


HOOKED = """
a = torch.tensor([1.0, 2.0], requires_grad=True)
b, c = a.mul(2.0).unbind(0)
b.register_hook(lambda g: None)
n = c.grad_fn
n.register_hook(lambda gi, go: None)
c.backward()
"""


def test_calls_of_hooks_are_observed(adapter: Any) -> None:
    """A step shows which functions it called, in order, and what with; as JSON too."""
    trace = run(parse(HOOKED), adapter)
    one = ("float32", (), "cpu", 1.0, False, True, None)
    both = ("float32", (2,), "cpu", [0.0, 1.0], False, True, None)
    assert ((4, (None,)), (6, ((both,), (None, one)))) == trace[7].calls
    form = json.loads(json.dumps(json_form.trace_to_json(trace)))
    jsonschema.validate(form, json_form.schema("trace"))
    assert [seen.calls for seen in trace.observations] == [
        seen.calls for seen in json_form.trace_from_json(form).observations
    ]


WIRED = """
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = a.exp()
c = b.view(2, 1)
d = b * c[:, 0]
g = torch.ones(2)
a.backward(g)
"""


def test_what_hangs_together_is_observed(adapter: Any) -> None:
    """The end of a trace shows shared nodes, their ages, shared memory, and who took over a gradient."""
    wiring = run(parse(WIRED), adapter).topology
    leaf = ("torch::autograd::AccumulateGrad", ())
    assert [wiring[name][0] for name in "abcd"] == [
        None,
        (0, (("ExpBackward0", ((1, 0),)), leaf)),
        (2, (("ViewBackward0", ((0, 0),)),)),
        (3, (("MulBackward0", ((0, 0), (4, 0))), ("SelectBackward0", ((2, 0),)))),
    ]
    # NB: a leaf's accumulator has the highest number, so that it runs as soon as it is ready.
    assert [wiring[name][1] for name in "abcd"] == [(), (0, 4), (1,), (3, 2)]
    assert [wiring[name][2] for name in "abcdg"] == [(owner, 0, (1,)) for owner in "abbdg"]
    assert wiring["a"][3] == ("a.grad", 0, (1,))


def test_what_a_hook_raised_holds_nothing(adapter: Any) -> None:
    """The node that a failing backward ended in is gone by the next step, as it is without a runner."""
    trace = run(
        parse(
            "a = torch.tensor([1.0, 2.0], requires_grad=True)\na.register_hook(lambda g: 1 / 0)\n"
            "a.backward(a)\nb = torch.tensor(2.0)\na.data = b\na.backward()\n"
        ),
        adapter,
    )
    assert [seen.outcome.rule for seen in trace.observations if isinstance(seen.outcome, Refused)] == [
        "hook/error-ends-the-backward",
        "hook/error-ends-the-backward",
    ]


def test_what_the_reference_lacks_is_unsupported() -> None:
    """It is no crash: a comparison goes as far as that."""
    (seen,) = run(parse("x = torch.ones(2, device='meta')\n"), adapters.load("reference")).observations
    assert seen.outcome == Unsupported("torch.device('meta') is not modelled by the reference")
