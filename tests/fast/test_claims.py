"""Claims are checked when they are made, obeyed by every draw, and facts are checked when they are shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance import adapters
from conformance.adapters.capabilities import FEATURES, MOVING, Capabilities
from conformance.adapters.errors import BROKEN, MISNAMED, AdapterError
from conformance.cli.ops import ops as list_ops
from conformance.comparison.compare import Agree, compare
from conformance.comparison.refusals import as_claimed
from conformance.execution.claims import known_ops, lacking, lacking_after
from conformance.execution.run import run
from conformance.execution.shown import BadFact, facts_of
from conformance.execution.trace import Crashed, Refused, Trace, Unsupported
from conformance.generate.guide.guide import draw
from conformance.generate.state.choices import Prng
from conformance.grading.campaign import Chunk, judge_chunk
from conformance.program import Program, Step
from conformance.program.parsing import parse
from specs.fact import FACTS, GRAD_FACTS, POSITION, UNSEEN

REFERENCE = adapters.load("reference")
CPU = FEATURES - MOVING
FEW = frozenset(["torch.tensor(requires_grad,dtype)", "sum(dim)", "mul()", "backward()", ".grad", "view"])
LIMITS = {
    "no features": Capabilities(features=frozenset()),
    "no in-place": Capabilities(features=CPU - {"inplace"}, refusals="rules"),
    "no views": Capabilities(features=CPU - {"views"}),
    "no inference": Capabilities(features=CPU - {"inference"}, refusals="rules"),
    "no double": Capabilities(features=CPU - {"double"}, refusals="rules"),
    "float32": Capabilities(dtypes=frozenset(["float32"])),
    "float16": Capabilities(dtypes=frozenset(["float16"])),
    "float64 and masks": Capabilities(dtypes=frozenset(["float64", "bool"])),
    "no float32": Capabilities(dtypes=frozenset(["bfloat16", "float16", "float64"]), refusals="some"),
    "no int64": Capabilities(dtypes=frozenset(["float32", "float64"]), refusals="rules"),
    "few makers": Capabilities(ops=frozenset(known_ops()) - {"torch.tensor"}),
    "scalars": Capabilities(shapes="scalar"),
    "no refusals": Capabilities(refusals="none"),
    "none in regions": Capabilities(refusals="outside"),
    "narrowed": Capabilities(ops=FEW),
}


@pytest.mark.parametrize(
    ("claim", "problem", "code"),
    [
        ({"ops": {"multiply"}}, "unknown operation 'multiply' .*'mul'", MISNAMED),
        ({"ops": {"sum(dimm)"}}, "unknown keyword of sum 'dimm' .*'dim'", MISNAMED),
        ({"ops": "mul"}, "ops of the capabilities is 'mul'", MISNAMED),
        ({"features": {"inplaces"}}, "unknown feature 'inplaces' .*'inplace'", MISNAMED),
        ({"features": "views"}, "features of the capabilities is 'views'", MISNAMED),
        ({"features": {"errors"}}, "no feature 'errors' any more .*refusals", MISNAMED),
        ({"facts": ("is_leef",)}, "unknown fact 'is_leef' .*'is_leaf'", MISNAMED),
        ({"dtypes": {"float23"}}, "unknown dtype 'float23' .*'float32'", MISNAMED),
        ({"shapes": "scalars"}, "unknown shapes 'scalars' .*'scalar'", MISNAMED),
        ({"refusals": "all"}, "unknown refusals 'all'", MISNAMED),
        ({"ops": frozenset()}, "claim no ops", BROKEN),
        ({"facts": ()}, "claim no facts", BROKEN),
        ({"dtypes": {"int64"}}, "claim no floating dtype", BROKEN),
    ],
)
def test_a_wrong_claim_is_said_in_a_line(claim: dict[str, Any], problem: str, code: int) -> None:
    """The error names the nearest word that there is, and the exit code."""
    with pytest.raises(AdapterError, match=problem) as caught:
        Capabilities(**claim)
    assert code == caught.value.code
    assert "\n" not in str(caught.value)


def test_refusals_left_out_follow_the_features() -> None:
    """Implementations with all features of the CPU are judged by rules, others not at all."""
    assert "rules" == Capabilities().refusals
    assert "rules" == Capabilities(features=FEATURES).refusals
    assert "none" == Capabilities(features=CPU - {"hooks"}).refusals


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
def test_every_draw_keeps_to_the_claims(limits: Capabilities) -> None:
    """No step needs what is not claimed, and the reference does nothing with it that is not."""
    used = set()
    for number in range(60):
        program = draw(Prng(11, number), REFERENCE, limits).program
        for step, seen in zip(program, run(program, REFERENCE), strict=True):
            assert "" == lacking(limits, step)
            assert "" == lacking_after(limits, step, seen)
            used.add(step.op)
    assert len(used) >= min(len(limits.ops or ()) or 20, 20) - 1


@pytest.mark.parametrize("op", ["mul_", "__iadd__", "__setitem__", "zero_", "step", "detach_", "set_"])
def test_all_that_writes_needs_the_feature(op: str) -> None:
    """In-place operations are known by what they do."""
    assert "needs in-place operations" == lacking(LIMITS["no in-place"], Step(op))


def test_writes_in_disguise_need_it_too() -> None:
    """Keywords, hooks and custom functions may write as well."""
    limits = LIMITS["no in-place"]
    program = parse(
        "a = torch.tensor([1.0], requires_grad=True)\n"
        "a.register_hook(lambda g: g.mul_(2))\n"
        "b = Written.apply(a)\n"
        "o = torch.optim.SGD([a], lr=1.0)\n"
        "o.zero_grad(set_to_none=False)\n"
    )
    said = [lacking(limits, step) for step in program]
    needs = "needs in-place operations"
    assert ["", needs, needs, "", needs] == said


def test_keywords_narrow_an_operation_by_name_and_by_position() -> None:
    """`sum(dim)` takes a dimension, however it is given, and nothing else."""
    program = parse("a = torch.tensor([1.0])\na.sum()\na.sum(0)\na.sum(dim=0)\na.sum(0, keepdim=True)\n")
    said = [lacking(LIMITS["narrowed"], step) for step in program]
    assert ["", "", "", "", "needs sum(keepdim)"] == said


SHOWN: dict[str, Any] = {
    "value": 2.0, "dtype": "float64", "shape": [2], "is_leaf": True, "version": 0,
    "grad": {"value": [1.0], "dtype": "float64"},
}  # fmt: skip


def test_facts_come_in_their_order() -> None:
    """Lists are sizes, too, and a grad is a dict like everything else, or a tuple."""
    seen = facts_of(SHOWN)
    assert (2,) == seen[POSITION["shape"]]
    grad = seen[POSITION["grad"]]
    assert ["float64", UNSEEN, UNSEEN, [1.0]] == list(grad[:4])
    assert grad == facts_of({"grad": grad})[POSITION["grad"]]
    assert seen[POSITION["output_nr"]] is UNSEEN


@pytest.mark.parametrize(
    ("shown", "problem"),
    [
        ({"is_leef": True}, "'is_leef' is no fact, did you mean 'is_leaf'"),
        ({"is_leaf": 1}, "'is_leaf' is int 1, not True or False"),
        ({"value": "2"}, "'value' is str '2', not a number"),
        ({"shape": 2}, "'shape' is int 2, not a tuple of ints"),
        ({"dtype": float}, "'dtype' is type"),
        ({"grad": 1.0}, "'grad' is float 1.0, not None, a dict"),
        ({"grad": {"values": 1.0}}, "'values' is no fact of a grad, did you mean 'value'"),
        ({"grad": {"value": None}}, "'value' of a grad is NoneType"),
        ([], "facts are list"),
    ],
)
def test_a_wrong_fact_is_named(shown: Any, problem: str) -> None:
    """A misspelt name or a wrong type is no divergence."""
    with pytest.raises(BadFact, match=problem):
        facts_of(shown)


MINE = """
name, version = "mine", "0.1"
def start(): ...
def perform(session, step, operands): return object()
def facts(session, value): return {"is_leef": True}
def refusal(error): return None
"""


def test_a_wrong_fact_breaks_the_adapter(tmp_path: Path) -> None:
    """The campaign ends with the fact's name."""
    path = tmp_path / "mine.py"
    path.write_text(MINE, encoding="utf-8")
    (broken,) = judge_chunk(Chunk(str(path), "reference", "prng", 0, 0, 3)).broken
    assert "'is_leef' is no fact" in broken


