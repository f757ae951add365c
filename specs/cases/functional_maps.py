"""torch.func: what is refused in a function that is mapped over many elements, or differentiated."""

import torch

from specs.case import refused
from specs.cases._functions import Apart, Square


def a_mapped_element_gives_no_number():
    """It stands for many: item() and float() are refused, but of what is the same for all elements.

    Rule: functional/vmap-takes-no-numbers. Source: docs of torch.func.
    """
    m = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    c = torch.tensor(2.0)
    with refused("functional/vmap-takes-no-numbers"):
        torch.func.vmap(lambda x: x * x.sum().item())(m)
    with refused("functional/vmap-takes-no-numbers"):
        torch.func.vmap(lambda x: x * float(x[0]))(m)
    with refused("functional/vmap-takes-no-numbers"):
        torch.func.vmap(lambda x: torch.tensor([x[0], x[1]]))(m)
    assert torch.func.vmap(lambda x: x * c.item())(m).tolist() == [[2.0, 4.0], [6.0, 8.0]]
    assert torch.func.grad(lambda x: (x * x.sum().item()).sum())(m).tolist() == [[10.0, 10.0], [10.0, 10.0]]


def a_mapped_element_decides_no_branch():
    """It has no truth value, also where Python asks for one unseen; torch.where() takes its place.

    Rule: functional/vmap-takes-no-branches. Source: docs of torch.func.
    """
    m = torch.tensor([[1.0, -2.0], [-3.0, 4.0]])
    c = torch.tensor(2.0)
    with refused("functional/vmap-takes-no-branches"):
        torch.func.vmap(lambda x: x if x.sum() > 0 else -x)(m)
    with refused("functional/vmap-takes-no-branches"):
        torch.func.vmap(lambda x: max(x[0], x[1]))(m)
    with refused("functional/vmap-takes-no-branches"):
        torch.func.vmap(lambda x: x.sum() and x)(m)
    assert torch.func.vmap(lambda x: torch.where(x.sum() > 0, x, -x))(m).tolist() == [
        [-1.0, 2.0],
        [-3.0, 4.0],
    ]
    assert torch.func.vmap(lambda x: x if c > 0 else -x)(m).tolist() == m.tolist()
    assert torch.func.grad(lambda x: (x if x.sum() > 0 else -x).sum())(m[0]).tolist() == [-1.0, -1.0]


def a_mapped_element_has_no_memory():
    """numpy(), tolist() and .data are refused.

    Rules: functional/vmap-has-no-memory, functional/vmap-hides-data. Source: docs of torch.func.
    """
    m = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    with refused("functional/vmap-has-no-memory"):
        torch.func.vmap(lambda x: x * torch.tensor(x.tolist()))(m)
    with refused("functional/vmap-has-no-memory"):
        torch.func.vmap(lambda x: x.numpy())(m)
    with refused("functional/vmap-hides-data"):
        torch.func.vmap(lambda x: x.data)(m)
    assert torch.func.vmap(lambda x: x.detach())(m).tolist() == m.tolist()


def what_is_drawn_while_mapping_is_chosen():
    """Same or different for the elements, or refused. Numbers that are the same hang on no element.

    Rules: functional/vmap-randomness-is-chosen, functional/vmap-randomness-fits. Source: docs of torch.func.
    """
    m = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    drop = torch.nn.functional.dropout
    with refused("functional/vmap-randomness-is-chosen"):
        torch.func.vmap(lambda x: x + torch.randn(2))(m)
    with refused("functional/vmap-randomness-is-chosen"):
        torch.func.vmap(lambda x: drop(x))(m)
    with refused("functional/vmap-randomness-is-chosen"):
        torch.func.jacfwd(lambda x: x * torch.rand(2))(m[0])
    assert torch.func.vmap(lambda x: drop(x, training=False))(m).tolist() == m.tolist()
    same = torch.func.vmap(lambda x: x * 0 + torch.randn(2), randomness="same")(m)
    apart = torch.func.vmap(lambda x: x * 0 + torch.randn(2), randomness="different")(m)
    assert same[0].tolist() == same[1].tolist() and apart[0].tolist() != apart[1].tolist()
    with refused("functional/vmap-randomness-fits"):
        torch.func.vmap(lambda x: torch.bernoulli(x / 10), randomness="same")(m)
    with refused("functional/vmap-randomness-fits"):
        torch.func.vmap(lambda x: x + torch.zeros(2).normal_(), randomness="different")(m)


