"""Functions that are made of other ops: joins, cuts, turns, products and spectra, and their gradients."""

import torch

from specs.case import refused
from specs.cases._measures import graded, ramp, wave


def tensors_are_joined():
    """Along a new or an old dimension, from numbers, vectors and matrices.

    Rule: op/derivatives-beyond-programs.
    """
    a, b = ramp(3), ramp(2, 3)
    assert graded(torch.vstack((a, b)), a, b) == [(3, 3), 45.0, 14.0, 154.0]
    assert graded(torch.row_stack((a, a)), a) == [(2, 3), 20.5, 46.0]
    assert graded(torch.hstack((a, a[:2])), a) == [(5,), 2.5, 28.0]
    assert graded(torch.hstack((b, b[:, :1])), b) == [(2, 4), 34.0, 142.0]
    assert graded(torch.dstack((a, b[0])), a, b) == [(1, 3, 2), 6.5, 22.0, 28.0]
    assert torch.dstack((b, b)).shape == (2, 3, 2) and torch.dstack((a, a)).shape == (1, 3, 2)
    assert graded(torch.column_stack((a[:2], b)), a, b) == [(2, 4), 37.5, 11.0, 127.0]
    assert torch.column_stack((a, a)).shape == (3, 2)
    assert graded(torch.block_diag(a, b, a[0]), a, b) == [(4, 7), 34.0, 42.0, 361.0]
    assert torch.block_diag(a, b).shape == (3, 6)
    assert graded(torch.cartesian_prod(a, b[0]), a, b) == [(9, 2), 52.5, 198.0, 192.0]
    assert torch.cartesian_prod(a) is a
    assert graded(torch.combinations(a), a) == [(3, 2), 25.5, 48.0]
    assert torch.combinations(a, 3).shape == (1, 3) and torch.combinations(a, 2, True).shape == (6, 2)
    assert torch.combinations(a.detach(), 1).tolist() == a.reshape(3, 1).tolist()
    assert [
        x.shape == (1, 1, 3) for x in torch.atleast_3d(b[:1, :1, None].expand(1, 1, 3), b[:1].view(1, 1, 3))
    ] == [True, True]
    assert [tuple(x.shape) for x in torch.atleast_3d(a[0], a, b)] == [(1, 1, 1), (1, 3, 1), (2, 3, 1)]
    assert [tuple(x.shape) for x in torch.atleast_2d([a[0], a, b])] == [(1, 1), (1, 3), (2, 3)]
    assert torch.atleast_1d(a[0]).shape == (1,) and torch.atleast_1d(a) is a
    assert graded(torch.cov(b), b) == [(2, 2), 10.0, 20.0]
    assert graded(torch.cov(a, correction=0), a) == [(), 4.1667, 3.3333]
    assert graded(torch.corrcoef(b * torch.tensor([1.0, -2.0, 0.5])), b) == [(2, 2), 0.89, 1.3996]
    assert torch.corrcoef(a).item() == 1.0
    assert graded(torch.nn.functional.softmax(torch.stack((a, a * a)), 0), a) == [(2, 3), 13.2986, 0.074]


