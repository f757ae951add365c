"""Told apart: settings and states in which one part of a condition decides alone."""

import torch

from specs.case import refused, warned
from specs.cases._measures import error_kinds


def strict_products_look_at_each_derivative():
    """A jacobian that does not depend on the inputs is refused, whatever the hessian does.

    Rules: functional/strict-needs-dependence, functional/no-history-unless-asked-for.
    """
    lop = type(
        "Lop",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(lambda ctx, x, y: (ctx.save_for_backward(x, y), x * y)[1]),
            "backward": staticmethod(lambda ctx, g: (g * ctx.saved_tensors[0] * ctx.saved_tensors[1], None)),
        },
    )
    x = torch.tensor([2.0])
    y = torch.tensor([3.0])
    v = torch.tensor([1.0])
    f = torch.autograd.functional
    with refused("functional/strict-needs-dependence"):
        f.vhp(lambda a, b: lop.apply(a, b), (x, y), (v, v), strict=True)
    out, product = f.vhp(lambda a, b: lop.apply(a, b), (x, y), (v, v))
    assert out.item() == 6.0 and [p.tolist() for p in product] == [[3.0], [2.0]]


def outs_of_functions_that_are_no_ops():
    """Some cast into an out of another dtype, and some refuse one; so do those of several results.

    Rules: write/out-is-not-recorded, write/result-dtype.
    """
    x = torch.tensor([[2.0, 4.0], [3.0, 2.0]])
    wide = torch.zeros(4, 2, dtype=torch.float64)
    assert torch.cat([x, x], out=wide) is wide and wide.tolist() == [[2.0, 4.0], [3.0, 2.0]] * 2
    out = torch.zeros(2, 2)
    assert torch.softmax(torch.zeros(2, 2), 0, out=out) is out and out.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    most = torch.zeros(2)
    at = torch.zeros(2, dtype=torch.int64)
    found = torch.max(x, 1, out=(most, at))
    assert most.tolist() == [4.0, 3.0] and at.tolist() == [1, 0] and found[0] is most and found.indices is at
    double = lambda *shape: torch.zeros(shape, dtype=torch.float64)
    kinds = error_kinds(
        [
            lambda: torch.argmax(x, out=torch.zeros((), dtype=torch.int64)),
            lambda: torch.argmax(x, out=torch.zeros(())),
            lambda: torch.softmax(x, 0, out=double(2, 2)),
            lambda: torch.max(x, out=double()),
            lambda: torch.max(x, 1, out=(double(2), at)),
            lambda: torch.max(x, 1, out=(most, torch.zeros(2))),
            lambda: torch.linalg.pinv(x, out=double(2, 2)),
            lambda: torch.linalg.inv(x, out=double(2, 2)),
            lambda: torch.linalg.det(x, out=double()),
            lambda: torch.linalg.inv(x, out=out),
        ]
    )
    assert kinds == "-oo-oo-oo-"
    with refused("write/result-dtype"):
        torch.nextafter(x, x, out=torch.zeros(2, 2, dtype=torch.int64))
    with refused("write/out-is-not-recorded"):
        torch.cat([x, x.clone().requires_grad_()], out=torch.zeros(4, 2))
    with refused("write/out-is-not-recorded"):
        torch.softmax(x, 0, out=torch.zeros(2, 2, requires_grad=True))


def a_map_writes_once_to_what_was_there_before():
    """Through a view, its base and the history of both too. Rule: functional/vmap-writes-into-batched."""
    m = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    p = torch.tensor([1.0, 1.0, 1.0], requires_grad=True)
    b = p * 1
    v = b[:2]
    y = torch.func.vmap(lambda x: (v.mul_(3), x * v)[1])(m)
    assert y.tolist() == [[3.0, 6.0], [9.0, 12.0]] and b.tolist() == [3.0, 3.0, 1.0]
    (y.sum() + b.sum()).backward()
    assert p.grad.tolist() == [15.0, 21.0, 1.0]
    with refused("functional/vmap-writes-into-batched"):
        torch.func.vmap(lambda x: v.detach().mul_(x))(m)


