"""Arguments on the borders of what is allowed, and settings that are rarely given."""

import numpy as np
import torch

from specs.case import refused
from specs.cases._measures import error_kinds, graded, wave


def rarer_settings_of_functions():
    """Indices that broadcast, axes that stay, dtypes that are asked for.

    Rule: op/derivatives-beyond-programs.
    """
    f = torch.nn.functional
    x, y = wave(2, 3), wave(1, 3)
    assert graded(x.softmax(1), x) == [(2, 3), 5.2067, 0.3045]
    assert graded(x.take_along_dim(torch.tensor([[0, 2, 1]]), 1), x) == [(2, 3), -9.1265, 89.0]
    assert graded(y.take_along_dim(torch.tensor([[0], [2]]), 1), y) == [(2, 1), -2.9026, 7.0]
    assert graded(x.take_along_dim(torch.tensor([[1, 0, 1]]), 0), x) == [(1, 3), -8.7708, 26.0]
    assert [
        x.argmax(keepdim=True).shape == (),
        x.argmin(keepdim=True).shape == (),
        tuple(x.argmax(1, True).shape),
        x[:0].sum(0).tolist(),
    ] == [False, False, (2, 1), [0.0, 0.0, 0.0]]
    assert [
        x.new_full((2,), 1, dtype=torch.int64).dtype is torch.int64,
        x.new_full((1,), 2.5).dtype is torch.float64,
        x.new_ones(2, dtype=torch.int32).dtype is torch.int32,
        x.new_empty(2, requires_grad=True).is_leaf,
    ] == [True, True, True, True]
    assert [
        torch.randperm(3, dtype=torch.int32).dtype is torch.int32,
        torch.randperm(3, dtype=torch.float32).dtype is torch.float32,
        torch.randint(3, (2,), dtype=torch.int8).dtype is torch.int8,
        torch.rand(2, dtype=torch.float64).dtype is torch.float64,
    ] == [True, True, True, True]
    torch.manual_seed(0)
    z = torch.randn(2000, dtype=torch.complex64)
    assert [
        abs(z.real.var().item() - 0.5) < 0.1,
        abs(z.imag.var().item() - 0.5) < 0.1,
        torch.rand(9, dtype=torch.complex64).imag.max().item() > 0,
    ] == [True, True, True]
    out, at = f.adaptive_max_pool1d(y.unsqueeze(0), 2, return_indices=True)
    assert [tuple(out.shape), tuple(at.shape), at.flatten().tolist()] == [(1, 1, 2), (1, 1, 2), [0, 1]]
    out, at = f.max_pool2d(wave(1, 1, 2, 2), 2, return_indices=True)
    assert [tuple(out.shape), tuple(at.shape)] == [(1, 1, 1, 1), (1, 1, 1, 1)]
    m = torch.nn.InstanceNorm1d(2, momentum=None, track_running_stats=True)
    m(x.float().reshape(1, 2, 3))
    assert [m.running_mean.tolist(), m.num_batches_tracked.item(), m.momentum] == [[0.0, 0.0], 0, None]
    b = torch.nn.BatchNorm1d(3, momentum=None)
    b(torch.ones(2, 3))
    b(torch.zeros(2, 3) + torch.tensor([[1.0], [3.0]]))
    assert [b.running_mean.tolist(), b.num_batches_tracked.item()] == [[1.5, 1.5, 1.5], 2]
    s = torch.nn.init.sparse_(torch.empty(7, 3), 0.3)
    assert (s == 0).sum(0).tolist() == [3, 3, 3]
    assert [
        torch.nn.MultiMarginLoss(size_average=False).reduction,
        torch.nn.MultiMarginLoss(reduce=False).reduction,
        torch.nn.MarginRankingLoss(reduce=False).reduction,
        torch.nn.MarginRankingLoss(size_average=False).reduction,
        torch.nn.NLLLoss(reduce=False).reduction,
        torch.nn.BCELoss(size_average=False).reduction,
        torch.nn.PoissonNLLLoss(reduce=False).reduction,
        torch.nn.KLDivLoss(size_average=False).reduction,
    ] == ["sum", "none", "none", "sum", "none", "sum", "none", "sum"]
    assert [
        torch.zeros(0, dtype=torch.complex64).to(torch.float32).dtype is torch.float32,
        torch.zeros(0, dtype=torch.complex64).int().shape == (0,),
    ] == [True, True]
    k = torch.nn.utils.weight_norm(torch.nn.Linear(2, 2, dtype=torch.float64), dim=None)
    assert [
        tuple(k.weight_g.shape),
        tuple(torch.nn.utils.weight_norm(torch.nn.Linear(2, 3), dim=1).weight_g.shape),
        tuple(torch.nn.utils.weight_norm(torch.nn.Linear(2, 3)).weight_g.shape),
    ] == [(), (1, 2), (3, 1)]
    assert k.weight.grad_fn is not None and k.weight_g.item() == k.weight_v.norm().item()


