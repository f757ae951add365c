"""Refusals of torch.func and torch.autograd: arguments of other kinds, functions that give something else."""

import torch

from specs.cases._measures import derivatives, refusal_kinds


def transforms_say_what_they_can_take():
    """Places, outputs and dimensions fit the function. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.detach()
    n = torch.tensor([1, 2])
    f = torch.func
    assert (
        refusal_kinds(
            [
                lambda: f.grad(lambda t: t)(y),
                lambda: f.grad(lambda t: 1.0)(y),
                lambda: f.grad(lambda t: t.sum())(n),
                lambda: f.grad(lambda t: t.sum())(1.0),
                lambda: f.grad(lambda t: t.sum(), argnums=1)(y),
                lambda: f.grad(lambda t: t.sum(), argnums=-2)(y),
                lambda: f.grad(lambda t: t.sum(), argnums=())(y),
                lambda: f.grad(lambda t, u: t.sum(), argnums=(0, 0))(y, y),
                lambda: f.grad(lambda t: t.sum(), argnums="0")(y),
                lambda: f.grad(lambda t: t.sum(), argnums=(0.0,))(y),
                lambda: f.grad(lambda t: (t.sum(), 1), has_aux=True)(y),
                lambda: f.grad(lambda t: t.sum(), has_aux=True)(y),
                lambda: f.grad(lambda t: (t.sum(), t, t), has_aux=True)(y),
                lambda: f.grad(lambda t: t.gt(0).sum())(y),
                lambda: f.grad_and_value(lambda t: t)(y),
                lambda: f.vjp(lambda t: 1.0, y),
                lambda: f.vjp(lambda t: t, n)[1](n),
                lambda: f.vjp(lambda t: t, y)[1](torch.ones(3)),
                lambda: f.vjp(lambda t: t, y)[1](),
                lambda: f.vjp(lambda t: (t, t), y)[1](y),
                lambda: f.vjp(lambda t: t, y, has_aux=True),
                lambda: f.vjp(lambda t: t, 1.0),
                lambda: f.jvp(lambda t: t, (y,), (torch.ones(3),)),
                lambda: f.jvp(lambda t: t, y, y),
                lambda: f.jvp(lambda t: t, (), ()),
                lambda: f.jvp(lambda t: t, (y,), (1.0,)),
                lambda: f.jvp(lambda t: t, (1.0,), (y,)),
                lambda: f.jvp(lambda t: t, (y,), (y, y)),
                lambda: f.jvp(lambda t: 1.0, (y,), (y,)),
                lambda: f.jvp(lambda t: t, (y,), (y.double(),)),
                lambda: f.jvp(lambda t: t, (n,), (n,)),
                lambda: f.jvp(lambda t: t, (y,), (y,), has_aux=True),
            ]
        )
        == "oooVooooooooo-ooooTooVooooooo-Vo"
    )
    assert (
        refusal_kinds(
            [
                lambda: f.jacrev(lambda t: t, chunk_size=0)(y),
                lambda: f.jacrev(lambda t: t, chunk_size=-1)(y),
                lambda: f.jacrev(lambda t: t, argnums=2)(y),
                lambda: f.jacrev(lambda t: 1.0)(y),
                lambda: f.jacrev(lambda t: t)(n),
                lambda: f.jacrev(lambda t: t.long())(y),
                lambda: f.jacrev(lambda t: t, has_aux=True)(y),
                lambda: f.jacrev(lambda t: t)(1.0),
                lambda: f.jacfwd(lambda t: t, argnums=2)(y),
                lambda: f.jacfwd(lambda t: t, argnums=())(y),
                lambda: f.jacfwd(lambda t: 1.0)(y),
                lambda: f.jacfwd(lambda t: t)(n),
                lambda: f.jacfwd(lambda t: t, randomness="some")(y),
                lambda: f.jacfwd(lambda t: t, has_aux=True)(y),
                lambda: f.hessian(lambda t: 1.0)(y),
                lambda: f.linearize(lambda t: t),
                lambda: f.functional_call(torch.nn.Linear(2, 1), {"width": y}, (y,)),
                lambda: f.functional_call(torch.nn.Linear(2, 1), [1.0], (y,)),
                lambda: f.functional_call(torch.nn.Linear(2, 1), {"weight": y}, (y,), strict=True),
                lambda: f.functional_call(torch.nn.Linear(2, 1), ({"bias": y}, {"bias": y}), (y,)),
                lambda: f.stack_module_state([]),
                lambda: f.stack_module_state([torch.nn.Linear(1, 1), torch.nn.Linear(1, 1).eval()]),
                lambda: f.stack_module_state([torch.nn.Linear(1, 1), torch.nn.Identity()]),
            ]
        )
        == "VVoooooVoooVoooT-VoVooo"
    )
    assert f.grad(lambda t: (t * t).sum())(x).requires_grad
    w = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    assert derivatives(w.softmax(0), w) == [[-0.19661, 0.19661], [0.07145, -0.07145], [-0.15463, 0.15463]]


def maps_need_a_dimension_that_all_have():
    """As many as there are arguments, each within its bounds. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    v = x[:, 0]
    m = torch.vmap
    assert (
        refusal_kinds(
            [
                lambda: m(lambda t: t)(1.0),
                lambda: m(lambda: 1.0)(),
                lambda: m(lambda t: t, in_dims=None)(x),
                lambda: m(lambda t: t, in_dims=2)(x),
                lambda: m(lambda t: t, in_dims=-3)(x),
                lambda: m(lambda t: t, in_dims=(0, 0))(x),
                lambda: m(lambda t: t, in_dims="0")(x),
                lambda: m(lambda t: t, in_dims=("0",))(x),
                lambda: m(lambda t: t, in_dims=1.0)(x),
                lambda: m(lambda t, u: t, in_dims=(0, None))(x, v),
                lambda: m(lambda t, u: t)(x, v[:2]),
                lambda: m(lambda t, u: t)(x, 2.0),
                lambda: m(lambda t: t)(torch.tensor(1.0)),
                lambda: m(lambda t: t)([x, v]),
                lambda: m(lambda t: t[0], in_dims=([0, 1],))([x, v]),
                lambda: m(lambda t: t[0], in_dims=([0],))([x, v]),
                lambda: m(lambda t: t, out_dims=2)(x),
                lambda: m(lambda t: t, out_dims=-3)(x),
                lambda: m(lambda t: t, out_dims=(0, 0))(x),
                lambda: m(lambda t: t, out_dims="0")(x),
                lambda: m(lambda t: t, out_dims=None)(x),
                lambda: m(lambda t: v, out_dims=None)(x),
                lambda: m(lambda t: 1.0)(x),
                lambda: m(lambda t: (t, 1.0))(x),
                lambda: m(lambda t: None)(x),
                lambda: m(lambda t: t, chunk_size=0)(x),
                lambda: m(lambda t: t, chunk_size=2)(x),
                lambda: m(lambda t: t, randomness="some")(x),
                lambda: m(lambda t: torch.rand(1))(x),
                lambda: m(lambda t: torch.rand(1), randomness="same")(x),
                lambda: m(lambda t: t.item())(x),
                lambda: m(lambda t: t.sum().item())(x),
                lambda: m(lambda t: t if t.sum() > 0 else -t)(x),
                lambda: m(lambda t: t.nonzero())(x),
                lambda: m(lambda t: t[t > 0])(x),
                lambda: m(lambda t: t.unique())(x),
                lambda: m(lambda t: v[:2].add_(t))(x),
                lambda: m(lambda t: t.add_(1.0))(x.clone()),
                lambda: m(lambda t: t.resize_(1))(x.clone()),
                lambda: m(lambda t: t.data)(x),
                lambda: m(lambda t: t.tolist())(x),
                lambda: m(lambda t: t.numpy())(x),
                lambda: m(lambda t: t.requires_grad_())(x),
                lambda: m(lambda t: t.masked_select(t > 0))(x),
            ]
        )
        == "VVVVVVVVV-VVV-VVIIVVV-VVVV-oo-ooooooo--ooooo"
    )
    assert m(lambda t: t * 2)(x).tolist() == [[2.0, 4.0], [6.0, 8.0], [10.0, 12.0]]
    w = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    assert derivatives(w.softmax(0), w) == [[-0.19661, 0.19661], [0.07145, -0.07145], [-0.15463, 0.15463]]