def after_a_map_a_gradient_is_a_plain_one():
    """Also that of a map of one element.

    Rules: functional/vmap-has-no-memory, backward/gradient-is-upstream.
    """
    m = torch.tensor([[1.0, 2.0]])
    p = torch.tensor([3.0, 4.0], requires_grad=True)
    y = p * 1
    seen = []
    y.register_hook(lambda g: seen.append(g.tolist()))
    torch.func.vmap(lambda x: x * y)(m).sum().backward()
    assert p.grad.tolist() == [1.0, 2.0] and seen == [[1.0, 2.0]]
    (g,) = torch.autograd.grad(torch.func.vmap(lambda x: x.exp() * 0 + x * p)(m).sum(), p)
    assert g.tolist() == [1.0, 2.0] and g.data.tolist() == [1.0, 2.0]
    with refused("functional/vmap-has-no-memory"):
        torch.func.vmap(lambda x: (x * p).tolist())(m)


def gradients_within_a_map_stand_for_many():
    """From the element, from the result, or from the gradient that they begin with.

    Rules: write/broadcast-shape, functional/vmap-takes-no-numbers, functional/vmap-writes-into-batched.
    """
    m = torch.tensor([0.0, 1.0])
    grad, vmap, vjp = torch.func.grad, torch.func.vmap, torch.func.vjp
    zero = lambda: torch.zeros(())
    back = lambda f, x: vjp(f, x)[1](torch.ones(()))[0]
    with refused("write/broadcast-shape"):
        vmap(lambda x: zero().add_(grad(lambda a: a * a)(x)))(m)
    with refused("write/broadcast-shape"):
        vmap(lambda x: zero().add_(grad(lambda a: a + 1)(x)))(m)
    assert vmap(grad(lambda a: a + 1))(m).tolist() == [1.0, 1.0]
    with refused("write/broadcast-shape"):
        vmap(lambda x: zero().add_(back(lambda a: a.exp(), x)))(m)
    with refused("functional/vmap-takes-no-numbers"):
        vmap(lambda x: back(lambda a: a.exp(), x).item())(m)
    assert vmap(lambda x: zero().add_(back(lambda a: a + 1, x)))(m).tolist() == [1.0, 1.0]
    assert [round(v, 4) for v in vmap(lambda x: back(lambda a: a.exp(), x))(m).tolist()] == [1.0, 2.7183]
    inner = lambda y: vmap(lambda x: y.clone().add_(back(lambda a: a.exp(), y)))(m)
    assert [[round(v, 4) for v in row] for row in vmap(inner)(m).tolist()] == [[1.0] * 2, [3.7183] * 2]
    with refused("write/broadcast-shape"):
        vmap(lambda y: vmap(lambda x: y.clone().add_(back(lambda a: a.exp(), x)))(m))(m)


def a_grad_of_one_element_without_a_stride_is_laid_out_otherwise():
    """Also for a leaf whose own stride is zero. Rule: grad/layout-warns."""
    x = torch.ones(2).as_strided((1,), (0,)).detach().requires_grad_()
    g = torch.ones(2).as_strided((1,), (0,))
    assert x.stride() == (0,) and g.stride() == (0,)
    x.grad = g
    y = x * 2
    with warned("grad/layout-warns"):
        y.backward()
    assert x.grad is g and g.tolist() == [3.0]


def kernels_on_inference_tensors_that_copy_nothing_count_nothing():
    """A copy counts as a write, other results do not. Rule: inference/copy-counts."""
    with torch.inference_mode():
        x = torch.tensor([[1.0, 2.0]])
    i = torch.tensor([0])
    assert x.clone()._version == 1 and x.flip((1,))._version == 0 and x.index_select(1, i)._version == 0
    assert (2 - x)._version == 0 and (x**2)._version == 0 and x.cumsum(0)._version == 0


