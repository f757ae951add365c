"""First and second derivatives along dimensions, counted from either end."""

import torch

from specs.cases._measures import derivatives


def _alike(x, *functions):
    """Return those that differ along the last dimension as it is counted from either end."""
    ends = [[derivatives(f(x, d), x) for d in (x.ndim - 1, -1)] for f in functions]
    others = [[derivatives(f(x, d), x) for d in (x.ndim - 2, -2)] for f in functions]
    return [at for at, (a, b) in enumerate(zip(ends, others, strict=True)) if a[0] != a[1] or b[0] != b[1]]


def dimensions_are_counted_from_either_end():
    """Their derivatives are the same. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([[1.0, 0.0, 3.0], [4.0, 5.0, 6.0]], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=torch.float64, requires_grad=True)
    i = torch.tensor([[0, 1, 1], [1, 0, 0]])
    j = torch.tensor([1, 0])
    assert (
        _alike(
            x,
            lambda a, d: a.prod(d),
            lambda a, d: a.cumsum(d) ** 2,
            lambda a, d: a.cumprod(d),
            lambda a, d: a.logcumsumexp(d),
            lambda a, d: a.amax(d) * a.amin(d),
            lambda a, d: a.mean((d,)) * a.sum((d,)),
            lambda a, d: a.var(d) * a.std(d),
            lambda a, d: a.logsumexp(d),
            lambda a, d: a.softmax(d),
            lambda a, d: a.log_softmax(d),
            lambda a, d: a.max(d)[0] * a.min(d)[0],
            lambda a, d: a.sort(d)[0] ** 2,
            lambda a, d: a.median(d)[0] ** 2,
            lambda a, d: a.cummax(d)[0] ** 2,
        )
        == []
    )
    assert (
        _alike(
            x,
            lambda a, d: a.flip(d) * a,
            lambda a, d: a.roll(1, d) * a,
            lambda a, d: a.unsqueeze(d - (d < 0)) ** 2,
            lambda a, d: a[:, :1].squeeze(d) ** 2,
            lambda a, d: a.select(d, 1) ** 2,
            lambda a, d: a.narrow(d, 0, 2) ** 2,
            lambda a, d: a.split(1, d)[1] ** 2,
            lambda a, d: a.split([1, a.shape[d] - 1], d)[1] ** 2,
            lambda a, d: a.chunk(2, d)[1] ** 2,
            lambda a, d: a.unbind(d)[1] ** 2,
            lambda a, d: torch.cat([a, a * 2], d) ** 2,
            lambda a, d: torch.stack([a, a * 2], d - (d < 0)) ** 2,
            lambda a, d: a.gather(d, i) ** 2,
            lambda a, d: a.index_select(d, j) ** 2,
            lambda a, d: a.transpose(d, 0) * 2,
            lambda a, d: a.unfold(d, 2, 1) ** 2,
        )
        == []
    )
    assert (
        _alike(
            y,
            lambda a, d: a.prod(d),
            lambda a, d: a.cumprod(d),
            lambda a, d: a.norm(2, d),
            lambda a, d: a.scatter_add(d, i, a * a),
            lambda a, d: a.index_add(d, j, a.narrow(d, 0, 2) ** 2),
            lambda a, d: a.take_along_dim(i, d) ** 2,
            lambda a, d: a.diff(dim=d) ** 2,
        )
        == []
    )
