"""torch.autograd.functional: products with Jacobians and Hessians, and refusals."""

import torch

from specs.case import refused


def results_have_no_history_unless_asked_for():
    """With create_graph they go on to the inputs.

    Rules: functional/no-history-unless-asked-for, double/create-graph-records.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    f = torch.autograd.functional
    plain = f.jacobian(lambda a: a * a, x)
    outputs, product = f.vjp(lambda a: a * a, x, torch.ones(2))
    assert plain.tolist() == [[2.0, 0.0], [0.0, 4.0]] and product.tolist() == [2.0, 4.0]
    assert plain.requires_grad is False and outputs.requires_grad is False and product.requires_grad is False
    assert x.grad is None
    kept = f.jacobian(lambda a: a * a, x, create_graph=True)
    kept.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def functional_takes_tensors_only():
    """As inputs, as vectors, and from the function. Rule: functional/tensors-only."""
    x = torch.tensor([1.0, 2.0])
    f = torch.autograd.functional
    with refused("functional/tensors-only"):
        f.jvp(lambda a: a * 2, 3)
    with refused("functional/tensors-only"):
        f.hessian(lambda a: 3, x)
    with refused("functional/tensors-only"):
        f.vjp(lambda a: a * 2, (x, 3), x)
    with refused("functional/tensors-only"):
        f.vjp(lambda a: a * 2, x, 3)
    assert f.jacobian(lambda a: a.sum(), x).tolist() == [1.0, 1.0]


def the_vector_fits():
    """It may be left out for one element; else it has the number and the sizes of what it stands for.

    Rules: functional/vector-needed, functional/vector-count, functional/vector-size.
    """
    x = torch.tensor([1.0, 2.0])
    f = torch.autograd.functional
    with refused("functional/vector-needed"):
        f.vjp(lambda a: a * 2, x)
    with refused("functional/vector-needed"):
        f.hvp(lambda a: a.sum(), x)
    with refused("functional/vector-count"):
        f.vjp(lambda a: (a, a), x, torch.ones(2))
    with refused("functional/vector-count"):
        f.vjp(lambda a: a, x, (torch.ones(2), torch.ones(2)))
    with refused("functional/vector-size"):
        f.vjp(lambda a: a * 2, x, torch.ones(3))
    with refused("functional/vector-size"):
        f.vjp(lambda a: (a, a), x, (torch.ones(2), torch.ones(1)))
    assert f.vjp(lambda a: a.sum(), x)[1].tolist() == [1.0, 1.0]


def strict_mode_wants_histories():
    """Strict mode refuses zeros for an output, or an input, without history.

    Rules: functional/strict-needs-a-history, functional/strict-needs-dependence.
    """
    x = torch.tensor([1.0, 2.0])
    y = torch.tensor([3.0, 4.0])
    f = torch.autograd.functional
    with refused("functional/strict-needs-a-history"):
        f.jacobian(lambda a: a.detach(), x, strict=True)
    with refused("functional/strict-needs-a-history"):
        f.vjp(lambda a: a.detach(), x, torch.ones(2), strict=True)
    with refused("functional/strict-needs-dependence"):
        f.vjp(lambda a, b: a * 2, (x, y), torch.ones(2), strict=True)
    with refused("functional/strict-needs-dependence"):
        f.jacobian(lambda a, b: a * 2, (x, y), strict=True)
    with refused("functional/strict-needs-dependence"):
        f.hessian(lambda a: (a * 2).sum(), x, strict=True)
    with refused("functional/strict-needs-dependence"):
        f.vhp(lambda a: (a * 2).sum(), x, torch.ones(2), strict=True)
    with refused("functional/strict-needs-dependence"):
        f.jacobian(lambda a: a * 2, x, create_graph=True, strict=True)
    assert f.jacobian(lambda a: a.detach(), x).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert f.vjp(lambda a, b: a * 2, (x, y), torch.ones(2))[1][1].tolist() == [0.0, 0.0]
    assert f.jvp(lambda a, b: b.detach(), (x, y), (x, y))[1].tolist() == [0.0, 0.0]


def strict_products_with_a_hessian_want_histories():
    """Of the output, of its gradient, and on each input of the gradient; else there are zeros.

    Rules: functional/strict-needs-a-history, functional/strict-needs-dependence.
    """
    x = torch.tensor([1.0, 2.0])
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    f = torch.autograd.functional
    v = torch.ones(2)
    with refused("functional/strict-needs-a-history"):
        f.vhp(lambda a: torch.tensor(1.0), x, v, strict=True)
    with refused("functional/strict-needs-a-history"):
        f.hvp(lambda a: a.detach().sum(), x, v, strict=True)
    with refused("functional/strict-needs-dependence"):
        f.hvp(lambda a: a.sum(), x, v, strict=True)
    with refused("functional/strict-needs-dependence"):
        f.vhp(lambda a, b: (a * a).sum() + (b * w).sum(), (x, x), (v, v), strict=True)
    out, product = f.vhp(lambda a, b: (a * a).sum() + (b * w).sum(), (x, x), (v, v))
    assert out.item() == 16.0 and product[0].tolist() == [2.0, 2.0] and product[1].tolist() == [0.0, 0.0]


def hessians_are_of_one_number():
    """A function that gives more is refused. Rules: functional/one-element, functional/one-output."""
    x = torch.tensor([1.0, 2.0])
    f = torch.autograd.functional
    with refused("functional/one-element"):
        f.hessian(lambda a: a * 2, x)
    with refused("functional/one-element"):
        f.hvp(lambda a: a * 2, x, x)
    with refused("functional/one-output"):
        f.vhp(lambda a: (a.sum(), a.sum()), x, x)
    assert f.hessian(lambda a: (a * a * a).sum(), x).tolist() == [[6.0, 0.0], [0.0, 12.0]]


def strategies_of_a_jacobian():
    """Two are known; forward mode goes with vectorize, which does not go with strict.

    Rules: functional/strategy, functional/forward-mode-at-once-only, functional/strict-one-by-one.
    """
    x = torch.tensor([1.0, 2.0])
    f = torch.autograd.functional
    with refused("functional/strategy"):
        f.jacobian(lambda a: a * 2, x, strategy="sideways")
    with refused("functional/forward-mode-at-once-only"):
        f.jacobian(lambda a: a * 2, x, strategy="forward-mode")
    with refused("functional/strict-one-by-one"):
        f.jacobian(lambda a: a * 2, x, vectorize=True, strict=True)
    assert f.jacobian(lambda a: a * 2, x, vectorize=True).tolist() == [[2.0, 0.0], [0.0, 2.0]]


def variance_and_mean_have_a_jacobian_each():
    """They are results of one node; the variance can be differentiated again.

    Rule: functional/no-history-unless-asked-for.
    """
    x = torch.tensor([1.0, 3.0, 5.0, 7.0], requires_grad=True)
    f = torch.autograd.functional
    v, m = torch.var_mean(x, 0, correction=0)
    assert v.grad_fn is m.grad_fn and v.item() == 5.0 and m.item() == 4.0
    variance, mean = f.jacobian(lambda a: torch.var_mean(a, 0, correction=0), x)
    assert variance.tolist() == [-1.5, -0.5, 0.5, 1.5] and mean.tolist() == [0.25, 0.25, 0.25, 0.25]
    out, product = f.vjp(lambda a: torch.var_mean(a, 0, correction=0)[0], x)
    assert out.requires_grad is False and product.tolist() == [-1.5, -0.5, 0.5, 1.5]
    w = torch.tensor([1.0, 3.0, 5.0])
    assert f.jacobian(torch.var_mean, w)[0].tolist() == [-2.0, 0.0, 2.0]
    assert f.hvp(lambda a: torch.var_mean(a)[0], w, torch.tensor([3.0, 0.0, 0.0]))[1].tolist() == [
        2.0,
        -1.0,
        -1.0,
    ]
    deviation, mean = f.jacobian(lambda a: torch.std_mean(a, correction=0), torch.tensor([1.0, 3.0]))
    assert deviation.tolist() == [-0.5, 0.5] and mean.tolist() == [0.5, 0.5]


def one_element_may_have_dimensions():
    """The number of elements counts, not that of dimensions. Rule: functional/one-element."""
    x = torch.tensor([1.0, 2.0])
    f = torch.autograd.functional
    squares = lambda a: (a * a).sum().view(1, 1)
    with refused("functional/one-element"):
        f.hessian(lambda a: a.view(1, 2), x)
    assert f.hessian(squares, x).tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert f.hvp(squares, x, x)[1].tolist() == [2.0, 4.0]
    assert f.vhp(squares, x, x)[1].tolist() == [2.0, 4.0]
    assert f.hessian(lambda a: a * a, torch.tensor([[3.0]])).tolist() == [[[[2.0]]]]


def a_jacobian_in_forward_mode_lies_column_by_column():
    """It is not strict, and says so before it says that it needs vectorize.

    Rules: functional/strict-one-by-one, functional/forward-mode-at-once-only.
    """
    x = torch.ones(2, 3)
    f = torch.autograd.functional
    forward = f.jacobian(lambda a: a * 2, x, vectorize=True, strategy="forward-mode")
    assert forward.stride() == (3, 1, 18, 6) and forward[1, 2, 1, 2] == 2.0 and forward.sum() == 12.0
    assert f.jacobian(lambda a: a * 2, x, vectorize=True).stride() == (18, 6, 3, 1)
    with refused("functional/strict-one-by-one"):
        f.jacobian(lambda a: a * 2, x, strategy="forward-mode", strict=True)
    with refused("functional/strict-one-by-one"):
        f.jacobian(lambda a: a * 2, x, strategy="forward-mode", strict=True, vectorize=True)
    with refused("functional/strict-one-by-one"):
        f.hessian(lambda a: (a * a).sum(), x, strict=True, outer_jacobian_strategy="forward-mode")


def inputs_and_vectors_are_looked_at_through_views():
    """With create_graph the history of a product goes through a view of each, leaves included.

    Rules: functional/vector-size, functional/no-history-unless-asked-for.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    v = torch.ones(2, requires_grad=True)
    with refused("functional/vector-size"):
        torch.autograd.functional.vjp(lambda a: a * 3, x, v.view(2, 1), create_graph=True)
    g = torch.autograd.functional.vjp(lambda a: a * 3, x, v, create_graph=True)[1]
    (node, _), _ = g.grad_fn.next_functions
    assert node.name() == "ViewBackward0" and node.next_functions[0][0].variable is v
    assert torch.autograd.grad(g.sum(), v)[0].tolist() == [3.0, 3.0]
    assert torch.autograd.functional.vjp(lambda a: a * 3, x, v)[1].grad_fn is None


