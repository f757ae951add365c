"""The rounding tier is no wider than it must be: what rounding did not reach is exact, the rest is bounded by
what was rounded. How two traces are compared otherwise is in ``test_compare``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from conformance.adapters.reference import Reference
from conformance.comparison.compare import Agree, Diverge, compare
from conformance.comparison.tolerance.bounds import (
    NO_TOLERANCE,
    RoundingBounds,
    is_exact,
    near,
    rounding_ops,
)
from conformance.comparison.tolerance.op_effects import aliases, base
from conformance.execution.run import run
from conformance.execution.trace import Trace
from conformance.generate.guide.guide import ROUNDING, draw
from conformance.generate.state.choices import Prng
from conformance.program import Step, ref
from rounding import LEAF, REFERENCE, reached, trace
from specs.fact import POSITION

FLOAT64, FLOAT32 = 2.0**-52, 2.0**-23
LEAVES = LEAF + "w = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)\n"
GRADS = "i = a.sum()\nj = w.sum()\ni.backward()\nj.backward()\n"
EXP = "a = torch.tensor([0.0], dtype=torch.float64, requires_grad=True)\nb = a.exp()\n"


def one_up(seen: Trace, name: str) -> Trace:
    """The trace with the value of a name one unit in the last place larger after the last step."""
    last = seen.observations[-1]
    facts = list(last.facts[name])
    facts[POSITION["value"]] = math.nextafter(facts[POSITION["value"]], math.inf)
    last = last._replace(facts={**last.facts, name: tuple(facts)})
    return Trace(seen.program, seen.adapter, seen.density, (*seen.observations[:-1], last))


# -- what is exact -----------------------------------------------------------------------------------
def test_the_neighbour_of_a_rounded_value_is_exact() -> None:
    """One unit in the last place is a difference beside an exp, and none in it."""
    seen = trace(
        "a = torch.tensor(3.0, dtype=torch.float64)\nb = a.exp()\nc = a.mul(2.0)\nd = c.clone()\n", "end"
    )
    assert isinstance(compare(seen, one_up(seen, "b")), Agree)
    assert isinstance(compare(seen, one_up(seen, "c")), Diverge)
    assert isinstance(compare(seen, one_up(seen, "d")), Diverge)


def test_what_is_computed_from_a_rounded_value_is_reached() -> None:
    """Rounding spreads through operands of any kind, and through nothing else."""
    assert ("b c d", "") == reached(LEAF + "b = a.exp()\nc = b + a\nd = a.where(a > 0, c)\ne = a + a\n")


def test_small_integer_powers_are_exact() -> None:
    """The overload and its exponent decide, not the name."""
    assert ("d e f", "") == reached(
        LEAF + "b = a ** 2\nc = a.pow(3.0)\nd = a ** a\ne = a ** 0.5\nf = 2.0 ** a\n"
    )


def test_a_refused_write_reaches_nothing() -> None:
    """The leaf that `exp_` is refused on stays exact."""
    assert ("", "") == reached(LEAF + "a.exp_()\nb = a.mul(2.0)\n")


def test_what_is_overwritten_as_a_whole_is_exact_again() -> None:
    """A tensor overwritten in part, or with something inexact, stays inexact."""
    assert ("c d", "") == reached(
        LEAF + "b = a.exp()\nc = a.exp()\nd = a.exp()\nb.copy_(a)\nc[0] = 1.0\nd.copy_(c)\n"
    )


# -- memory ------------------------------------------------------------------------------------------
def test_a_write_reaches_all_that_share_the_memory() -> None:
    """Views, detached tensors and `.data`, but no copy."""
    text = (
        "a = torch.tensor([1.0, 2.0])\nb = a.clone()\nc = a.detach()\nd = a.data\ne = a.view(2, 1)\n"
        "f = a[1:]\ng = a.reshape(1, 2)\nh = a + 0.0\ni = a.select(0, 0)\ni.exp_()\n"
    )
    assert ("a c d e f g i", "") == reached(text)


def test_an_overwritten_gradient_may_be_another_than_that_of_the_second_name() -> None:
    """If two names may hold one tensor or two, overwriting one leaves the other reached."""
    text = LEAF + "s = a.exp()\nb = a * 2.0\ng, h = torch.autograd.grad(b, [a, a], s)\ng.zero_()\n"
    assert ("g h s", "") == reached(text)


def test_assigned_data_is_shared_from_then_on() -> None:
    """The old memory is left behind."""
    assert ("a b e", "") == reached(
        "a = torch.ones(2)\nb = torch.zeros(2)\nc = a.view(2, 1)\na.data = b\ne = a.view(2, 1)\ne.exp_()\n"
    )


def test_a_cast_to_the_same_dtype_is_the_tensor_itself() -> None:
    """A cast to the same dtype is the tensor itself; one to another dtype is a copy."""
    text = "a = torch.ones(2)\nb = a.float()\nc = a.double()\nb.exp_()\n"
    assert ("a b", "") == reached(text)
    assert ("", "") == reached(text + "b.zero_()\n")


def test_a_grad_that_was_read_is_the_grad() -> None:
    """A write to either reaches both, and accumulation writes to the grad."""
    assert ("g", "a") == reached(LEAF + "b = a.sum()\nb.backward()\ng = a.grad\ng.exp_()\n")
    assert ("b c g", "a") == reached(
        LEAF + "d = a.sum()\nd.backward()\ng = a.grad\nb = a.exp()\nc = b.sum()\nc.backward()\n"
    )


def test_under_create_graph_a_new_tensor_is_the_grad() -> None:
    """The name that was read before keeps the old one."""
    assert ("b c", "a") == reached(
        LEAF
        + "d = a.sum()\nd.backward()\ng = a.grad\nb = a.exp()\nc = b.sum()\nc.backward(create_graph=True)\n"
    )


def test_a_grad_may_be_the_gradient_that_was_passed_in() -> None:
    """Views compute nothing, so a leaf may keep a view of the gradient that was passed in."""
    assert ("s", "a") == reached(
        LEAF + "s = torch.ones(2, 1, dtype=torch.float64)\nb = a.view(2, 1)\nb.backward(s)\ns.exp_()\n"
    )
    assert ("s", "a") == reached(
        LEAF
        + "s = torch.ones(2, 1, dtype=torch.float64)\nb = a.add(1.0).view(2, 1)\nb.backward(s)\ns.exp_()\n"
    )
    assert ("s", "") == reached(
        LEAF + "s = torch.ones(2, dtype=torch.float64)\nb = a.mul(2.0)\nb.backward(s)\ns.exp_()\n"
    )


def test_one_gradient_may_be_handed_out_twice() -> None:
    """Both names show what is done to either."""
    assert ("g h", "") == reached(LEAF + "b = a * 2.0\ng, h = torch.autograd.grad(b, [a, a], a)\ng.sin_()\n")
    assert ("c g h", "") == reached(
        LEAF + "c = a.exp()\nb = a * 2.0\ng, h = torch.autograd.grad(b, [a, a], a)\ng.data = c\n"
    )


# -- history -----------------------------------------------------------------------------------------
def test_grads_of_what_is_not_connected_are_exact() -> None:
    """A backward through rounding reaches the grads of what the root was made from, and no others."""
    assert ("b c", "a") == reached(
        LEAVES + "b = a.exp()\nc = b.sum()\nd = w.sum()\nc.backward()\nd.backward()\n"
    )


def test_a_gradient_is_reached_by_what_formulas_use() -> None:
    """A sum's uses no operand: its other side is exact. A product's uses both."""
    assert ("b c d", "a") == reached(LEAVES + "b = a.exp()\nc = b + w\nd = c.sum()\nd.backward()\n")
    assert ("b c d", "a w") == reached(LEAVES + "b = a.exp()\nc = b * w\nd = c.sum()\nd.backward()\n")


def test_exact_values_may_have_a_rounded_gradient() -> None:
    """A derivative rounds where the value is exact; an inexact gradient reaches every leaf it arrives at."""
    assert ("b c d", "a") == reached(LEAF + "b = a.log()\nc = b.mul(0.0)\nd = c.sum()\nd.backward()\n")
    assert ("s", "a") == reached(LEAF + "s = a.exp()\nb = a.mul(2.0)\nb.backward(s)\n")


def test_a_derivative_rounds_whatever_became_of_the_value() -> None:
    """The derivative of a sine is a cosine, even if the sine was overwritten."""
    text = LEAF + "b = a.sin()\nwith torch.no_grad():\n    b.zero_()\nc = b.sum()\nc.backward()\n"
    assert ("", "a") == reached(text)


def test_only_the_inputs_of_a_backward_receive() -> None:
    """The inputs of backward receive a grad; those of `autograd.grad` only return one."""
    start = LEAVES + GRADS + "b = a * w\nc = b.exp()\nd = c.sum()\n"
    assert ("c d", "w") == reached(start + "d.backward(inputs=[w])\n")
    assert ("c d", "a w") == reached(start + "d.backward(inputs=None)\n")
    assert ("c d g", "") == reached(start + "g, = torch.autograd.grad(d, a)\n")


def test_a_retained_grad_is_filled_by_whatever_passes() -> None:
    """A retained grad is filled, also on a tensor that was plain before a recorded write."""
    end = "c = b.exp()\nd = c.sum()\ng, = torch.autograd.grad(d, a)\n"
    assert ("c d g", "b") == reached(LEAF + "b = a * 1.0\nb.retain_grad()\n" + end)
    plain = "b = torch.ones(2, dtype=torch.float64)\nb.mul_(a)\nb.retain_grad()\n"
    assert ("c d g", "b") == reached(LEAF + plain + end)


def test_what_is_made_under_no_grad_hands_no_gradient_on() -> None:
    """A tensor made under no_grad has no history, so no gradient passes it."""
    assert ("b c d", "w") == reached(
        LEAVES + GRADS + "with torch.no_grad():\n    b = a.exp()\nc = b * w\nd = c.sum()\nd.backward()\n"
    )


def test_a_write_to_a_view_is_history_of_its_base() -> None:
    """The gradient of the base goes through it."""
    assert ("b c d", "a") == reached(LEAF + "b = a.mul(1.0)\nc = b[0]\nc.exp_()\nd = b.sum()\nd.backward()\n")


def test_a_second_derivative_goes_through_the_first() -> None:
    """A gradient made under create_graph was made from all that its run passed."""
    text = LEAF + "b = a * a\nc = b.exp()\nd = c.sum()\ng, = torch.autograd.grad(d, a, create_graph=True)\n"
    assert ("c d e g", "a") == reached(text + "e = g.sum()\ne.backward()\n")


def test_a_step_rounds_what_it_adds_to_its_parameter() -> None:
    """A parameter that the step takes to zero may be off by what it was before."""
    text = (
        "a = torch.tensor([1.0, -1.0], requires_grad=True)\nb = torch.tensor(0.5, requires_grad=True)\n"
        "c = torch.optim.Adam([b, a], lr=1.0, weight_decay=0.5)\nd = a.mul(a)\ne = d.sum()\nf = b.add(e)\n"
        "f.backward()\nc.step()\n"
    )
    for density in ("each", "end"):
        seen = trace(text, density)
        bound = RoundingBounds(seen).of(len(seen) - 1, "a")
        assert near([0.0, 0.0], [FLOAT32, -FLOAT32], bound)
        assert not near([0.0], [64 * FLOAT32], bound)


# -- all of it ---------------------------------------------------------------------------------------
class Off(Reference):
    """The reference with every operation that rounds off by a five-hundredth."""

    def resolve(self, op: str) -> Callable[..., Any] | None:
        function = super().resolve(op)
        if function is None or base(op) not in rounding_ops():
            return function

        def off(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            words = tuple(ref("x") if hasattr(type(arg), "grad_fn") else arg for arg in args)
            if not is_exact(Step(op, words, tuple(kwargs.items()))) and result._array.dtype.kind == "f":
                result._array[...] *= 1 + 2**-9
            return result

        return off


@pytest.mark.parametrize("first", [0, 250, 500])
def test_whatever_depends_on_rounding_is_known_to(first: int) -> None:
    """If every function that rounds is far off, only values known to be reached differ."""
    off, missed, differing = Off(), [], 0
    for index in range(first, first + 250):
        drawn = draw(Prng(7, index), REFERENCE)
        if drawn.tier != ROUNDING or drawn.trace is None:
            continue
        rounding, other = RoundingBounds(drawn.trace), run(drawn.program, off, drawn.density)
        for step, (seen, got) in enumerate(zip(drawn.trace.observations, other.observations, strict=True)):
            for name, facts in seen.facts.items():
                x, y = value_and_grad(facts), value_and_grad(got.facts.get(name, ()))
                differing += x != y
                if not near(x[0], y[0], NO_TOLERANCE) and not rounding.of(step, name).terms:
                    missed.append((index, step, name))
                if not near(x[1], y[1], NO_TOLERANCE) and not rounding.of_grad(step, name).terms:
                    missed.append((index, step, name))
    assert [] == missed
    assert differing > 100


def value_and_grad(facts: tuple[Any, ...]) -> tuple[Any, Any]:
    """A name's value and its grad's, if it has them."""
    if len(facts) < len(POSITION):
        return None, None
    grad = facts[POSITION["grad"]]
    return facts[POSITION["value"]], grad[2] if isinstance(grad, tuple) and len(grad) > 2 else None


@pytest.mark.parametrize("name", ["torch", "reference_impl"])
def test_what_is_said_of_composites_holds(name: str) -> None:
    """Some never share memory with an operand, others are never the operand itself."""
    torch = pytest.importorskip(name)
    x = torch.ones(2, 2)
    fresh = {
        "matmul": x.matmul(x), "rmatmul": x.__rmatmul__(x), "pow": torch.pow(2.0, x), "rpow": x.__rpow__(x),
        "rtruediv": x.__rtruediv__(2.0), "square": x.square(),
    }  # fmt: skip
    new = {
        "getitem": (x[:], x[...], x[()], x[:, :]), "narrow": (x.narrow(0, 0, 2),), "chunk": x.chunk(1),
        "reshape": (x.reshape(2, 2),), "reshape_as": (x.reshape_as(x),), "view_as": (x.view_as(x),),
        "expand_as": (x.expand_as(x),),
    }  # fmt: skip
    assert [{"never"}, {"maybe"}] == [set(map(aliases, fresh)), set(map(aliases, new))]
    x.zero_()
    assert all(result.tolist() != x.tolist() for result in fresh.values())
    assert not any(result is x for results in new.values() for result in results)


@pytest.mark.parametrize(
    "silently",
    [
        "c = a.data\nc.mul_(3.5)\n",
        "a.data = torch.tensor(7.0)\n",
        "c = torch.tensor(-4.0)\na.data = c\na.grad = c\nb.backward(x, retain_graph=True)\n",
    ],
    ids=["written to", "other data", "accumulated into"],
)
def test_a_divisor_that_changes_silently_may_divide_inexactly(silently: str) -> None:
    """Divisors are powers of two where they are drawn; what no version counts may make others of them."""
    made = "a = torch.tensor(2.0, requires_grad=True)\nx = torch.tensor([1.0, 3.0])\nb = x.div(a)\n"
    derived = "d, = torch.autograd.grad(b, a, x)\n"
    assert "d" in reached(made + silently + derived)[0].split()
    assert reached(made + "c = a.data\n" + derived) == ("", "")
    assert reached(made.replace("div", "mul") + silently + derived) == ("", "")
