"""Rarer settings and refusals of torch.autograd, of graphs and of modes."""

import warnings

import torch

from specs.case import refused
from specs.cases._measures import error_kinds


def settings_of_derivatives_are_looked_at():
    """Ways that exclude one another, and functions without results. Rule: functional/strategy."""
    a = torch.autograd
    f = a.functional
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with refused("functional/strategy"):
        f.jacobian(torch.exp, x, strategy="forward")
    assert [
        f.jacobian(torch.exp, x).requires_grad,
        f.jacobian(torch.exp, x, create_graph=True).requires_grad,
    ] == [False, True]
    assert (
        error_kinds(
            [
                lambda: f.jacobian(torch.exp, x, create_graph=True, strategy="forward-mode", vectorize=True),
                lambda: f.jacobian(torch.exp, x, create_graph=True, strategy="forward-mode"),
                lambda: f.jacobian(torch.exp, x, strategy="forward-mode"),
                lambda: f.jacobian(torch.exp, x, strict=True, vectorize=True),
                lambda: f.jacobian(torch.exp, x, strategy="least"),
                lambda: f.hessian(torch.exp, x),
                lambda: f.hvp(torch.exp, x),
                lambda: f.vjp(torch.exp, x),
                lambda: f.vjp(torch.exp, x, x[:1]),
                lambda: f.jvp(torch.exp, x),
                lambda: f.vhp(torch.exp, x, x),
                lambda: f.jacobian(lambda y: 1, x),
                lambda: f.jacobian(torch.exp, 1.0),
                lambda: f.jacobian(lambda y: y[:0], x),
                lambda: f.jacobian(torch.exp, [1.0]),
                lambda: f.hessian(torch.sum, x, strict=True),
                lambda: f.vjp(lambda y: x.detach(), x, x, strict=True),
                lambda: f.jacobian(lambda y: x.detach(), x, strict=True),
                lambda: a.grad(x.sum(), x, materialize_grads=True, allow_unused=True),
                lambda: a.grad(x.sum(), x, materialize_grads=True, allow_unused=False),
                lambda: a.grad(x.sum(), x, [None, None]),
                lambda: a.grad(x.sum(), 1.0),
                lambda: a.grad(x, x),
                lambda: a.grad((x * 2).sum(), x.detach()),
                lambda: a.grad((x * 2).sum(), torch.ones(1, requires_grad=True)),
                lambda: a.backward(x),
                lambda: a.backward(x, [x, x]),
                lambda: a.backward([x.sum(), x.sum()], [None]),
                lambda: a.backward(x.sum(), inputs=[]),
                lambda: a.gradcheck(torch.exp, (x,), check_backward_ad=False),
                lambda: a.gradgradcheck(torch.exp, (x.double(),), check_rev_over_rev=False),
                lambda: a.gradgradcheck(
                    torch.exp, (x.double(),), check_rev_over_rev=False, check_fwd_over_rev=True
                ),
                lambda: a.graph.register_multi_grad_hook([x], print, mode="some"),
                lambda: a.graph.get_gradient_edge(x.detach()),
                lambda: a.graph.save_on_cpu(1, 2, 3),
                lambda: a.graph.Node().name(),
                lambda: a.Function(),
                lambda: a.set_grad_enabled(1),
                lambda: a.forward_ad.make_dual(x, x),
                lambda: a.forward_ad.exit_dual_level(),
            ]
        )
        == "NNNooooooooTToTooo-V-Toooo-oooooVoTT-Too"
    )
    assert [
        f.jacobian(lambda y: (y[:1], y.sum()), x)[1].tolist(),
        f.jacobian(lambda y, z: y * z, (x, x[:1]))[1].shape == (2, 1),
    ] == [[1.0, 1.0], True]
    assert [
        a.grad(x.sum(), (x, torch.ones(2, requires_grad=True)), materialize_grads=True)[1].tolist(),
        a.grad(x.sum(), x, allow_unused=True)[0].tolist(),
    ] == [[0.0, 0.0], [1.0, 1.0]]


