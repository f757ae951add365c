"""Unusual arguments that ops, transforms and distributions refuse."""

import torch

from specs.cases._measures import derivatives, refusal_kinds


def _tied():
    layer = torch.nn.Linear(2, 2)
    layer.weight_too = layer.weight
    return layer


def unusual_arguments_of_linear_algebra():
    """Drivers, pivots of other sizes and mixed dtypes are refused. Rule: op/derivatives-beyond-programs."""
    a = torch.tensor([[4.0, 1.0], [1.0, 3.0]], dtype=torch.float64, requires_grad=True)
    single = a.detach().float()
    LU, pivots = torch.linalg.lu_factor(a.detach())
    assert derivatives(torch.triangular_solve(a, a)[0], a) == [
        [0.02083, -0.08333, 0.91667, -0.30556],
        [0.03853, -0.16889, 0.20149, -0.68959],
        [-0.155, 0.0, 0.67901, 0.0],
    ]
    assert refusal_kinds([
        lambda: torch.linalg.svd(a, driver="gesvd"), lambda: torch.linalg.svdvals(a, driver="gesvd"),
        lambda: torch.linalg.lstsq(a, a[0, 0]), lambda: torch.linalg.lstsq(a[0], a[0]),
        lambda: torch.linalg.lstsq(torch.ones(2, 2, 2, 2), single),
        lambda: torch.linalg.lstsq(a, a, driver="x"),
        lambda: torch.linalg.lu_solve(LU, pivots[:1], a),
        lambda: torch.linalg.lu_solve(LU, pivots.expand(2, 2), a),
        lambda: torch.linalg.lu_solve(LU, pivots.long(), a),
        lambda: torch.linalg.lu_solve(LU, pivots, single),
        lambda: torch.linalg.lu_solve(LU[:1], pivots, a), lambda: torch.linalg.lu_solve(LU, pivots, a[0]),
    ]) == 'oooooooooooo'  # fmt: skip
    assert refusal_kinds([
        lambda: torch.triangular_solve(single, a), lambda: torch.triangular_solve(a, a[:1]),
        lambda: torch.triangular_solve(torch.ones(3, 1, dtype=torch.float64), a),
        lambda: torch.triangular_solve(a[0], a), lambda: torch.triangular_solve(a, a[0]),
        lambda: torch.linalg.vecdot(a, a, dim=2), lambda: torch.linalg.multi_dot([a, single]),
        lambda: torch.linalg.multi_dot([a, single, a]), lambda: torch.linalg.multi_dot([a]),
        lambda: torch.linalg.cross(a, a), lambda: torch.cross(a, a), lambda: torch.cross(a, a, dim=0),
    ]) == 'oooooIoooooo'  # fmt: skip


