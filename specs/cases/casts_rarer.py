"""Casts: bits read in another dtype, layouts, older names of types."""

import torch

from specs.cases._measures import derivatives, error_kinds, ramp


def bits_are_read_in_another_dtype():
    """Sizes may differ. Rules: view/shares-storage, op/derivatives-beyond-programs."""
    x = torch.tensor([[1.0, -2.0], [0.5, 0.0]])
    y = x.view(torch.int32)
    assert [y.tolist(), y.dtype is torch.int32, y._base is x, y.data_ptr() == x.data_ptr()] == [
        [[1065353216, -1073741824], [1056964608, 0]],
        True,
        False,
        True,
    ]
    y.zero_()
    assert [x.tolist(), x._version, y._version] == [[[0.0, 0.0], [0.0, 0.0]], 1, 1]
    b = torch.tensor([[1.0, -2.0], [0.5, 0.0]]).view(torch.uint8)
    assert [tuple(b.shape), b[0].tolist(), b.view(torch.float32).tolist()] == [
        (2, 8),
        [0, 0, 128, 63, 0, 0, 0, 192],
        [[1.0, -2.0], [0.5, 0.0]],
    ]
    d = torch.zeros(2, 4).view(torch.float64)
    assert [tuple(d.shape), d.stride(), tuple(d.view(torch.complex64).shape)] == [(2, 2), (2, 1), (2, 2)]
    assert [
        tuple(torch.zeros(3).view(torch.int16).shape),
        torch.zeros(2, 3).t().view(torch.int32).stride(),
    ] == [(6,), (1, 3)]
    p = torch.ones(2, requires_grad=True)
    assert [
        p.view(torch.float32).requires_grad,
        p.view(torch.float32) is p,
        p.view(torch.int32).requires_grad,
    ] == [False, False, False]
    assert (
        error_kinds(
            [
                lambda: torch.zeros(3).view(torch.float64),
                lambda: torch.zeros(()).view(torch.float64),
                lambda: torch.zeros(4, 3).t().view(torch.float64),
                lambda: torch.zeros(4, 2)[:, ::2].view(torch.int16),
                lambda: torch.zeros(5)[1:].view(torch.float64),
                lambda: torch.zeros(3, 4)[:, :2].view(torch.float64),
                lambda: torch.zeros(3, 5)[:, :2].view(torch.float64),
                lambda: torch.zeros(2).view("float32"),
                lambda: torch.zeros(()).view(torch.int32).item(),
            ]
        )
        == "ooooo-oT-"
    )
    t = ramp(3)
    assert derivatives(t.view(torch.float64) * t, t) == [[-2.0, 1.0, 9.0], [8.0, 1.0, 54.0]]