def test_a_file_finds_its_neighbours(tmp_path: Path) -> None:
    """An adapter may import what lies beside it."""
    (tmp_path / "beside_it.py").write_text(MINE, encoding="utf-8")
    (tmp_path / "imports_it.py").write_text("from beside_it import *\n", encoding="utf-8")
    assert "mine" == adapters.load(str(tmp_path / "imports_it.py")).name


HOOKED = parse(
    "a = torch.tensor([1.0, 2.0], requires_grad=True)\n"
    "a.register_hook(lambda g: None)\n"
    "b = a.sum()\n"
    "b.backward()\n"
)


def hidden(trace: Trace, *names: str) -> Trace:
    """A trace in which functions are given gradients without some facts."""
    at = {GRAD_FACTS.index(name) for name in names}

    def less(given: Any) -> Any:
        if type(given) is tuple and len(given) == len(GRAD_FACTS):
            return tuple(UNSEEN if i in at else fact for i, fact in enumerate(given))
        return tuple(map(less, given)) if type(given) is tuple else given

    seen = tuple(o._replace(calls=tuple((step, less(given)) for step, given in o.calls or ())) for o in trace)
    return Trace(trace.program, "less", trace.density, seen)


@pytest.mark.parametrize("names", [["dtype"], ["value"], ["dtype", "requires_grad", "grad_fn"], GRAD_FACTS])
def test_what_is_hidden_of_a_hooks_argument_is_unseen(names: list[str]) -> None:
    """A missing attribute of a gradient is no difference."""
    trace = run(HOOKED, REFERENCE)
    assert isinstance(compare(trace, hidden(trace, *names)), Agree)