def tensors_are_cut():
    """Into so many parts, at places, or to lengths. Rule: op/derivatives-beyond-programs."""
    a, b = ramp(7), ramp(3, 4)
    assert [
        x.tolist() == a[i:j].tolist()
        for x, (i, j) in zip(a.tensor_split(3), ((0, 3), (3, 5), (5, 7)), strict=True)
    ] == [True, True, True]
    assert [tuple(x.shape) for x in b.tensor_split((1, 3), 1)] == [(3, 1), (3, 2), (3, 1)]
    assert [tuple(x.shape) for x in b.tensor_split([1, 9], dim=-1)] == [(3, 1), (3, 3), (3, 0)]
    assert [tuple(x.shape) for x in torch.vsplit(b, 3)] == [(1, 4), (1, 4), (1, 4)]
    assert [tuple(x.shape) for x in torch.hsplit(b, [1, 2])] == [(3, 1), (3, 1), (3, 2)]
    assert [tuple(x.shape) for x in torch.hsplit(a, [2])] == [(2,), (5,)]
    assert [tuple(x.shape) for x in torch.dsplit(b.unsqueeze(0), 2)] == [(1, 3, 2), (1, 3, 2)]
    assert [tuple(x.shape) for x in b.split_with_sizes((1, 2), 0)] == [(1, 4), (2, 4)]
    assert [tuple(x.shape) for x in torch.split_with_sizes(b, [1, 3], dim=1)] == [(3, 1), (3, 3)]
    assert [tuple(x.shape) for x in torch.unsafe_split(b, 2, 1)] == [(3, 2), (3, 2)]
    assert [tuple(x.shape) for x in torch.unsafe_chunk(a, 3)] == [(3,), (3,), (1,)]
    assert graded(torch.cat(a.tensor_split((2, 5))[::-1]), a) == [(7,), -4.3333, 90.0]
    assert not (torch.unsafe_split(a, 3)[0]._is_view() is False and a.tensor_split(3)[0]._base is a)
    assert graded(b.unflatten(1, (2, -1)).softmax(2), b) == [(3, 2, 2), 39.6703, 1.4251]
    assert tuple(b.unflatten(-1, (2, 1, 2)).shape) == (3, 2, 1, 2)
    assert tuple(a[:1].unflatten(0, (1, 1)).shape) == (1, 1)
    assert not (b.ravel()._base is b and b.t().ravel()._is_view() is False)
    assert tuple(b.movedim(0, 1).shape) == (4, 3) and b.movedim((0, 1), (1, 0)).tolist() == b.t().tolist()
    assert tuple(torch.moveaxis(b.unsqueeze(0), (0, 2), (-1, 0)).shape) == (4, 3, 1)
    assert b.movedim(0, 0).grad_fn.name() == "PermuteBackward0"
    assert tuple(b.swapaxes(0, 1).shape) == (4, 3) and tuple(b.swapdims(0, -1).shape) == (4, 3)


def tensors_are_turned_and_repeated():
    """End to front, round the end, and as often as asked for. Rule: op/derivatives-beyond-programs."""
    a, b = ramp(3), ramp(2, 3)
    assert graded(b.fliplr(), b) == [(2, 3), 20.0, 83.0]
    assert graded(b.flipud(), b) == [(2, 3), 1.0, 64.0]
    assert graded(b.roll(1), b) == [(2, 3), 13.0, 76.0]
    assert graded(b.roll((1, -1), (0, 1)), b) == [(2, 3), -5.0, 58.0]
    assert graded(b.roll(2, dims=1), b) == [(2, 3), 22.0, 85.0]
    assert graded(b.rot90(), b) == [(3, 2), 7.0, 70.0]
    assert graded(b.rot90(-1, (1, 0)), b) == [(3, 2), 7.0, 70.0]
    assert graded(a.tile((2,)), a) == [(6,), 20.5, 46.0]
    assert graded(a.tile(2, 1), a) == [(2, 3), 20.5, 46.0]
    assert graded(b.tile(2), b) == [(2, 6), 101.0, 335.0]
    assert graded(a.repeat_interleave(2), a) == [(6,), 30.5, 50.0]
    assert graded(b.repeat_interleave(torch.tensor([1, 2]), 0), b) == [(3, 3), 78.0, 213.0]
    assert graded(b.repeat_interleave(2, dim=1), b) == [(2, 6), 109.0, 343.0]
    assert tuple(b.repeat_interleave(2).shape) == (12,)
    assert graded(a.broadcast_to((2, 3)), a) == [(2, 3), 20.5, 46.0]
    assert [tuple(x.shape) for x in torch.broadcast_tensors(a, b[:, :1])] == [(2, 3), (2, 3)]
    assert graded(torch.diag(a), a) == [(3, 3), 27.5, 38.0]
    assert graded(torch.diag(a, 1), a) == [(4, 4), 35.5, 52.0]
    assert graded(torch.diag(b, -1), b) == [(1,), 1.0, 4.0]
    assert not torch.diag(b)._is_view()
    assert graded(torch.diagflat(b, 1), b) == [(7, 7), 206.0, 602.0]
    assert graded(torch.diag_embed(b, 1, 0, 2), b) == [(4, 2, 4), 93.0, 327.0]
    x, y = torch.meshgrid(a, a[:2], indexing="ij")
    assert (tuple(x.shape), tuple(y.shape), x.tolist()[0][0] == x.tolist()[0][1]) == ((3, 2), (3, 2), True)
    x, y = torch.meshgrid(a, a[:2], indexing="xy")
    assert (tuple(x.shape), x.tolist()[0][0] == x.tolist()[1][0]) == ((2, 3), True)
    assert graded(torch.trapezoid(b), b) == [(2,), 6.0, 24.0]
    assert graded(torch.trapezoid(b, dx=0.5, dim=0), b) == [(3,), 2.5, 11.5]
    assert graded(torch.trapz(b, a * a), b, a) == [(2,), 33.75, 78.75, 81.0]
    assert graded(torch.cumulative_trapezoid(b), b) == [(2, 2), 15.0, 63.0]
    assert graded(torch.cumulative_trapezoid(b, a), b, a) == [(2, 2), 37.5, 157.5, 15.0]
    assert graded(torch.cumulative_trapezoid(b, dx=2, dim=0), b) == [(1, 3), 10.0, 46.0]
    assert [graded(g, b) for g in torch.gradient(b.expand(2, 3), dim=1)] == [[(2, 3), 21.0, 21.0]]
    assert [graded(g, b) for g in torch.gradient(torch.cat((b, b)), spacing=2.0)] == [
        [(4, 3), 58.5, 58.5],
        [(4, 3), 39.0, 39.0],
    ]
    assert torch.vander(a.detach() + 3).tolist() == [[1.0, 1.0, 1.0], [12.25, 3.5, 1.0], [36.0, 6.0, 1.0]]
    assert torch.vander(a.detach() + 3, 2, increasing=True).tolist() == [[1.0, 1.0], [1.0, 3.5], [1.0, 6.0]]
    assert graded(a.diff(), a) == [(2,), 7.5, 3.0]
    assert graded(b.diff(2, prepend=b[:, :1]), b) == [(2, 2), 4.0, 4.0]
    assert graded(torch.nn.functional.log_softmax(b.rot90(2), 1), b) == [(2, 3), -33.5597, -16.0794]