def types_under_older_names():
    """`type()` names a class, or gives a copy in one. Rule: op/derivatives-beyond-programs."""
    t = ramp(2, 2)
    assert derivatives(t.type(torch.float32).type_as(t).mul(t), t) == [
        [-4.0, -1.33333, 8.0, 24.0],
        [-16.0, -10.66667, 96.0, 384.0],
        [32.0, 1.77778, 42.66667, 288.0],
    ]
    x = torch.tensor([1.5, -2.0])
    assert [
        x.type(),
        x.long().type(),
        x.type("torch.DoubleTensor").dtype is torch.float64,
        x.bool().type(),
    ] == ["torch.FloatTensor", "torch.LongTensor", True, "torch.BoolTensor"]
    assert [x.type(torch.FloatTensor) is x, x.type(torch.float32) is x, x.type(torch.int64).tolist()] == [
        True,
        True,
        [1, -2],
    ]
    assert [
        isinstance(x, torch.FloatTensor),
        isinstance(x, torch.DoubleTensor),
        isinstance(x, torch.Tensor),
    ] == [True, False, True]
    assert [torch.FloatTensor([1, 2]).dtype is torch.float32, torch.LongTensor([[1], [2]]).tolist()] == [
        True,
        [[1], [2]],
    ]
    assert [
        tuple(torch.DoubleTensor(2, 3).shape),
        tuple(torch.FloatTensor().shape),
        torch.BoolTensor([1, 0]).tolist(),
    ] == [(2, 3), (0,), [True, False]]
    assert [
        tuple(torch.Tensor(3).shape),
        torch.Tensor([3]).tolist(),
        torch.Tensor(x) is x,
        tuple(torch.FloatTensor(torch.Size([2, 1])).shape),
    ] == [(3,), [3.0], False, (2, 1)]
    assert [torch.Tensor([1, 2]).dtype is torch.get_default_dtype(), str(torch.FloatTensor)] == [
        True,
        "<class 'torch.FloatTensor'>",
    ]
    assert (
        error_kinds(
            [
                lambda: torch.FloatTensor(torch.zeros(2).double()),
                lambda: torch.FloatTensor("a"),
                lambda: torch.LongTensor(1.5),
                lambda: torch.Tensor(2, "a"),
                lambda: x.type("torch.NoTensor"),
                lambda: torch.set_default_tensor_type(torch.LongTensor),
                lambda: torch.set_default_tensor_type("torch.NoTensor"),
            ]
        )
        == "TTTTVTA"
    )
    torch.set_default_tensor_type(torch.DoubleTensor)
    made = torch.zeros(1).dtype is torch.float64
    torch.set_default_tensor_type("torch.FloatTensor")
    assert [made, torch.zeros(1).dtype is torch.float32] == [True, True]


def casts_that_change_the_layout():
    """Into a memory format, or only where they must. Rule: op/derivatives-beyond-programs."""
    t = ramp(1, 2, 2, 2)
    y = t.to(memory_format=torch.channels_last)
    assert [y.stride(), y.is_contiguous(memory_format=torch.channels_last), y.grad_fn.name()] == [
        (8, 1, 4, 2),
        True,
        "ToCopyBackward0",
    ]
    assert derivatives(y.mul(t).sum((0, 2, 3)), t) == [
        [-4.0, -2.57143, -1.14286, 0.28571, 3.42857, 6.28571, 9.14286, 12.0],
        [-16.0, -10.28571, -4.57143, 1.14286, 27.42857, 50.28571, 73.14286, 96.0],
        [48.0, 278.85714],
    ]
    x = torch.zeros(1, 2, 2, 2)
    assert [x.to(torch.float32, memory_format=torch.channels_last) is x, x.to(torch.float32) is x] == [
        False,
        True,
    ]
    assert [x.to(torch.float64, memory_format=torch.channels_last).stride(), x.double().stride()] == [
        (8, 1, 4, 2),
        (8, 4, 2, 1),
    ]
    z = x.to(memory_format=torch.channels_last).to(torch.float64)
    assert [z.stride(), z.contiguous().stride(), z.to(torch.float32, copy=True).stride()] == [
        (8, 1, 4, 2),
        (8, 4, 2, 1),
        (8, 1, 4, 2),
    ]
    assert [x.clone(memory_format=torch.channels_last).stride(), torch.empty_like(z).stride()] == [
        (8, 1, 4, 2),
        (8, 1, 4, 2),
    ]
    v = torch.zeros(1, 2, 2, 2, 2).contiguous(memory_format=torch.channels_last_3d)
    assert [v.stride(), v.is_contiguous(), v.is_contiguous(memory_format=torch.channels_last_3d)] == [
        (16, 1, 8, 4, 2),
        False,
        True,
    ]
    e = torch.empty(1, 2, 2, 2, memory_format=torch.channels_last)
    assert [
        e.stride(),
        torch.zeros_like(e).stride(),
        torch.ones_like(e, memory_format=torch.contiguous_format).stride(),
    ] == [(8, 1, 4, 2), (8, 1, 4, 2), (8, 4, 2, 1)]
    assert (
        error_kinds(
            [
                lambda: torch.zeros(2, 2).to(memory_format=torch.channels_last),
                lambda: torch.zeros(2, 2).contiguous(memory_format=torch.channels_last),
                lambda: x.contiguous(memory_format=torch.preserve_format),
                lambda: x.to(memory_format=2),
                lambda: torch.empty(2, 2, memory_format=torch.channels_last),
            ]
        )
        == "oo-To"
    )
    c = torch.tensor([1.0 + 2j])
    assert c.to(torch.float32).tolist() == [1.0]
    h = torch.tensor([1.0], requires_grad=True)
    assert [
        h.to(torch.int64).requires_grad,
        h.bool().requires_grad,
        h.half().requires_grad,
        h.to(h.detach().double()).requires_grad,
    ] == [False, False, True, True]


