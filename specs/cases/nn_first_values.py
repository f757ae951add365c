"""First values of parameters, and rows of embeddings."""

import torch

from specs.cases._measures import error_kinds, graded, wave


def first_values_are_drawn_and_set():
    """Constants, ranges, spreads by fans, sparse and orthogonal ones.

    Rule: nn/first-values-are-not-recorded.
    """
    i = torch.nn.init
    torch.manual_seed(0)
    x = torch.empty(60, 40, requires_grad=True)
    near = lambda v, w: abs(v - w) < 0.1 * abs(w)
    assert [
        i.constant_(x, 0.5) is x,
        x.mean().item(),
        i.zeros_(x).sum().item(),
        i.ones_(x).mean().item(),
        x.is_leaf,
        x.grad_fn,
    ] == [True, 0.5, 0.0, 1.0, True, None]
    assert [
        near(i.uniform_(x, 1.0, 3.0).mean().item(), 2.0),
        x.min().item() >= 1,
        near(i.uniform_(x).mean().item(), 0.5),
        near(i.normal_(x, 2.0, 0.5).std().item(), 0.5),
        near(x.mean().item(), 2.0),
        near(i.normal_(x).std().item(), 1.0),
    ] == [True, True, True, True, True, True]
    assert [
        near(i.xavier_uniform_(x).max().item(), (6 / 100) ** 0.5),
        near(i.xavier_uniform_(x, 2.0).max().item(), 2 * (6 / 100) ** 0.5),
        near(i.xavier_normal_(x).std().item(), (2 / 100) ** 0.5),
        near(i.xavier_normal_(x, 3.0).std().item(), 3 * (2 / 100) ** 0.5),
    ] == [True, True, True, True]
    assert [
        near(i.kaiming_uniform_(x).max().item(), (6 / 40) ** 0.5),
        near(i.kaiming_uniform_(x, 1.0).max().item(), (3 / 40) ** 0.5),
        near(i.kaiming_uniform_(x, mode="fan_out").max().item(), (6 / 60) ** 0.5),
        near(i.kaiming_uniform_(x, nonlinearity="linear").max().item(), (3 / 40) ** 0.5),
    ] == [True, True, True, True]
    assert [
        near(i.kaiming_normal_(x).std().item(), (2 / 40) ** 0.5),
        near(i.kaiming_normal_(x, 1.0).std().item(), (1 / 40) ** 0.5),
        near(i.kaiming_normal_(x, mode="fan_out").std().item(), (2 / 60) ** 0.5),
        near(i.kaiming_normal_(x, nonlinearity="tanh").std().item(), 5 / 3 / 40**0.5),
    ] == [True, True, True, True]
    assert [
        i.trunc_normal_(x, 0.0, 1.0, -0.5, 1.0).min().item() >= -0.5,
        x.max().item() <= 1,
        near(i.trunc_normal_(x, 1.0, 0.1).mean().item(), 1.0),
        near(x.std().item(), 0.1),
        i.trunc_normal_(x).abs().max().item() <= 2,
    ] == [True, True, True, True, True]
    assert [
        (i.sparse_(x, 0.25) == 0).sum(0).tolist() == [15] * 40,
        near(x[x != 0].std().item(), 0.01),
        near(i.sparse_(x, 0.5, std=2.0)[x != 0].std().item(), 2.0),
    ] == [True, True, True]
    q = i.orthogonal_(x, 2.0)
    assert [
        (q.t() @ q - 4 * torch.eye(40)).abs().max().item() < 1e-4,
        (lambda p: (p @ p.t() - torch.eye(2)).abs().max().item() < 1e-5)(i.orthogonal_(torch.empty(2, 3))),
        i.eye_(torch.empty(2, 3)).tolist(),
    ] == [True, True, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]
    assert [
        i.dirac_(torch.empty(2, 2, 3)).tolist(),
        i.dirac_(torch.empty(4, 1, 1), 2).flatten().tolist(),
        i.dirac_(torch.empty(2, 1, 2, 2)).sum().item(),
        i.dirac_(torch.empty(3, 2, 1)).flatten().tolist(),
    ] == [
        [[[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]],
        [1.0, 0.0, 1.0, 0.0],
        1.0,
        [1.0, 0.0, 0.0, 1.0, 0.0, 0.0],
    ]
    assert [
        round(i.calculate_gain(n, *p), 4)
        for n, *p in (
            ("linear",),
            ("conv2d",),
            ("sigmoid",),
            ("tanh",),
            ("relu",),
            ("leaky_relu",),
            ("leaky_relu", 1.0),
            ("selu",),
            ("leaky_relu", 0),
        )
    ] == [1, 1, 1, 1.6667, 1.4142, 1.4141, 1.0, 0.75, 1.4142]
    g = [torch.Generator().manual_seed(4) for _ in range(2)]
    assert [
        i.normal_(torch.empty(3), generator=g[0]).tolist()
        == i.normal_(torch.empty(3), generator=g[1]).tolist(),
        i.kaiming_uniform_(torch.empty(2, 2), generator=g[0]).tolist()
        == i.kaiming_uniform_(torch.empty(2, 2), generator=g[1]).tolist(),
        i.orthogonal_(torch.empty(2, 2), generator=g[0]).tolist()
        == i.orthogonal_(torch.empty(2, 2), generator=g[1]).tolist(),
    ] == [True, True, True]
    e = torch.empty(0, 3)
    assert [
        i.kaiming_uniform_(e) is e,
        i.kaiming_normal_(e) is e,
        i.orthogonal_(e) is e,
        i.uniform(torch.empty(2), 1.0, 1.0).tolist(),
    ] == [True, True, True, [1.0, 1.0]]
    assert (
        error_kinds(
            [
                lambda: i.xavier_uniform_(torch.empty(3)),
                lambda: i.kaiming_normal_(torch.empty(3)),
                lambda: i.kaiming_uniform_(x, mode="fan"),
                lambda: i.calculate_gain("least"),
                lambda: i.calculate_gain("leaky_relu", True),
                lambda: i.calculate_gain("leaky_relu", "a"),
                lambda: i.eye_(torch.empty(2)),
                lambda: i.dirac_(torch.empty(2, 2)),
                lambda: i.dirac_(torch.empty(3, 1, 1), 2),
                lambda: i.orthogonal_(torch.empty(3)),
                lambda: i.sparse_(torch.empty(2, 2, 2), 0.5),
                lambda: i.sparse_(torch.empty(2), 0.5),
            ]
        )
        == "VVVVVVVVVVVV"
    )


def rows_are_looked_up():
    """One by one or in bags, with bounds on their norms, and without gradients of paddings.

    Rule: op/derivatives-beyond-programs.
    """
    n, f = torch.nn, torch.nn.functional
    w, at = wave(4, 2), torch.tensor([[1, 3], [1, 0]])
    assert graded(f.embedding(at, w), w) == [(2, 2, 2), -26.3938, 126.0]
    assert graded(f.embedding(at, w, padding_idx=1), w) == [(2, 2, 2), -26.3938, 76.0]
    assert graded(f.embedding(at, w, -1), w) == [(2, 2, 2), -26.3938, 73.0]
    held = w.detach().clone()
    assert graded(f.embedding(at, held.requires_grad_(), max_norm=1.0), held) == [(2, 2, 2), -9.7388, 126.0]
    assert [round(v, 4) for v in held.norm(dim=1).tolist()] == [1.0, 1.0, 2.8014, 1.0]
    held = w.detach().clone()
    f.embedding(torch.tensor([0]), held, None, 0.5, 1.0)
    assert [round(v, 4) for v in held.norm(1, 1).tolist()] == [0.5, 2.8307, 3.9099, 3.7521]
    m = n.Embedding(4, 2, padding_idx=-2, max_norm=1.5, _weight=w.detach().clone())
    assert [m.padding_idx, m.max_norm, m.norm_type, graded(m(at), m.weight)] == [
        2,
        1.5,
        2.0,
        [(2, 2, 2), -14.6082, 126.0],
    ]
    k = n.Embedding.from_pretrained(w.detach(), padding_idx=1)
    assert [
        k.weight.requires_grad,
        k.num_embeddings,
        k.embedding_dim,
        k.padding_idx,
        n.Embedding.from_pretrained(w.detach(), freeze=False).weight.requires_grad,
    ] == [False, 4, 2, 1, True]
    assert graded(f.embedding_bag(at, w), w) == [(2, 2), -8.3261, 35.0]
    assert graded(f.embedding_bag(at, w, mode="sum", padding_idx=1), w) == [(2, 2), -4.6176, 34.0]
    assert graded(f.embedding_bag(at, w, mode="max"), w) == [(2, 2), 2.1857, 34.0]
    flat, ends = torch.tensor([1, 3, 0, 2, 2]), torch.tensor([0, 2, 2])
    assert graded(f.embedding_bag(flat, w, ends), w) == [(3, 2), 10.5363, 63.3333]
    assert graded(
        f.embedding_bag(flat, w, torch.tensor([0, 3, 5]), mode="sum", include_last_offset=True), w
    ) == [(2, 2), 17.2137, 117.0]
    s = wave(5)
    assert graded(f.embedding_bag(flat, w, ends, mode="sum", per_sample_weights=s), w, s) == [
        (3, 2),
        -17.5868,
        -103.4242,
        184.9073,
    ]
    b = n.EmbeddingBag(4, 2, mode="max", padding_idx=-4, _weight=w.detach().clone())
    assert [b.padding_idx, b.mode, b.include_last_offset, graded(b(flat, ends), b.weight)] == [
        0,
        "max",
        False,
        [(3, 2), 19.118, 76.0],
    ]
    assert [
        n.EmbeddingBag(4, 2, padding_idx=1).weight[1].tolist(),
        n.EmbeddingBag.from_pretrained(w.detach(), mode="sum").mode,
        n.EmbeddingBag.from_pretrained(w.detach()).weight.requires_grad,
    ] == [[0.0, 0.0], "sum", False]
    assert [
        f.one_hot(at).tolist(),
        f.one_hot(at, 5).shape == (2, 2, 5),
        f.one_hot(torch.tensor(2)).tolist(),
        f.one_hot(at).dtype is torch.int64,
    ] == [[[[0, 1, 0, 0], [0, 0, 0, 1]], [[0, 1, 0, 0], [1, 0, 0, 0]]], True, [0, 0, 1], True]
    assert (
        error_kinds(
            [
                lambda: f.embedding_bag(at, w, ends),
                lambda: f.embedding_bag(flat, w),
                lambda: f.embedding_bag(flat, w, ends.unsqueeze(0)),
                lambda: f.embedding_bag(flat, w[0], ends),
                lambda: f.embedding_bag(at.unsqueeze(0), w),
                lambda: f.embedding_bag(flat, w, ends, mode="least"),
                lambda: f.embedding_bag(flat, w, ends, mode="mean", per_sample_weights=s),
                lambda: f.embedding_bag(flat, w, ends, mode="sum", per_sample_weights=s[:2]),
                lambda: f.embedding_bag(flat, w, ends, mode="max", scale_grad_by_freq=True),
                lambda: f.embedding_bag(flat, w, ends + 1),
                lambda: f.embedding_bag(flat, w, torch.tensor([0, 9])),
                lambda: f.embedding_bag(flat + 9, w, ends),
                lambda: f.embedding_bag(flat.double(), w, ends),
                lambda: f.embedding_bag(flat, w, ends, padding_idx=9),
                lambda: f.embedding_bag(flat, w.long(), ends),
                lambda: f.embedding_bag(flat, w, ends.int()),
            ]
        )
        == "VVVVVVNVVoooooo-"
    )
