"""Hooks around a module's forward and backward: their order, what they are given and may replace."""

import torch


def forward_hooks_are_given_arguments_and_result():
    """Those before forward get the arguments, those behind it the result too; each may replace what it got.

    Rule: nn/forward-hooks-replace.
    """
    m = torch.nn.Linear(1, 1, bias=False)
    m.weight = torch.nn.Parameter(torch.tensor([[2.0]]))
    x = torch.tensor([3.0])
    seen = []
    first = m.register_forward_pre_hook(lambda module, args: seen.append((module is m, args[0].item())))
    second = m.register_forward_pre_hook(lambda module, args: args[0] + 1)
    third = m.register_forward_hook(lambda module, args, out: seen.append((args[0].item(), out.item())))
    fourth = m.register_forward_hook(lambda module, args, out: out * 10)
    fifth = m.register_forward_hook(lambda module, args, out: out + 1)
    assert m(x).tolist() == [81.0]
    assert seen == [(True, 3.0), (4.0, 8.0)]
    second.remove()
    fourth.remove()
    fourth.remove()
    assert m(x).tolist() == [7.0]
    assert len(seen) == 4 and m.forward(x).tolist() == [6.0] and len(seen) == 4
    [handle.remove() for handle in (first, third, fifth)]
    assert m(x).tolist() == [6.0] and len(seen) == 4


def forward_hooks_stand_in_order():
    """Of registration, unless one is put before the others; several arguments come back as a tuple.

    Rule: nn/forward-hooks-replace.
    """
    m = torch.nn.Bilinear(1, 1, 1, bias=False)
    m.weight = torch.nn.Parameter(torch.tensor([[[1.0]]]))
    order = []
    m.register_forward_pre_hook(lambda module, args: order.append("a"))
    m.register_forward_pre_hook(lambda module, args: order.append("b"))
    m.register_forward_pre_hook(lambda module, args: order.append("c"), prepend=True)
    m.register_forward_hook(lambda module, args, out: order.append("d"))
    m.register_forward_hook(lambda module, args, out: order.append("e"), prepend=True)
    m.register_forward_hook(lambda module, args, out: order.append("f"))
    m.register_forward_pre_hook(lambda module, args: (args[0] * 2, args[1] * 3))
    assert m(torch.tensor([1.0]), torch.tensor([5.0])).tolist() == [30.0]
    assert order == ["c", "a", "b", "e", "d", "f"]


def forward_hooks_may_take_keywords():
    """with_kwargs hands them over; a hook before forward then gives arguments and keywords back.

    Rule: nn/forward-hooks-replace.
    """
    m = torch.nn.MSELoss(reduction="sum")
    a = torch.tensor([1.0])
    b = torch.tensor([4.0])
    seen = []
    m.register_forward_pre_hook(lambda module, args: seen.append(len(args)))
    before = lambda module, args, kwargs: (args, {"target": kwargs["target"] * 2})
    handle = m.register_forward_pre_hook(before, with_kwargs=True)
    m.register_forward_hook(
        lambda module, args, kwargs, out: seen.append((len(args), sorted(kwargs), out.item())),
        with_kwargs=True,
    )
    m.register_forward_hook(lambda module, args, kwargs, out: out + kwargs["target"].sum(), with_kwargs=True)
    assert m(a, target=b).item() == 57.0
    assert seen == [1, (1, ["target"], 49.0)]
    handle.remove()
    assert m(a, target=b).item() == 13.0