def results_of_a_map_have_one_shape():
    """Shapes that elements decide are refused. Rule: functional/vmap-shapes-are-fixed.

    Source: docs of torch.func.
    """
    m = torch.tensor([[1.0, -2.0], [-3.0, 4.0]])
    c = torch.tensor([5.0, -5.0])
    with refused("functional/vmap-shapes-are-fixed"):
        torch.func.vmap(lambda x: x[x > 0])(m)
    with refused("functional/vmap-shapes-are-fixed"):
        torch.func.vmap(lambda x: x.masked_select(x > 0))(m)
    with refused("functional/vmap-shapes-are-fixed"):
        torch.func.vmap(lambda x: x.nonzero())(m)
    with refused("functional/vmap-shapes-are-fixed"):
        torch.func.vmap(lambda x: x.unique())(m)
    assert torch.func.vmap(lambda x: x[c > 0])(m).tolist() == [[1.0], [-3.0]]
    assert torch.func.vmap(lambda x: x.masked_fill(x > 0, 0))(m).tolist() == [[0.0, -2.0], [-3.0, 0.0]]


def what_is_mapped_is_written_into_what_is_mapped():
    """A tensor that is the same for all elements takes no write of one that is not.

    Rule: functional/vmap-writes-into-batched. Source: docs of torch.func.
    """
    m = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    c = torch.zeros(2)
    with refused("functional/vmap-writes-into-batched"):
        torch.func.vmap(lambda x: torch.zeros(2).copy_(x))(m)
    with refused("functional/vmap-writes-into-batched"):
        torch.func.vmap(lambda x: c.mul_(x))(m)
    with refused("functional/vmap-writes-into-batched"):
        torch.func.vmap(lambda x: torch.ones(2).pow_(x))(m)
    with refused("write/broadcast-shape"):
        torch.func.vmap(lambda x: torch.zeros(2).add_(x))(m)
    assert torch.func.vmap(lambda x: torch.zeros_like(x).copy_(x))(m).tolist() == m.tolist()
    assert torch.func.vmap(lambda x: x.new_zeros(2).add_(x))(m).tolist() == m.tolist()
    assert torch.func.vmap(lambda x: x * c.add_(1))(m).tolist() == m.tolist() and c.tolist() == [1.0, 1.0]


def a_map_answers_for_no_whole_tensor():
    """equal(), allclose() and out= are refused. Rule: functional/vmap-has-no-rule.

    Source: docs of torch.func.
    """
    m = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    with refused("functional/vmap-has-no-rule"):
        torch.func.vmap(lambda x: torch.equal(x, x))(m)
    with refused("functional/vmap-has-no-rule"):
        torch.func.vmap(lambda x: torch.allclose(x, x))(m)
    with refused("functional/vmap-has-no-rule"):
        torch.func.vmap(lambda x: torch.mul(x, x, out=torch.zeros(2)))(m)


def a_map_takes_and_gives_tensors():
    """None in in_dims and out_dims stands for what is not mapped.

    Rules: functional/vmap-in-dims, functional/vmap-gives-tensors. Source: docs of torch.func.
    """
    t = torch.func
    m = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    with refused("functional/vmap-in-dims"):
        t.vmap(lambda x, n: x * n)(m, 2)
    with refused("functional/vmap-in-dims"):
        t.vmap(lambda x: x, in_dims=2)(m)
    with refused("functional/vmap-in-dims"):
        t.vmap(lambda x: x, in_dims=(0, 0))(m)
    with refused("functional/vmap-in-dims"):
        t.vmap(lambda: m)()
    with refused("functional/vmap-in-dims"):
        t.vmap(lambda x: x, in_dims=[0])(m)
    with refused("functional/vmap-gives-tensors"):
        t.vmap(lambda x: None)(m)
    with refused("functional/vmap-gives-tensors"):
        t.vmap(lambda x: x, out_dims=None)(m)
    with refused("functional/vmap-gives-tensors"):
        t.vmap(lambda x: (x, x), out_dims=(0,))(m)
    assert t.vmap(lambda x, n: x * n, in_dims=(0, None))(m, 2).tolist() == [[2.0, 4.0], [6.0, 8.0]]
    assert t.vmap(lambda x: (x, 3), out_dims=(1, None))(m)[1] == 3
    assert t.vmap(lambda x, n: x * n)(m, n=2).tolist() == [[2.0, 4.0], [6.0, 8.0]]
    assert t.vmap(lambda x: x * 2)(torch.zeros(0, 3)).shape == (0, 3)


def mapped_statistics_are_not_shared():
    """A batch norm in training would update them. Rule: functional/vmap-statistics-are-batched.

    Source: docs of torch.func.
    """
    m = torch.tensor([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 7.0], [6.0, 8.0]]])
    kept, none = torch.nn.BatchNorm1d(2), torch.nn.BatchNorm1d(2, track_running_stats=False)
    with refused("functional/vmap-statistics-are-batched"):
        torch.func.vmap(lambda x: kept(x))(m)
    assert torch.func.vmap(lambda x: none(x))(m).shape == (2, 2, 2)
    assert torch.func.vmap(lambda x: kept.eval()(x))(m).shape == (2, 2, 2)


