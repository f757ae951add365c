"""Tensors that are made of numbers, by cast and by copy, and what they tell of themselves."""

import torch

from specs.case import refused
from specs.cases._measures import error_kinds, graded, ramp


def tensors_are_made_of_numbers():
    """Of ranges, powers and diagonals, of lists that fit, and in the default dtype.

    Rule: op/derivatives-beyond-programs.
    """
    t = ramp(2)
    assert graded(t.softmax(0), t) == [(2,), 1.9933, 0.0066]
    x = torch.tensor([1.0], requires_grad=True)
    assert x.requires_grad is True and torch.ones(1).requires_grad is False
    assert [
        torch.arange(3).tolist(),
        torch.arange(1, 2.5, 0.5).tolist(),
        torch.arange(3, 0, -1).tolist(),
        torch.arange(2.0).dtype is torch.float32,
    ] == [[0, 1, 2], [1.0, 1.5, 2.0], [3, 2, 1], True]
    assert [
        torch.linspace(0, 1, 3).tolist(),
        torch.linspace(1, 0, 1).tolist(),
        torch.logspace(0, 2, 3).tolist(),
        torch.logspace(0, 2, 3, 2.0).tolist(),
    ] == [[0.0, 0.5, 1.0], [1.0], [1.0, 10.0, 100.0], [1.0, 2.0, 4.0]]
    assert [
        torch.eye(2).tolist(),
        torch.eye(2, 3).tolist(),
        torch.eye(2, dtype=torch.int64).dtype is torch.int64,
        torch.eye(1, requires_grad=True).is_leaf,
    ] == [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], True, True]
    assert [
        torch.full((2,), 3).dtype is torch.int64,
        torch.full((1, 2), 1.5).tolist(),
        torch.full((1,), True).dtype is torch.bool,
        torch.full((), 1j).dtype is torch.complex64,
    ] == [True, [[1.5, 1.5]], True, True]
    assert [
        torch.zeros(2, 0).shape == (2, 0),
        torch.ones([2]).tolist(),
        torch.empty(size=(3, 1)).shape == (3, 1),
        torch.zeros(()).shape == (),
    ] == [True, [1.0, 1.0], True, True]
    assert [
        torch.full_like(x, 2).requires_grad,
        torch.ones_like(x, dtype=torch.int32).dtype is torch.int32,
        torch.zeros_like(x, requires_grad=True).requires_grad,
    ] == [False, True, True]
    e = torch.empty_strided((2, 3), (1, 2))
    assert [
        e.stride(),
        e.dtype is torch.float32,
        torch.empty_strided((2,), (3,), dtype=torch.float64, requires_grad=True).requires_grad,
    ] == [(1, 2), True, True]
    assert [
        x.new_empty_strided((2, 2), (1, 2)).stride(),
        x.double().new_full((2,), 1).dtype is torch.float64,
        x.new_tensor([1, 2]).dtype is torch.float32,
        x.new_zeros(2, 3).requires_grad,
    ] == [(1, 2), True, True, False]
    assert [x.new(2).shape == (2,), x.double().new([1.0]).dtype is torch.float64, x.new().shape == (0,)] == [
        True,
        True,
        True,
    ]
    assert [
        torch.tensor([[1, 2], [3, 4.5]]).dtype is torch.float32,
        torch.tensor(True).dtype is torch.bool,
        torch.tensor([1, 1j]).dtype is torch.complex64,
        torch.tensor([]).shape == (0,),
    ] == [True, True, True, True]
    assert [
        torch.scalar_tensor(2).dtype is torch.float32,
        torch.as_tensor([1, 2]).dtype is torch.int64,
        torch.asarray([1.5]).tolist(),
        torch.complex(x.detach(), x.detach()).tolist(),
    ] == [True, True, [1.5], [(1 + 1j)]]
    assert [
        torch.polar(torch.tensor([2.0]), torch.tensor([0.0])).tolist(),
        torch.FloatTensor([1, 2]).dtype is torch.float32,
        torch.LongTensor(2).shape == (2,),
        torch.DoubleTensor(2, 3).dtype is torch.float64,
    ] == [[(2 + 0j)], True, True, True]
    assert [
        torch.Tensor([1, 2]).tolist(),
        torch.Tensor(2, 1).shape == (2, 1),
        torch.Tensor().shape == (0,),
        torch.BoolTensor([True]).tolist(),
    ] == [[1.0, 2.0], True, True, [True]]
    torch.set_default_dtype(torch.float64)
    wide = [
        torch.tensor(1.5),
        torch.ones(1),
        torch.arange(1.0),
        torch.empty_strided((1,), (1,)),
        torch.tensor(1j),
        torch.Tensor(1),
        torch.linspace(0, 1, 2),
    ]
    torch.set_default_dtype(torch.float32)
    assert [str(t.dtype) for t in wide] == [
        "torch.float64",
        "torch.float64",
        "torch.float64",
        "torch.float64",
        "torch.complex128",
        "torch.float64",
        "torch.float64",
    ]
    assert [torch.get_default_dtype() is torch.float32] == [True]
    assert (
        error_kinds(
            [
                lambda: torch.arange(0, 3, 0),
                lambda: torch.arange(0, 3, -1),
                lambda: torch.linspace(0, 1, -1),
                lambda: torch.eye(-1),
                lambda: torch.zeros(-1),
                lambda: torch.tensor([1, [2]]),
                lambda: torch.tensor([[1, 2], [3]]),
                lambda: torch.tensor("a"),
                lambda: torch.tensor(["a"]),
                lambda: torch.tensor(None),
                lambda: torch.tensor([1j], dtype=torch.float32),
                lambda: torch.from_numpy([1]),
                lambda: torch.complex(torch.ones(1), torch.ones(1).double()),
                lambda: torch.set_default_dtype(torch.int64),
                lambda: torch.FloatTensor(x.double()),
            ]
        )
        == "oooooTVTVoTToTT"
    )