def a_tuple_of_one_is_several():
    """It is refused as such; and an output that depends on nothing has zeros of its own shape.

    Rules: functional/one-output, functional/strict-needs-dependence.
    """
    x = torch.ones(2)
    f = torch.autograd.functional
    with refused("functional/one-output"):
        f.hessian(lambda a: (a.sum(),), x)
    with refused("functional/one-output"):
        f.hvp(lambda a: (a.sum(),), x, x)
    products = f.jvp(lambda a: (a.sum(), torch.ones(3)), x, x)[1]
    assert [p.tolist() for p in products] == [2.0, [0.0, 0.0, 0.0]]
    products = f.vjp(lambda a, b: a * 2, (x, torch.ones(3)), x)[1]
    assert [p.tolist() for p in products] == [[2.0, 2.0], [0.0, 0.0, 0.0]]
    with refused("functional/strict-needs-dependence"):
        f.vjp(lambda a, b: a * 2, (x, torch.ones(3)), x, strict=True)


def strict_products_want_a_history_of_each_output():
    """An output without one is refused by its number, before anything is multiplied.

    Rule: functional/strict-needs-a-history.
    """
    x = torch.tensor([1.0, 2.0])
    f = torch.autograd.functional
    v = torch.ones(2)
    late = lambda a: (a * 2, a.detach())
    with refused("functional/strict-needs-a-history"):
        f.jvp(late, x, v, strict=True)
    with refused("functional/strict-needs-a-history"):
        f.vjp(late, x, (v, v), strict=True)
    with refused("functional/strict-needs-a-history"):
        f.jacobian(late, x, strict=True)
    with refused("functional/strict-needs-a-history"):
        f.hessian(lambda a: a.detach().sum(), x, strict=True)
    assert f.jvp(late, x, v)[1][1].tolist() == [0.0, 0.0]
    assert f.vjp(late, x, (v, v))[1].tolist() == [2.0, 2.0]


