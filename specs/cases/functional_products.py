"""torch.autograd.functional and torch.func: each function, of several inputs, and differentiable again."""

import contextlib

import torch

from specs.case import refused


def _rounded(tree):
    """Return the values in a nest of tuples of tensors, flat and rounded."""
    if isinstance(tree, torch.Tensor):
        return [round(v, 5) + 0.0 for v in tree.detach().reshape(-1).tolist()]
    return [_rounded(part) for part in tree]


def products_with_jacobians_of_several():
    """Of each output by each input; the outputs come along. Rule: functional/no-history-unless-asked-for."""
    f = torch.autograd.functional
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.tensor([3.0, -1.0], requires_grad=True)
    both = lambda a, b: (a * b, (a * a).sum())
    v = (torch.tensor([1.0, 10.0]), torch.tensor(2.0))
    out, product = f.vjp(both, (x, y), v)
    assert _rounded(out) == [[3.0, -2.0], [5.0]] and _rounded(product) == [[7.0, -2.0], [1.0, 20.0]]
    assert all(t.requires_grad is False for t in (*out, *product))
    out, product = f.jvp(both, (x, y), (torch.tensor([1.0, 0.0]), torch.tensor([0.0, 2.0])))
    assert _rounded(out) == [[3.0, -2.0], [5.0]] and _rounded(product) == [[3.0, 4.0], [2.0]]
    blocks = f.jacobian(both, (x, y))
    assert _rounded(blocks) == [[[3.0, 0.0, 0.0, -1.0], [1.0, 0.0, 0.0, 2.0]], [[2.0, 4.0], [0.0, 0.0]]] and [
        tuple(b.shape) for b in blocks[0]
    ] == [(2, 2), (2, 2)]
    assert _rounded(f.jacobian(both, (x, y), vectorize=True)) == [
        [[3.0, 0.0, 0.0, -1.0], [1.0, 0.0, 0.0, 2.0]],
        [[2.0, 4.0], [0.0, 0.0]],
    ]
    assert _rounded(f.jacobian(both, (x, y), vectorize=True, strategy="forward-mode")) == [
        [[3.0, 0.0, 0.0, -1.0], [1.0, 0.0, 0.0, 2.0]],
        [[2.0, 4.0], [0.0, 0.0]],
    ]
    assert x.grad is None and y.grad is None


def products_with_hessians_of_several():
    """By each pair of inputs, or times a vector from either side.

    Rule: functional/no-history-unless-asked-for.
    """
    f = torch.autograd.functional
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.tensor([3.0, -1.0], requires_grad=True)
    g = lambda a, b: (a * a * b).sum() + a[0] * a[1]
    v = (torch.tensor([1.0, 10.0]), torch.tensor([2.0, 0.0]))
    out, product = f.vhp(g, (x, y), v)
    assert (
        out.item() == 1.0 and _rounded(product) == [[20.0, -19.0], [2.0, 40.0]] and out.requires_grad is False
    )
    out, product = f.hvp(g, (x, y), v)
    assert (
        out.item() == 1.0
        and _rounded(product) == [[20.0, -19.0], [2.0, 40.0]]
        and product[0].requires_grad is False
    )
    assert _rounded(f.hessian(g, (x, y))) == [
        [[6.0, 1.0, 1.0, -2.0], [2.0, 0.0, 0.0, 4.0]],
        [[2.0, 0.0, 0.0, 4.0], [0.0, 0.0, 0.0, 0.0]],
    ]
    assert _rounded(f.hessian(g, (x, y), vectorize=True)) == [
        [[6.0, 1.0, 1.0, -2.0], [2.0, 0.0, 0.0, 4.0]],
        [[2.0, 0.0, 0.0, 4.0], [0.0, 0.0, 0.0, 0.0]],
    ]
    assert _rounded(f.hessian(lambda a: (a**3).sum(), x)) == [6.0, 0.0, 0.0, 12.0]