def a_count_of_elements_has_a_tangent_of_zeros():
    """The formula gives nothing, which is zeros. Rule: forward/ops-carry-tangents."""
    fwd = torch.autograd.forward_ad
    with fwd.dual_level():
        d = fwd.make_dual(torch.tensor([1.0, 0.0]), torch.tensor([3.0, 4.0]))
        n = d.norm(0)
        t = fwd.unpack_dual(n).tangent
        assert n.item() == 1.0 and t.item() == 0.0


def a_gradient_that_nobody_is_left_to_retain():
    """A tensor that is gone retains nothing; another one of its node does. Rule: retain/fills-grad."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    y = y * 3
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0, 6.0] and y.retains_grad is False
    a, b = (x * 5).split((1, 2))
    a.retain_grad()
    b.retain_grad()
    a = a.sum() + (b * 7).sum()
    a.backward()
    assert b.grad.tolist() == [7.0, 7.0] and x.grad.tolist() == [11.0, 41.0, 41.0]


def nodes_of_views_can_be_called():
    """That of a written base, and that of a view of one. Rule: backward/nodes-can-be-called."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    b = x * 1
    v = b[:2]
    b.mul_(2)
    w = b[1:]
    w.mul_(3)
    seen = [v.grad_fn(torch.tensor([4.0, 5.0])), b.grad_fn(torch.tensor([4.0, 5.0, 6.0]))]
    assert seen[0].tolist() == [4.0, 5.0, 0.0]
    assert seen[1][0].tolist() == [4.0, 15.0, 18.0] and seen[1][1] is None and x.grad is None


def each_undefined_gradient_is_checked_by_itself():
    """Of several outputs one may be undefined beside zeros. Rule: gradcheck/may-answer-false."""
    parts = lambda g, h: [n * k for n, k in ((2, g), (4, h)) if k is not None]
    careless = lambda given: given[0] + 1 if len(given) == 1 and not given[0].any() else sum(given)
    of = lambda backward: type(
        "Both",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(lambda ctx, x: (ctx.set_materialize_grads(False), x * 2, x * 4)[1:]),
            "backward": staticmethod(backward),
        },
    )
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    check = torch.autograd.gradcheck
    wrong = of(lambda ctx, g, h: careless(parts(g, h)) if parts(g, h) else None).apply
    assert check(wrong, (x,), check_undefined_grad=False) is True
    assert check(wrong, (x,), raise_exception=False) is False
    assert check(of(lambda ctx, g, h: sum(parts(g, h)) if parts(g, h) else None).apply, (x,)) is True


def what_is_saved_is_made_by_nobody_else():
    """Its class makes none. Rule: saved_hooks/one-pair-each."""
    x = torch.tensor([2.0], requires_grad=True)
    y = x * x
    saved = y.grad_fn._raw_saved_self
    assert isinstance(saved, torch.autograd.SavedTensor) and error_kinds([torch.autograd.SavedTensor]) == "o"
    saved.register_hooks(lambda t: t, lambda t: t * 2)
    with refused("saved_hooks/one-pair-each"):
        saved.register_hooks(lambda t: t, lambda t: t)
    y.backward()
    assert x.grad.tolist() == [6.0]


def least_and_largest_along_a_dimension_that_is_there():
    """A number has one, too. Rules: op/dim-range, op/aminmax-has-a-derivative."""
    x = torch.tensor([[3.0, 1.0], [2.0, 2.0]], requires_grad=True)
    with refused("op/dim-range"):
        x.aminmax(dim=2)
    with refused("op/dim-range"):
        x[0].aminmax(dim=-2)
    low, high = x.aminmax(dim=-2, keepdim=True)
    assert low.tolist() == [[2.0, 1.0]] and high.tolist() == [[3.0, 2.0]]
    (low.sum() + high.sum() * 2).backward()
    assert x.grad.tolist() == [[2.0, 1.0], [1.0, 2.0]]
    n = torch.tensor(5.0, requires_grad=True)
    (n.aminmax(dim=-1).min * 2 + n.aminmax(dim=0, keepdim=True).max).backward()
    assert n.grad.item() == 3.0
    with refused("op/dim-range"):
        n.aminmax(dim=1)