def custom_functions_say_how_they_are_transformed():
    """They need a setup_context, and to be mapped a rule.

    Rules: functional/transforms-need-setup-context, functional/vmap-needs-a-rule. Source: docs of torch.func.
    """
    x = torch.tensor([1.0, 2.0])
    with refused("functional/transforms-need-setup-context"):
        torch.func.grad(lambda a: Square.apply(a).sum())(x)
    with refused("functional/transforms-need-setup-context"):
        torch.func.vmap(lambda a: Square.apply(a))(x)
    with refused("functional/vmap-needs-a-rule"):
        torch.func.vmap(lambda a: Apart.apply(a))(x)
    assert torch.func.grad(lambda a: Apart.apply(a).sum())(x).tolist() == [2.0, 2.0]


def transforms_differentiate_by_themselves():
    """backward(), requires_grad_() and retain_grad() are refused within them; new parameters are not.

    Rules: functional/transforms-run-no-backward, functional/transforms-set-no-flag.
    Source: docs of torch.func.
    """
    x = torch.tensor([1.0, 2.0])
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    with refused("functional/transforms-run-no-backward"):
        torch.func.grad(lambda a: ((w * a).sum().backward(), a.sum())[1])(x)
    with refused("functional/transforms-set-no-flag"):
        torch.func.grad(lambda a: (a * x.requires_grad_()).sum())(x)
    with refused("functional/transforms-set-no-flag"):
        torch.func.vmap(lambda a: a.requires_grad_())(x)
    with refused("functional/transforms-set-no-flag"):
        torch.func.grad(lambda a: ((a * a).retain_grad(), a.sum())[1])(x)
    assert torch.func.grad(lambda a: (a * torch.nn.Parameter(x).detach()).sum())(x).tolist() == [1.0, 2.0]
    assert w.grad is None and x.requires_grad is False


def custom_functions_in_a_map_are_asked_for_their_rule():
    """Even if nothing that they are given stands for many, in whichever transform within or around.

    Rule: functional/vmap-needs-a-rule.
    """
    m = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    c = torch.tensor([5.0, 6.0])
    members = {
        "forward": staticmethod(lambda x: x * 2),
        "setup_context": staticmethod(lambda ctx, inputs, output: None),
        "backward": staticmethod(lambda ctx, g: g * 2),
        "jvp": staticmethod(lambda ctx, t: t * 2),
    }
    plain = type("Plain", (torch.autograd.Function,), members)
    ruled = type("Ruled", (torch.autograd.Function,), {**members, "generate_vmap_rule": True})
    by_hand = type(
        "ByHand", (torch.autograd.Function,), {**members, "vmap": staticmethod(lambda i, d, x: (x * 2, d[0]))}
    )
    func = torch.func
    with refused("functional/vmap-needs-a-rule"):
        func.vmap(lambda x: x * plain.apply(c))(m)
    with refused("functional/vmap-needs-a-rule"):
        func.vmap(func.grad(lambda x: (x * plain.apply(c)).sum()))(m)
    with refused("functional/vmap-needs-a-rule"):
        func.jacfwd(plain.apply)(c)
    with refused("functional/vmap-needs-a-rule"):
        func.jacfwd(lambda x: x * plain.apply(c))(c)
    assert func.vmap(lambda x: x * ruled.apply(c))(m).tolist() == [[10.0, 24.0], [30.0, 48.0]]
    assert func.vmap(by_hand.apply)(m).tolist() == [[2.0, 4.0], [6.0, 8.0]]
    assert func.jacfwd(ruled.apply)(c).tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert func.jvp(plain.apply, (c,), (c,))[1].tolist() == [10.0, 12.0]
    assert func.jacrev(plain.apply)(c).tolist() == [[2.0, 0.0], [0.0, 2.0]]


def custom_functions_without_a_jvp_give_no_tangents():
    """They are refused what has one in a forward transform, and take anything else.

    Rules: forward/function-needs-a-jvp, functional/vmap-needs-a-rule.
    """
    c = torch.tensor([5.0, 6.0])
    p = torch.tensor([1.0, 2.0])
    members = {
        "forward": staticmethod(lambda x: x * 2),
        "setup_context": staticmethod(lambda ctx, inputs, output: None),
        "backward": staticmethod(lambda ctx, g: g * 2),
    }
    plain = type("Plain", (torch.autograd.Function,), members)
    ruled = type("Ruled", (torch.autograd.Function,), {**members, "generate_vmap_rule": True})
    func = torch.func
    with refused("forward/function-needs-a-jvp"):
        func.jvp(plain.apply, (p,), (p,))
    with refused("forward/function-needs-a-jvp"):
        func.jacfwd(ruled.apply)(p)
    with refused("functional/vmap-needs-a-rule"):
        func.jacfwd(plain.apply)(p)
    assert func.jvp(lambda x: x * plain.apply(c), (p,), (p,))[1].tolist() == [10.0, 24.0]
    assert func.jvp(lambda x: x + plain.apply(x.detach()), (p,), (p,))[1].tolist() == [1.0, 2.0]
    assert func.jacfwd(lambda x: x * ruled.apply(c))(p).tolist() == [[10.0, 0.0], [0.0, 12.0]]
    assert func.grad(lambda x: plain.apply(x).sum())(p).tolist() == [2.0, 2.0]


