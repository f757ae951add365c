"""Rarer parts of the namespace against torch: sequences, swapped tensors, element types, shared pieces."""

from __future__ import annotations

import weakref
from typing import Any

import pytest

import reference_impl

torch = pytest.importorskip("torch")

SIDES: dict[str, Any] = {"torch": torch, "reference": reference_impl}


def _told(t: Any, value: Any) -> Any:
    """A value, with tensors as what is seen of them."""
    if isinstance(value, t.Tensor):
        numbers = [round(float(v), 4) for v in value.detach().double().reshape(-1).tolist()]
        return numbers, tuple(value.shape), str(value.dtype), value.requires_grad, value._version
    if isinstance(value, (list, tuple)):
        return [_told(t, each) for each in value]
    return value


def _sequences(t: Any) -> Any:
    rnn = t.nn.utils.rnn
    rows = [t.tensor([4.0, 5.0, 6.0], requires_grad=True), t.tensor([1.0, 2.0]), t.tensor([3.0])]
    padded = rnn.pad_sequence(rows)
    again = rnn.unpad_sequence(padded, t.tensor([3, 2, 1]))
    unpacked = rnn.unpack_sequence(rnn.pack_sequence(rows))
    sum(x.sum() for x in unpacked).backward()
    return again, unpacked, padded, rows[0].grad


def _frequencies(t: Any) -> Any:
    weight = t.arange(6.0).reshape(3, 2).requires_grad_()
    index = t.tensor([[1, 1, 0], [1, 2, 2]])
    out = t.nn.functional.embedding(index, weight, padding_idx=0, scale_grad_by_freq=True)
    (out * t.arange(12.0).reshape(2, 3, 2)).sum().backward()
    return out, weight.grad, repr(t.nn.Embedding(3, 2, scale_grad_by_freq=True))


def _projections(t: Any) -> Any:
    layer = t.nn.LSTM(3, 4, 2, bidirectional=True, proj_size=2)
    with t.no_grad():
        for p in layer.parameters():
            p.copy_(t.linspace(-1, 1, p.numel()).reshape(p.shape))
    x = t.linspace(-1, 1, 12).reshape(2, 2, 3).requires_grad_()
    out, (h, c) = layer(x, (t.ones(4, 2, 2), t.ones(4, 2, 4)))
    (out.sum() + c.sum()).backward()
    return out, h, c, x.grad, [name for name, _ in layer.named_parameters()], repr(layer)


def _symmetric_signals(t: Any) -> Any:
    x = t.arange(24.0).reshape(2, 3, 4).sin().requires_grad_()
    half, along = t.fft.ihfft2(x), t.fft.ihfftn(x, dim=(1,))
    whole, all_ways = t.fft.hfft2(half, (3, 5), norm="ortho"), t.fft.hfftn(x.cos())
    (whole.sum() + all_ways.sum() + along.abs().sum()).backward()
    nodes = [each.grad_fn.name() for each in (half, along, whole, all_ways)]
    return nodes, [t.view_as_real(each.resolve_conj()) for each in (half, along)], whole, all_ways, x.grad * 1


def _sorted_into(t: Any) -> Any:
    values, places = t.empty(3), t.empty(0, dtype=t.long)
    given = t.sort(t.tensor([3.0, 1.0, 2.0]), descending=True, out=(values, places))
    return given[0] is values, given[1] is places, values.tolist(), places.tolist()


def _element_types(t: Any) -> Any:
    x = t.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True) * 1
    whole = x.view(t.int32)
    whole[0, 0] = 0
    others = [x.view(kind) for kind in (t.float64, t.int16, t.uint8, t.float32)]
    return x, whole, others, t.ones(4, 4)[:, 2:].view(dtype=t.float64)


def _pieces(t: Any) -> Any:
    x = t.arange(6.0, requires_grad=True)
    y = x * 1
    first, second = t.unsafe_chunk(y, 2)
    first.mul_(3)
    (first.sum() + second.sum() * y.sum()).backward()
    return x.grad, y, first, second


def _swapped(t: Any) -> Any:
    x, y = t.ones(2), t.nn.Parameter(t.zeros(3))
    x.note = "x"
    t.utils.swap_tensors(x, y)
    a = t.ones(2, requires_grad=True)
    b = a * 2
    t.utils.swap_tensors(a, b)
    return x, y, type(x).__name__, type(y).__name__, y.note, a.is_leaf, b.is_leaf, a.grad_fn is None


def _clones(t: Any) -> Any:
    found = [type(mode.clone()).__name__ for mode in (t.no_grad(), t.enable_grad(), t.inference_mode())]
    with t.inference_mode(False).clone():
        found.append(t.is_inference_mode_enabled())
    with t.no_grad().clone():
        found.append(t.is_grad_enabled())
    return found


