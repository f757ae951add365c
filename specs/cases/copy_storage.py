"""Memory that is taken over, saved, loaded and compared."""

import copy
import io
import pickle

import torch

from specs.case import refused
from specs.cases._measures import error_kinds


def memory_is_taken_over_by_windows():
    """Of a storage or of a tensor, with sizes and steps of its own. Rule: resize/set-begins-a-new-end."""
    a = torch.arange(6.0)
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).sum()
    x.data.set_(a[:2])
    b = torch.empty(0).set_(a.untyped_storage(), 1, (2, 2), (2, 1))
    assert [b.tolist(), b.storage_offset(), b.stride(), b.data_ptr() == a[1:].data_ptr()] == [
        [[1.0, 2.0], [3.0, 4.0]],
        1,
        (2, 1),
        True,
    ]
    assert [
        torch.empty(0).set_(a.untyped_storage()).tolist(),
        torch.empty(0).set_(a.untyped_storage(), 2, (3,)).tolist(),
        torch.empty(0).set_(a[2:4]).tolist(),
        torch.ones(3).set_().shape == (0,),
    ] == [[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 3.0, 4.0], [2.0, 3.0], True]
    assert [
        torch.empty(0).set_(a, 3, (2,), (1,)).tolist(),
        torch.empty(0).set_(a.untyped_storage(), 0, (2, 3)).stride(),
    ] == [[3.0, 4.0], (3, 1)]
    c = torch.arange(4.0)
    d = c.view(2, 2)
    c.resize_(2)
    assert [
        c.tolist(),
        d.tolist(),
        c.resize_(3).tolist()[:2],
        c.resize_(1, 2).shape == (1, 2),
        c.resize_((2,)).shape == (2,),
        c.resize_as_(d).shape == (2, 2),
        c.tolist() == d.tolist(),
    ] == [[0.0, 1.0], [[0.0, 1.0], [2.0, 3.0]], [0.0, 1.0], True, True, True, True]
    e = torch.ones(1).resize_(3)
    assert [
        e.tolist()[0],
        e.shape == (3,),
        e._version,
        torch.ones(2, 2).t().resize_(3).stride(),
        torch.ones(2)[1:].resize_(2).storage_offset(),
    ] == [1.0, True, 1, (1,), 1]
    assert (
        error_kinds(
            [
                lambda: torch.ones(1).set_(a.double()),
                lambda: x.resize_(3),
                lambda: x.resize_(2),
                lambda: torch.ones(2).resize_(-1),
            ]
        )
        == "oooo"
    )
    with torch.no_grad():
        x.set_(torch.zeros(2))
    y.backward()
    assert x.grad.tolist() == [2.0, 2.0]
    z = torch.ones(1, requires_grad=True)
    out = (z * 2).sum()
    with torch.no_grad():
        z.set_(torch.zeros(1))
    assert error_kinds([lambda: torch.autograd.grad(out, z, retain_graph=True)]) == "o"


def tensors_are_saved_and_loaded():
    """With their flags and their layout; without history and grads. Rule: copy/pickle-keeps-the-flag."""
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    x.grad = torch.ones(2, 3)
    f = io.BytesIO()
    torch.save({"x": x, "t": torch.ones(2, 3).t(), "n": 3}, f)
    f.seek(0)
    y = torch.load(f)
    assert [
        y["x"].tolist() == x.tolist(),
        y["x"].requires_grad,
        y["x"].grad,
        y["x"].is_leaf,
        y["t"].stride(),
        y["n"],
    ] == [True, True, None, True, (1, 3), 3]
    g = io.BytesIO()
    m = torch.nn.Linear(1, 1)
    torch.save(m.state_dict(), g)
    g.seek(0)
    k = torch.nn.Linear(1, 1)
    assert [str(k.load_state_dict(torch.load(g))), k.weight.equal(m.weight), k.weight.requires_grad] == [
        "<All keys matched successfully>",
        True,
        True,
    ]
    assert error_kinds([lambda: torch.load(io.BytesIO()), lambda: torch.save(x * 2, io.BytesIO())]) == "o-"


def copies_have_all_of_the_memory():
    """Copied, pickled or saved, a view keeps its offset and strides. Rule: copy/pickle-keeps-the-flag."""
    x, f = torch.arange(12.0).reshape(3, 4)[1:, ::2].requires_grad_(), io.BytesIO()
    torch.save(x, f)
    f.seek(0)
    copies = [torch.load(f), pickle.loads(pickle.dumps(x)), copy.deepcopy(x)]
    assert [(t.tolist(), t.storage_offset(), t.stride(), t.untyped_storage().nbytes()) for t in copies] == [
        ([[4.0, 6.0], [8.0, 10.0]], 4, (4, 2), 48)
    ] * 3
    assert [t.requires_grad for t in copies] == [True] * 3
    gaps = [torch.from_numpy(torch.ones(6).numpy()[::3]), torch.empty_strided((2,), (3,))]
    assert [(copy.deepcopy(t).stride(), t.untyped_storage().nbytes()) for t in gaps] == [((3,), 16)] * 2