def a_jacobian_has_a_row_for_each_output():
    """And a column for each input; of two inputs it is a tuple, and of a matrix its dimensions come last.

    Rule: functional/no-history-unless-asked-for.
    """
    x = torch.tensor([2.0, 5.0], requires_grad=True)
    f = torch.autograd.functional
    jacobian = f.jacobian(lambda a: torch.stack([a[0] * 3, a[0] * a[1], a[1]]), x)
    assert jacobian.tolist() == [[3.0, 0.0], [5.0, 2.0], [0.0, 1.0]] and jacobian.requires_grad is False
    by_x, by_y = f.jacobian(lambda a, b: a * b.sum(), (x, torch.ones(3)))
    assert by_x.tolist() == [[3.0, 0.0], [0.0, 3.0]] and by_y.tolist() == [[2.0] * 3, [5.0] * 3]
    assert f.jacobian(lambda m: m.sum(1), torch.ones(2, 3)).shape == (2, 2, 3)
    hessian = f.hessian(lambda a: a[0] * a[0] * a[1], x)
    assert hessian.tolist() == [[10.0, 4.0], [4.0, 0.0]]
    outputs, rows = f.vjp(lambda m: m[0] * 2, torch.ones(2, 3, requires_grad=True), torch.ones(3))
    assert rows.tolist() == [[2.0] * 3, [0.0] * 3] and outputs.requires_grad is False