def a_window_on_memory_that_begins_elsewhere():
    """A leaf may begin within its memory, and a window behind it or before it.

    Rules: view/stale-regenerates, write/rewrites-the-base.
    """
    x = torch.zeros(6)[2:5].detach().requires_grad_()
    y = x.as_strided((2,), (1,), 3)
    y.backward(torch.tensor([1.0, 2.0]))
    assert x.grad.tolist() == [0.0, 1.0, 2.0]
    z = x.as_strided((2,), (1,), 1)
    z.backward(torch.tensor([3.0, 4.0]))
    assert x.grad.tolist() == [4.0, 1.0, 2.0]
    w = x.as_strided((2, 2), (1, 1), 2)
    w.backward(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert x.grad.tolist() == [5.0, 6.0, 6.0]
    b = torch.zeros(6)[2:5].detach()
    v = b[1:]
    b.add_(x)
    assert v.is_leaf is False and v.storage_offset() == 3
    v.mul_(2)
    (v * torch.tensor([5.0, 6.0])).sum().backward()
    assert x.grad.tolist() == [5.0, 16.0, 18.0]


def a_written_input_may_be_saved():
    """It comes back as it was given, so the node that saves it is its history.

    Rules: function/dirty-is-rewritten, function/saved-input-returned.
    """
    which = lambda at: type(
        "Tripled",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(lambda x: x.mul_(3)),
            "setup_context": staticmethod(
                lambda ctx, inputs, output: (
                    ctx.mark_dirty(inputs[0]),
                    ctx.save_for_backward((inputs[0], output)[at]),
                )[1]
            ),
            "backward": staticmethod(lambda ctx, g: g * ctx.saved_tensors[0]),
        },
    )
    kept = []
    kept += [which(0), which(1)]
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    kept[0].apply(y).sum().backward()
    assert y.tolist() == [3.0, 6.0] and x.grad.tolist() == [3.0, 6.0]
    y = x * 1
    kept[1].apply(y).sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]


def within_a_map_no_data_is_assigned():
    """That of, or to, one of many; others may. Rule: functional/vmap-hides-data."""
    m = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    given = lambda x, data: (setattr(x, "data", data), x)[1]
    vmap = torch.func.vmap
    with refused("functional/vmap-hides-data"):
        vmap(lambda x: given(x.clone(), torch.ones(2)))(m)
    with refused("functional/vmap-hides-data"):
        vmap(lambda x: given(torch.ones(2), x * 2))(m)
    z = torch.zeros(2)
    assert vmap(lambda x: x * given(z, torch.ones(2)))(m).tolist() == m.tolist() and z.tolist() == [1.0, 1.0]


def gradients_within_a_map_read_no_numbers():
    """Formulas that ask for zeros do so for each element. Rule: functional/vmap-takes-no-numbers."""
    m = torch.tensor([[2.0, 3.0], [0.0, 5.0]])
    grad, vmap = torch.func.grad, torch.func.vmap
    assert vmap(grad(lambda x: x.prod()))(m).tolist() == [[3.0, 2.0], [5.0, 0.0]]
    assert vmap(grad(lambda x: x.cumprod(0).sum()))(m).tolist() == [[4.0, 2.0], [6.0, 0.0]]
    singular = vmap(grad(lambda x: torch.linalg.det(x.diag()) * 2))(m)
    assert [[round(v, 4) for v in row] for row in singular.tolist()] == [[6.0, 4.0], [10.0, 0.0]]
    asks = type(
        "Asks",
        (torch.autograd.Function,),
        {
            "generate_vmap_rule": True,
            "forward": staticmethod(lambda x: x * 2),
            "setup_context": staticmethod(lambda ctx, inputs, output: None),
            "backward": staticmethod(lambda ctx, g: g * g.sum().item()),
        },
    )
    with refused("functional/vmap-takes-no-numbers"):
        vmap(lambda x: torch.func.vjp(asks.apply, x)[1](x)[0])(m)
    with refused("functional/vmap-takes-no-numbers"):
        vmap(lambda x: grad(lambda a: a.prod())(x).sum().item())(m)