def derivatives_of_functions_need_tensors():
    """Inputs, outputs and vectors of the sizes that go together. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.detach()
    a = torch.autograd.functional
    assert (
        refusal_kinds(
            [
                lambda: a.vjp(lambda t: t, x),
                lambda: a.vjp(lambda t: t.sum(), x),
                lambda: a.vjp(lambda t: t, x, torch.ones(3)),
                lambda: a.vjp(lambda t: t, x, (y, y)),
                lambda: a.vjp(lambda t: t, 1.0),
                lambda: a.vjp(lambda t: 1.0, x),
                lambda: a.vjp(lambda t: t, x, 1.0),
                lambda: a.vjp(lambda t: y, x, y, strict=True),
                lambda: a.jvp(lambda t: t, x),
                lambda: a.jvp(lambda t: t.sum(), torch.ones(1)),
                lambda: a.jvp(lambda t: t, x, torch.ones(3)),
                lambda: a.jvp(lambda t: y, x, y, strict=True),
                lambda: a.jvp(lambda t: t, (x, 1.0), (y, y)),
                lambda: a.vhp(lambda t: t, x, y),
                lambda: a.vhp(lambda t: t.sum(), x),
                lambda: a.vhp(lambda t: (t.sum(), t.sum()), x, y),
                lambda: a.vhp(lambda t: t.sum(), x, y, strict=True),
                lambda: a.hvp(lambda t: t, x, y),
                lambda: a.hvp(lambda t: (t * t).sum(), x, y),
                lambda: a.hvp(lambda t: t.sum(), x, y, strict=True),
                lambda: a.hessian(lambda t: t, x),
                lambda: a.hessian(lambda t: (t.sum(), t.sum()), x),
                lambda: a.hessian(lambda t: t.sum(), x, strict=True),
                lambda: a.hessian(lambda t: t.sum(), x, strict=True, vectorize=True),
                lambda: a.hessian(lambda t: t.sum(), x, outer_jacobian_strategy="forward-mode"),
                lambda: a.hessian(lambda t: t.sum(), x, outer_jacobian_strategy="sideways"),
                lambda: a.jacobian(lambda t: t, x, strict=True, vectorize=True),
                lambda: a.jacobian(lambda t: t, x, strategy="forward-mode"),
                lambda: a.jacobian(lambda t: t, x, strategy="sideways"),
                lambda: a.jacobian(lambda t: y, x, strict=True),
                lambda: a.jacobian(lambda t: 1.0, x),
                lambda: a.jacobian(lambda t: t, [x, 1.0]),
            ]
        )
        == "o-ooTTToo-ooTooooo-oooooNooNooTT"
    )
    g = torch.autograd
    u = x * 2
    assert (
        refusal_kinds(
            [
                lambda: g.grad(u, x),
                lambda: g.grad([], x),
                lambda: g.grad(u.sum(), y),
                lambda: g.grad(u.sum(), torch.ones(1, requires_grad=True)),
                lambda: g.grad(u.sum(), torch.ones(1, requires_grad=True), allow_unused=True),
                lambda: g.grad(u, x, torch.ones(3), retain_graph=True),
                lambda: g.grad(u, x, (y, y), retain_graph=True),
                lambda: g.grad(u, x, 1.0, retain_graph=True),
                lambda: g.grad(u, x, torch.ones(2, dtype=torch.complex64), retain_graph=True),
                lambda: g.grad(u, x, y, is_grads_batched=True, retain_graph=True),
                lambda: g.grad(u, x, torch.ones(3, 2), is_grads_batched=True, retain_graph=True),
                lambda: g.grad(u, x, torch.ones(3, 3), is_grads_batched=True, retain_graph=True),
                lambda: g.grad(u.sum(), x, allow_unused=False, materialize_grads=True, retain_graph=True),
                lambda: g.backward([]),
                lambda: g.backward(u),
                lambda: g.backward(u, [y, y], retain_graph=True),
                lambda: g.backward([u, u], [y], retain_graph=True),
                lambda: g.backward(u, y, inputs=[], retain_graph=True),
                lambda: g.backward(u, y, inputs=[u], retain_graph=True),
                lambda: g.backward(u, y, inputs=[y], retain_graph=True),
                lambda: g.graph.increment_version(1),
                lambda: g.graph.increment_version([1]),
                lambda: g.graph.increment_version([y, y]),
                lambda: g.graph.get_gradient_edge(y),
                lambda: g.graph.register_multi_grad_hook([y], print),
                lambda: g.graph.register_multi_grad_hook([x], print, mode="some"),
                lambda: g.graph.save_on_cpu(device_type="cuda"),
                lambda: g.forward_ad.make_dual(y, y),
                lambda: g.forward_ad.unpack_dual(y),
                lambda: g.forward_ad.exit_dual_level(),
                lambda: g.Function.apply(x),
                lambda: g.Function()(x),
                lambda: g.set_detect_anomaly(True, check_nan=False, mode=1),
            ]
        )
        == "oooo-o-Too-oV-o-oo-ooo-ooV-o-oNoT"
    )
    assert a.vjp(lambda t: (t * t).sum(), x)[1].tolist() == [2.0, 4.0]
    w = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    assert derivatives(w.softmax(0), w) == [[-0.19661, 0.19661], [0.07145, -0.07145], [-0.15463, 0.15463]]