def arguments_just_beyond_the_borders():
    """The least that is refused, from either side. Rule: op/derivatives-beyond-programs."""
    f, n = torch.nn.functional, torch.nn
    x, y = wave(2, 3), wave(3, 2)
    p = wave(3, 2, 3)
    t = torch.tensor([[1], [2]])
    assert graded(f.ctc_loss(p.log_softmax(2), t, (3, 2), (1, 1)), p) == [(), 1.3409, 0.1621]
    lazy = n.LazyLinear(2)
    lazy.load_state_dict({"weight": torch.ones(2, 3), "bias": torch.zeros(2)})
    assert (
        error_kinds(
            [
                lambda: f.ctc_loss(p, t, (4, 2), (1, 1)),
                lambda: f.ctc_loss(p, t, (2, 4), (1, 1)),
                lambda: f.ctc_loss(p, t, (3, 3), (1, 2)),
                lambda: f.ctc_loss(p, t, (3, 3), (2, 1)),
                lambda: f.ctc_loss(p, t, (3, 3), (1, 1), blank=-1),
                lambda: torch.tensordot(x, y, ([0], [0])),
                lambda: torch.tensordot(y, x, ([0], [0])),
                lambda: torch.tensordot(x, y, 2),
                lambda: torch.tensor([-1], dtype=torch.uint8),
                lambda: torch.tensor([256], dtype=torch.uint8),
                lambda: torch.tensor([0, 300], dtype=torch.int8),
                lambda: torch.tensor([-129, 0], dtype=torch.int8),
                lambda: torch.tensor([255, 0], dtype=torch.uint8),
                lambda: torch.tensor([127, -128], dtype=torch.int8),
                lambda: torch.multinomial(torch.tensor([1.0, float("inf")]), 1),
                lambda: torch.multinomial(torch.tensor([1.0, float("nan")]), 1),
                lambda: torch.multinomial(torch.tensor([1.0, -1.0]), 1),
                lambda: torch.multinomial(torch.tensor([0.0, 0.0]), 1),
                lambda: torch.multinomial(torch.ones(2), 3),
                lambda: torch.multinomial(torch.ones(2), 2),
                lambda: torch.multinomial(torch.ones(2), 3, True),
                lambda: f.conv_transpose1d(wave(1, 3, 2), wave(3, 1, 1), groups=2),
                lambda: f.conv_transpose1d(wave(1, 1, 2), wave(1, 1, 1), groups=2),
                lambda: f.conv1d(wave(1, 2, 2), wave(3, 1, 1), groups=2),
                lambda: f.conv1d(wave(1, 2, 2), wave(1, 1, 1), groups=2),
                lambda: f.interpolate(wave(1, 1, 2), 3, mode="linear", antialias=True),
                lambda: f.interpolate(wave(1, 1, 2, 2, 2), 3, mode="bilinear", antialias=True),
                lambda: f.interpolate(wave(1, 1, 2, 2), 3, mode="bilinear", antialias=True),
                lambda: lazy(torch.ones(4)),
                lambda: lazy(torch.ones(2)),
            ]
        )
        == "oooooooo-ooo--ooooo--ooooVV-oo"
    )
    assert [lazy(torch.ones(3)).tolist(), lazy.in_features] == [[3.0, 3.0], 3]
    assert (
        error_kinds(
            [
                lambda: torch.arange(0, 1, 2),
                lambda: torch.arange(1, 0),
                lambda: torch.arange(0, -1),
                lambda: torch.arange(1, 1, -1),
                lambda: torch.linspace(0, 1, 0),
                lambda: torch.eye(0, -1),
                lambda: torch.eye(2, -1),
                lambda: torch.normal(0.0, 0.0, (1,)),
                lambda: torch.randint(2, 2, (1,)),
                lambda: torch.randint(2, 3, (1,)),
                lambda: torch.randperm(0),
                lambda: x.kthvalue(0),
                lambda: x.kthvalue(3),
                lambda: x.kthvalue(4),
                lambda: x.topk(3),
                lambda: x.topk(4),
                lambda: x.topk(0),
                lambda: x.quantile(-0.01),
                lambda: x.quantile(1.01),
                lambda: x.quantile(torch.tensor([0.5]).double()),
                lambda: x.quantile(torch.tensor([0.5])),
                lambda: x.quantile(torch.tensor([[0.5]]).double()),
                lambda: x[:0].quantile(0.5),
                lambda: x.quantile(0.5, interpolation="least"),
                lambda: x.roll(1, (0, 1)),
                lambda: x.movedim((0, 1), (0,)),
                lambda: x.unflatten(1, (2, 2)),
                lambda: x.unflatten(1, (3, -1)),
                lambda: x.unflatten(1, (-1, -1)),
                lambda: torch.diag(wave(1, 2, 2)),
                lambda: torch.cat([]),
                lambda: torch.stack([]),
                lambda: torch.cat(x),
                lambda: torch.cat([x, 1]),
                lambda: torch.einsum("ij", x, x),
                lambda: torch.einsum("ij,jk", x),
                lambda: torch.einsum("i", x),
                lambda: torch.einsum("ij,ij", x, y),
                lambda: torch.einsum("ij->k", x),
                lambda: torch.einsum("ii", x),
                lambda: torch.einsum("ijk", x),
                lambda: torch.einsum("i j", x).shape,
                lambda: torch.stft(x[0], 2),
                lambda: torch.stft(x[0, 0], 2, return_complex=True),
                lambda: torch.stft(x[0], 9, return_complex=True),
                lambda: torch.stft(x[0], 2, window=torch.ones(3), return_complex=True),
                lambda: torch.cdist(x, y),
                lambda: torch.cdist(x[0], x),
                lambda: torch.cdist(x, x, compute_mode="least"),
                lambda: torch.clamp(x),
                lambda: torch.clamp(x, x, 1.0),
                lambda: x.min(5),
                lambda: x.mode(5),
                lambda: x.cummax(5),
                lambda: torch.meshgrid(x, indexing="ij"),
                lambda: torch.broadcast_tensors(x, y),
                lambda: torch.empty(2, 0).aminmax(dim=1),
                lambda: torch.empty(0).aminmax(),
            ]
        )
        == "-oo--oo-o--o-o-o-oo-ooooooo-ooVoTTooooooo-ooooooVoTIIIooIo"
    )


