"""Rarer settings of modules, data and windows, each beside the usual one."""

import warnings

import torch

from specs.cases._measures import error_kinds, filled, graded, wave


def settings_beside_the_usual_ones():
    """Masks of one sample, targets with places, bounds below norms. Rule: op/derivatives-beyond-programs."""
    n, f, u = torch.nn, torch.nn.functional, torch.nn.utils
    x = wave(3, 1, 4)
    m = filled(n.MultiheadAttention(4, 2))
    apart = torch.zeros(2, 3, 3, dtype=torch.bool)
    apart[1, 0, 1] = apart[0, 2, 0] = True
    assert graded(m(x, x, x, attn_mask=apart, need_weights=False)[0], x) == [(3, 1, 4), 33.1904, 191.1286]
    assert graded(m(x, x, x, attn_mask=apart)[0], x) == [(3, 1, 4), 33.1904, 191.1286]
    assert graded(m(x, x, x)[1], x) == [(1, 3, 3), 15.8412, -5.0397]
    z, q = wave(2, 3, 2), wave(2, 3, 2).detach().softmax(1)
    assert [graded(f.cross_entropy(z, q, reduction=r), z) for r in ("mean", "sum", "none")] == [
        [(), 0.4973, 0.0],
        [(), 1.9892, 0.0],
        [(2, 2), 4.903, 0.0],
    ]
    assert graded(f.cross_entropy(z, q, torch.tensor([1.0, 2.0, 4.0]).double(), label_smoothing=0.25), z) == [
        (),
        2.4444,
        -1.9493,
    ]
    assert u.parametrizations.spectral_norm(n.BatchNorm1d(3), eps=8.0).weight.tolist() == [
        0.125,
        0.125,
        0.125,
    ]
    y = wave(2, 1, 1)
    assert graded(filled(n.GRU(1, 1, 3, bidirectional=True))(y)[0], y) == [(2, 1, 2), -0.6627, -0.4966]
    assert graded(filled(n.LSTM(1, 2, 3, bias=False))(y)[1][1], y) == [(3, 1, 2), -1.1324, 0.047]
    assert [
        graded(f.selu(x.clone(), True), x),
        graded(f.celu(x.clone(), 0.5, True), x),
        graded(f.elu(x.clone(), 0.5, True), x),
    ] == [[(3, 1, 4), -9.4942, 409.3319], [(3, 1, 4), 29.0839, 272.34], [(3, 1, 4), 32.1134, 281.1911]]
    assert [
        graded(f.softmin(x.float(), 2, dtype=torch.float64), x),
        graded(f.softmax(x.float(), 2, dtype=torch.float64), x),
    ] == [[(3, 1, 4), 20.1939, -1.1482], [(3, 1, 4), 17.9331, 1.0339]]
    assert graded(f.triplet_margin_loss(x, x.flip(0), x.roll(1), swap=True, p=3.0, eps=0.5), x) == [
        (),
        0.2169,
        -0.3331,
    ]
    assert torch.tensor([0.0, 1.0, 2.0, 3.0]).double().quantile(
        torch.tensor([0.5, 1 / 6], dtype=torch.float64), interpolation="nearest"
    ).tolist() == [2.0, 0.0]
    h = torch.autograd.functional.hessian(
        lambda v: (v**3).sum(), wave(2), vectorize=True, outer_jacobian_strategy="forward-mode"
    )
    assert [round(v, 4) for v in h.flatten().tolist()] == [11.352, 0.0, -0.0, -14.3839]
    assert graded(f.layer_norm(x, (4,), bias=wave(4)), x) == [(3, 1, 4), -23.6123, 0.5251]
    assert graded(f.batch_norm(x, None, None, bias=wave(1), training=True), x) == [
        (3, 1, 4),
        140.4041,
        78.302,
    ]
    a, b = wave(2, 3), wave(3, 4, 2)
    assert [
        graded(torch.tensordot(a, b, ([1, 0], [0, 2])), a, b),
        graded(torch.tensordot(b, a, ([2, 0], [0, 1])), a, b),
    ] == [[(4,), -40.8534, -107.0806, -772.6275], [(4,), -40.8534, -107.0806, -772.6275]]
    assert [
        graded(torch.einsum("...ij,...j->...i", b, wave(1, 2)), b),
        graded(torch.einsum("i...,j...->j...", wave(4, 4, 2), b), b),
        graded(torch.einsum("i...->...", b), b),
    ] == [[(3, 4), 41.5547, -804.4723], [(3, 4, 2), 338.7021, -6949.6552], [(4, 2), -55.9555, 1476.0]]
    three = wave(2, 1), wave(2, 3), wave(1, 3)
    assert graded(torch.einsum("ij,ik,lk->jl", *three), *three) == [
        (1, 1),
        -17.9276,
        23.9577,
        -3.5191,
        2.4403,
    ]
    table = torch.tensor([[3.0, 1.0], [0.1, 0.2]])
    bounded = torch.nn.Embedding(2, 2, max_norm=1.0, norm_type=1.0, _weight=table)
    assert bounded(torch.tensor([0])).tolist() == [[0.75, 0.25]]
    assert error_kinds([lambda: torch.stft(wave(2), 4, return_complex=True)]) == "o"
    assert torch.stft(wave(3), 4, return_complex=True).shape == (3, 4)
    w = torch.stft(wave(8), 4, 2, return_complex=True)
    assert [
        tuple(torch.istft(w, 4, 2, length=5, center=c, window=torch.ones(4).double()).shape)
        for c in (True, False)
    ] == [(5,), (5,)]