def products_of_several_tensors():
    """Over dimensions that are counted or named. Rule: op/derivatives-beyond-programs."""
    a, b = ramp(2, 3), ramp(3, 2)
    assert graded(torch.tensordot(a, b, 1), a, b) == [(2, 2), 58.0, 112.0, 157.0]
    assert graded(torch.tensordot(a, b.t(), dims=2), a, b) == [(), 14.0, 23.0, 23.0]
    assert graded(torch.tensordot(a, b, ([0], [1])), a, b) == [(3, 3), 120.0, 327.0, 363.0]
    assert graded(torch.tensordot(a, b, dims=([-1, 0], [0, -1])), a, b) == [(), 14.0, 23.0, 23.0]
    assert graded(torch.tensordot(a, b, 0), a, b) == [(2, 3, 3, 2), 534.0, 1848.0, 3423.0]
    assert graded(torch.inner(a, b.t()), a, b) == [(2, 2), 58.0, 112.0, 157.0]
    assert graded(torch.inner(a[0, 0], b), a, b) == [(3, 2), -56.0, 28.0, -182.0]
    assert graded(torch.inner(a[0], b[:, 0]), a, b) == [(), 4.0, 4.0, -5.0]
    assert graded(torch.kron(a, b), a, b) == [(6, 6), 582.0, 2472.0, 3183.0]
    assert graded(torch.outer(a[0], b[0]), a, b) == [(3, 2), 18.0, -72.0, -21.0]
    assert graded(torch.ger(a[1], b[1]), a, b) == [(3, 2), 28.0, 64.0, 178.0]
    assert graded(torch.vdot(a[0], b[:, 1]), a, b) == [(), 1.0, 10.0, -8.0]
    assert graded(torch.chain_matmul(a, b, a), a, b) == [(2, 3), 266.0, 1666.0, 518.0]
    assert graded(torch.linalg.multi_dot((a, b, a)), a, b) == [(2, 3), 266.0, 1666.0, 518.0]
    assert graded(torch.cross(a, b.t(), dim=1), a, b) == [(2, 3), 0.0, 0.0, 0.0]
    assert graded(torch.cross(a, a.flip(0) ** 2), a) == [(2, 3), 12.0, 24.0]
    assert graded(torch.einsum("ij,jk->ik", a, b), a, b) == [(2, 2), 58.0, 112.0, 157.0]
    assert graded(torch.einsum("ij,jk", [a, b]), a, b) == [(2, 2), 58.0, 112.0, 157.0]
    assert graded(torch.einsum("ij,ji", a, b), a, b) == [(), 14.0, 23.0, 23.0]
    assert graded(torch.einsum("ij->ji", a), a) == [(3, 2), 23.0, 86.0]
    assert graded(torch.einsum("ij->", a), a) == [(), 3.0, 21.0]
    assert graded(torch.einsum("ii->i", torch.einsum("ij,jk->ik", a, b)), a, b) == [(2,), 24.0, 42.0, 51.0]
    assert graded(torch.einsum("...j,jk->...k", a.expand(2, 2, 3), b), a, b) == [
        (2, 2, 2),
        192.0,
        372.0,
        462.0,
    ]
    assert graded(torch.einsum("...", a), a) == [(2, 3), 28.0, 91.0]
    assert graded(torch.einsum("...j->...", a), a) == [(2,), 9.0, 36.0]
    assert graded(torch.einsum("i,j,k->kji", a[0], b[0], a[1]), a, b) == [(3, 2, 3), 558.0, 9.0, -612.0]
    assert graded(torch.einsum("ij, kj -> ik", a[:, :1], b.t()), a, b) == [(2, 2), 0.0, 54.0, 9.0]
    assert graded(
        torch.baddbmm(a[:, :2].unsqueeze(0), a.unsqueeze(0), b.unsqueeze(0), beta=0.5, alpha=2), a, b
    ) == [(1, 2, 2), 119.5, 242.5, 314.0]


