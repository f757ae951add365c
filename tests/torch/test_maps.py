"""``vmap`` against torch: what a mapped function may do, and what not, in which words, and what it leaves."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import reference_impl
import reference_impl.func
from conformance.adapters.torch_words import told_by_torch
from reference_impl.fidelity.batched import Batched
from reference_impl.namespace.install import FUNCTIONS

pytest.importorskip("torch")

import torch
import torch.func

pytestmark = pytest.mark.filterwarnings("ignore")

SIDES: dict[str, Any] = {"torch": torch, "reference": reference_impl}


def _after(x: Any, *others: Any) -> Any:
    """Return the first of some values, all of which have been computed."""
    return x


GRUS: Any = {t: t.nn.GRU(2, 2) for t in SIDES.values()}
STEPS: Any = {t: t.nn.LSTMCell(2, 2) for t in SIDES.values()}

ASKED = {
    "item of what is mapped": lambda t, x, u: x.sum().item(),
    "item of what is not": lambda t, x, u: x * u.sum().item(),
    "float": lambda t, x, u: float(x[0]),
    "int": lambda t, x, u: x[: int(x[0])],
    "an index": lambda t, x, u: [1, 2][x.long()[0]],
    "a range": lambda t, x, u: range(x.long()[0]),
    "in": lambda t, x, u: 1.0 in x,
    "format": lambda t, x, u: f"{x.sum():.2f}",
    "a list of them": lambda t, x, u: t.tensor([x[0], x[1]]),
    "if": lambda t, x, u: x if x.sum() > 0 else -x,
    "if of what is not mapped": lambda t, x, u: x if u.sum() > 0 else -x,
    "not": lambda t, x, u: not x.sum(),
    "and": lambda t, x, u: x.sum() and x,
    "max of Python": lambda t, x, u: max(x[0], x[1]),
    "sorted": lambda t, x, u: sorted(x),
    "is_nonzero": lambda t, x, u: x.sum().is_nonzero(),
    "max of torch": lambda t, x, u: x.max(),
    "a sum of Python": lambda t, x, u: sum(x),
    "tolist": lambda t, x, u: x.tolist(),
    "numpy": lambda t, x, u: x.numpy(),
    "data": lambda t, x, u: x.data,
    "detach": lambda t, x, u: x.detach(),
    "equal": lambda t, x, u: t.equal(x, u),
    "nonzero": lambda t, x, u: x.nonzero(),
    "nonzero of what is not mapped": lambda t, x, u: x + u.nonzero().sum(),
    "where of a condition alone": lambda t, x, u: t.where(x > 1)[0],
    "where of three": lambda t, x, u: t.where(x > 1, x, u),
    "a mask": lambda t, x, u: x[x > 1],
    "a mask that is not mapped": lambda t, x, u: x[u > 5],
    "masked_select": lambda t, x, u: x.masked_select(x > 1),
    "unique": lambda t, x, u: x.unique(),
    "one_hot": lambda t, x, u: t.nn.functional.one_hot(x.long() * 0),
    "one_hot of three": lambda t, x, u: t.nn.functional.one_hot(x.long() * 0, 3),
    "a position": lambda t, x, u: u[x.long()[0] * 0 + 1],
    "a size": lambda t, x, u: t.zeros(x.long()[0]),
    "a draw": lambda t, x, u: x + t.randn(2),
    "a draw like it": lambda t, x, u: t.rand_like(x),
    "a permutation": lambda t, x, u: x[t.randperm(2)],
    "dropout": lambda t, x, u: t.nn.functional.dropout(x),
    "dropout of nothing": lambda t, x, u: t.nn.functional.dropout(x, p=0.0),
    "dropout of all": lambda t, x, u: t.nn.functional.dropout(x, p=1.0),
    "a layer made": lambda t, x, u: t.nn.Linear(2, 2)(x),
    "a sample": lambda t, x, u: t.distributions.Normal(x, 1.0).sample(),
    "a density": lambda t, x, u: t.distributions.Normal(x, 1.0).log_prob(x),
    "a window": lambda t, x, u: x.as_strided((1,), (1,), 1),
    "a window on a part": lambda t, x, u: x[1:].as_strided((1,), (2,)),
    "a window on a result": lambda t, x, u: (x * 2).as_strided((2, 2), (0, 1)),
    "a window beyond": lambda t, x, u: x.as_strided((2,), (2,), 1),
    "a window before": lambda t, x, u: x[1:].as_strided((1,), (1,), 0),
    "rrelu": lambda t, x, u: t.nn.functional.rrelu(x),
    "an LSTM": lambda t, x, u: t.nn.LSTM(2, 2)(x.reshape(1, 2)),
    "a state of a GRU": lambda t, x, u: GRUS[t](u.reshape(1, 2), x.reshape(1, 2)),
    "a step of an LSTM": lambda t, x, u: STEPS[t](x),
    "requires_grad_": lambda t, x, u: x.requires_grad_(),
    "out=": lambda t, x, u: t.mul(x, x, out=t.zeros(2)),
}  # fmt: skip
"""Questions of functions about an element ``x``; ``u`` is the same for all."""

WRITES = {
    "copy_": lambda t, x, z: z.copy_(x),
    "mul_": lambda t, x, z: z.mul_(x),
    "sub_": lambda t, x, z: z.sub_(x),
    "add_": lambda t, x, z: z.add_(x),
    "pow_": lambda t, x, z: z.pow_(x),
    "clamp_": lambda t, x, z: z.clamp_(min=x),
    "lerp_": lambda t, x, z: z.lerp_(x, 0.5),
    "addcmul_": lambda t, x, z: z.addcmul_(x, x),
    "fill_": lambda t, x, z: z.fill_(x[0]),
    "masked_fill_": lambda t, x, z: z.masked_fill_(x > 1, 1.0),
    "index_add_": lambda t, x, z: z.index_add_(0, t.tensor([0]), x[:1]),
    "index_fill_": lambda t, x, z: z.index_fill_(0, t.tensor([0]), x[0]),
    "index_copy_": lambda t, x, z: z.index_copy_(0, t.tensor([0]), x[:1]),
    "scatter_": lambda t, x, z: z.scatter_(0, t.tensor([0]), x[:1]),
    "scatter_add_": lambda t, x, z: z.scatter_add_(0, t.tensor([0]), x[:1]),
    "an element": lambda t, x, z: _after(z, z.__setitem__(0, x[0])),
    "positions": lambda t, x, z: _after(z, z.__setitem__([0, 1], x)),
    "a mask": lambda t, x, z: _after(z, z.__setitem__(x > 1, 0.0)),
    "a position that is mapped": lambda t, x, z: _after(z, z.__setitem__(x.long()[0] * 0, 1.0)),
    "the same for all": lambda t, x, z: z.mul_(3).add_(1),
}
"""Writes of an element ``x`` into ``z``."""

TAKEN = {
    "a number": lambda t, m: t.vmap(lambda x, n: x)(m, 2),
    "a dimension too far": lambda t, m: t.vmap(lambda x: x, in_dims=5)(m),
    "no inputs": lambda t, m: t.vmap(lambda: m)(),
    "a list of dimensions": lambda t, m: t.vmap(lambda x: x, in_dims=[0])(m),
    "a word for a dimension": lambda t, m: t.vmap(lambda x: x, in_dims=("a",))(m),
    "nothing mapped": lambda t, m: t.vmap(lambda x: x, in_dims=(None,))(m),
    "two sizes": lambda t, m: t.vmap(lambda x, y: x)(m, m[:1]),
    "None given back": lambda t, m: t.vmap(lambda x: None)(m),
    "a mapped result without a dimension": lambda t, m: t.vmap(lambda x: x, out_dims=None)(m),
    "a number given back": lambda t, m: t.vmap(lambda x: (x, 3), out_dims=(0, None))(m),
    "nested inputs": lambda t, m: t.vmap(lambda d: d["a"] * d["b"], in_dims=({"a": 0, "b": None},))(
        {"a": m, "b": m[0]}
    ),
    "nested results": lambda t, m: t.vmap(lambda x: {"a": [x, x * 2]})(m),
    "the last dimension": lambda t, m: t.vmap(lambda x: x, in_dims=-1)(m),
    "an input by name": lambda t, m: t.vmap(lambda x, y: x * y)(m, y=m[0]),
    "a word for a dimension of results": lambda t, m: t.vmap(lambda x: x, out_dims="a")(m),
    "windows on columns": lambda t, m: t.vmap(lambda x: x.as_strided((2,), (2,), 2), 1)(m),
    "windows in maps": lambda t, m: t.vmap(t.vmap(lambda x: x.as_strided((1,), (1,), 0)))(m[..., None]),
    "no elements": lambda t, m: t.vmap(lambda x: x * 2)(m[:0]),
    "randomness by another name": lambda t, m: t.vmap(lambda x: x, randomness="some")(m),
    "maps in maps": lambda t, m: t.vmap(lambda x: t.vmap(lambda e: e * x.sum())(x))(m),
    "a number in a map in a map": lambda t, m: t.vmap(lambda x: t.vmap(lambda e: e * x.sum().item())(x))(m),
    "a number after a map": lambda t, m: t.vmap(lambda x: x * t.vmap(lambda e: e * 2)(m[0]).sum().item())(m),
}
"""Inputs and results of maps."""


def outcome(t: Any, call: Any) -> Any:
    """Return the values that a call gives, or the class and text of its error as torch says it."""
    try:
        return values(t, call())
    except Exception as error:
        kinds = [kind.__name__ for kind in (RuntimeError, ValueError, TypeError) if isinstance(error, kind)]
        return told_by_torch(error).split("\n")[0], kinds


def values(t: Any, result: Any) -> Any:
    """Return a result with lists for its tensors."""
    if isinstance(result, t.Tensor):
        return result.tolist()
    if isinstance(result, dict):
        return {name: values(t, part) for name, part in result.items()}
    return [values(t, part) for part in result] if isinstance(result, (tuple, list)) else result


def inputs(t: Any) -> tuple[Any, Any]:
    """A matrix to map over, and a vector that is the same for all of its rows."""
    return t.tensor([[0.5, 2.0], [3.0, -1.0], [0.25, 4.0]]), t.tensor([1.0, 10.0])


@pytest.mark.parametrize("asked", ASKED)
def test_what_is_asked_of_an_element_is_answered_or_refused_as_by_torch(asked):
    """The same values, or torch's words."""

    def told(t: Any) -> Any:
        m, u = inputs(t)
        return outcome(t, lambda: t.vmap(lambda x: ASKED[asked](t, x, u))(m))

    assert told(reference_impl) == told(torch)


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("target", ["the same for all", "made of an element"])
def test_what_is_written_is_refused_as_by_torch(write, target):
    """A target that is the same for all elements takes nothing that is not."""

    def told(t: Any) -> Any:
        m, _ = inputs(t)
        made = t.zeros_like if target == "made of an element" else lambda x: t.zeros(2)
        return outcome(t, lambda: t.vmap(lambda x: WRITES[write](t, x, made(x)))(m))

    assert told(reference_impl) == told(torch)