def tensors_are_numbers_and_texts():
    """Of one element, without losing a part; with a format, as an index, as a bool.

    Rule: copy/number-of-one-element.
    """
    x = torch.tensor(2.5)
    with refused("copy/number-of-one-element"):
        float(torch.ones(2))
    assert [
        float(x),
        int(x),
        complex(x),
        bool(x),
        f"{x:.2f}",
        [1, 2, 3][torch.tensor(1)],
        list(range(torch.tensor(2))),
    ] == [2.5, 2, (2.5 + 0j), True, "2.50", 2, [0, 1]]
    assert [
        float(torch.tensor([[3]])),
        int(torch.tensor(True)),
        complex(torch.tensor(1 + 2j)),
        x.item(),
        torch.tensor([1 + 0j]).real.tolist(),
    ] == [3.0, 1, (1 + 2j), 2.5, [1.0]]
    assert [abs(torch.tensor(-2)).item(), (-x).item(), (+x).item(), pow(x, 2).item()] == [2, -2.5, 2.5, 6.25]
    assert (
        error_kinds(
            [
                lambda: float(torch.tensor(1j)),
                lambda: int(torch.tensor(1 + 1j)),
                lambda: [1, 2][x],
                lambda: list(x),
                lambda: iter(x),
                lambda: len(x),
                lambda: float(torch.tensor(1 + 0j)),
                lambda: f"{torch.ones(2):.2f}",
                lambda: reversed(x),
            ]
        )
        == "ooTTTT-T-"
    )
    assert [
        [v.item() for v in torch.arange(3)],
        [v.tolist() for v in torch.ones(2, 1)],
        [v.item() for v in reversed(torch.arange(3))],
        len(torch.ones(3, 2)),
    ] == [[0, 1, 2], [[1.0], [1.0]], [2, 1, 0], 3]
    assert [
        torch.tensor(1.0).type(),
        x.double().type(),
        x.int().type(),
        x.bfloat16().type(),
        x.type(torch.float64).dtype is torch.float64,
        x.type("torch.IntTensor").dtype is torch.int32,
        x.type(torch.LongTensor).dtype is torch.int64,
    ] == [
        "torch.FloatTensor",
        "torch.DoubleTensor",
        "torch.IntTensor",
        "torch.BFloat16Tensor",
        True,
        True,
        True,
    ]
    assert [
        x.type_as(torch.tensor(1)).dtype is torch.int64,
        x.to(torch.tensor(1.0).double()).dtype is torch.float64,
        x.to("cpu") is x,
        x.to("cpu", torch.float64).dtype is torch.float64,
        x.to(torch.float32, copy=True) is x,
    ] == [True, True, True, True, False]
    assert error_kinds([lambda: x.to("nowhere"), lambda: x.type("torch.NoTensor")]) == "oV"
    m = torch.arange(6.0).reshape(1, 2, 3)
    assert [
        m.mT.shape == (1, 3, 2),
        m.mH.shape == (1, 3, 2),
        m[0].T.shape == (3, 2),
        m[0].H.shape == (3, 2),
        m.T.shape == (3, 2, 1),
        x.T is x or x.T.shape == (),
    ] == [True, True, True, True, True, True]
    assert [
        torch.adjoint(m[0] * 1j)[1].tolist(),
        (m[0] * 1j).H[0].tolist(),
        error_kinds([lambda: m.H, lambda: m[0, 0].mT, lambda: m[0, 0].mH]),
    ] == [[-1j, -4j], [-0j, -3j], "ooo"]
    assert [
        m.data_ptr() == m[0].data_ptr(),
        m.data_ptr() == m.clone().data_ptr(),
        m[0, 1].storage_offset(),
        m.untyped_storage().nbytes(),
        m.storage().size(),
        m.dim(),
        m.ndimension(),
        m.nelement(),
    ] == [True, False, 3, 24, 6, 3, 3, 6]
    assert [
        torch.finfo(torch.float32).eps,
        torch.finfo(torch.float16).max,
        torch.finfo().bits,
        torch.iinfo(torch.int8).max,
        torch.iinfo(torch.uint8).min,
        torch.iinfo(torch.int64).bits,
        error_kinds([lambda: torch.finfo(torch.int8), lambda: torch.iinfo(torch.float32)]),
    ] == [1.1920928955078125e-07, 65504.0, 32, 127, 0, 64, "TT"]
    assert (
        torch.finfo(torch.float64).tiny == torch.finfo(torch.float64).smallest_normal
        and torch.finfo(torch.bfloat16).resolution == 0.01
    )


def complex_numbers_are_made_of_floats():
    """Neither integers nor complex numbers are parts of them. Rule: op/complex-is-made-of-floats."""
    x = torch.ones(1)
    with refused("op/complex-is-made-of-floats"):
        torch.complex(x.int(), x.int())
    with refused("op/complex-is-made-of-floats"):
        torch.complex(x, x + 1j)
    assert torch.complex(x, x).tolist() == [1 + 1j]


def the_old_constructor_takes_no_flag():
    """torch.Tensor() has neither dtype nor requires_grad: torch.tensor() has. Rule: op/arguments."""
    made = []
    with refused("op/arguments"):
        torch.Tensor([1.0], requires_grad=True)
    with refused("op/arguments"):
        torch.Tensor([1.0], dtype=torch.float64)
    with refused("op/arguments"):
        torch.Tensor([1.0]).new([1.0], requires_grad=True)
    x = torch.Tensor([1.0], device="cpu")
    assert x.requires_grad is False and x.is_leaf is True
    y = torch.tensor([1.0], requires_grad=True)
    made += [torch.Tensor(y)]
    assert made[0].requires_grad is True and made[0].is_leaf is False
