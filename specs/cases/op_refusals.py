"""Refusals of ops: sizes that do not fit, settings out of range, dtypes that they lack."""

import torch

from specs.cases._measures import derivatives, refusal_kinds


def counts_and_bins_need_what_they_count():
    """Whole numbers, edges that rise and ends in order. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([0.5, 2.0, 1.0], dtype=torch.float64, requires_grad=True)
    n = torch.tensor([1, 0, 2])
    edges = torch.tensor([0.0, 1.0, 2.0])
    assert (
        refusal_kinds(
            [
                lambda: torch.bincount(n, minlength=-1),
                lambda: torch.bincount(n - 1),
                lambda: torch.bincount(n.reshape(1, 3)),
                lambda: torch.bincount(n, torch.ones(2)),
                lambda: torch.bincount(n, torch.ones(3)),
                lambda: torch.bincount(torch.tensor([], dtype=torch.long)),
            ]
        )
        == "oooo--"
    )
    assert (
        refusal_kinds(
            [
                lambda: torch.searchsorted(edges, x.detach().float(), side="middle"),
                lambda: torch.searchsorted(edges, x.detach().float(), right=True, side="left"),
                lambda: torch.searchsorted(edges, x.detach().float(), right=True, side="right"),
                lambda: torch.searchsorted(edges, x.detach()),
                lambda: torch.searchsorted(edges, edges, sorter=torch.tensor([0, 1])),
                lambda: torch.searchsorted(edges, edges, sorter=torch.tensor([0.0, 1.0, 2.0])),
                lambda: torch.searchsorted(edges, edges, sorter=torch.tensor([0, 1, 2])),
                lambda: torch.searchsorted(edges.expand(2, 3), torch.ones(3, 3)),
                lambda: torch.bucketize(edges, edges.reshape(1, 3)),
                lambda: torch.bucketize(edges, edges),
            ]
        )
        == "oo--oo-oo-"
    )
    assert (
        refusal_kinds(
            [
                lambda: torch.histc(edges, 0),
                lambda: torch.histc(edges, 3, 2.0, 1.0),
                lambda: torch.histc(edges, 3, 0.0, float("inf")),
                lambda: torch.histc(edges, 3, 0.0, 2.0),
            ]
        )
        == "ooo-"
    )
    assert derivatives(x.cumprod(0).sort().values, x) == [
        [11.0, 2.5, 3.0],
        [61.0, 119.0, 139.5],
        [22.0, 46.5, 52.5],
    ]


def moved_and_joined_dimensions_are_each_named_once():
    """As many as there are, and none that is not there. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=torch.float64, requires_grad=True)
    s = torch.tensor(2.0, requires_grad=True)
    assert (
        refusal_kinds(
            [
                lambda: x.movedim((0, 0), (0, 1)),
                lambda: x.movedim((0, 1), (1, 1)),
                lambda: x.movedim((0,), (0, 1)),
                lambda: s.movedim(0, 0),
                lambda: s.movedim(1, 0),
                lambda: x.unflatten(0, ()),
                lambda: x.unflatten(0, (2, 1)),
                lambda: x[0].fliplr(),
                lambda: s.flipud(),
                lambda: x.roll(()),
                lambda: x.roll(1, 2),
                lambda: s.roll(1, 0),
                lambda: s.roll(1, 1),
            ]
        )
        == "ooo-Io-oooIII"
    )
    assert (
        refusal_kinds(
            [
                lambda: torch.meshgrid(indexing="ij"),
                lambda: torch.meshgrid(x[0], x[0].float(), indexing="ij"),
                lambda: torch.meshgrid(x[0], x[1], indexing="yx"),
                lambda: torch.meshgrid(x[0], x[1], indexing="xy"),
                lambda: torch.hstack(()),
                lambda: torch.vstack(()),
                lambda: torch.dstack(()),
                lambda: torch.column_stack(()),
                lambda: torch.block_diag(torch.ones(1, 1, 1)),
                lambda: torch.cartesian_prod(x),
                lambda: torch.combinations(x, 2),
                lambda: x.tensor_split((1, 1), 2),
                lambda: s.tensor_split(1),
                lambda: x.hsplit(2),
                lambda: s.hsplit(1),
                lambda: x.vsplit(0),
                lambda: x[0].vsplit(1),
                lambda: x.dsplit(1),
                lambda: x.unsafe_chunk(0),
                lambda: torch.chunk(x, 0),
            ]
        )
        == "ooo-oooooooIoooooooo"
    )
    assert derivatives(x.movedim((0, 1), (1, 0)).roll(1, 0).unflatten(0, (3, 1)).fliplr() ** 2, x) == [
        [6.0, 20.0, 6.0, 32.0, 60.0, 24.0],
        [72.0, 400.0, 24.0, 512.0, 1440.0, 192.0],
        [72.0, 576.0, 24.0, 512.0, 160.0, 1200.0],
    ]


