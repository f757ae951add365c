"""The texts of tensors, as people read them."""

import torch

from specs.cases._measures import graded


def tensors_tell_their_history():
    """A result names its node, a leaf says that it requires grad; dtypes are told where they are no default.

    Rule: op/derivatives-beyond-programs.
    """
    x = torch.tensor([1.0, 2.5], requires_grad=True)
    assert repr(x).splitlines() == ["tensor([1.0000, 2.5000], requires_grad=True)"]
    assert repr(x * 2).splitlines() == ["tensor([2., 5.], grad_fn=<MulBackward0>)"]
    assert repr(x.detach()).splitlines() == ["tensor([1.0000, 2.5000])"]
    assert repr(x.softmax(0).sum()).splitlines() == ["tensor(1.0000, grad_fn=<SumBackward0>)"]
    assert graded(x.double().softmax(0), x) == [(2,), 1.8176, 0.1491]
    assert repr(x.view(2, 1)).splitlines() == [
        "tensor([[1.0000],",
        "        [2.5000]], grad_fn=<ViewBackward0>)",
    ]
    assert repr(x.unbind()[0]).splitlines() == ["tensor(1., grad_fn=<UnbindBackward0>)"]
    assert repr(torch.nn.Parameter(torch.ones(2))).splitlines() == [
        "Parameter containing:",
        "tensor([1., 1.], requires_grad=True)",
    ]
    assert [
        repr(torch.tensor(v)) for v in (1, 1.5, True, 1 + 2j, [1, 2], [], [[]], [1e10, 1.0], [1e-7, 1.0])
    ] == [
        "tensor(1)",
        "tensor(1.5000)",
        "tensor(True)",
        "tensor(1.+2.j)",
        "tensor([1, 2])",
        "tensor([])",
        "tensor([], size=(1, 0))",
        "tensor([1.0000e+10, 1.0000e+00])",
        "tensor([1.0000e-07, 1.0000e+00])",
    ]
    assert [
        repr(torch.ones(1, dtype=d))
        for d in (torch.float64, torch.int32, torch.bfloat16, torch.bool, torch.uint8)
    ] == [
        "tensor([1.], dtype=torch.float64)",
        "tensor([1], dtype=torch.int32)",
        "tensor([1.], dtype=torch.bfloat16)",
        "tensor([True])",
        "tensor([1], dtype=torch.uint8)",
    ]
    assert [repr(torch.zeros(n)) for n in ((0,), (2, 0), ())] == [
        "tensor([])",
        "tensor([], size=(2, 0))",
        "tensor(0.)",
    ]
    assert [
        repr(torch.tensor([float("nan"), 1.0])).upper(),
        repr(torch.tensor([float("inf"), -2.5])).upper(),
        repr(torch.tensor([-1.0, 10.0])),
    ] == ["TENSOR([NAN, 1.])", "TENSOR([    INF, -2.5000])", "tensor([-1., 10.])"]
    assert [
        repr(torch.tensor([1e-5, 1.0])),
        repr(torch.tensor([0.1, 1000.5])),
        repr(torch.tensor([123456.0, 1.5])),
        repr(torch.tensor([1e9])),
    ] == [
        "tensor([1.0000e-05, 1.0000e+00])",
        "tensor([1.0000e-01, 1.0005e+03])",
        "tensor([1.2346e+05, 1.5000e+00])",
        "tensor([1.0000e+09])",
    ]
    assert repr(torch.arange(6.0).reshape(2, 3)).splitlines() == [
        "tensor([[0., 1., 2.],",
        "        [3., 4., 5.]])",
    ]
    assert repr(torch.arange(8).reshape(2, 2, 2)).splitlines() == [
        "tensor([[[0, 1],",
        "         [2, 3]],",
        "",
        "        [[4, 5],",
        "         [6, 7]]])",
    ]
    assert repr(torch.arange(2000)).splitlines() == ["tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"]
    assert repr(torch.arange(3000).reshape(1500, 2)).splitlines() == [
        "tensor([[   0,    1],",
        "        [   2,    3],",
        "        [   4,    5],",
        "        ...,",
        "        [2994, 2995],",
        "        [2996, 2997],",
        "        [2998, 2999]])",
    ]
    assert repr(torch.arange(40)).splitlines() == [
        "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,",
        "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35,",
        "        36, 37, 38, 39])",
    ]
    assert repr(torch.tensor([1 + 1j, 2.5 - 3j])).splitlines() == ["tensor([1.0000+1.j, 2.5000-3.j])"]
    assert [
        str(x) == repr(x),
        f"{x[0]}",
        f"{x}",
        str(torch.float64),
        repr(torch.Size([2, 3])),
        str(torch.device("cpu")),
    ] == [
        True,
        "1.0",
        "tensor([1.0000, 2.5000], requires_grad=True)",
        "torch.float64",
        "torch.Size([2, 3])",
        "cpu",
    ]
    assert [repr(x.detach().sort()), repr(torch.max(x.detach(), 0))] == [
        "torch.return_types.sort(\nvalues=tensor([1.0000, 2.5000]),\nindices=tensor([0, 1]))",
        "torch.return_types.max(\nvalues=tensor(2.5000),\nindices=tensor(1))",
    ]
    assert repr(torch.finfo(torch.float32)).split(", ") == [
        "finfo(resolution=1e-06",
        "min=-3.40282e+38",
        "max=3.40282e+38",
        "eps=1.19209e-07",
        "smallest_normal=1.17549e-38",
        "tiny=1.17549e-38",
        "dtype=float32)",
    ]
    assert repr(torch.iinfo(torch.int8)) == "iinfo(min=-128, max=127, dtype=int8)"