def unusual_arguments_of_sums_and_searches():
    """Stray dots and empty extremes. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([[4.0, 1.0], [1.0, 3.0]], requires_grad=True)
    b, c = torch.tensor([True, False]), torch.tensor([1j, 2.0])
    assert derivatives(torch.einsum("i...->...", x), x) == [[1.0, 2.0, 1.0, 2.0], [4.0, 8.0]]
    assert refusal_kinds([
        lambda: torch.einsum("i..j->j", x), lambda: torch.einsum("...i...->i", x),
        lambda: torch.einsum("i.->i", x),
        lambda: torch.tensordot(x, x, -1), lambda: torch.tensordot(x, x, ([0, 0], [0, 1])),
        lambda: torch.tensordot(x, x, ([0, 1], [1, 1])), lambda: torch.tensordot(x, x, 3),
        lambda: torch.searchsorted(torch.tensor(1.0), x), lambda: torch.bucketize(x, torch.tensor(1.0)),
        lambda: torch.searchsorted(x.detach()[0], x.detach(), right=True, side="left"),
        lambda: torch.searchsorted(x.detach()[0], x.detach(), side="middle"),
        lambda: torch.bitwise_and(1, 2), lambda: torch.bitwise_left_shift(1, 2),
        lambda: torch.bitwise_xor(True, False),
    ]) == 'oooooooooooTTT'  # fmt: skip
    assert refusal_kinds([
        lambda: torch.ones(0).max(),
        lambda: torch.ones(0).min(), lambda: c.max(), lambda: c.cummax(0), lambda: c.median(),
        lambda: b.median(),
        lambda: torch.ones(2).cumsum_(0, dtype=torch.float64),
        lambda: torch.ones(2).cumprod_(0, dtype=torch.float64),
        lambda: torch.ones(2).cumsum_(0, dtype=torch.float32), lambda: torch.range(0, 1, 0),
        lambda: torch.range(1, 0),
        lambda: torch.linspace(0, 1, 1.5), lambda: torch.linspace(0, 1, -1),
        lambda: torch.logspace(0, 1, 2, "2"),
        lambda: torch.asarray([1.0], copy=False), lambda: torch.tensor([1, [2]]), lambda: torch.tensor("a"),
    ]) == 'ooNNNNoo-ooToTVTT'  # fmt: skip
    assert refusal_kinds([
        lambda: torch.complex(1.0, x), lambda: x.to("nowhere"), lambda: x.to([1]), lambda: x.view("int"),
        lambda: x.type("torch.Nothing"), lambda: x.type(int),
        lambda: torch.autograd.graph.increment_version(3),
        lambda: torch.autograd.graph.increment_version([3]),
        lambda: torch.autograd.graph.increment_version([x]),
        lambda: torch.var(x, 0, True, True, True), lambda: torch.var(x, unbiased=True, correction=1),
        lambda: torch.std(x, dim=True), lambda: torch.quantile(x, 1.5), lambda: torch.quantile(x, -0.5),
 lambda: x.max(keepdim=True),
    ]) == 'ToTTVVoo-TTTooT'  # fmt: skip


def unusual_arguments_of_spectra():
    """Integers and windows of other kinds are refused. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([1.0, 2.0, 0.5, -1.0], dtype=torch.float64, requires_grad=True)
    window = torch.ones(4, dtype=torch.complex128)
    assert derivatives(
        torch.view_as_real(torch.stft(x, 4, win_length=2, center=False, return_complex=True)), x
    ) == [[0.0, -8.0, 3.0, 0.0], [-10.0, 0.0, -6.0, 16.0, 22.0, 0.0]]
    spectrum = torch.stft(x.detach(), 4, return_complex=True)
    assert refusal_kinds([
        lambda: torch.stft(x, 4, align_to_window=True, return_complex=True),
        lambda: torch.stft(x, 4, window=window, return_complex=True), lambda: torch.stft(x, 4),
        lambda: torch.stft(x, 4, 0, return_complex=True),
        lambda: torch.stft(x, 4, win_length=5, return_complex=True),
        lambda: torch.stft(x, 4, window=x[:3], return_complex=True),
        lambda: torch.stft(x, 9, return_complex=True),
        lambda: torch.stft(x, 4, pad_mode="odd", return_complex=True),
        lambda: torch.istft(spectrum, 4, window=window), lambda: torch.istft(spectrum, 5),
        lambda: torch.istft(spectrum, 4, win_length=5), lambda: torch.istft(spectrum, 4, 0),
    ]) == 'o-oooooNo-oo'  # fmt: skip