class _Fewer:
    """The reference, showing some facts."""

    def __init__(self, *facts: str) -> None:
        self.capabilities = Capabilities(facts=facts)

    def __getattr__(self, name: str) -> Any:
        return getattr(REFERENCE, name)


def test_facts_that_are_not_claimed_are_not_looked_at() -> None:
    """They are unseen also where the adapter could show them."""
    trace = run(HOOKED, _Fewer("dtype", "is_leaf"))
    shown = {
        name
        for seen in trace
        for facts in seen.facts.values()
        for name, fact in zip(FACTS, facts, strict=False)
        if len(facts) > 1 and fact is not UNSEEN
    }
    assert {"dtype", "is_leaf"} == shown
    assert not trace.complete
    assert trace.topology is None
    assert isinstance(compare(run(HOOKED, REFERENCE), trace), Agree)


def test_facts_that_are_not_claimed_are_not_looked_at_in_grads_either() -> None:
    """Of a grad the value and the dtype are seen where these are claimed, and nothing else."""
    program = parse("a = torch.ones(2, requires_grad=True)\na.backward(torch.ones(2))\n")
    grad = run(program, _Fewer("dtype", "value", "grad"))[-1].facts["a"][-1]
    assert {"dtype": "float32", "value": [1.0, 1.0]} == {
        name: fact for name, fact in zip(GRAD_FACTS, grad, strict=True) if fact is not UNSEEN
    }


def outcomes(program: Program, *errors: Any) -> Iterator[Any]:
    """The outcomes of a trace as each way to judge refusals takes them, with other ``errors`` in place."""
    expected = run(program, REFERENCE)
    got = [o._replace(outcome=new or o.outcome) for o, new in zip(expected, errors, strict=True)]
    actual = Trace(program, "other", "each", tuple(got))
    for refusals in ("rules", "some", "none"):
        yield [o.outcome for o in as_claimed(actual, expected, refusals)]


def test_refusals_are_judged_as_claimed() -> None:
    """Any exception counts with "some" where one is expected, and only there; with "none" nothing does."""
    program = parse("a = torch.tensor([1.0])\na.backward()\nb = a + 1\n")
    other = Refused("", "OSError: no")
    rules, some, none = outcomes(program, None, other, other)
    assert other is rules[1]
    assert isinstance(some[1], Refused)
    assert some[1].rule
    assert isinstance(some[2], Crashed)
    assert isinstance(none[1], Unsupported)


def test_all_words_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """`ops` prints what may be claimed in 80 columns, or as JSON."""
    list_ops(json=True)
    listed = json.loads(capsys.readouterr().out)
    assert listed["ops"].keys() | {"del"} == known_ops().keys()
    assert {"keywords": ["dim", "keepdim"], "features": []} == listed["ops"]["amax"]
    assert list(FACTS) == list(listed["facts"])
    assert FEATURES == listed["features"].keys()
    list_ops(json=False)
    assert 80 >= max(map(len, capsys.readouterr().out.splitlines()))