def a_result_stands_for_many_if_what_it_comes_of_does():
    """A function may give the same for all elements; with a rule of its own it says so itself.

    Rule: functional/vmap-takes-no-numbers.
    """
    m = torch.ones(2, 2)
    c = torch.tensor([5.0, 6.0])
    made = lambda forward, **more: type(
        "Made",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(forward),
            "setup_context": staticmethod(lambda ctx, inputs, output: None),
            "backward": staticmethod(lambda ctx, g: g),
            **more,
        },
    )
    same = made(lambda x: torch.ones(2), generate_vmap_rule=True)
    own = made(lambda x: x * 2, generate_vmap_rule=True)
    by_hand = made(lambda x: torch.ones(2), vmap=staticmethod(lambda info, dims, x: (torch.ones(2, 2), 0)))
    vmap = torch.func.vmap
    assert vmap(lambda x: x * same.apply(x).sum().item())(m).tolist() == [[2.0, 2.0], [2.0, 2.0]]
    assert vmap(lambda x: x * own.apply(c).sum().item())(m).tolist() == [[22.0, 22.0], [22.0, 22.0]]
    with refused("functional/vmap-takes-no-numbers"):
        vmap(lambda x: x * own.apply(x).sum().item())(m)
    with refused("functional/vmap-takes-no-numbers"):
        vmap(lambda x: x * by_hand.apply(x).sum().item())(m)


def random_numbers_stand_for_many_if_they_differ():
    """Those that are the same for all elements do not, whatever they are shaped like.

    Rule: functional/vmap-takes-no-numbers.
    """
    m = torch.ones(2, 2)
    c = torch.ones(3)
    drop = torch.nn.functional.dropout
    draws = lambda how, draw: torch.func.vmap(lambda x: x + 0 * draw(x).sum().item(), randomness=how)(
        m
    ).tolist()
    assert draws("same", lambda x: torch.rand(2)) == [[1.0, 1.0], [1.0, 1.0]]
    assert draws("same", lambda x: torch.randn_like(x)) == [[1.0, 1.0], [1.0, 1.0]]
    assert draws("same", lambda x: torch.bernoulli(c)) == [[1.0, 1.0], [1.0, 1.0]]
    assert draws("same", lambda x: drop(c)) == [[1.0, 1.0], [1.0, 1.0]]
    assert draws("different", lambda x: drop(c, 0.0)) == [[1.0, 1.0], [1.0, 1.0]]
    with refused("functional/vmap-takes-no-numbers"):
        draws("different", lambda x: torch.rand(2))
    with refused("functional/vmap-takes-no-numbers"):
        draws("different", lambda x: torch.randn_like(c))
    with refused("functional/vmap-takes-no-numbers"):
        draws("different", lambda x: torch.bernoulli(c))
    with refused("functional/vmap-takes-no-numbers"):
        draws("different", lambda x: torch.poisson(c))
    with refused("functional/vmap-takes-no-numbers"):
        draws("different", lambda x: drop(c))
    within = lambda y: torch.func.vmap(lambda x: x * torch.rand(2).sum().item(), randomness="same")(m)
    with refused("functional/vmap-takes-no-numbers"):
        torch.func.vmap(within, randomness="different")(m)


def numbers_need_no_tangent():
    """A function without a jvp takes them in a forward transform. Rule: forward/function-needs-a-jvp."""
    c = torch.tensor([5.0, 6.0])
    members = {
        "forward": staticmethod(lambda x, by: x * by),
        "setup_context": staticmethod(lambda ctx, inputs, output: None),
        "backward": staticmethod(lambda ctx, g: (g * 2, None)),
    }
    scaled = type("Scaled", (torch.autograd.Function,), members)
    assert torch.func.jvp(lambda x: x * scaled.apply(c, 3), (c,), (c,))[1].tolist() == [75.0, 108.0]
    with refused("forward/function-needs-a-jvp"):
        torch.func.jvp(lambda x: scaled.apply(x, 3), (c,), (c,))
