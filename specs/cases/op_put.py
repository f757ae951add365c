"""Elements that are put at places and taken from them, and what else has a setting."""

import torch

from specs.cases._measures import error_kinds, graded, ramp


def elements_are_put_and_taken():
    """At indices, with a factor, or on the diagonal. Rule: op/derivatives-beyond-programs."""
    x, y = ramp(2, 3), ramp(3)
    at = torch.tensor([2, 0, 2])
    assert graded(x.index_add(1, at, y.expand(2, 3), alpha=2.0), x, y) == [(2, 3), 51.0, 91.0, 92.0]
    assert graded(torch.index_add(x, 1, at, source=y.expand(2, 3)), x, y) == [(2, 3), 39.5, 91.0, 46.0]
    z = x.clone()
    assert z.index_add_(1, at, y.expand(2, 3), alpha=-1.0) is z
    assert graded(z, x, y) == [(2, 3), 16.5, 91.0, -46.0]
    assert graded(x.index_put((torch.tensor([0, 1]), torch.tensor([2, 2])), y[:2]), x, y) == [
        (2, 3),
        7.0,
        46.0,
        15.0,
    ]
    assert graded(
        x.index_put((torch.tensor([0, 0]), torch.tensor([2, 2])), y[:2], accumulate=True), x, y
    ) == [(2, 3), 23.5, 91.0, 9.0]
    z = x.clone()
    assert z.index_put_([torch.tensor([True, False])], y) is z
    assert graded(z, x, y) == [(2, 3), 40.0, 77.0, 14.0]
    assert graded(x.take_along_dim(torch.tensor([[0], [2]]), 1), x) == [(2, 1), 4.0, 13.0]
    assert graded(x.take_along_dim(torch.tensor([5, 0])), x) == [(2,), -1.0, 8.0]
    assert graded(torch.take(x, torch.tensor([[1, -1]])), x) == [(1, 2), 5.0, 14.0]
    z = x.clone()
    assert z.fill_diagonal_(0.5) is z
    assert graded(z, x) == [(2, 3), 23.0, 65.0]
    assert graded(x.index_fill(0, torch.tensor([1]), 2.0), x) == [(2, 3), 26.0, 14.0]
    assert graded(x.index_fill(1, at, torch.tensor(1.5).double()), x) == [(2, 3), 29.0, 29.0]
    assert graded(x.diagonal_scatter(y[:2]), x, y) == [(2, 3), 20.5, 65.0, 11.0]
    assert graded(x.select_scatter(y, 0, 1), x, y) == [(2, 3), 8.5, 14.0, 32.0]
    assert graded(x.slice_scatter(y[:2].unsqueeze(1), 1, 1, 2), x, y) == [(2, 3), 18.5, 62.0, 12.0]
    assert graded(x.masked_scatter(x > 0, y), x, y) == [(2, 3), 8.5, 14.0, 32.0]
    assert graded(x.scatter(1, at[:2].unsqueeze(1), y[:2].unsqueeze(1)), x, y) == [(2, 3), 20.0, 66.0, 11.0]
    assert graded(x.scatter_add(1, at.expand(2, 3), y.expand(2, 3)), x, y) == [(2, 3), 39.5, 91.0, 46.0]
    assert graded(x.scatter_reduce(1, at.expand(2, 3), y.expand(2, 3), "amax"), x, y) == [
        (2, 3),
        39.5,
        63.0,
        20.0,
    ]
    assert graded(x.scatter_reduce(1, at.expand(2, 3), y.expand(2, 3), "mean", include_self=False), x, y) == [
        (2, 3),
        15.0,
        29.0,
        28.0,
    ]
    assert graded(torch.float_power(y.abs() + 1, 2), y) == [(3,), 61.5, 78.0]
    assert torch.float_power(torch.tensor(2), 3).dtype is torch.float64
    assert graded(torch.float_power(2, y), y) == [(3,), 27.0784, 54.0009]
    assert graded(torch.polygamma(1, y.abs() + 1), y) == [(3,), 3.116, -3.8814]
    assert graded((y.abs() + 1).polygamma(2), y) == [(3,), -2.0518, 5.9212]
    assert graded(torch.special.ndtr(y), y) == [(3,), 4.4016, 1.5021]
    assert graded(torch.fake_quantize_per_tensor_affine(y, 0.5, 0, -2, 3), y) == [(3,), 4.5, 4.0]
    assert graded(torch.var(x, unbiased=False), x) == [(), 2.9167, 5.8333]
    assert graded(torch.std(x, True), x) == [(), 1.8708, 1.8708]
    assert graded(torch.var(x, 1, True, True), x) == [(2, 1), 3.0, 6.0]
    assert graded(torch.std(x, axis=0, keepdims=True), x) == [(1, 3), 12.7279, 12.7279]
    assert graded(torch.var(x, dim=1, correction=0), x) == [(2,), 2.0, 4.0]
    assert [graded(v, x) for v in torch.var_mean(x, 1)] == [[(2,), 3.0, 6.0], [(2,), 3.0, 12.0]]
    assert [graded(v, x) for v in torch.std_mean(x, dim=0, correction=0, keepdim=True)] == [
        [(1, 3), 9.0, 9.0],
        [(1, 3), 5.0, 23.0],
    ]
    assert [graded(v, x) for v in torch.var_mean(x, False)] == [[(), 2.9167, 5.8333], [(), 0.5, 3.5]]
    assert (
        error_kinds(
            [
                lambda: x.index_put(torch.tensor([0]), y),
                lambda: x.index_put((0,), y),
                lambda: y.fill_diagonal_(1.0),
                lambda: x.index_fill(1, at, y),
            ]
        )
        == "TToo"
    )


def no_positions_name_nothing():
    """An empty list picks no element and fills in none; the gradient passes by.

    Rule: grad/accumulates.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.clone()
    y[[]] = 3.0
    assert y.tolist() == [1.0, 2.0] and x[[]].shape == (0,)
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    x[[]].sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