def forward_mode_refuses_what_it_cannot_follow():
    """Outputs that are given, tangents that do not fit, and levels that are not there.

    Rule: forward/ops-carry-tangents.
    """
    fw = torch.autograd.forward_ad
    x = torch.tensor([1.0, 2.0])
    with fw.dual_level():
        d = fw.make_dual(x, torch.tensor([1.0, 0.5]))
        assert fw.unpack_dual(d * x).tangent.tolist() == [1.0, 1.0]
        assert fw.unpack_dual(x * d).tangent.tolist() == [1.0, 1.0]
        assert [
            fw.unpack_dual(x).tangent,
            fw.unpack_dual(d).primal.tolist(),
            fw.unpack_dual(d.to(torch.float64) * 2).tangent.dtype is torch.float64,
        ] == [None, [1.0, 2.0], True]
        y = torch.ones(2)
        assert fw.unpack_dual(y.mul_(d)).tangent.tolist() == [1.0, 0.5]
        z = torch.ones(2, dtype=torch.float32)
        z.add_(d.double())
        assert fw.unpack_dual(z).tangent.dtype is torch.float64
        assert (
            error_kinds(
                [
                    lambda: torch.mul(x, d, out=torch.empty(2)),
                    lambda: torch.mul(d, x, out=torch.empty(2)),
                    lambda: torch.mul(x, x, out=torch.empty(2)),
                    lambda: fw.make_dual(x, torch.ones(3)),
                    lambda: fw.make_dual(x, torch.ones(2).double()),
                    lambda: fw.make_dual(torch.tensor([1]), torch.tensor([1])),
                    lambda: fw.make_dual(x, torch.tensor([1, 1])),
                    lambda: fw.make_dual(d, x),
                    lambda: fw.make_dual(x, d),
                    lambda: fw.enter_dual_level(),
                ]
            )
            == "NN-o-VVooo"
        )
        assert [
            fw.unpack_dual(d.argmax().float()).tangent,
            fw.unpack_dual(d.detach()).tangent is None,
            fw.unpack_dual(d.sum()).tangent.item(),
            fw.unpack_dual(d > 1).tangent,
        ] == [None, True, 1.5, None]
    assert [
        error_kinds([lambda: fw.make_dual(x, x), lambda: fw.unpack_dual(x), lambda: fw.exit_dual_level()])
    ] == ["o-o"]


def modes_by_dtype_and_device():
    """Of autocast: what is no half turns it off; caches and nesting; ops beside those that it casts.

    Rule: mode/autocast-casts.
    """
    x, y = torch.ones(2, 2, requires_grad=True), torch.ones(2)
    half = torch.bfloat16
    with torch.autocast("cpu"):
        assert [
            (x @ x).dtype is half,
            (x + x).dtype is torch.float32,
            torch.is_autocast_enabled("cpu"),
            torch.get_autocast_dtype("cpu") is half,
            x.sum().dtype is torch.float32,
        ] == [True, True, True, True, True]
        with torch.autocast("cpu", enabled=False):
            assert [(x @ x).dtype is torch.float32, torch.is_autocast_enabled("cpu")] == [True, False]
        assert [
            (x @ x).dtype is half,
            torch.nn.functional.mse_loss(y.to(half), y.to(half)).dtype is torch.float32,
            torch.nn.functional.linear(y, x).dtype is half,
            y.to(half).prod().dtype is torch.float32,
        ] == [True, True, True, True]
        assert (
            error_kinds(
                [
                    lambda: torch.dot(y, y.to(half)),
                    lambda: torch.mm(x, x.to(half)),
                    lambda: torch.atan2(y, y.to(half)),
                    lambda: torch.outer(y, y.to(half)),
                ]
            )
            == "o---"
        )
        assert [
            torch.atan2(y.to(half), y.to(half)).dtype is half,
            torch.bmm(x[None], x[None]).dtype is half,
            (y.to(half) * 2).dtype is half,
            torch.cat([y, y.to(half)]).dtype is torch.float32,
            torch.stack([y.to(half), y]).dtype is torch.float32,
        ] == [True, True, True, True, True]
    with torch.autocast("cpu", torch.float32):
        assert [(x @ x).dtype is torch.float32, torch.is_autocast_enabled("cpu")] == [True, False]
    with torch.autocast("cpu", torch.float64):
        assert [(x.to(half) @ x.to(half)).dtype is half, torch.is_autocast_enabled("cpu")] == [True, False]
    assert [
        torch.is_autocast_enabled("cpu"),
        (x @ x).dtype is torch.float32,
        torch.autocast("cpu")(lambda: x @ x)().dtype is half,
    ] == [False, True, True]
    assert (
        error_kinds(
            [
                lambda: torch.autocast("least"),
                lambda: torch.autocast(3),
                lambda: torch.autocast("cpu", cache_enabled=False).__enter__().__exit__(None, None, None),
            ]
        )
        == "oV-"
    )
    (x @ x).sum().backward()
    assert [x.grad.dtype is torch.float32] == [True]