def products_that_can_be_differentiated():
    """With create_graph each function's results lead on to the inputs, and to a vector that requires grad.

    Rules: double/create-graph-records, functional/no-history-unless-asked-for.
    """
    f = torch.autograd.functional
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    v = torch.tensor([1.0, 10.0], requires_grad=True)
    g = torch.autograd.grad
    cubes = lambda a: a**3
    total = lambda a: (a**4).sum()
    out, product = f.vjp(cubes, x, v, create_graph=True)
    assert _rounded(g(out.sum(), x, retain_graph=True)) == [[3.0, 12.0]] and _rounded(
        g(product.sum(), (x, v))
    ) == [[6.0, 120.0], [3.0, 12.0]]
    out, product = f.jvp(cubes, x, v, create_graph=True)
    assert _rounded(g(out.sum(), x, retain_graph=True)) == [[3.0, 12.0]] and _rounded(
        g(product.sum(), (x, v))
    ) == [[6.0, 120.0], [3.0, 12.0]]
    assert _rounded(g(f.jacobian(cubes, x, create_graph=True).sum(), x)) == [[6.0, 12.0]]
    assert _rounded(g(f.hessian(total, x, create_graph=True).sum(), x)) == [[24.0, 48.0]]
    out, product = f.vhp(total, x, v, create_graph=True)
    assert _rounded(g(out, x, retain_graph=True)) == [[4.0, 32.0]] and _rounded(g(product.sum(), (x, v))) == [
        [24.0, 480.0],
        [12.0, 48.0],
    ]
    out, product = f.hvp(total, x, v, create_graph=True)
    assert _rounded(g(out, x, retain_graph=True)) == [[4.0, 32.0]] and _rounded(g(product.sum(), (x, v))) == [
        [24.0, 480.0],
        [12.0, 48.0],
    ]


def functions_are_given_inputs_of_their_own():
    """Views with a history under create_graph, else leaves, and in any grad mode.

    Rules: mode/enable-grad-inside, functional/no-history-unless-asked-for.
    """
    f = torch.autograd.functional
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    seen = []
    note = lambda a: (seen.append((a is x, a.is_leaf, a.requires_grad)), (a * a).sum())[1]
    with torch.no_grad():
        assert f.jacobian(note, x).tolist() == [2.0, 4.0]
    f.vjp(note, x.detach())
    f.vjp(note, x, create_graph=True)
    assert seen == [(False, True, True), (False, True, True), (False, False, True)]
    z = torch.tensor([1.0 + 1.0j])
    with refused("backward/implicit-needs-real"):
        f.jacobian(lambda a: a * a, z)
    assert f.vjp(lambda a: a * a.conj(), z, torch.tensor([1.0j]))[1].tolist() == [0j]


