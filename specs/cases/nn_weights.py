"""Weights that are computed: orthogonal ones, spectral norms, and what may not be parametrized."""

import torch

from specs.cases._measures import error_kinds, filled, graded


def orthogonal_weights():
    """By exponentials, reflections or Cayley's map; with a base that takes what is assigned.

    Rule: nn/parametrized-is-computed.
    """
    n, o = torch.nn, torch.nn.utils.parametrizations.orthogonal
    torch.manual_seed(0)
    near = lambda w: round((w.mT @ w - torch.eye(w.shape[-1], dtype=w.dtype)).abs().max().item(), 6)
    x = torch.tensor([[0.5, -1.0, 2.0]], dtype=torch.float64)
    goal = torch.tensor([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], dtype=torch.float64)
    m = o(n.Linear(3, 3, bias=False, dtype=torch.float64))
    assert [
        near(m.weight),
        [k for k, _ in m.named_parameters()],
        [k for k, _ in m.named_buffers()],
        m.weight.requires_grad,
    ] == [0.0, ["parametrizations.weight.original"], ["parametrizations.weight.0.base"], True]
    m.weight = goal
    assert [m.weight.tolist() == goal.tolist(), m.parametrizations.weight.original.tolist()[0]] == [
        True,
        [-1.0, 0.0, 0.0],
    ]
    assert graded(m(x), m.parametrizations.weight.original) == [(1, 3), 4.0, -7.5]
    every = [
        (name, filled(o(n.Linear(3, 3, bias=False), orthogonal_map=name, use_trivialization=False)))
        for name in ("matrix_exp", "cayley", "householder")
    ]
    assert [(name, near(k.weight), graded(k(x), *k.parameters())) for name, k in every] == [
        ("matrix_exp", 0.0, [(1, 3), 3.2637, -16.8664]),
        ("cayley", 0.0, [(1, 3), 3.3698, -19.6232]),
        ("householder", 1.0, [(1, 3), 0.0, 0.0]),
    ]
    wide = filled(o(n.Linear(3, 2, bias=False), use_trivialization=False))
    assert [near(wide.weight.mT), graded(wide(x), *wide.parameters())] == [1.0, [(1, 2), 0.0, 0.0]]
    wide = filled(o(n.Linear(3, 2, bias=False), orthogonal_map="cayley", use_trivialization=False))
    assert [near(wide.weight.mT), graded(wide(x), *wide.parameters())] == [0.0, [(1, 2), 0.3249, 26.9142]]
    tall = o(n.Linear(2, 3, bias=False, dtype=torch.float64))
    tall.weight = goal[:, :2]
    assert [near(tall.weight), (tall.weight - goal[:, :2]).abs().max().item() < 1e-6] == [0.0, True]
    tall.weight = goal[:, :2] * 2 + 0.25
    assert [near(tall.weight), tall.parametrizations.weight[0].base.shape == (3, 3)] == [0.0, True]
    assert (
        error_kinds(
            [
                lambda: o(n.Linear(2, 2), "nope"),
                lambda: o(n.Linear(2, 2), "bias"),
                lambda: o(n.Linear(2, 2), orthogonal_map="least"),
                lambda: setattr(wide, "weight", goal[:2]),
                lambda: setattr(tall, "weight", goal),
                lambda: o(n.Linear(2, 3), orthogonal_map="cayley"),
            ]
        )
        == "VVVNV-"
    )
    with torch.no_grad():
        m.weight = goal * 3
    assert near(m.weight) == 0.0


def spectral_norms_of_weights():
    """A weight by its largest singular value, which calls in training approach.

    Rule: nn/parametrized-is-computed.
    """
    n, u = torch.nn, torch.nn.utils
    torch.manual_seed(0)
    w = torch.tensor([[3.0, 0.0], [0.0, 0.5]], dtype=torch.float64)
    m = n.Linear(2, 2, bias=False, dtype=torch.float64)
    m.weight = n.Parameter(w.clone())
    p = u.parametrizations.spectral_norm(m, n_power_iterations=9)
    assert [round(v, 3) for v in p.weight.flatten().tolist()] == [1.0, 0.0, 0.0, 0.167]
    assert [
        [k for k, _ in p.named_parameters()],
        [k for k, _ in p.named_buffers()],
        p.parametrizations.weight.original.tolist() == w.tolist(),
    ] == [
        ["parametrizations.weight.original"],
        ["parametrizations.weight.0._u", "parametrizations.weight.0._v"],
        True,
    ]
    p.eval()
    assert graded(p(w), p.parametrizations.weight.original)[0] == (2, 2)
    k = n.Linear(2, 2, bias=False, dtype=torch.float64)
    k.weight = n.Parameter(w.clone())
    q = u.spectral_norm(k, n_power_iterations=9)
    assert [
        q is k,
        [a for a, _ in q.named_parameters()],
        [a for a, _ in q.named_buffers()],
        q.weight.requires_grad,
    ] == [True, ["weight_orig"], ["weight_u", "weight_v"], False]
    y = q(w)
    assert [round(v, 3) for v in q.weight.detach().flatten().tolist()] == [1.0, 0.0, 0.0, 0.167]
    y.sum().backward()
    assert [tuple(q.weight_orig.grad.shape), q.weight.grad_fn is not None] == [(2, 2), True]
    before = q.weight_u.clone()
    q.eval()(w)
    assert q.weight_u.equal(before)
    u.remove_spectral_norm(q)
    assert [
        [a for a, _ in q.named_parameters()],
        [a for a, _ in q.named_buffers()],
        [round(v, 3) for v in q.weight.flatten().tolist()],
        len(q._forward_pre_hooks),
    ] == [["weight"], [], [1.0, 0.0, 0.0, 0.167], 0]
    c = u.spectral_norm(n.ConvTranspose1d(2, 3, 1))
    assert [
        tuple(c.weight_u.shape),
        tuple(c.weight_v.shape),
        tuple(u.spectral_norm(n.Conv1d(2, 3, 1)).weight_u.shape),
        tuple(u.spectral_norm(n.Conv1d(2, 3, 1), dim=1).weight_u.shape),
    ] == [(3,), (2,), (3,), (2,)]
    v = u.parametrizations.spectral_norm(n.BatchNorm1d(3), "weight")
    assert [v.weight.shape == (3,), round(v.weight.norm().item(), 4)] == [True, 1.0]
    r = u.weight_norm(n.Linear(2, 2, bias=False, dtype=torch.float64))
    r.weight_v.data = w.clone()
    r.weight_g.data = torch.tensor([[1.0], [2.0]], dtype=torch.float64)
    assert graded(r(w), r.weight_g, r.weight_v) == [(2, 2), 7.0, 7.0, 73.0]
    assert [
        [a for a, _ in r.named_parameters()],
        u.remove_weight_norm(r) is r,
        [a for a, _ in r.named_parameters()],
        r.weight.tolist(),
    ] == [["weight_g", "weight_v"], True, ["weight"], [[1.0, 0.0], [0.0, 2.0]]]
    assert (
        error_kinds(
            [
                lambda: u.remove_spectral_norm(r),
                lambda: u.remove_weight_norm(r),
                lambda: u.spectral_norm(r, n_power_iterations=0),
                lambda: u.parametrizations.spectral_norm(r, n_power_iterations=0),
                lambda: u.spectral_norm(u.spectral_norm(r)),
                lambda: u.weight_norm(u.weight_norm(n.Linear(1, 1))),
                lambda: u.parametrizations.weight_norm(r, "nope"),
            ]
        )
        == "VVVVooV"
    )


