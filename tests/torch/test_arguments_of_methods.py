"""Methods and functions take the arguments that torch's take, by the same names, and give the same."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch

import reference_impl

CALLS = {
    "one by one": """
        o.squeeze(0, 1)
        o.squeeze((0, 1))
        o.squeeze(dim=(0, 1))
        o.clone().squeeze_(0, 1)
        torch.squeeze(o, 0, 1)
        x.count_nonzero(0, 1)
        x.hsplit(0, 1)
        x.vsplit(0, 1)
        o.dsplit(1, 1)
        x.tile(1, 2)
        x.detach().resize_(1, 2)
    """,
    "by name": """
        x.reshape(shape=(4,))
        x.outer(vec2=x)
        x[0].outer(vec2=x[0])
        x[0].ger(vec2=x[0])
        x.heaviside(values=x)
        x.detach().clone().heaviside_(values=x.detach())
        x.hsplit(indices=(1,))
        x.tensor_split(indices=(1,))
        x.tensor_split(tensor_indices_or_sections=i[0])
        x.swapdims(dim0=0, dim1=1)
        x.clone().swapaxes_(axis0=0, axis1=1)
        x.tile(dims=(1, 2))
        x.detach().resize_(size=(1, 2))
        x.detach().resize_as_(the_template=o)
        (x > 0).logical_and_(other=x > 1)
        i.clone().bitwise_or_(other=i)
        x.gather(1, i, sparse_grad=False)
        torch.isin(i, i[0], invert=True)
        torch.isin(i, i[0], assume_unique=True)
        torch.as_strided_(x.detach(), (2,), (1,), storage_offset=1)
        x.is_pinned(device=None)
        torch.tril_indices(2, 2, dtype=torch.int32)
        torch.triu_indices(2, 2, dtype=torch.float32)
        torch.nn.KLDivLoss(reduction="sum")(input=x, target=x.detach() + 1)
        torch.nn.HuberLoss()(input=x, target=x.detach() + 2)
    """,
    "numbers for tensors": """
        x.clone().copy_(2.5)
        x.clone().copy_(2, non_blocking=True)
        x.clone().copy_(x, True)
        x.clone().copy_([1.0])
        x.clone().copy_(x, 1)
        i.clone().copy_(2.7)
        x.detach().double().copy_(0.1)
        x.copy_(1)
    """,
    "written behind autograd's back": """
        x.logical_and_(x > 2)
        x.clone().logical_not_()
        x.clone().logical_xor_(x)
        (x * x).logical_or_(x)
        x.clone()[0].logical_and_(x[0])
        i.clone().bitwise_and_(i)
    """,
    "computed in a dtype": """
        x.sum(dtype=torch.float64)
        x.sum(0, dtype=torch.float64)
        x.mean(0, dtype=torch.float64)
        x.prod(dtype=torch.float64)
        x.cumsum(0, dtype=torch.float64)
        x.nansum(dtype=torch.float64)
        x.norm(2, 0, dtype=torch.float64)
        x.softmax(0, dtype=torch.float64)
        (x * 2).sum(dtype=torch.float64)
        x.half().sum(dtype=torch.float32)
        torch.linalg.vector_norm(x, dtype=torch.float64)
        x.sum(dtype=torch.int64)
        x.cumprod(0, dtype=torch.int32)
        x.nansum(dtype=torch.uint8)
        x.detach().sum(dtype=torch.int64)
    """,
    "promoted": """
        torch.addcmul(x, i, i, value=0.5)
        torch.addcmul(i, x, x)
        torch.addcmul(i > 0, x, x)
        torch.addcmul(x, x.double().sum(), x.double().sum())
        torch.addcdiv(x, x, x.double())
        torch.addcdiv(x, i, x)
        torch.addcdiv(x, i, i)
        x.clone().addcmul_(x * 1j, x)
        x.clone().addcdiv_(x * 1j, x)
        x.half().addcmul_(x, x)
        i.clone().addcmul_(x, x)
    """,
    "refused": """
        x.argmax(0, 1)
        x.all(0, 1)
        x.sort(0, 1)
        x.max(x, x)
        x.kthvalue(1.5)
        torch.vander(x)
        x.sum().argsort(1)
        x.sum().sort(1)
        torch.isin(x, x > 0)
        torch.linalg.vecdot(x, i)
        (x * 1j).nan_to_num()
        torch.select_copy(x * 1j, 0, 0)
        torch.nn.functional.cosine_similarity(x, x, eps=-1.0)
    """,
    "laid out": """
        torch.linalg.solve(x, x, left=False)
        torch.unique(x, dim=1)
        torch.unique_consecutive(x, dim=1)
        torch.var_mean(x.sum(), correction=0)
        torch.std_mean(x.sum())
    """,
}


def _shown(value: Any) -> Any:
    """Return what a result shows: layout, dtype, elements, and the names of its nodes."""
    if isinstance(value, tuple):
        return tuple(map(_shown, value))
    if isinstance(value, bool):
        return value
    nodes, node = [], value.grad_fn
    while node is not None:
        nodes.append(node.name())
        node = next((to for to, _ in node.next_functions if to is not None), None)
    elements = value.detach().double() if not value.is_complex() else value.detach()
    shown = [repr(round(each, 4)) for each in elements.flatten().tolist()]
    return str(value.dtype), tuple(value.shape), value.stride(), nodes, shown


def found(side: Any, call: str) -> Any:
    """Return what a call gives, or the built-in kind of its error."""
    x = side.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
    names = {"torch": side, "x": x, "o": x.view(1, 1, 2, 2), "i": side.tensor([[1, 0], [0, 1]])}
    try:
        return _shown(eval(call, names))
    except (TypeError, IndexError, RuntimeError) as error:
        return next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")


@pytest.mark.parametrize("calls", CALLS.values(), ids=CALLS)
def test_calls_give_what_torchs_give(calls: str) -> None:
    rows = calls.split("\n")[1:-1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = (
            {row.strip(): found(side, row.strip()) for row in rows} for side in (reference_impl, torch)
        )
    assert ours == theirs