def differences_and_repetitions_need_sizes_that_fit():
    """Along one dimension, with as many counts as rows. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64, requires_grad=True)
    m = torch.ones(2, 3, dtype=torch.float64)
    s = torch.tensor(2.0)
    assert (
        refusal_kinds(
            [
                lambda: x.diff(prepend=m),
                lambda: m.diff(prepend=torch.ones(3, 1, dtype=torch.float64)),
                lambda: m.diff(append=torch.ones(2, 1, dtype=torch.float64)),
                lambda: s.diff(),
                lambda: x.diff(-1),
                lambda: x.diff(0),
                lambda: m.take_along_dim(torch.zeros(1, 3), 0),
                lambda: m.take_along_dim(torch.zeros(3, dtype=torch.long), 0),
                lambda: m.take_along_dim(torch.zeros(2, 2, dtype=torch.long), 0),
                lambda: m.take_along_dim(torch.zeros(2, 1, dtype=torch.long), 1),
                lambda: torch.vander(m),
                lambda: m.diag_embed(0, 1, 1),
                lambda: m.fill_diagonal_(1.0),
                lambda: s.clone().fill_diagonal_(1.0),
                lambda: torch.ones(2, 3, 2).fill_diagonal_(1.0),
                lambda: torch.ones(2, 2, 2).fill_diagonal_(1.0),
            ]
        )
        == "oo-oo-ooo-oo-oo-"
    )
    assert (
        refusal_kinds(
            [
                lambda: x.repeat_interleave(torch.tensor([1, 2])),
                lambda: x.repeat_interleave(torch.tensor([1, 0, 2])),
                lambda: x.repeat_interleave(torch.tensor([[1, 0, 2]])),
                lambda: x.repeat_interleave(torch.tensor([1, -1, 2])),
                lambda: x.repeat_interleave(torch.tensor([1.0, 1.0, 2.0])),
                lambda: x.repeat_interleave(torch.tensor([1, 0, 2]), output_size=4),
                lambda: x.repeat_interleave(torch.tensor([1, 0, 2]), output_size=3),
                lambda: x.repeat_interleave(2, output_size=5),
                lambda: x.repeat_interleave(-1),
                lambda: torch.repeat_interleave(torch.tensor([[1, 2]])),
                lambda: torch.repeat_interleave(torch.tensor([1, -2])),
                lambda: torch.repeat_interleave(torch.tensor([1, 2])),
            ]
        )
        == "o-ooNo-oooo-"
    )
    assert (
        refusal_kinds(
            [
                lambda: torch.linalg.cross(m.mT, m.mT),
                lambda: torch.cov(torch.ones(2, 2, 2)),
                lambda: torch.cov(m, fweights=torch.ones(3)),
                lambda: torch.cov(m, fweights=torch.tensor([1, 1])),
                lambda: torch.cov(m, fweights=torch.tensor([1, -1, 1])),
                lambda: torch.cov(m, aweights=torch.tensor([1, 1, 1])),
                lambda: torch.cov(m, aweights=torch.tensor([1.0, -1.0, 1.0])),
                lambda: torch.cov(m, aweights=torch.ones(2)),
                lambda: torch.corrcoef(torch.ones(2, 2, 2)),
            ]
        )
        == "ooooooooo"
    )
    assert derivatives(
        x.repeat_interleave(torch.tensor([1, 0, 2]), output_size=3).diff(prepend=x[:1]) ** 2, x
    ) == [[-12.0, 0.0, 12.0], [-192.0, 0.0, 192.0], [0.0, 288.0, 0.0]]


def orders_and_quantiles_need_shares_and_dimensions():
    """Shares lie between 0 and 1, and what is sorted has an order. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([3.0, 1.0, 2.0], dtype=torch.float64, requires_grad=True)
    c = torch.tensor([1j, 2.0])
    none = torch.ones(2, 0)
    assert (
        refusal_kinds(
            [
                lambda: x.quantile(1.5),
                lambda: x.quantile(torch.tensor([0.5, -0.1], dtype=torch.float64)),
                lambda: x.quantile(torch.tensor([0.5])),
                lambda: x.quantile(torch.ones(1, 1, dtype=torch.float64)),
                lambda: x.quantile(0.5, interpolation="middle"),
                lambda: torch.tensor([], dtype=torch.float64).quantile(0.5),
                lambda: torch.tensor([1, 2]).quantile(0.5),
                lambda: x.nanquantile(2.0),
                lambda: c.max(),
                lambda: c.kthvalue(1),
                lambda: x.topk(4),
                lambda: x.topk(-1),
                lambda: x.kthvalue(0),
                lambda: x.kthvalue(4),
                lambda: none.mode(),
                lambda: none.mode(0),
                lambda: torch.tensor([float("nan")] * 2).mode(),
                lambda: none.median(1),
                lambda: none.max(1),
                lambda: none.argmax(),
                lambda: none.argmax(1),
                lambda: none.amax(1),
            ]
        )
        == "ooooooooNNooooI--IIIII"
    )
    assert (
        refusal_kinds(
            [
                lambda: torch.cdist(x, x),
                lambda: torch.cdist(x.reshape(1, 3), x.reshape(3, 1)),
                lambda: torch.cdist(x.reshape(1, 3), x.reshape(1, 3), p=-1.0),
                lambda: torch.cdist(torch.ones(1, 3, dtype=torch.long), torch.ones(1, 3)),
                lambda: torch.cdist(x.reshape(1, 3), x.reshape(1, 3), compute_mode="perhaps"),
                lambda: torch.pdist(x),
                lambda: torch.pdist(torch.ones(2, 3, dtype=torch.long)),
                lambda: torch.pdist(x.reshape(3, 1), -2.0),
                lambda: torch.trapezoid(x, torch.ones(2)),
                lambda: torch.trapezoid(x, torch.tensor(2.0)),
                lambda: torch.cumulative_trapezoid(x, dx=2),
                lambda: torch.cumulative_trapezoid(x, torch.ones(2, dtype=torch.float64)),
                lambda: torch.unravel_index(torch.tensor([1.0]), (2, 2)),
                lambda: torch.unravel_index(torch.tensor([1]), (2, -2)),
                lambda: torch.unravel_index(torch.tensor([1]), 2),
                lambda: torch.unravel_index(torch.tensor([1]), (2.0,)),
                lambda: torch.unravel_index(torch.tensor([5]), (2, 2)),
            ]
        )
        == "ooooVooooo-oTV-T-"
    )
    assert derivatives(x.quantile(torch.tensor([0.25, 1.0], dtype=torch.float64)) ** 2, x) == [
        [12.0, 1.5, 1.5],
        [96.0, 3.0, 3.0],
        [9.0, 144.0],
    ]