def what_may_not_be_parametrized():
    """Other shapes and dtypes, names that are not there, and places that are taken.

    Rule: nn/parametrized-is-computed.
    """
    n, p = torch.nn, torch.nn.utils.parametrize
    m = n.Linear(2, 2)
    twice = lambda f, g=None: type(
        "P",
        (n.Module,),
        {"forward": lambda self, x: f(x)} | ({"right_inverse": lambda self, x: g(x)} if g else {}),
    )()
    double = twice(lambda x: 2 * x, lambda x: x / 2)
    w = m.weight.detach().clone()
    p.register_parametrization(m, "weight", double)
    assert [
        m.weight.equal(w),
        m.parametrizations.weight.original.equal(w / 2),
        p.is_parametrized(m),
        p.is_parametrized(m, "weight"),
        p.is_parametrized(m, "bias"),
        type(m).__name__,
    ] == [True, True, True, True, False, "ParametrizedLinear"]
    p.register_parametrization(m, "weight", twice(lambda x: x + 1, lambda x: x - 1))
    assert [(m.weight - w).abs().max().item() < 1e-6, len(m.parametrizations.weight)] == [False, 2]
    m.weight = torch.ones(2, 2)
    assert [m.weight.tolist(), m.parametrizations.weight.original.tolist()] == [
        [[1.0, 1.0], [1.0, 1.0]],
        [[0.0, 0.0], [0.0, 0.0]],
    ]
    assert (
        error_kinds(
            [
                lambda: p.register_parametrization(m, "nope", double),
                lambda: p.register_parametrization(m, "weight", twice(lambda x: x[0])),
                lambda: p.register_parametrization(m, "weight", twice(lambda x: x.double())),
                lambda: p.register_parametrization(m, "weight", twice(lambda x: 1)),
                lambda: p.register_parametrization(n.Linear(1, 1), "weight", twice(lambda x: (x, x))),
                lambda: p.register_parametrization(n.Linear(1, 1), "weight", twice(lambda x: x[0])),
                lambda: p.remove_parametrizations(m, "bias"),
                lambda: p.remove_parametrizations(n.Linear(1, 1), "weight"),
                lambda: setattr(
                    p.register_parametrization(n.Linear(1, 1), "weight", twice(lambda x: 2 * x)),
                    "weight",
                    torch.ones(1, 1),
                ),
                lambda: p.ParametrizationList([], torch.ones(1)),
            ]
        )
        == "VVVVVVVVoV"
    )
    assert p.remove_parametrizations(m, "weight") is m
    assert [
        m.weight.tolist(),
        type(m.weight).__name__,
        p.is_parametrized(m),
        type(m).__name__,
        m.weight.requires_grad,
    ] == [[[1.0, 1.0], [1.0, 1.0]], "Parameter", False, "Linear", True]
    k = p.register_parametrization(n.Linear(1, 1), "weight", twice(lambda x: 2 * x))
    kept = k.parametrizations.weight.original
    p.remove_parametrizations(k, "weight", leave_parametrized=False)
    assert k.weight is kept
    with p.cached():
        j = p.register_parametrization(n.Linear(1, 1), "weight", twice(lambda x: 2 * x))
        assert j.weight is j.weight
    assert j.weight is not j.weight
    b = n.BatchNorm1d(2)
    p.register_parametrization(b, "running_mean", double)
    assert [sorted(k for k, _ in b.named_buffers())[:2], b.running_mean.tolist()] == [
        ["num_batches_tracked", "parametrizations.running_mean.original"],
        [0.0, 0.0],
    ]