def an_out_is_filled_within_transforms():
    """As long as nothing that stands for many is in it, and nothing is recorded.

    Rules: functional/vmap-has-no-rule, write/out-is-not-recorded.
    """
    c = torch.tensor([5.0, 6.0])
    p = torch.tensor([1.0, 2.0])
    m = torch.ones(2, 2)
    out = torch.zeros(2)
    func = torch.func
    assert func.grad(lambda x: (x * torch.add(c, c, out=out)).sum())(p).tolist() == [10.0, 12.0]
    assert func.vmap(lambda x: x * torch.mul(c, 2, out=torch.zeros(2)))(m).tolist() == [
        [10.0, 12.0],
        [10.0, 12.0],
    ]
    assert func.jvp(lambda x: x * torch.add(c, p, out=out), (p,), (p,))[1].tolist() == [6.0, 16.0]
    assert out.tolist() == [6.0, 8.0]
    with refused("functional/vmap-has-no-rule"):
        func.vmap(lambda x: x * torch.add(c, c, out=x))(m)
    with refused("write/out-is-not-recorded"):
        func.grad(lambda x: torch.add(x, c, out=out).sum())(p)


def maps_within_maps_tell_their_elements_apart():
    """One of many of the outer map is the same for all of the inner one.

    Rule: functional/vmap-writes-into-batched.
    """
    m = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    vmap = torch.func.vmap
    outer_times_inner = [[[1.0, 4.0], [3.0, 8.0]], [[3.0, 8.0], [9.0, 16.0]]]
    assert vmap(lambda y: vmap(lambda x: x.clone().mul_(2).mul(y))(m))(m / 2).tolist() == outer_times_inner
    with refused("functional/vmap-writes-into-batched"):
        vmap(lambda y: vmap(lambda x: y.clone().mul_(x))(m))(m)
    with refused("functional/vmap-writes-into-batched"):
        vmap(lambda y: vmap(lambda x: x.clone().mul_(y))(m))(m)
    with refused("functional/vmap-takes-no-numbers"):
        vmap(lambda y: vmap(lambda x: x * y.sum().item())(m))(m)


def results_of_functions_are_mapped_as_those_of_ops():
    """A variance and a mean stand for many as well. Rule: functional/vmap-writes-into-batched."""
    m = torch.tensor([[1.0, 3.0], [3.0, 5.0]])
    with refused("functional/vmap-writes-into-batched"):
        torch.func.vmap(lambda x: torch.ones(()).mul_(torch.var_mean(x)[1]))(m)
    assert torch.func.vmap(lambda x: torch.var_mean(x)[1])(m).tolist() == [2.0, 4.0]
    assert torch.func.vmap(lambda x: torch.var_mean(x.sum(), correction=0)[1])(m).tolist() == [4.0, 8.0]
    assert torch.func.vmap(lambda x: x * torch.std_mean(x, 0, True)[1])(m).shape == (2, 2)


def strict_derivatives_that_depend_on_their_inputs():
    """Can be differentiated again. Rule: functional/strict-needs-dependence."""
    f = torch.autograd.functional
    x = torch.tensor([1.0, 2.0])
    strict = {"create_graph": True, "strict": True}
    assert f.jacobian(lambda a: a**2, x, **strict).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert f.hessian(lambda a: (a**3).sum(), x, **strict).requires_grad is True
    assert f.vjp(lambda a: a**2, x, torch.ones(2), **strict)[1].requires_grad is True
    with refused("functional/strict-needs-dependence"):
        f.jacobian(lambda a: a * 2, x, **strict)


def strict_products_want_a_history_before_a_single_element():
    """An output without a history is refused first, whatever its size; with one, its size is looked at.

    Rules: functional/strict-needs-a-history, functional/one-element.
    """
    x = torch.tensor([1.0, 2.0])
    y = torch.tensor([3.0, 4.0])
    f = torch.autograd.functional
    with refused("functional/strict-needs-a-history"):
        f.vhp(lambda a: y, x, x, strict=True)
    with refused("functional/strict-needs-a-history"):
        f.hvp(lambda a: y, x, x, strict=True)
    with refused("functional/strict-needs-a-history"):
        f.hessian(lambda a: y, x, strict=True)
    with refused("functional/one-element"):
        f.vhp(lambda a: a * y, x, x, strict=True)
    with refused("functional/one-element"):
        f.hvp(lambda a: y, x, x)