def arrays_that_are_no_numbers_are_foreign():
    """An array of words is no operand; numpy compares it with the tensor as a whole.

    Rule: op/operators-leave-what-is-foreign.
    """
    x = torch.tensor([1.0, 2.0])
    words = np.array(["a", "b"])
    assert (x == words) is False
    assert (x == np.array([1.0, 3.0])).tolist() == [True, False]


def numbers_of_numpys_count_as_numbers():
    """As operands and as settings, also by name: the tensor keeps its dtype.

    Rule: op/operators-leave-what-is-foreign.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    two, one, half = np.float64(2.0), np.int64(1), np.float32(0.5)
    y = x * two
    assert y.dtype == torch.float32 and y.requires_grad is True and (two * x).tolist() == [2.0, 4.0]
    assert x.add(one, alpha=one).tolist() == [2.0, 3.0] and (x**one).tolist() == [1.0, 2.0]
    assert torch.clamp(x, np.float32(1.5)).tolist() == [1.5, 2.0] and (x > two).tolist() == [False, False]
    assert x.sum(np.int64(0)).item() == 3.0 and x.reshape(np.int64(2), one).tolist() == [[1.0], [2.0]]
    assert torch.where(x > 1, x, two).tolist() == [2.0, 2.0] and x[one].item() == 2.0
    assert x.mul(np.bool_(True)).tolist() == [1.0, 2.0] and x.sub(two, alpha=half).tolist() == [0.0, 1.0]
    assert (x == "a") is False and x.detach().softmax(np.int64(0)).sum().item() == 1.0


def what_is_made_has_no_negative_size():
    """-1 is worked out where a shape is given for elements that are there, and nowhere else.

    Rule: op/new-sizes-are-not-negative.
    """
    with refused("op/new-sizes-are-not-negative"):
        torch.zeros(-1)
    with refused("op/new-sizes-are-not-negative"):
        torch.full((2, -1), 1.0)
    with refused("op/new-sizes-are-not-negative"):
        torch.empty_strided((-1,), (1,))
    with refused("op/new-sizes-are-not-negative"):
        torch.randint(3, (-1,))
    with refused("op/new-sizes-are-not-negative"):
        torch.ones(2).repeat(-1)
    assert torch.ones(0, 2).repeat(3, 1).shape == (0, 2)


def a_rounded_result_lies_as_its_operand():
    """A column that lies as a row goes on doing so in float16 beside a number, as in any dtype.

    Rule: op/half-rounds-once.
    """
    x = torch.tensor([[256.0], [1.0], [1.0]], dtype=torch.bfloat16)
    assert x.sum().item() == 258.0
    column = torch.tensor([[1.0, 2.0, 3.0]], dtype=torch.float16).t()
    assert column.stride() == (1, 3)
    assert (column * 2).stride() == (1, 3) and (column + column).stride() == (1, 1)
    assert column.exp().stride() == (1, 1) and column.sum(1, keepdim=True).stride() == (1, 1)


def a_running_sum_of_nothing_has_strides_by_rows():
    """In half precision as in any other. Rule: op/half-rounds-once."""
    empty = torch.zeros(3, 0, dtype=torch.float16)
    assert empty.cumsum(1).stride() == (1, 1) and empty.t().cumsum(0).stride() == (3, 1)
    x = torch.tensor([2048.0, 1.0, 1.0], dtype=torch.float16)
    assert x.cumsum(0).tolist() == [2048.0, 2048.0, 2050.0]