def transforms_of_functions():
    """Gradients with values and what comes beside, products, and Jacobians by rows and by columns.

    Rule: functional/transforms-leave-no-history.
    """
    t = torch.func
    x = torch.tensor([1.0, 2.0])
    y = torch.tensor([3.0, -1.0])
    both = lambda a, b: (a * a * b).sum()
    out, pull = t.vjp(lambda a, b: (a * b, a + b), x, y)
    assert _rounded(out) == [[3.0, -2.0], [4.0, 1.0]]
    assert _rounded(pull((torch.tensor([1.0, 10.0]), torch.tensor([0.0, 100.0])))) == [
        [3.0, 90.0],
        [1.0, 120.0],
    ]
    assert _rounded(t.grad(both)(x, y)) == [6.0, -4.0] and _rounded(t.grad(both, argnums=1)(x, y)) == [
        1.0,
        4.0,
    ]
    assert _rounded(t.grad(both, argnums=(1, 0))(x, y)) == [[1.0, 4.0], [6.0, -4.0]]
    assert _rounded(t.grad_and_value(both)(x, y)) == [[6.0, -4.0], [-1.0]]
    assert _rounded(t.grad(lambda a: (both(a, y), a * 5), has_aux=True)(x)) == [[6.0, -4.0], [5.0, 10.0]]
    assert _rounded(t.jvp(both, (x, y), (torch.ones(2), y))) == [[-1.0], [1.0]]
    assert _rounded(t.jacrev(lambda a, b: a * b, argnums=(0, 1))(x, y)) == [
        [3.0, 0.0, 0.0, -1.0],
        [1.0, 0.0, 0.0, 2.0],
    ]
    assert _rounded(t.jacfwd(lambda a: a * y * a[0])(x)) == [6.0, 0.0, -2.0, -1.0]
    assert _rounded(t.jacrev(lambda a: (a * a, a.sum()), has_aux=True)(x)) == [[2.0, 0.0, 0.0, 4.0], [3.0]]
    assert _rounded(t.hessian(lambda a: both(a, y) * a[0])(x)) == [18.0, -4.0, -4.0, -2.0]
    assert _rounded(t.grad(t.grad(lambda a: a**3))(torch.tensor(2.0))) == [12.0]
    named = {"w": x, "b": y}
    found = t.grad(lambda p: (p["w"] * p["b"]).sum())(named)
    assert sorted(found) == ["b", "w"] and _rounded(found["w"]) == [3.0, -1.0]
    z = x.clone().requires_grad_()
    (t.grad(lambda a: (a**3).sum())(z)).sum().backward()
    assert z.grad.tolist() == [6.0, 12.0] and t.grad(lambda a: (a * a).sum())(x).requires_grad is False


def maps_and_calls_of_functions():
    """A map runs along dimensions of inputs, and stacks along one of outputs; a call swaps parameters.

    Rule: functional/transforms-leave-no-history.
    """
    t = torch.func
    m = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    v = torch.tensor([1.0, 10.0, 100.0])
    _, pull = t.vjp(lambda a: a * 2, v)
    assert _rounded(pull(v)) == [[2.0, 20.0, 200.0]] and pull(v)[0].requires_grad is False
    assert t.vjp(lambda a: a * 2, v)[0].requires_grad is False
    assert t.vmap(lambda a: a.sum())(m).tolist() == [6.0, 15.0]
    assert t.vmap(lambda a: a.sum(), in_dims=1)(m).tolist() == [5.0, 7.0, 9.0]
    assert t.vmap(lambda a, b: a * b, in_dims=(0, None))(m, v).tolist() == [
        [1.0, 20.0, 300.0],
        [4.0, 50.0, 600.0],
    ]
    assert t.vmap(lambda a, b: a * b, in_dims=(1, 0), out_dims=1)(m, v).tolist() == [
        [1.0, 20.0, 300.0],
        [4.0, 50.0, 600.0],
    ]
    assert _rounded(t.vmap(lambda a: (a * 2, a.sum()))(m)) == [[2.0, 4.0, 6.0, 8.0, 10.0, 12.0], [6.0, 15.0]]
    assert t.vmap(t.grad(lambda a: (a * a).sum()))(m).tolist() == [[2.0, 4.0, 6.0], [8.0, 10.0, 12.0]]
    lin = torch.nn.Linear(3, 1)
    w = torch.tensor([[1.0, 0.0, 2.0]], requires_grad=True)
    call = lambda p: t.functional_call(lin, {"weight": p, "bias": torch.zeros(1)}, m)
    assert call(w).tolist() == [[7.0], [16.0]] and lin.weight is not w and lin.bias.numel() == 1
    call(w).sum().backward()
    assert w.grad.tolist() == [[5.0, 7.0, 9.0]] and lin.weight.grad is None
    tied = torch.nn.Module()
    tied.a, tied.b = torch.nn.Linear(1, 1, bias=False), torch.nn.Linear(1, 1, bias=False)
    tied.b.weight = tied.a.weight
    tied.forward = lambda x: tied.b(tied.a(x))
    assert t.functional_call(tied, {"a.weight": torch.tensor([[3.0]])}, (torch.ones(1, 1),)).item() == 9.0
    parameters, buffers = t.stack_module_state([lin, lin])
    assert tuple(parameters["weight"].shape) == (2, 1, 3) and buffers == {}