def comparisons_within_bounds_refuse_negative_ones():
    """A tolerance is no less than zero. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([3.0, 1.0], dtype=torch.float64, requires_grad=True)
    assert (
        refusal_kinds(
            [
                lambda: x.isclose(x, rtol=-1.0),
                lambda: x.isclose(x, atol=-1.0),
                lambda: x.isclose(x.float()),
                lambda: torch.allclose(x, x, atol=-1.0),
                lambda: torch.allclose(x, torch.ones(3, dtype=torch.float64)),
                lambda: torch.isclose(torch.ones(2), torch.ones(3)),
                lambda: torch.equal(x, x.float()),
                lambda: torch.tensor([1j]).sign(),
                lambda: torch.tensor([1j]).floor(),
                lambda: torch.tensor([1j]).ceil(),
                lambda: torch.tensor([1j]).trunc(),
                lambda: torch.tensor([1j]).signbit(),
                lambda: torch.tensor([1j]).frac(),
                lambda: torch.tensor([1j]).clamp(0, 1),
                lambda: x.heaviside(x.float()),
                lambda: x.clamp(),
                lambda: x.clamp(torch.ones(3, dtype=torch.float64)),
                lambda: x.nextafter(x.float()),
            ]
        )
        == "oooooo-NNNNNNNooo-"
    )
    assert derivatives(x.clamp(1.5, 4.0) ** 2, x) == [[6.0, 0.0], [24.0, 0.0], [72.0, 0.0]]


def draws_need_probabilities():
    """As many as are drawn, none below zero. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([0.5, 0.0, 0.5], dtype=torch.float64, requires_grad=True)
    p = x.detach()
    assert (
        refusal_kinds(
            [
                lambda: torch.multinomial(torch.tensor([1, 2]), 1),
                lambda: torch.multinomial(p, 0),
                lambda: torch.multinomial(p, 4),
                lambda: torch.multinomial(-p, 1),
                lambda: torch.multinomial(p * 0, 1),
                lambda: torch.multinomial(torch.tensor(1.0), 1),
                lambda: torch.multinomial(torch.ones(1, 1, 1), 1),
                lambda: torch.multinomial(torch.tensor([float("nan"), 1.0]), 1),
                lambda: torch.normal(p, torch.tensor([1j, 1j, 1j])),
                lambda: torch.normal(p, -1.0),
                lambda: torch.normal(p, -p),
                lambda: torch.normal(0.0, 1.0, (2,)),
                lambda: torch.normal(p, torch.ones(2)),
                lambda: torch.bernoulli(p * 3),
                lambda: torch.bernoulli(torch.tensor([1, 0])),
                lambda: torch.poisson(-p),
                lambda: torch.poisson(torch.tensor([1, 2])),
                lambda: p.clone().normal_(0.0, -1.0),
                lambda: p.clone().uniform_(1.0, 0.0),
                lambda: p.clone().exponential_(-1.0),
                lambda: p.clone().geometric_(1.5),
                lambda: p.clone().log_normal_(1.0, -1.0),
                lambda: p.clone().cauchy_(0.0, -1.0),
                lambda: p.clone().random_(3, 3),
                lambda: p.clone().random_(2, to=5),
                lambda: p.clone().random_(1, 2, 3),
                lambda: p.clone().random_(start=1),
                lambda: torch.randint(2, 2, (1,)),
                lambda: torch.randint(0, 2),
                lambda: torch.randperm(-1),
                lambda: torch.rand(-1),
                lambda: torch.rand((2,), dtype=torch.long),
                lambda: torch.tensor([1j]).clone().random_(),
            ]
        )
        == "ooooooooooo-ooNoNooooooo-TToTooNN"
    )
    assert derivatives(x.cumsum(0).square(), x) == [
        [9.0, 8.0, 6.0],
        [448.0, 412.0, 276.0],
        [18.0, 34.0, 92.0],
    ]