def tensors_are_close_to_one_another():
    """By the tolerances of their dtypes, in shape and dtype too. Rule: copy/number-of-one-element."""
    c = torch.testing.assert_close
    x = torch.tensor([1.0, 2.0])
    with refused("copy/number-of-one-element"):
        float(x)
    assert [
        c(x, x + 1e-6),
        c(x, x.clone().requires_grad_()),
        c([x, x], [x, x]),
        c(1.0, 1.0 + 1e-9),
        c(x.double(), x, check_dtype=False),
        c(x, x + 0.5, rtol=0.0, atol=0.6),
        c(x, x * 1.1, rtol=0.2, atol=0.0),
        c(x * float("nan"), x * float("nan"), equal_nan=True),
        c(x.half(), (x * 1.0005).half()),
    ] == [None, None, None, None, None, None, None, None, None]
    bad = [
        lambda: c(x, x + 0.1),
        lambda: c(x, x[:1]),
        lambda: c(x, x.double()),
        lambda: c(x.double(), x.double() + 1e-6),
        lambda: c(x * float("nan"), x * float("nan")),
        lambda: c([x], [x, x]),
        lambda: c(x, x + 0.5, rtol=0.0, atol=0.4),
        lambda: c(x.int(), x.int() + 1),
        lambda: c(x, x * 1.1, rtol=0.05, atol=0.0),
    ]
    assert error_kinds(bad) == "ooooooooo"


def old_names_make_tensors():
    """Types that are called, variables that share memory, and devices by default.

    Rule: copy/number-of-one-element.
    """
    x = torch.ones(2)
    with refused("copy/number-of-one-element"):
        int(x)
    assert [
        torch.FloatTensor([1, 2]).tolist(),
        torch.IntTensor(2).dtype is torch.int32,
        torch.FloatTensor().shape == (0,),
        torch.Tensor(x).data_ptr() == x.data_ptr(),
        torch.Tensor(x)._is_view() is False,
        torch.Tensor(torch.Size([3])).shape == (3,),
        torch.HalfTensor([1]).dtype is torch.float16,
    ] == [[1.0, 2.0], True, True, True, False, True, True]
    v = torch.autograd.Variable(x, requires_grad=True)
    assert [
        v.requires_grad,
        v.data_ptr() == x.data_ptr(),
        x.requires_grad,
        torch.autograd.Variable(x).requires_grad,
        isinstance(x, torch.autograd.Variable),
        v.is_leaf,
    ] == [True, True, False, False, True, True]
    assert (
        error_kinds(
            [
                lambda: torch.FloatTensor(x.double()),
                lambda: torch.autograd.Variable(1.0),
                lambda: torch.LongTensor([1.5]),
                lambda: delattr(x, "requires_grad"),
                lambda: delattr(x, "data"),
                lambda: delattr(x, "grad") or delattr(x, "nope"),
            ]
        )
        == "TT-ooA"
    )
    assert [
        x.square_().tolist(),
        (x * 2).sqrt_().sqrt().shape == (2,),
        torch.get_default_device().type,
        torch.get_float32_matmul_precision(),
        x.index_select(0, torch.tensor([1])).tolist(),
        torch.numel(x),
    ] == [[1.0, 1.0], True, "cpu", "highest", [1.0], 2]


def a_dtype_stays_itself():
    """Copied or pickled; sizes stay sizes, whatever is done to them. Rule: copy/pickle-keeps-the-flag."""
    kinds = (torch.float32, torch.bfloat16, torch.int8)
    assert [pickle.loads(pickle.dumps(k)) is k and copy.deepcopy(k) is k for k in kinds] == [True] * 3
    s = torch.ones(2, 3, 4).shape
    made = [s[::2], s[1:], (1, *s[:0]) + s, s + (1,), s * 2, 2 * s, copy.deepcopy(s)]
    assert [type(each) is torch.Size for each in made] == [True] * 7
    assert made[:3] == [(2, 4), (3, 4), (1, 2, 3, 4)] and type(s[0]) is int and s.numel() == 24
    assert error_kinds([lambda: [1] + s, lambda: s + [1], lambda: s + 1]) == "TTT"
    x = torch.ones(1, requires_grad=True)
    assert pickle.loads(pickle.dumps(x)).requires_grad is True
