"""The differentiable middle of a program run at once: what it prints, what is seen, whose an error is."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import reference_impl
from conformance.adapters import load, load_here
from conformance.adapters.errors import AdapterError
from conformance.comparison.compare import Agree, Diverge, compare
from conformance.comparison.refusals import as_claimed
from conformance.execution import wire
from conformance.execution.region import Region, in_regions
from conformance.execution.run import run
from conformance.program.parsing import parse

FOLDER = Path(__file__).parents[1] / "adapters"
MIDDLE = """
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x.mul(3.0)
with torch.no_grad():
    w = y.add(x)
y.mul_(2.0)
z = y.sum()
z.backward()
w = x + 1.0
"""


@pytest.fixture(scope="module")
def in_torch():
    pytest.importorskip("torch")
    sys.path.insert(0, str(FOLDER))
    yield load_here(str(FOLDER / "torch_in_regions.py"))
    sys.path.remove(str(FOLDER))


def altered(adapter, change):
    """The adapter, the function of whose regions is another."""
    names = ("name", "version", "capabilities", "start", "perform", "facts", "refusal", "mode", "dtype")
    return SimpleNamespace(**{name: getattr(adapter, name) for name in names}, run=change)


def found(program, adapter, density="each"):
    expected = run(program, load("reference"), density)
    return compare(expected, as_claimed(run(program, adapter, density), expected, "rules"))


def test_a_region_is_a_function_of_its_inputs():
    """Leaves and the backward pass stay outside."""
    first, second = (part for part in in_regions(parse(MIDDLE)) if isinstance(part, Region))
    assert (
        "def f(x):\n    y = x.mul(3.0)\n    with torch.no_grad():\n        w = y.add(x)\n    y.mul_(2.0)\n"
        "    z = y.sum()\n    return y, w, z\n" == first.text
    )
    assert ("def f(x):\n    w = x + 1.0\n    return w,\n") == second.text
    assert [4.5, 9.0] == first.function(reference_impl)(reference_impl.tensor([0.75, 1.5]))[0].tolist()


@pytest.mark.parametrize("density", ["each", "touched", "end"])
def test_all_is_seen_in_the_end(in_torch, density):
    program = parse(MIDDLE)
    assert isinstance(found(program, in_torch, density), Agree)


WARNS = """
x = torch.tensor(2.0)
y = torch.tensor(complex(3.0, -2.0))
x.copy_(y)
z = torch.tensor(1.0)
"""
READ_FROM_GRADIENTS = """
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x.mul(x)
y.sub_(x)
g, = torch.autograd.grad(y, x, x)
z = y.expand((3, -1))
"""


@pytest.mark.parametrize("text", [WARNS, READ_FROM_GRADIENTS], ids=["warnings", "versions"])
def test_what_comes_before_and_after_a_region_is_not_its_own(text):
    """A warning within is not the next step's, and how gradients count says nothing of a region's results."""
    pytest.importorskip("torch")
    adapter = load_here("conformance.targets.torch_regions:checkpoint")
    assert isinstance(found(parse(text), adapter), Agree)


def wrong_value(session, region, values):
    import torch

    return tuple(value * 1.5 for value in region.function(torch)(*values))


def dropped_write(session, region, values):
    """A backend that leaves out a mutation."""
    import torch

    space = {"torch": torch}
    exec(region.text.replace("    y.mul_(2.0)\n", ""), space)
    return space["f"](*values)


@pytest.mark.parametrize("change", [wrong_value, dropped_write])
def test_a_backend_that_computes_something_else_is_found(in_torch, change):
    assert isinstance(found(parse(MIDDLE), altered(in_torch, change)), Diverge)


REFUSED = """
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x.exp()
x.add_(1.0)
z = y.sum()
z.backward()
"""


def test_a_refused_step_is_a_region_of_its_own(in_torch):
    """So what was done before it is there, and all that comes after it is compared."""
    trace = run(parse(REFUSED), in_torch)
    assert ((1, 2), (2, 3), (3, 4)) == trace.regions
    assert isinstance(found(parse(REFUSED), in_torch), Agree)


def test_an_error_that_no_step_has_alone_is_that_of_the_last(in_torch):
    """The region stays whole, and nothing is compared after it."""
    import torch

    def together(session, region, values):
        if len(region.program) > 1:
            raise RuntimeError("too many nodes")
        return region.function(torch)(*values)

    assert ((1, 5), (6, 7)) == run(parse(MIDDLE), altered(in_torch, together)).regions
    differences = found(parse(MIDDLE), altered(in_torch, together)).divergences
    assert [("outcome", 4)] == [(each.fact, each.step) for each in differences]


def test_a_backend_that_does_what_is_refused_is_found(in_torch):
    """It may let a leaf be written."""
    import torch

    def lenient(session, region, values):
        space = {"torch": torch}
        exec(region.text.replace("    x.add_(1.0)\n", "    x.data.add_(1.0)\n"), space)
        return space["f"](*values)

    difference = found(parse(REFUSED), altered(in_torch, lenient)).first
    assert ("outcome", 2) == (difference.fact, difference.step)


def test_an_error_where_none_is_refused_is_a_difference(in_torch):
    def failing(session, region, values):
        raise RuntimeError("the compiler gives up")

    difference = found(parse(MIDDLE), altered(in_torch, failing)).first
    assert "crashed: RuntimeError: the compiler gives up" in f"crashed: {difference.actual.error}"


@pytest.mark.parametrize(("results", "said"), [((), "0 values"), ([1, 2, 3, 4], "4 values"), (7, "int")])
def test_a_wrong_number_of_results_is_a_broken_adapter(in_torch, results, said):
    """It is no difference of the implementation."""
    with pytest.raises(TypeError, match=f"{said} for the 3 names"):
        found(parse(MIDDLE), altered(in_torch, lambda *given: results))


def test_regions_pass_the_wire(in_torch):
    program = parse(MIDDLE)
    trace = run(program, in_torch)
    again = wire.decode(wire.encode(trace), program, trace.adapter, trace.density)
    assert ((1, 5), (6, 7)) == trace.regions == again.regions


def test_an_adapter_for_another_contract_is_refused(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "from conformance.adapters.null import *\ncontract = 99\nname = version = '1'\n"
        "def start(): ...\ndef perform(*_): ...\ndef facts(*_): ...\ndef refusal(error): ...\n"
    )
    with pytest.raises(AdapterError, match="version 99 of the contract"):
        load_here(str(file))
