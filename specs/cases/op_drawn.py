"""Tensors that are drawn, or filled, by chance."""

import torch

from specs.cases._measures import error_kinds, graded, ramp


def tensors_are_drawn():
    """In a range and a dtype, by a generator. Rule: op/derivatives-beyond-programs."""
    t = ramp(2)
    assert graded(t.softmax(0), t) == [(2,), 1.9933, 0.0066]
    torch.manual_seed(0)
    x = torch.rand(500, requires_grad=True)
    assert x.requires_grad is True and torch.rand(1).requires_grad is False
    assert [
        0 <= x.min().item() < 0.05,
        0.95 < x.max().item() < 1,
        x.is_leaf,
        torch.rand_like(x).requires_grad,
        torch.rand(2, 3).shape == (2, 3),
    ] == [True, True, True, False, True]
    n = torch.randn(2000)
    assert [
        abs(n.mean().item()) < 0.1,
        0.9 < n.std().item() < 1.1,
        torch.randn((2, 1)).shape == (2, 1),
        torch.randn_like(x, dtype=torch.float64).dtype is torch.float64,
    ] == [True, True, True, True]
    i = torch.randint(3, (200,))
    assert [
        sorted(set(i.tolist())),
        sorted(set(torch.randint(2, 4, (100,)).tolist())),
        i.dtype is torch.int64,
        torch.randint(0, 2, (3,), dtype=torch.float32).dtype is torch.float32,
    ] == [[0, 1, 2], [2, 3], True, True]
    assert [
        sorted(set(torch.randint_like(x, 2).tolist())),
        sorted(set(torch.randint_like(i, 3, 5).tolist())),
        torch.randint_like(x, 2).dtype is torch.float32,
    ] == [[0.0, 1.0], [3, 4], True]
    assert [sorted(torch.randperm(4).tolist()), torch.randperm(3).dtype is torch.int64] == [
        [0, 1, 2, 3],
        True,
    ]
    m = torch.normal(5.0, 0.1, (400,))
    assert [
        4.9 < m.mean().item() < 5.1,
        0.05 < m.std().item() < 0.2,
        torch.normal(torch.ones(3) * 100, 1.0).min().item() > 50,
        torch.normal(0.0, torch.zeros(2)).tolist(),
    ] == [True, True, True, [0.0, 0.0]]
    assert [
        torch.normal(torch.tensor([1.0, 2.0]), torch.zeros(2)).tolist(),
        torch.normal(mean=torch.tensor([3.0]), std=torch.tensor([0.0])).tolist(),
    ] == [[1.0, 2.0], [3.0]]
    g, h = torch.Generator().manual_seed(5), torch.Generator().manual_seed(5)
    assert [
        torch.rand(3, generator=g).tolist() == torch.rand(3, generator=h).tolist(),
        torch.randperm(9, generator=g).tolist() == torch.randperm(9, generator=h).tolist(),
    ] == [True, True]
    assert [
        g.initial_seed(),
        torch.randint(1000, (5,), generator=g).tolist() == torch.randint(1000, (5,), generator=h).tolist(),
    ] == [5, True]
    state = g.get_state()
    a = torch.randn(2, generator=g).tolist()
    g.set_state(state)
    assert a == torch.randn(2, generator=g).tolist()
    torch.manual_seed(3)
    kept = torch.get_rng_state()
    a = [torch.rand(1).item(), torch.randn(1).item()]
    torch.set_rng_state(kept)
    assert [torch.rand(1).item(), torch.randn(1).item()] == a
    torch.manual_seed(3)
    assert [torch.rand(1).item(), torch.randn(1).item()] == a and torch.initial_seed() == 3
    p = torch.tensor([0.0, 1.0, 1.0, 0.0])
    assert [
        torch.bernoulli(p).tolist(),
        torch.bernoulli(torch.zeros(2), 1.0).tolist(),
        sorted(torch.multinomial(p, 2).tolist()),
        sorted(set(torch.multinomial(p, 50, True).tolist())),
    ] == [[0.0, 1.0, 1.0, 0.0], [1.0, 1.0], [1, 2], [1, 2]]
    assert [
        torch.multinomial(p.expand(2, 4), 1).shape == (2, 1),
        torch.poisson(torch.zeros(2)).tolist(),
        torch.poisson(torch.full((200,), 4.0)).mean().round().item() in (3.0, 4.0, 5.0),
    ] == [True, [0.0, 0.0], True]
    assert (
        error_kinds(
            [
                lambda: torch.randint(3, 3, (1,)),
                lambda: torch.randperm(-1),
                lambda: torch.normal(0.0, -1.0, (2,)),
                lambda: torch.multinomial(p, 5),
                lambda: torch.multinomial(-p, 1),
                lambda: torch.multinomial(p * 0, 1),
                lambda: torch.multinomial(p.view(2, 2, 1), 1),
                lambda: torch.bernoulli(p + 0.5),
                lambda: torch.bernoulli(p, 1.5),
                lambda: torch.poisson(-p),
                lambda: torch.rand(2, dtype=torch.int64),
            ]
        )
        == "ooooooooooN"
    )