def _formats(t: Any) -> Any:
    x = t.arange(16.0).reshape(1, 4, 2, 2).requires_grad_()
    last = [x.float(memory_format=t.channels_last), x.double(memory_format=t.channels_last)]
    last += [x.cpu(memory_format=t.channels_last), x.bool(memory_format=t.channels_last)]
    kept = [y.to(y.dtype, memory_format=t.contiguous_format) for y in (x, x.transpose(1, 2), last[0])]
    names = [y.grad_fn and y.grad_fn.name() for y in last + kept]
    return last, kept, names, [y.stride() for y in last + kept], kept[0] is x


def _reduced_by_scatter(t: Any) -> Any:
    x, index = t.arange(6.0).reshape(2, 3), t.tensor([[0, 0, 1]])
    y = t.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    found = [x.scatter(0, index, y, reduce="add"), t.scatter(x, 0, index, y.detach(), reduce="multiply")]
    found += [(x > 2).scatter(0, index, y > 1, reduce="multiply"), x.scatter(0, index[:0], y, reduce="add")]
    return found, found[0].grad_fn.name(), x.scatter_(0, index, y.detach(), reduce="multiply")


def _uneven_samples(t: Any) -> Any:
    x = (t.arange(12.0, dtype=t.float64) ** 2).reshape(3, 4).requires_grad_()
    places = t.tensor([0.0, 1.0, 3.0]), t.tensor([0.0, 1.0, 3.0, 7.0])
    found = [t.gradient(x, spacing=places, edge_order=order) for order in (1, 2)]
    found += [t.gradient(x.detach().long(), spacing=2), t.gradient(x, spacing=t.tensor(2.0), dim=-1)]
    sum((y * y).sum() for y in (*found[0], *found[1])).backward()
    return found, x.grad.clone()


DOES = [
    _formats, _reduced_by_scatter, _uneven_samples,
    _sequences, _frequencies, _projections, _sorted_into, _element_types, _pieces, _swapped, _clones,
    _symmetric_signals,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("does", DOES)
def test_they_do_the_same(does):
    """Values, dtypes, versions, and what requires grad."""
    found = {name: _told(t, does(t)) for name, t in SIDES.items()}
    assert found["reference"] == found["torch"]


def _swap_what_is_watched(t: Any) -> None:
    x = t.ones(2)
    watched = weakref.ref(x)
    t.utils.swap_tensors(x, t.zeros(3))
    assert watched


def _swap_what_is_saved(t: Any) -> None:
    x = t.ones(2, requires_grad=True)
    y = x * x
    t.utils.swap_tensors(x, t.zeros(3))
    assert y


def _run_what_is_poisoned(t: Any) -> None:
    x = t.ones(2, requires_grad=True)
    y = x * 2
    t.utils.swap_tensors(x, t.zeros(2))
    y.sum().backward()


def _long(t: Any) -> Any:
    return t.empty(2, dtype=t.long)


REFUSED = [
    _swap_what_is_watched, _swap_what_is_saved, _run_what_is_poisoned,
    lambda t: t.autograd.graph.increment_version(3),
    lambda t: t.autograd.graph.increment_version([t.ones(1), 3]),
    lambda t: t.sort(t.ones(2), out=(t.empty(2), t.empty(2))),
    lambda t: t.topk(t.ones(2), 1, out=(t.empty(2, dtype=t.float64), _long(t))),
    lambda t: t.ones(3).view(t.float64),
    lambda t: t.tensor(1.0).view(t.int16),
    lambda t: t.ones(4, 4).t().view(t.float64),
    lambda t: t.ones(4, 4)[:, 1:3].view(t.float64),
    lambda t: t.ones(2, 5)[:, :4].view(t.float64),
    lambda t: t.nn.LSTM(3, 4, proj_size=4),
    lambda t: t.nn.LSTM(3, 4, proj_size=-1),
    lambda t: t.nn.GRU(3, 4, proj_size=2),
    lambda t: t.nn.LSTM(3, 4, proj_size=2)(t.ones(2, 2, 3), (t.ones(1, 2, 4), t.ones(1, 2, 4))),
    lambda t: t.tensor(1.5, requires_grad=True).mul(1).acosh_().backward(),
    lambda t: t.tensor(1.5, requires_grad=True).mul(1).arcsinh_().backward(),
    lambda t: t.tensor(0.5, requires_grad=True).mul(1).atanh_().backward(),
    lambda t: t.ones(2).div_(2, rounding_mode="up"),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", REFUSED)
def test_they_refuse_the_same(call):
    """In the same words."""
    found = {}
    for name, t in SIDES.items():
        with pytest.raises((RuntimeError, ValueError)) as refused:
            call(t)
        found[name] = str(refused.value).partition("\n")[0]
    assert found["reference"] == found["torch"]