def states_and_flags_of_modules():
    """Assigned parameters keep flags, new modules follow a mode, and caches are of each module.

    Rule: nn/parametrized-is-computed.
    """
    n, p = torch.nn, torch.nn.utils.parametrize
    half = lambda: type("P", (n.Module,), {"forward": lambda self, x: x / 2})()
    a, b = n.Linear(1, 1), n.Linear(1, 1)
    a.weight.data.fill_(2.0)
    b.weight.data.fill_(6.0)
    p.register_parametrization(a, "weight", half())
    p.register_parametrization(b, "weight", half())
    with p.cached():
        assert [a.weight.item(), b.weight.item()] == [1.0, 3.0]
    e = n.Linear(1, 1).eval()
    one = half()
    p.register_parametrization(e, "weight", one)
    assert [one.training, e.training] == [False, False]
    c = n.Linear(1, 1)
    c.weight.requires_grad_(False)
    c.load_state_dict({"weight": torch.ones(1, 1), "bias": torch.ones(1)}, assign=True)
    assert [c.weight.requires_grad, c.bias.requires_grad, type(c.bias).__name__] == [False, True, "Parameter"]
    c.load_state_dict(
        {"weight": n.Parameter(torch.ones(1, 1)), "bias": n.Parameter(torch.ones(1), False)}, assign=True
    )
    assert [c.weight.requires_grad, c.bias.requires_grad] == [False, True]
    k = n.Module()
    k.register_buffer("z", torch.ones(1, dtype=torch.complex64))
    k.register_buffer("i", torch.ones(1, dtype=torch.int64))
    k.to(torch.complex128)
    assert [
        k.z.dtype is torch.complex128,
        k.i.dtype is torch.int64,
        k.to(torch.float64).i.dtype is torch.int64,
    ] == [True, True, True]
    lazy = n.LazyLinear(2, dtype=torch.float64)
    lazy(torch.ones(1, 1, dtype=torch.float64))
    assert [
        lazy.bias.dtype is torch.float64,
        n.LazyConv1d(1, 1, dtype=torch.float64).weight.dtype is torch.float64,
    ] == [True, True]
    m = n.Linear(1, 1)
    (m(torch.ones(1, 1)) ** 2).sum().backward(create_graph=True)
    g = m.weight.grad
    m.zero_grad(set_to_none=False)
    assert [m.weight.grad is g, g.requires_grad, g.grad_fn, g.tolist()] == [True, False, None, [[0.0]]]


