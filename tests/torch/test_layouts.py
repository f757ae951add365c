"""Results and gradients lie in memory as torch's do, whatever the layout of operands and arriving gradients.

It decides what can be viewed, what is copied and which gradient is taken over. Exhaustive over a few layouts
of each operand and of the gradient; strides of dimensions of one element lead nowhere and are left out.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

import reference_impl

torch = pytest.importorskip("torch")

SHAPE = (2, 3, 4)
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "by rows": lambda t: t.ones(2, 3, 4) * 0.5,
    "reversed": lambda t: (t.ones(4, 3, 2) * 0.5).permute(2, 1, 0),
    "swapped": lambda t: (t.ones(3, 2, 4) * 0.5).permute(1, 0, 2),
    "expanded": lambda t: (t.ones(3, 4) * 0.5).expand(2, 3, 4),
    "expanded, transposed": lambda t: (t.ones(4, 3) * 0.5).t().expand(2, 3, 4),
    "with holes": lambda t: (t.ones(2, 3, 8) * 0.5)[:, :, ::2],
}

UNARY = [
    "abs", "neg", "exp", "log", "sqrt", "sin", "cos", "tanh", "sigmoid", "relu", "square", "reciprocal",
    "floor", "sign", "clone", "double", "contiguous", "cumsum(1)", "clamp(0,1)", "clamp(min=.6)",
    "masked_fill(x>0,1.)", "softmax(1)", "log_softmax(1)", "flip(0)", "roll(1,0)", "tril()", "sort(1)[0]",
    "index_select(2,t.tensor([0,1,2,3]))", "repeat(1,1,1)", "matmul(t.ones(4,4))", "mul(2)", "add(2)",
    "pow(2)", "__rsub__(1)", "le(0.5)", "int()", "__getitem__(t.tensor([0,1]))",
    "__getitem__((slice(None),t.tensor([2,1,0])))", "__getitem__((x>0).any(2))",
    "__getitem__((slice(None),slice(None),t.tensor([[0,1],[1,0],[1,1]]).t()))",
    "__getitem__((t.tensor([0,1]),slice(None),t.tensor([0,1])))", "sum(0)", "sum(1)", "mean(2)", "amax(0)",
    "prod(1)", "logsumexp(0)", "gather(1,t.zeros(3,2,4).long().permute(1,0,2))",
]  # fmt: skip
BINARY = [
    "add", "sub", "mul", "div", "pow", "maximum", "minimum", "atan2", "lerp(y,0.5)", "addcmul(y,y)",
    "where(y>0,y)", "gt", "fmod",
]  # fmt: skip


def _layout(x: Any) -> tuple[int, ...] | None:
    return None if x is None else tuple(s for n, s in zip(x.shape, x.stride(), strict=True) if n != 1)


def _layouts(t: Any, call: str, operands: tuple[str, ...], arriving: str) -> list[Any]:
    """The layouts of a result, of its operands' gradients, and of those taken with create_graph."""
    leaves = [LAYOUTS[kind](t).detach().requires_grad_() for kind in operands]
    call = call if "(" in call else f"{call}({', '.join('xy'[1 : len(leaves)])})"
    out = eval(f"x.{call}", {"t": t, **dict(zip("xy", leaves, strict=False))})
    shown = [_layout(out)]
    if out.requires_grad:
        g = t.ones(out.shape)
        if out.shape == SHAPE:
            g = LAYOUTS[arriving](t)
        elif out.dim() == 2 and arriving == "reversed":
            g = t.ones(out.shape[::-1]).t()
        shown += map(_layout, t.autograd.grad(out, leaves, g, retain_graph=True, allow_unused=True))
        shown += map(_layout, t.autograd.grad(out, leaves, g, create_graph=True, allow_unused=True))
    return shown


@pytest.mark.parametrize(
    ("call", "count"), [(call, 1) for call in UNARY] + [(call, 2) for call in BINARY], ids=UNARY + BINARY
)
@pytest.mark.filterwarnings("ignore")
def test_layouts_are_those_of_torch(call: str, count: int) -> None:
    """Layouts are torch's for every combination of layouts of operands and of the incoming gradient."""
    for *operands, arriving in itertools.product(LAYOUTS, repeat=count + 1):
        expected, actual = (_layouts(t, call, tuple(operands), arriving) for t in (torch, reference_impl))
        assert actual == expected, f"operands {', '.join(operands)}; gradient {arriving}"


def test_a_scalar_tensor_decides_nothing() -> None:
    """A 0-d tensor decides neither layout nor dtype; an expanded operand that is cast stays expanded."""
    for kind in LAYOUTS:
        expected, actual = (
            [_layout(x) for x in (t.tensor(2).mul(y), y.add(t.tensor(2.0)), t.tensor(2.0).le(y.int()))]
            for t in (torch, reference_impl)
            for y in [LAYOUTS[kind](t)]
        )
        assert actual == expected, kind


def test_what_has_no_elements_keeps_its_strides() -> None:
    """An empty result keeps its strides; the first grad of an empty leaf has those of the leaf."""
    for t in (torch, reference_impl):
        x = t.ones(2, 4)[1:1, ::2]
        assert (x.stride(), x.clone().stride(), t.empty_strided((0, 2), (7, 3)).stride()) == (
            (4, 2),
            (4, 2),
            (7, 3),
        )
        x.requires_grad_()
        x.backward(t.ones(0, 2))
        assert x.grad.stride() == (4, 2)


EMPTY: dict[str, Callable[[Any], Any]] = {
    "2x0": lambda t: t.ones(2, 0), "2x0, transposed": lambda t: t.ones(2, 0).t(),
    "0x2": lambda t: t.ones(0, 2), "0x2, transposed": lambda t: t.ones(0, 2).t(),
    "0x1, transposed": lambda t: t.ones(0, 1).t(),
    "2x0x3, permuted": lambda t: t.ones(2, 0, 3).permute(2, 0, 1),
    "no rows of four": lambda t: t.ones(4, 4)[:0].t(), "a vector": lambda t: t.ones(2),
    "an empty vector": lambda t: t.ones(0), "a scalar": lambda t: t.tensor(2.0),
    "rows": lambda t: t.ones(3, 2), "columns": lambda t: t.ones(2, 3).t(),
}  # fmt: skip


@pytest.mark.parametrize("call", ["mul(2)", "__rsub__(2)", "neg()", "add(y)", "where(y > 0, y)", "gt(y)"])
def test_results_without_elements_are_laid_out_as_torch_s(call: str) -> None:
    """Strides that lead nowhere included: ``view_as_complex`` looks at them."""
    for x, y in itertools.product(EMPTY, EMPTY if "y" in call else ["a scalar"]):
        strides = []
        for t in (torch, reference_impl):
            try:
                made = eval(f"x.{call}", {"x": EMPTY[x](t), "y": EMPTY[y](t)})
                strides.append((tuple(made.shape), made.stride()))
            except RuntimeError:
                strides.append("refused")
        assert strides[0] == strides[1], f"{x}; {y}"


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("made", ["zeros_like", "ones_like", "rand_like"])
def test_what_is_made_alike_is_laid_out_alike(layout, made):
    """Factories, and zeros for what a gradient does not reach, keep the order of dimensions as torch does."""
    strides = []
    for t in (torch, reference_impl):
        x = LAYOUTS[layout](t).requires_grad_()
        y = t.ones(2, requires_grad=True).sum()
        (zeros,) = t.autograd.grad(y, x, materialize_grads=True)
        strides.append((getattr(t, made)(x).stride(), zeros.stride()))
    assert strides[0] == strides[1]