def tensors_are_filled_by_chance():
    """In place; each law has a range and refuses settings. Rule: op/derivatives-beyond-programs."""
    t = ramp(2)
    assert graded(t.softmax(0), t) == [(2,), 1.9933, 0.0066]
    torch.manual_seed(0)
    x = torch.ones(300, requires_grad=True)
    y = x * 1
    assert y.uniform_(2, 3) is y and y.grad_fn.name() == "UniformBackward0"
    assert [2 <= y.min().item() < 2.1, 2.9 < y.max().item() <= 3, y._version] == [True, True, 1]
    y.sum().backward()
    assert x.grad.abs().sum().item() == 0.0
    z = torch.empty(2000)
    assert [
        abs(z.normal_(3.0, 0.5).mean().item() - 3) < 0.1,
        abs(z.std().item() - 0.5) < 0.1,
        z._version,
        z.normal_() is z,
    ] == [True, True, 1, True]
    assert [abs(z.log_normal_(0.0, 0.25).log().mean().item()) < 0.1, z.min().item() > 0] == [True, True]
    assert [
        abs(z.exponential_(4.0).mean().item() - 0.25) < 0.05,
        abs(z.exponential_().mean().item() - 1) < 0.2,
    ] == [True, True]
    assert [abs(z.cauchy_(5.0, 0.1).median().item() - 5) < 0.1, abs(z.cauchy_().median().item()) < 0.2] == [
        True,
        True,
    ]
    assert [
        abs(z.geometric_(0.5).mean().item() - 2) < 0.2,
        z.min().item(),
        sorted(set(z.bernoulli_(0.5).tolist())),
        z.bernoulli_(1.0).mean().item(),
    ] == [True, 1.0, [0.0, 1.0], 1.0]
    assert [
        z.bernoulli_(torch.zeros(2000)).sum().item(),
        sorted(set(z.random_(2).tolist())),
        sorted(set(z.random_(3, 5).tolist())),
        z.random_().max().item() > 1000,
    ] == [0.0, [0.0, 1.0], [3.0, 4.0], True]
    i = torch.empty(300, dtype=torch.int8)
    assert [
        i.random_().min().item() >= 0,
        i.max().item() > 100,
        sorted(set(torch.empty(50, dtype=torch.bool).random_().tolist())),
    ] == [True, True, [False, True]]
    assert (
        error_kinds(
            [
                lambda: z.uniform_(3, 2),
                lambda: z.normal_(0.0, -1.0),
                lambda: z.log_normal_(0.0, 0.0),
                lambda: z.log_normal_(std=-1.0),
                lambda: z.exponential_(-1.0),
                lambda: z.exponential_(0.0),
                lambda: z.cauchy_(0.0, 0.0),
                lambda: z.geometric_(0.0),
                lambda: z.geometric_(1.0),
                lambda: z.bernoulli_(1.5),
                lambda: z.random_(3, 3),
                lambda: i.normal_(),
                lambda: i.uniform_(),
                lambda: i.random_(0, 300),
                lambda: x.normal_(),
                lambda: i.cauchy_(),
            ]
        )
        == "oooooooooooNNooo"
    )
    d = torch.nn.functional.gumbel_softmax(x.reshape(3, 100), 0.5, hard=True)
    assert [d.sum(1).tolist(), sorted(set(d.flatten().tolist())), d.requires_grad] == [
        [1.0, 1.0, 1.0],
        [0.0, 1.0],
        True,
    ]
    s = torch.nn.functional.gumbel_softmax(x.reshape(3, 100))
    assert [[round(v, 3) for v in s.sum(1).tolist()], len(set(s.flatten().tolist())) > 100] == [
        [1.0, 1.0, 1.0],
        True,
    ]