def unusual_arguments_of_transforms():
    """Complex inputs and tangents of other kinds. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    c = torch.tensor([1j, 2.0])
    one = torch.ones(2)
    square, layer = torch.ones(2, 2), _tied()
    _, pulled = torch.func.vjp(torch.sin, one)
    _, pushed = torch.func.linearize(torch.sin, one)
    assert derivatives(torch.func.grad(lambda a: a.sin().sum())(x), x) == [
        [-0.84147, -1.81859],
        [0.9093, -3.02721],
        [1.41615, 3.30729],
    ]
    assert refusal_kinds([
        lambda: torch.func.jacrev(torch.sin)(c), lambda: torch.func.jacfwd(torch.sin)(c),
        lambda: torch.func.jacrev(lambda a: torch.complex(a, a))(one),
        lambda: torch.func.jacfwd(lambda a: torch.complex(a, a))(one),
        lambda: torch.func.jacrev(lambda a: None)(one), lambda: torch.func.jacrev(lambda a: ())(one),
        lambda: torch.func.jacfwd(lambda a: ())(one),
        lambda: torch.func.jvp(lambda a: None, (one,), (one,)),
        lambda: torch.func.vjp(lambda a: (), one), lambda: torch.func.vjp(lambda a: 3.0, one),
        lambda: torch.func.jvp(lambda a: torch.ones(2), (one,), (one,), strict=True),
        lambda: pulled((one,)), lambda: pulled("ones"), lambda: pulled(torch.ones(3)),
        lambda: pushed((one, one)), lambda: pushed(torch.ones(3)), lambda: pushed(one.double()),
        lambda: pushed(one),
    ]) == 'ooooooooooooToooo-'  # fmt: skip
    assert refusal_kinds([
        lambda: torch.func.functional_call(layer, {"weight": square, "weight_too": torch.zeros(2, 2)}, one),
        lambda: torch.func.functional_call(
            layer, {"weight": torch.ones(2, 2), "weight_too": torch.zeros(2, 2)}, one, tie_weights=False
        ),
        lambda: torch.func.functional_call(layer, {"weight_too": torch.zeros(2, 2)}, one),
        lambda: torch.func.functional_call(layer, {"other": one}, one, strict=True),
        lambda: torch.vmap(torch.sin, in_dims=None)(one),
        lambda: torch.vmap(torch.sin, in_dims=(None,))(one),
        lambda: torch.vmap(torch.sin, in_dims={"a": 0})(one),
        lambda: torch.vmap(torch.sin, in_dims=(0, 0))(one),
        lambda: torch.vmap(lambda d: d["a"], in_dims=({"b": 0},))({"a": one}),
        lambda: torch.vmap(torch.sin)(),
        lambda: torch.vmap(lambda a: a, out_dims=(0, 0))(one), lambda: torch.vmap(lambda a: 3)(one),
        lambda: torch.vmap(lambda a: a, out_dims="0")(one),
        lambda: torch.vmap(lambda a: a, out_dims=1)(one),
        lambda: torch.vmap(torch.add)(one, torch.ones(3)),
        lambda: torch.vmap(torch.add, in_dims=(0, 1))(one, one),
    ]) == 'V--oVVVVVVVVVIVV'  # fmt: skip


def unusual_parts_of_distributions():
    """Mixtures of other shapes, caches and what has no inverse. Rule: op/derivatives-beyond-programs."""
    d = torch.distributions
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert derivatives(d.Laplace(x, 1.0).mean + d.Normal(x, 1.0).mode, x) == [[2.0, 4.0], [8.0, 16.0]]
    exp = d.transforms.ExpTransform()
    assert exp.inv.inv is exp
    assert exp.inv(torch.ones(2)).tolist() == [0.0, 0.0]
    assert refusal_kinds([
        lambda: d.MixtureSameFamily(d.Categorical(torch.ones(2)), d.Normal(torch.ones(3), 1.0)),
        lambda: d.MixtureSameFamily(d.Categorical(torch.ones(3, 2)), d.Normal(torch.ones(2, 2), 1.0)),
        lambda: d.MixtureSameFamily(d.Normal(x, 1.0), d.Normal(x, 1.0)),
        lambda: d.MixtureSameFamily(d.Categorical(torch.ones(2)), 3.0),
        lambda: d.transforms.ExpTransform(cache_size=2), lambda: d.transforms.Transform()(x),
        lambda: d.transforms.AbsTransform().log_abs_det_jacobian(x, x), lambda: d.Distribution().sample(),
        lambda: d.ContinuousBernoulli(torch.tensor(1.5), validate_args=True),
        lambda: d.ContinuousBernoulli(),
        lambda: d.ContinuousBernoulli(torch.tensor(0.5), torch.tensor(0.5)),
        lambda: d.Normal(x, 1.0).nothing,
        lambda: d.Normal(x, torch.ones(3)),
    ]) == 'VVVVVNNNVVVAo'  # fmt: skip