def data_and_warnings_beside_the_usual_ones():
    """Streams that say that they are not shuffled, generators that go on, and warnings of nothing.

    Rule: nn/batches-are-stacked.
    """
    d = torch.utils.data
    stream = type("Stream", (d.IterableDataset,), {"__iter__": lambda self: iter(torch.arange(3))})
    assert [b.tolist() for b in d.DataLoader(stream(), 2, shuffle=False)] == [[0, 1], [2]]
    a, b = torch.Generator().manual_seed(3), torch.Generator().manual_seed(3)
    assert [x.item() for x in d.DataLoader(range(3), generator=a)] == [0, 1, 2]
    assert not (torch.rand(1, generator=a).item() == torch.rand(1, generator=b).item())
    g = torch.Generator().manual_seed(0)
    firsts = [list(d.RandomSampler(range(9), num_samples=3, generator=g)) for _ in range(6)]
    assert [len(set(map(tuple, firsts))) > 1, {len(set(f)) for f in firsts}] == [True, {3}]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        torch.zeros(0, dtype=torch.complex64).to(torch.float32)
        torch.zeros(0, dtype=torch.complex64).to(torch.int32)
        torch.nn.init.kaiming_uniform_(torch.empty(2, 2))
    assert len(seen) == 0
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        torch.nn.init.kaiming_uniform_(torch.empty(0, 2))
        torch.nn.init.kaiming_normal_(torch.empty(0, 2))
    assert len(seen) == 2
    x = torch.ones(2, 3).t()
    assert [
        torch.rand_like(x).stride(),
        torch.randn_like(x).stride(),
        torch.randint_like(x, 3).stride(),
        torch.ones_like(x).stride(),
        torch.empty_like(x).stride(),
    ] == [(1, 3), (1, 3), (1, 3), (1, 3), (1, 3)]
    assert [
        torch.linspace(0, 1, 2, requires_grad=True).requires_grad,
        torch.arange(2.0, requires_grad=True).requires_grad,
        torch.eye(2, requires_grad=True).requires_grad,
        torch.full((1,), 1.0, requires_grad=True).requires_grad,
        torch.logspace(0, 1, 2, requires_grad=True).requires_grad,
        torch.randn(1, requires_grad=True).requires_grad,
        torch.hann_window(2, requires_grad=True).requires_grad,
        torch.normal(0.0, 1.0, (1,), requires_grad=True).requires_grad,
        torch.empty_strided((1,), (1,), requires_grad=True).requires_grad,
        torch.zeros_like(x, requires_grad=True).requires_grad,
        torch.rand_like(x, requires_grad=True).requires_grad,
    ] == [True, True, True, True, True, True, True, True, True, True, True]
    assert [torch.iinfo(torch.int8).min, torch.iinfo(torch.int64).min, torch.iinfo(torch.uint8).max] == [
        -128,
        -9223372036854775808,
        255,
    ]
    assert (
        error_kinds(
            [
                lambda: bool(torch.ones(0)),
                lambda: bool(torch.ones(2)),
                lambda: torch.complex(torch.ones(1), torch.ones(1).double()),
                lambda: torch.nn.functional.max_pool1d(torch.ones(1, 4), 3, padding=2),
                lambda: torch.nn.functional.unfold(torch.ones(1, 1, 2, 2, 2), 1),
                lambda: torch.from_numpy(torch.ones(2, 2).numpy()[::-1]),
                lambda: torch.from_numpy(torch.ones(2, 2).numpy()[:, ::-1]),
                lambda: torch.nn.functional.multi_margin_loss(
                    torch.ones(1, 2), torch.tensor([0]), weight=torch.ones(1, 2)
                ),
                lambda: torch.nn.functional.binary_cross_entropy(
                    torch.ones(1), torch.ones(1), torch.ones(1, requires_grad=True)
                ),
            ]
        )
        == "oooooVVVo"
    )
