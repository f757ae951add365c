"""Every op on operands of every dtype, at every place, and products around zero: the reference against torch.

The programs are made, not drawn: all that a table of dtypes and shapes gives, and a backward each.
What the bodies compute on floats is tested in `test_ops_declarations`.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import torch

import op_programs
import reference_impl
from conformance.comparison.compare import Agree, compare
from conformance.execution.run import run
from conformance.program.parsing import parse
from conformance.program.printing import to_text
from op_programs import DTYPES, RECIPES, REFERENCE, TORCH, VALUES, differs, programs
from reference_impl.base.dtypes import NoSuchDtype


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: f"{recipe.spelled}-{recipe.op.key}")
def test_an_op_takes_and_refuses_the_dtypes_that_torch_does(recipe):
    """Results, gradients and refusals are torch's, whatever dtype stands at which place."""
    assert [] == [to_text(one) for one in programs(recipe) if differs(one)][:1]


def outcome(text: str, namespace: Any) -> Any:
    """The values and gradients that a program leaves behind; None if it is refused."""
    env: dict[str, Any] = {"torch": namespace}
    try:
        exec(text.partition("import torch\n")[2], env)
    except Exception:
        return None  # how it is refused is looked at above
    left = {name: env[name] for name in "abcr" if name in env and hasattr(env[name], "tolist")}
    grads = {name: x.grad.tolist() for name, x in left.items() if x.is_leaf and x.grad is not None}
    return repr((grads, {name: x.tolist() for name, x in left.items()}))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_rounded_where_torch_rounds_it(dtype, monkeypatch):
    """Every op, and backward through it, on numbers that do not fit: equal to the last bit."""
    monkeypatch.setitem(VALUES, dtype, [1.9453, 0.8828, 0.2188, 1.2347])
    monkeypatch.setattr(op_programs, "NUMBERS", (1.238,))
    monkeypatch.setattr(op_programs, "SHAPES", (((4,), (4,)), ((2, 2), (2, 2)), ((4,), ())))
    texts = [to_text(one) for recipe in RECIPES for one in programs(recipe, ((dtype,),))]
    assert len(texts) > 300
    assert [] == [text for text in texts if outcome(text, torch) != outcome(text, reference_impl)]


@pytest.mark.parametrize("name", DTYPES)
def test_operands_promote_as_in_torch(name: str) -> None:
    """Pairs of dtypes, as tensors, 0-d tensors and numbers, promote as in torch."""
    others = [(dtype, shape) for dtype in DTYPES for shape in ((), (2,))]
    for shape, other in product(((), (2,)), [*others, True, 2, 0.5, 1j]):
        found = []
        for namespace in (torch, reference_impl):
            x, y = [
                namespace.ones(o[1], dtype=getattr(namespace, o[0])) if isinstance(o, tuple) else o
                for o in ((name, shape), other)
            ]
            try:
                found.append(str(namespace.result_type(x, y)))
            except NoSuchDtype:
                found.append("torch.complex32")
        assert found[0] == found[1], (name, shape, other)


AROUND_ZERO = [list(row) for size in (1, 2, 3) for row in product((0.0, 2.0, -1.0), repeat=size)]
DERIVATIVES = """
import torch

x = torch.tensor({values}, requires_grad=True)
w = torch.tensor({values}, requires_grad=True)
y = x.{call}
g, = torch.autograd.grad(y.sum(), x, create_graph=True)
h, = torch.autograd.grad(g.mul(w).sum(), x, create_graph={recorded}, allow_unused=True)
i, = torch.autograd.grad(h.mul(x).sum(), x, create_graph=True, allow_unused=True)
j, = torch.autograd.grad(i.mul(w).sum(), x, allow_unused=True)
"""


@pytest.mark.parametrize("values", AROUND_ZERO, ids=str)
def test_a_product_with_zeros_has_every_derivative(values):
    """Up to the fourth derivative, recorded or not, a product with zeros among its factors is torch's."""
    for call, recorded in product(("prod()", "prod(0)", "prod(-1, keepdim=True)"), (True, False)):
        one = parse(DERIVATIVES.format(values=values, call=call, recorded=recorded))
        assert isinstance(compare(run(one, TORCH), run(one, REFERENCE)), Agree)