def backward_hooks_replace_gradients():
    """The hook gets the gradients of arguments and of results; what it returns goes on to the arguments.

    Rules: nn/backward-hooks-replace, nn/backward-hooks-stand-before-and-behind.
    """
    m = torch.nn.Bilinear(1, 1, 1, bias=False)
    m.weight = torch.nn.Parameter(torch.tensor([[[2.0]]]))
    x = torch.tensor([3.0], requires_grad=True)
    y = torch.tensor([5.0])
    seen = []
    hook = lambda module, gi, go: seen.append(
        (module is m, gi[0].item(), gi[1].item(), len(gi), go[0].item())
    )
    m.register_full_backward_hook(hook)
    second = m.register_full_backward_hook(lambda module, gi, go: (gi[0] * 10, gi[1]))
    third = m.register_full_backward_hook(lambda module, gi, go: (gi[0] + 1, None))
    m(x, y).backward(torch.tensor([7.0]))
    assert seen == [(True, 70.0, 0.0, 2, 7.0)]
    assert x.grad.tolist() == [701.0] and m.weight.grad.tolist() == [[[105.0]]]
    third.remove()
    second.remove()
    m(x, y).backward(torch.tensor([7.0]))
    assert x.grad.tolist() == [771.0] and len(seen) == 2
    z = m(x, y)
    third = m.register_full_backward_hook(lambda module, gi, go: (gi[0] * 0, None))
    z.backward()
    assert x.grad.tolist() == [781.0]


def backward_pre_hooks_replace_what_comes_in():
    """Before the module's backward, so that its parameters see it, and the hooks behind as well.

    Rules: nn/backward-hooks-replace, nn/backward-hooks-stand-before-and-behind.
    """
    m = torch.nn.Linear(1, 1, bias=False)
    m.weight = torch.nn.Parameter(torch.tensor([[2.0]]))
    x = torch.tensor([3.0], requires_grad=True)
    seen = []
    m.register_full_backward_pre_hook(lambda module, go: seen.append(("pre", go[0].item())))
    m.register_full_backward_pre_hook(lambda module, go: (go[0] * 10,))
    m.register_full_backward_pre_hook(lambda module, go: (go[0] + 1,))
    m.register_full_backward_hook(lambda module, gi, go: seen.append((gi[0].item(), go[0].item())))
    m(x).backward()
    assert seen == [("pre", 1.0), (22.0, 11.0)]
    assert x.grad.tolist() == [22.0] and m.weight.grad.tolist() == [[33.0]]
    first = torch.nn.Linear(1, 1, bias=False)
    first.register_full_backward_pre_hook(lambda module, go: (go[0] * 4,))
    first(x.detach()).backward()
    assert first.weight.grad.tolist() == [[12.0]]


def backward_hooks_want_what_is_recorded():
    """Under no_grad, and where nothing requires grad, nothing stands around the module.

    Rule: nn/backward-hooks-stand-before-and-behind.
    """
    m = torch.nn.ReLU()
    seen = []
    m.register_full_backward_hook(lambda module, gi, go: seen.append(1))
    x = torch.tensor([1.0], requires_grad=True)
    with torch.no_grad():
        y = m(x)
    assert y.grad_fn is None and y.requires_grad is False
    assert m(x.detach()).grad_fn is None
    (g,) = torch.autograd.grad(m(x).sum(), x, create_graph=True)
    assert seen == [1] and g.tolist() == [1.0]
    z = m(x)
    assert z.grad_fn.name() == "BackwardHookFunctionBackward"
    z.backward(retain_graph=True)
    z.backward()
    assert seen == [1, 1, 1] and x.grad.tolist() == [2.0]


def a_list_from_a_hook_is_one_argument():
    """A tuple is all of them, anything else the only one. Rule: nn/forward-hooks-replace."""
    x = torch.tensor([1.0])
    m = torch.nn.Identity()
    m.register_forward_pre_hook(lambda module, args: [args[0], 1])
    y = m(x)
    assert type(y) is list and y[0] is x
    seen = []
    n = torch.nn.Identity()
    n.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
    n.register_forward_pre_hook(lambda module, args: args[0] * 3)
    n.register_forward_hook(lambda module, args, out: seen.append(args[0].item()))
    assert n(x).item() == 6.0 and seen == [6.0]