def functions_without_further_arguments():
    """Nothing is strict, recorded or at once unless it is asked for; constants have zeros then.

    Rule: functional/no-history-unless-asked-for.
    """
    f = torch.autograd.functional
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    v = torch.tensor([1.0, 10.0])
    twice = lambda a: a * 2
    cubes = lambda a: (a**3).sum()
    assert all(t.requires_grad is False for t in (*f.jvp(twice, x, v), *f.vjp(twice, x, v)))
    assert all(t.requires_grad is False for t in (*f.vhp(cubes, x, v), *f.hvp(cubes, x, v)))
    assert f.jacobian(twice, x).requires_grad is False and f.hessian(cubes, x).requires_grad is False
    assert f.vjp(twice, x, v, create_graph=True)[1].tolist() == [2.0, 20.0]
    assert f.jvp(twice, x, v, create_graph=True)[1].tolist() == [2.0, 20.0]
    assert f.jacobian(twice, x, create_graph=True).tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert f.vhp(lambda a: a.sum(), x, v, create_graph=True)[1].tolist() == [0.0, 0.0]
    assert f.hvp(lambda a: a.sum(), x, v)[1].tolist() == [0.0, 0.0]
    assert f.hessian(lambda a: a.sum(), x).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert f.hessian(cubes, x, strict=True).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    assert f.vhp(cubes, x, v, strict=True)[1].tolist() == [6.0, 120.0]
    assert f.hvp(cubes, x, v, strict=True)[1].tolist() == [6.0, 120.0]
    assert f.jvp(lambda a: a**3, x, v, strict=True)[1].tolist() == [3.0, 120.0]
    with refused("functional/vector-needed"):
        f.vjp(lambda a: (a.sum(), a.sum()), x)
    with refused("functional/vector-needed"):
        f.jvp(lambda a, b: a + b, (x[0], x[1]))
    assert f.jvp(lambda a: a * 3, x[0])[1].item() == 3.0 and f.vhp(lambda a: a**3, x[1])[1].item() == 12.0


def vectors_have_the_very_sizes():
    """As many elements do not do, and none are not one.

    Rules: functional/vector-size, functional/one-element.
    """
    f = torch.autograd.functional
    x = torch.tensor([1.0, 2.0])
    with refused("functional/vector-size"):
        f.vjp(lambda a: a * 2, x, torch.ones(2, 1))
    with refused("functional/vector-size"):
        f.jvp(lambda a: a * 2, x, torch.ones(1, 2))
    with refused("functional/vector-size"):
        f.vhp(lambda a: a.sum(), x, torch.ones(1, 2))
    with refused("functional/one-element"):
        f.hessian(lambda a: a[:0], x)
    with refused("functional/one-element"):
        f.hvp(lambda a: a[:0], x, torch.ones(2))


def auxiliary_results_leave_no_history():
    """Neither do those beside a value; arguments are counted from either end.

    Rule: functional/transforms-leave-no-history.
    """
    f = torch.func
    x = torch.tensor([1.0, 2.0])
    made = []
    g, aux = f.grad(lambda a: ((a * a).sum(), a * 3), has_aux=True)(x)
    assert g.tolist() == [2.0, 4.0] and aux.tolist() == [3.0, 6.0] and aux.requires_grad is False
    g, (value, aux) = f.grad_and_value(lambda a: ((a * a).sum(), {"more": a * 3}), has_aux=True)(x)
    assert value.item() == 5.0 and value.requires_grad is False and aux["more"].requires_grad is False
    h = f.grad(lambda a, b: (a * b).sum(), argnums=-1)(x, x * 2)
    assert h.tolist() == [1.0, 2.0]
    with contextlib.suppress(RuntimeError):
        made.append(f.grad(lambda a: a.sum(), argnums=1)(x))
    with contextlib.suppress(RuntimeError):
        made.append(f.grad(lambda a: a.sum(), argnums=-2)(x))
    assert made == []