def tensors_made_of_arrays():
    """They share memory or copy, as was asked. Rule: op/derivatives-beyond-programs."""
    t = ramp(2)
    assert derivatives(torch.as_tensor(t).softmax(0), t) == [
        [-0.00665, 0.00665],
        [0.00017, -0.00017],
        [-0.00018, 0.00018],
    ]
    a = torch.zeros(3).numpy()
    x, y, z = torch.from_numpy(a), torch.as_tensor(a), torch.tensor(a)
    a[0] = 2
    assert [x.tolist(), y.tolist(), z.tolist(), torch.asarray(a).tolist()] == [
        [2.0, 0.0, 0.0],
        [2.0, 0.0, 0.0],
        [0.0, 0.0, 0.0],
        [2.0, 0.0, 0.0],
    ]
    assert [torch.as_tensor(t) is t, torch.asarray(t) is t, torch.asarray(t, copy=True) is t] == [
        True,
        True,
        False,
    ]
    assert [torch.asarray([1, 2]).dtype is torch.int64, torch.asarray(2.5, requires_grad=True).is_leaf] == [
        True,
        True,
    ]
    assert torch.tensor(t).requires_grad is False
    assert [torch.tensor(x, dtype=torch.int32).tolist(), t.new_tensor([1]).dtype is torch.float64] == [
        [2, 0, 0],
        True,
    ]
    assert [torch.arange(3).tolist(), torch.arange(1, 2, 0.5).tolist(), torch.arange(4, 0, -2).tolist()] == [
        [0, 1, 2],
        [1.0, 1.5],
        [4, 2],
    ]
    assert [torch.empty_strided((2, 2), (1, 2)).stride(), torch.scalar_tensor(2).dtype is torch.float32] == [
        (1, 2),
        True,
    ]
    assert [
        torch.full((2,), 3).dtype is torch.int64,
        torch.full((1,), True).dtype is torch.bool,
        torch.full((1,), 1j).dtype is torch.complex64,
    ] == [True, True, True]
    assert [torch.eye(2, 3).tolist(), torch.logspace(0, 2, 3).tolist(), torch.linspace(1, 2, 1).tolist()] == [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        [1.0, 10.0, 100.0],
        [1.0],
    ]
    assert [
        torch.tensor([[]]).shape == (1, 0),
        torch.tensor([]).dtype is torch.float32,
        torch.tensor([True, 2]).dtype is torch.int64,
    ] == [True, True, True]
    a.flags.writeable = False
    assert torch.from_numpy(a).tolist() == [2.0, 0.0, 0.0]
    assert (
        error_kinds(
            [
                lambda: torch.arange("a"),
                lambda: torch.arange(0, 3, 0),
                lambda: torch.arange(3, 0),
                lambda: torch.zeros("a"),
                lambda: torch.zeros(-1),
                lambda: torch.zeros(2.5),
                lambda: torch.eye(-1),
                lambda: torch.tensor([[1], [1, 2]]),
                lambda: torch.tensor({}),
                lambda: torch.from_numpy([1]),
                lambda: torch.empty((1,), device="nowhere"),
                lambda: torch.full((1,), "a"),
                lambda: torch.linspace(0, 1, -1),
                lambda: torch.asarray(a, copy=False, dtype=torch.int64),
                lambda: torch.tensor([1], dtype="int"),
                lambda: torch.zeros(1, dtype=torch.int64, requires_grad=True),
            ]
        )
        == "TooToToVoToToVTo"
    )