@pytest.mark.parametrize("call", TAKEN)
def test_inputs_and_results_are_taken_as_by_torch(call):
    """Dimensions, containers, what is no tensor, maps within maps."""
    told = [outcome(t, lambda t=t: TAKEN[call](t, inputs(t)[0])) for t in SIDES.values()]
    assert told[0] == told[1]


CALLS = {
    "f(x)": lambda f, x: f(x),
    "f(x, x)": lambda f, x: f(x, x),
    "f(x, 0)": lambda f, x: f(x, 0),
    "f(i)": lambda f, x: f((x * 2).long()),
}


@pytest.mark.parametrize("call", CALLS)
def test_what_is_computed_of_a_mapped_element_is_mapped(call):
    """Each function of the namespace gives what stands for many, and refuses what torch's refuses."""
    unlike = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in sorted(FUNCTIONS.keys() - SLIGHT):
            if hasattr(torch, name) and not name.startswith("_"):
                ours, there = (_mapped(t, getattr(t, name), CALLS[call]) for t in SIDES.values())
                if ours is not None and there is not None and ours != there:
                    unlike.append((name, ours, there))
    assert unlike == []


SLIGHT = {"chain_matmul", "column_stack", "moveaxis", "is_inference", "numel"}
"""Functions that torch's own maps do not know; and those whose results are no tensors."""