def inference_tensors_as_parameters():
    """Within their mode they may require grad, and be parameters. Rule: inference/makes-inference-tensors."""
    seen = []
    with torch.inference_mode():
        p = torch.nn.Parameter(torch.ones(2))
        seen.append(
            (
                p.is_inference(),
                p.requires_grad,
                p.is_leaf,
                torch.ones(1).data.is_inference(),
                torch.ones(1).requires_grad_().requires_grad,
            )
        )
        q = torch.ones(3)
        q.resize_(2, 2)
        seen.append(tuple(q.shape))
    assert p.is_inference() is True
    assert seen == [(True, True, True, True, True), (2, 2)]
    assert [
        p.data.is_inference(),
        p.detach().is_inference(),
        p.clone().is_inference(),
        (p * 2).is_inference(),
        p.data._version,
        p.detach()._version,
    ] == [True, True, False, False, 0, 0]
    d = p.data
    with torch.inference_mode():
        d.add_(1.0)
    assert [d._version, d.tolist(), p.tolist()] == [0, [2.0, 2.0], [2.0, 2.0]]
    assert (
        error_kinds(
            [
                lambda: torch.nn.Parameter(torch.ones(2)),
                lambda: torch.nn.Parameter(q),
                lambda: torch.nn.Parameter(q, False),
                lambda: p._version,
                lambda: p.add_(1.0),
                lambda: d.add_(1.0),
                lambda: p.resize_(1),
                lambda: q.resize_(1),
                lambda: q.set_(torch.ones(1)),
                lambda: q.requires_grad_(),
                lambda: q.requires_grad_(False),
                lambda: (p * torch.ones(2, requires_grad=True)).sum().backward(),
                lambda: (p + torch.ones(2, requires_grad=True)).sum().backward(),
                lambda: torch.ones(2).copy_(q[0]),
            ]
        )
        == "-o-oo-oooo-o--"
    )


def operands_by_keyword_are_looked_at_too():
    """An out= refuses whichever requires grad. Rule: write/out-is-not-recorded."""
    w, p, out = torch.ones(2, requires_grad=True), torch.ones(2), torch.zeros(2)
    with refused("write/out-is-not-recorded"):
        torch.add(p, other=w, out=out)
    with refused("write/out-is-not-recorded"):
        torch.mul(input=w, other=p, out=out)
    with torch.no_grad():
        assert torch.add(p, other=w, out=out) is out and out.tolist() == [2.0, 2.0]
    assert torch.add(p, p, alpha=2, out=out).tolist() == [3.0, 3.0]


def an_out_of_the_results_dtype_is_filled_by_any_op():
    """Not all cast to another one. Rule: write/out-is-not-recorded."""
    a = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    w = torch.ones(2, 2, requires_grad=True)
    i = torch.tensor([1])
    with refused("write/out-is-not-recorded"):
        torch.mm(a, w, out=torch.zeros(2, 2))
    out = torch.zeros(2, 2)
    assert torch.mm(a, a, out=out) is out and out.tolist() == [[7.0, 10.0], [15.0, 22.0]]
    assert torch.neg(a, out=out).tolist() == [[-1.0, -2.0], [-3.0, -4.0]] and out._version == 2
    rows = torch.zeros(1, 2)
    assert torch.index_select(a, 0, i, out=rows) is rows and rows.tolist() == [[3.0, 4.0]]
    wide = torch.zeros(2, 2, dtype=torch.float64)
    assert torch.add(a, a, out=wide).tolist() == [[2.0, 4.0], [6.0, 8.0]] and wide.dtype == torch.float64


def a_sum_of_gradients_overflows_in_silence():
    """It is infinite, and nothing is said of it. Rule: grad/sums-paths."""
    x = torch.tensor([2.0], requires_grad=True)
    seen = []
    y = x * 1
    y.register_hook(lambda g: seen.append(g.tolist()))
    with warnings.catch_warnings(record=True, action="always") as told:
        (y * 3e38 + y * 3e38).backward()
    assert seen == [[float("inf")]] and told == [] and x.grad.tolist() == seen[0]