def quantiles_lie_between_elements():
    """Below, above, at the nearest, half-way, or by the share. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([[3.0, 1.0, 2.0, 5.0], [0.0, 4.0, -1.0, 2.5]], dtype=torch.float64, requires_grad=True)
    assert graded(torch.quantile(x, 0.3), x) == [(), 1.1, 2.1]
    assert graded(torch.quantile(x, 0.3, dim=1), x) == [(2,), 1.7, 13.3]
    assert graded(torch.quantile(x, 0.75, 0, keepdim=True), x) == [(1, 4), 30.0, 44.0]
    assert graded(x.quantile(torch.tensor([0.25, 0.6], dtype=torch.float64), 1), x) == [(2, 2), 17.65, 47.55]
    assert tuple(x.quantile(torch.tensor([0.25, 0.5, 1.0], dtype=torch.float64), 0, True).shape) == (3, 1, 4)
    assert tuple(x.quantile(0.5, keepdim=True).shape) == (1, 1)
    assert graded(x.quantile(0.4, 1, interpolation="lower"), x) == [(2,), 2.0, 13.0]
    assert graded(x.quantile(0.4, 1, interpolation="higher"), x) == [(2,), 8.0, 17.0]
    assert graded(x.quantile(0.4, 1, interpolation="nearest"), x) == [(2,), 2.0, 13.0]
    assert graded(x.quantile(0.4, 1, interpolation="midpoint"), x) == [(2,), 5.0, 15.0]
    assert graded(x.quantile(0.0), x) == [(), -1.0, 7.0]
    assert graded(x.quantile(1.0), x) == [(), 5.0, 4.0]
    gaps = torch.where(x > 4, float("nan"), x)
    assert graded(gaps.nanquantile(0.3, 1), x) == [(2,), 1.4, 13.0]
    assert graded(gaps.nanquantile(0.5), x) == [(), 2.0, 3.0]
    assert gaps.quantile(0.5, 1).isnan().tolist() == [True, False]
    assert graded(gaps.nanmean(), x) == [(), 1.6429, 4.5714]
    assert graded(gaps.nanmean(1, True), x) == [(2, 1), 4.75, 15.0]
    assert graded(gaps.nansum(0), x) == [(4,), 26.0, 84.0]
    assert graded(gaps.nanmedian(1)[0], x) == [(2,), 2.0, 13.0]
    assert gaps.nanmedian(1)[1].tolist() == [2, 0]
    assert graded(x.median(1, True)[0], x) == [(2, 1), 2.0, 13.0]
    assert x.median(1)[1].tolist() == [2, 0]
    assert graded(x.median(), x) == [(), 2.0, 3.0]
    assert gaps.median(1)[0].isnan().tolist() == [True, False]
    assert gaps.median(1)[1].tolist() == [3, 0]
    assert graded(gaps.nanmedian(), x) == [(), 2.0, 3.0]
    assert graded(x.kthvalue(2, 0)[0], x) == [(4,), 37.0, 38.0]
    assert graded(x.mode(1)[0], x) == [(2,), -1.0, 16.0]
    assert graded(x.sort(1, True)[0], x) == [(2, 4), 48.0, 192.0]
    assert graded(x.topk(2, 1, False)[0], x) == [(2, 2), 2.0, 49.0]
    assert graded(x.cummax(1)[0], x) == [(2, 4), 122.0, 173.0]
    assert graded(x.logcumsumexp(1), x) == [(2, 4), 126.273, 175.9392]


def quantiles_count_in_double():
    """A sixth as float32 is a little more, so that the second of four is the nearest.

    Rule: op/quantile-counts-in-double.
    """
    x = torch.tensor([0.0, 1.0, 2.0, 3.0])
    assert x.quantile(torch.tensor([0.5, 1 / 6]), interpolation="nearest").tolist() == [2.0, 1.0]
    assert x.nanquantile(1 / 6, interpolation="nearest").item() == 1.0


def dropout_takes_complex_numbers():
    """So do its gradients, and i1 half precision. Rule: op/kernels-that-came-late."""
    x = torch.ones(3, dtype=torch.complex64, requires_grad=True)
    assert torch.nn.functional.dropout(x, 0.5).dtype == torch.complex64
    y = torch.zeros(2, dtype=torch.float16, requires_grad=True)
    torch.special.i1(y).sum().backward()
    assert y.grad.tolist() == [0.5, 0.5]


def both_extremes_have_gradients():
    """aminmax gives two results, of all or along a dimension. Rule: op/aminmax-has-a-derivative."""
    x = torch.tensor([[3.0, 1.0, 2.0, 5.0], [0.0, 4.0, -1.0, 2.5]], dtype=torch.float64, requires_grad=True)
    assert [graded(v, x) for v in x.aminmax()] == [[(), -1.0, 7.0], [(), 5.0, 4.0]]
    assert [graded(v, x) for v in x.aminmax(dim=1, keepdim=True)] == [
        [(2, 1), -1.0, 16.0],
        [(2, 1), 13.0, 16.0],
    ]
    assert graded(sum(v.sum() for v in torch.aminmax(x, dim=0)), x) == [(), 16.5, 36.0]


def distances_of_rows():
    """Between two lists, or within one, of each norm. Rule: op/derivatives-beyond-programs."""
    a, b = ramp(2, 3), ramp(4, 3)
    far = b.detach().pow(2).requires_grad_()
    assert graded(torch.cdist(a, far), a, far) == [(2, 4), 189.2958, 2.2463, 137.6175]
    assert graded(torch.cdist(a, far, 1.0), a, far) == [(2, 4), 311.3223, 0.0, 246.0]
    assert graded(torch.cdist(a, far, p=3), a, far) == [(2, 4), 163.3776, -4.3754, 116.551]
    assert graded(torch.cdist(a, far, float("inf")), a, far) == [(2, 4), 139.6198, -21.0, 93.0]
    assert graded(torch.cdist(a, far, 2.0, "use_mm_for_euclid_dist"), a, far) == [
        (2, 4),
        189.2958,
        2.2463,
        137.6175,
    ]
    assert torch.cdist(a, far, compute_mode="use_mm_for_euclid_dist").grad_fn.name() == "ViewBackward0"
    assert torch.cdist(a, far, compute_mode="donot_use_mm_for_euclid_dist").grad_fn.name() == "CdistBackward0"
    assert torch.cdist(a.expand(30, 2, 3).reshape(60, 3), far).grad_fn.name() == "ViewBackward0"
    assert graded(torch.cdist(a.unsqueeze(0), far.expand(2, 4, 3)), a, far) == [
        (2, 2, 4),
        726.373,
        -30.1038,
        578.4125,
    ]
    assert graded(torch.pdist(far), far) == [(6,), 162.8601, 120.4736]
    assert graded(torch.pdist(far, 1.0), far) == [(6,), 260.3306, 240.0]
    assert graded(torch.nn.functional.pdist(far, 0.5), far) == [(6,), 735.35, 904.8078]


def windows_are_transformed():
    """Windows along a signal, and back; with padding, steps and shapes of windows.

    Rule: op/derivatives-beyond-programs.
    """
    x = ramp(8).detach().pow(2).requires_grad_()
    real = torch.view_as_real
    assert graded(real(torch.stft(x, 4, return_complex=True)), x) == [(3, 9, 2), 452.7347, 1322.0]
    assert tuple(torch.stft(x, 4, return_complex=True).shape) == (3, 9)
    w = torch.tensor([0.5, 1.0, 0.25], dtype=torch.float64, requires_grad=True)
    assert graded(real(torch.stft(x, 4, 2, 3, w, return_complex=True)), x, w) == [
        (3, 5, 2),
        -243.4694,
        -266.25,
        131.4286,
    ]
    assert graded(real(torch.stft(x, 4, 2, center=False, return_complex=True)), x) == [
        (3, 3, 2),
        85.6327,
        110.0,
    ]
    assert graded(real(torch.stft(x, 4, 2, pad_mode="constant", return_complex=True)), x) == [
        (3, 5, 2),
        102.0408,
        232.0,
    ]
    assert graded(real(torch.stft(x, 4, 2, pad_mode="replicate", return_complex=True)), x) == [
        (3, 5, 2),
        277.0408,
        385.0,
    ]
    assert graded(real(torch.stft(x, 4, 2, normalized=True, return_complex=True)), x) == [
        (3, 5, 2),
        79.5918,
        200.0,
    ]
    assert graded(real(torch.stft(x, 4, 2, onesided=False, return_complex=True)), x) == [
        (4, 5, 2),
        -33.4694,
        116.0,
    ]
    assert graded(torch.stft(x.reshape(2, 4), 3, 1, return_complex=False), x) == [
        (2, 2, 4, 2),
        948.7676,
        1652.3538,
    ]
    s = torch.stft(x, 4, 2, return_complex=True)
    assert graded(torch.istft(s, 4, 2), x) == [(8,), 135.4286, 204.0]
    assert graded(torch.istft(s, 4, 2, length=7), x) == [(7,), 63.4286, 140.0]
    assert graded(torch.istft(s, 4, 2, length=10), x) == [(10,), 207.1429, 327.0]
    assert graded(torch.istft(s, 4, 2, 3, w.detach()), x) == [(8,), 198.7429, 321.6]
    assert graded(torch.istft(s, 4, 2, normalized=True, center=True), x) == [(8,), 270.8571, 408.0]
    t = torch.stft(x, 4, 2, onesided=False, return_complex=True)
    assert graded(torch.istft(t, 4, 2, onesided=False), x) == [(8,), 135.4286, 204.0]
    assert graded(real(torch.istft(t, 4, 2, onesided=False, return_complex=True)), x) == [
        (8, 2),
        247.4286,
        372.0,
    ]
    assert graded(torch.istft(s.unsqueeze(0).expand(2, 3, 5), 4, 2), x) == [(2, 8), 458.2857, 696.0]
    assert [[round(v, 4) for v in torch.hann_window(4, periodic=p).tolist()] for p in (True, False)] == [
        [0.0, 0.5, 1.0, 0.5],
        [0.0, 0.75, 0.75, 0.0],
    ]
    assert [
        [round(v, 4) + 0.0 for v in getattr(torch, f"{n}_window")(5).tolist()]
        for n in ("hamming", "blackman", "bartlett")
    ] == [
        [0.08, 0.3979, 0.9121, 0.9121, 0.3979],
        [0.0, 0.2008, 0.8492, 0.8492, 0.2008],
        [0.0, 0.4, 0.8, 0.8, 0.4],
    ]
    assert [torch.hann_window(1).tolist()] == [[1.0]]
    assert torch.hamming_window(3, False, 0.5, 0.5).tolist() == [0.0, 1.0, 0.0]
    assert (
        torch.hann_window(3, requires_grad=True).is_leaf,
        torch.hann_window(3, dtype=torch.float64).dtype is torch.float64,
    ) == (True, True)


def signals_are_made_of_spectra():
    """istft takes complex numbers alone. Rule: op/istft-takes-spectra."""
    x = wave(1, 3, 2)
    with refused("op/istft-takes-spectra"):
        torch.istft(x, 4)
    assert torch.istft(torch.view_as_complex(wave(1, 3, 3, 2)), 4).shape == (1, 2)