def _mapped(t: Any, function: Any, call: Any) -> Any:
    """Return which of the tensors that a function gives stand for many, True if a map refuses it, or None if
    that is left open.
    """
    found: list[bool] = []

    def one(x: Any) -> Any:
        found.extend(_many(t, call(function, x.clone())))
        return x

    try:
        t.vmap(one)(t.tensor([[[0.25, 0.5], [0.75, 0.125]]]))
    except Exception as error:
        said = told_by_torch(error)
        return "refused" if "vmap" in said or "Batching rule" in said else None
    return found


def _many(t: Any, result: Any) -> list[bool]:
    if isinstance(result, (tuple, list)):
        return [each for part in result for each in _many(t, part)]
    if t is torch:
        is_tensor = isinstance(result, torch.Tensor)
        return [torch._C._functorch.is_batchedtensor(result)] if is_tensor else []
    return [isinstance(result, Batched)] if isinstance(result, reference_impl.Tensor) else []


@pytest.mark.parametrize("name", SIDES)
def test_a_map_leaves_behind_what_one_call_does(name, capsys):
    """A tensor that is the same for all is written once, and a function prints once."""
    t = SIDES[name]
    m, u = inputs(t)
    w = t.tensor([1.0, 2.0], requires_grad=True)
    total = t.zeros(2)

    def one(x: Any) -> Any:
        print("called")
        total.add_(w * 10)
        u.mul_(2)
        return x * u

    out = t.vmap(one)(m)
    assert out.tolist() == (m * t.tensor([2.0, 20.0])).tolist()
    assert (u.tolist(), u._version) == ([2.0, 20.0], 1)
    assert total.tolist() == [10.0, 20.0]
    total.sum().backward()
    assert w.grad.tolist() == [10.0, 10.0]
    assert capsys.readouterr().out == "called\n"


@pytest.mark.parametrize("name", SIDES)
def test_each_call_of_a_map_keeps_what_it_wrote_to_tensors_of_its_own(name):
    """Its graph saves them as they are."""
    t = SIDES[name]
    m, u = inputs(t)
    w = t.tensor([1.0, 2.0], requires_grad=True)

    def one(x: Any) -> Any:
        own = t.zeros(2)
        own.add_(u).mul_(w)
        return own * x * w

    t.vmap(one)(m).sum().backward()
    assert w.grad.tolist() == (2 * w.detach() * u * m.sum(0)).tolist()


@pytest.mark.parametrize("name", SIDES)
@pytest.mark.parametrize("randomness", ["same", "different"])
def test_random_numbers_are_the_same_or_differ(name, randomness):
    """As they are asked to: of factories, dropouts, writes and samples."""
    t = SIDES[name]
    m = t.zeros(2, 50)
    for draw in (
        lambda x: x + t.randn(50),
        lambda x: t.nn.functional.dropout(x + 1),
        lambda x: x.clone().uniform_(),
        lambda x: x + t.normal(0.0, 1.0, (50,)),
    ):
        first, second = t.vmap(draw, randomness=randomness)(m)
        assert t.equal(first, second) == (randomness == "same")
