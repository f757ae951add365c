"""The graphs of complex derivatives, node by node: which nodes are made, from what, and in which order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import reference_impl

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "mul": lambda x, y: x * y,
    "mul by a number": lambda x, y: x * (1 + 1j),
    "div": lambda x, y: x / y,
    "div by a number": lambda x, y: x / (1 + 1j),
    "number by": lambda x, y: (1 + 2j) / x,
    "pow": lambda x, y: x**y,
    "pow of a number": lambda x, y: 2**x,
    "cube": lambda x, y: x**3,
    "square": lambda x, y: x.square(),
    "exp": lambda x, y: x.exp(),
    "log": lambda x, y: x.log(),
    "sqrt": lambda x, y: x.sqrt(),
    "sin": lambda x, y: x.sin(),
    "cos": lambda x, y: x.cos(),
    "tanh": lambda x, y: x.tanh(),
    "sigmoid": lambda x, y: x.sigmoid(),
    "abs": lambda x, y: x.abs(),
    "reciprocal": lambda x, y: x.reciprocal(),
    "logaddexp": lambda x, y: x.logaddexp(y),
    "prod": lambda x, y: x.prod(),
    "prod of rows": lambda x, y: x.prod(0),
    "mean": lambda x, y: x.mean(0),
    "cumsum": lambda x, y: x.cumsum(0),
    "dot": lambda x, y: x[0].dot(y[0]),
    "mv": lambda x, y: x.mv(y[0]),
    "mm": lambda x, y: x @ y,
    "mm of transposes": lambda x, y: x.t() @ y.t(),
    "bmm": lambda x, y: x.view(1, 2, 2).bmm(y.view(1, 2, 2)),
    "matmul": lambda x, y: x.view(1, 2, 2) @ y,
}
_HOW = {"beta": 2j, "alpha": 1 - 1j}
SUMS: dict[str, Callable[[Any, Any], Any]] = {
    "addmm": lambda x, y: x.addmm(x, y),
    "addmm by numbers": lambda x, y: y.addmm(x, y, **_HOW),
    "addmm of transposes": lambda x, y: x.addmm(y.t(), x.t()),
    "addmv": lambda x, y: x[0].addmv(y, x[1]),
    "addmv by numbers": lambda x, y: x[0].addmv(y, x[1], **_HOW),
    "addr": lambda x, y: x.addr(y[0], x[1]),
    "addr by numbers": lambda x, y: x.addr(y[0], x[1], **_HOW),
    "baddbmm": lambda x, y: x.view(1, 2, 2).baddbmm(y.view(1, 2, 2), x.view(1, 2, 2)),
    "baddbmm by numbers": lambda x, y: x.view(1, 2, 2).baddbmm(y.view(1, 2, 2), x.view(1, 2, 2), **_HOW),
    "addbmm": lambda x, y: x.addbmm(y.view(1, 2, 2), x.view(1, 2, 2)),
    "addbmm by numbers": lambda x, y: x.addbmm(y.view(1, 2, 2), x.view(1, 2, 2), **_HOW),
    "addcmul": lambda x, y: x.addcmul(y, x),
    "addcmul by a number": lambda x, y: x.addcmul(y, x, value=2 - 1j),
    "addcdiv": lambda x, y: x.addcdiv(y, x),
    "addcdiv by a number": lambda x, y: x.addcdiv(y, x, value=2 - 1j),
    "lerp": lambda x, y: x.lerp(y, 0.5 + 1j),
    "lerp by a tensor": lambda x, y: x.lerp(y, x),
}
"""Ops that add products up; programs call none of them but the first."""


def nodes(x: Any) -> list[tuple[Any, ...]]:
    """Name the nodes that a tensor was computed by, with their edges and their order of creation."""
    found: dict[Any, int] = {}

    def walk(node: Any) -> None:
        if node is not None and node not in found:
            found[node] = len(found)
            for other, _ in node.next_functions:
                walk(other)

    walk(x.grad_fn)
    ages = sorted(node._sequence_nr() for node in found)
    return [
        (
            node.name().rpartition(":")[2],
            [found.get(other) for other, _ in node.next_functions],
            ages.index(node._sequence_nr()),
        )
        for node in found
    ]


def derivatives(namespace: Any, call: Callable[[Any, Any], Any]) -> list[list[tuple[Any, ...]]]:
    """The graphs of the first derivatives of a call, and of the derivatives of each of those."""
    x = namespace.tensor([[0.5 + 0.5j, 1 + 1j], [2 + 1j, 0.5 + 0j]], requires_grad=True)
    y = namespace.tensor([[0.5 + 0.25j, 1 + 1j], [0.5 - 1j, 0.75 + 1j]], requires_grad=True)
    out = call(x, y)
    g = (out.detach() * 2 + 1).requires_grad_()
    found = []
    for first in namespace.autograd.grad(out, [x, y], g, create_graph=True, allow_unused=True):
        if first is not None and first.requires_grad:
            found.append(nodes(first))
            v = (first.detach() * 3 - 1).requires_grad_()
            twice = namespace.autograd.grad(first, [x, y, g], v, create_graph=True, allow_unused=True)
            found += [nodes(second) for second in twice if second is not None and second.requires_grad]
    return found


@pytest.mark.parametrize("name", [*CALLS, *SUMS])
def test_complex_derivatives_make_the_same_nodes(name: str) -> None:
    """First and second derivatives are made of the same nodes in the same order, conjugates included."""
    call = (CALLS | SUMS)[name]
    assert derivatives(torch, call) == derivatives(reference_impl, call)


def gradients(namespace: Any, call: Callable[[Any, Any], Any]) -> list[Any]:
    """The first derivatives of a call, and the derivatives of their sum."""
    x = namespace.tensor([[0.5 + 0.5j, 1 + 1j], [2 + 1j, 0.5 + 0j]], requires_grad=True)
    y = namespace.tensor([[0.5 + 0.25j, 1 + 1j], [0.5 - 1j, 0.75 + 1j]], requires_grad=True)
    out = call(x, y)
    g = (out.detach() * 2 + 1).requires_grad_()
    firsts = namespace.autograd.grad(out, [x, y], g, create_graph=True)
    total = sum(first.sum() for first in firsts)
    seconds = namespace.autograd.grad(total, [x, y, g], total.detach() * 1j, allow_unused=True)
    return [None if g is None else g.tolist() for g in (*firsts, *seconds)]


@pytest.mark.parametrize("name", SUMS)
def test_complex_sums_of_products_have_the_same_gradients(name: str) -> None:
    """The other factor comes in conjugated, and so do the numbers that scale."""
    expected, found = gradients(torch, SUMS[name]), gradients(reference_impl, SUMS[name])
    assert [g is None for g in found] == [g is None for g in expected]
    for one, other in zip(found, expected, strict=True):
        if one is not None:
            assert torch.allclose(torch.tensor(one), torch.tensor(other), rtol=1e-6, atol=1e-6), name


WRITES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "to the conjugate": lambda t, base, view: view.mul_(1j),
    "to its source": lambda t, base, view: base.mul_(1j),
    "to a window of the conjugate": lambda t, base, view: view[1:].copy_(t.tensor([2j])),
    "to a window of its source": lambda t, base, view: base[0].zero_(),
    "to the conjugate of the conjugate": lambda t, base, view: view.conj().add_(1j),
    "to the parts of its source": lambda t, base, view: t.view_as_real(base)[0].fill_(2.0),
    "behind the version's back": lambda t, base, view: view.data.fill_(1 - 1j),
}
"""Writes to memory that a tensor and its conjugate share."""


def written(namespace: Any, write: Callable[[Any, Any, Any], Any], window: bool) -> list[Any]:
    """All that a write shows in a tensor, its conjugate and the gradient of their leaf."""
    leaf = namespace.tensor([1 + 2j, 3 - 1j, 2 + 0j], requires_grad=True)
    base = leaf * 1
    view = (base[:2] if window else base).conj()
    write(namespace, base, view)
    seen = [(x.tolist(), x._version, x.grad_fn.name(), x._is_view()) for x in (base, view)]
    ((view * view).sum() + (base * 3j).sum()).imag.backward()
    return [*seen, leaf.grad.tolist()]


@pytest.mark.parametrize("window", [False, True], ids=["of all", "of a window"])
@pytest.mark.parametrize("write", WRITES)
def test_a_tensor_and_its_conjugate_show_one_memory(write: str, window: bool) -> None:
    """A write to either shows in the other, with its version and its gradient."""
    assert written(reference_impl, WRITES[write], window) == written(torch, WRITES[write], window)