def settings_of_printing():
    """Digits, lengths and widths last until others are set. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([[1.23456789, 2.0], [3.0, 4.0]], requires_grad=True)
    assert graded(x.double().softmax(0), x) == [(2, 2), 6.4694, 0.919]
    torch.set_printoptions(precision=2)
    a = repr(x)
    torch.set_printoptions(sci_mode=True)
    b = repr(x)
    torch.set_printoptions(precision=3)
    c = repr(x)
    torch.set_printoptions(threshold=3, edgeitems=1)
    d = [repr(torch.arange(4)), repr(torch.arange(9).reshape(3, 3)), repr(torch.arange(2).reshape(1, 2))]
    torch.set_printoptions(linewidth=20)
    e = repr(torch.arange(3).double())
    torch.set_printoptions(profile="short")
    f = [repr(x), repr(torch.arange(1005))]
    torch.set_printoptions(profile="full")
    g = [repr(x), len(repr(torch.arange(1005)))]
    torch.set_printoptions(threshold=float("inf"))
    h = len(repr(torch.arange(1005)))
    torch.set_printoptions(profile="default")
    i = [repr(x), repr(torch.arange(1005))]
    assert a == "tensor([[1.23, 2.00],\n        [3.00, 4.00]], requires_grad=True)"
    assert b == "tensor([[1.23e+00, 2.00e+00],\n        [3.00e+00, 4.00e+00]], requires_grad=True)"
    assert c == "tensor([[1.235, 2.000],\n        [3.000, 4.000]], requires_grad=True)"
    assert d == [
        "tensor([0,  ..., 3])",
        "tensor([[0,  ..., 2],\n        ...,\n        [6,  ..., 8]])",
        "tensor([[0, 1]])",
    ]
    assert e == "tensor([0., 1., 2.],\n       dtype=torch.float64)"
    assert f == [
        "tensor([[1.23, 2.00],\n        [3.00, 4.00]], requires_grad=True)",
        "tensor([   0,    1,  ..., 1003, 1004])",
    ]
    assert g == ["tensor([[1.2346, 2.0000],\n        [3.0000, 4.0000]], requires_grad=True)", 6702]
    assert h == 6702
    assert i == [
        "tensor([[1.2346, 2.0000],\n        [3.0000, 4.0000]], requires_grad=True)",
        "tensor([   0,    1,    2,  ..., 1002, 1003, 1004])",
    ]
