"""Left over: settings, counts, shapes and devices that other cases do not tell apart."""

import contextlib
import warnings

import torch

from specs.case import refused


def a_jacobian_has_the_outputs_dimensions_first():
    """Those of the inputs stand behind, whatever their numbers.

    Rule: functional/strict-one-by-one.
    """
    f = torch.autograd.functional
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    wide = f.jacobian(lambda a: torch.stack([a[:2] * a[2], a[:2] ** 2]), x)
    assert tuple(wide.shape) == (2, 2, 3) and wide.requires_grad is False
    assert wide.tolist() == [[[3.0, 0.0, 1.0], [0.0, 3.0, 2.0]], [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0]]]
    m = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    rows = f.jacobian(lambda a: a.sum(1), m)
    assert rows.tolist() == [[[1.0] * 3, [0.0] * 3], [[0.0] * 3, [1.0] * 3]]
    assert tuple(torch.func.jacrev(lambda a: a.sum(1))(m).shape) == (2, 2, 3)
    assert tuple(f.hessian(lambda a: (a[0] * a[1] ** 2).sum(), m).shape) == (2, 3, 2, 3)
    blocks = f.hessian(lambda a, b: (a[0] * b).sum(), (m, x.detach()))
    assert [tuple(b.shape) for row in blocks for b in row] == [(2, 3, 2, 3), (2, 3, 3), (3, 2, 3), (3, 3)]
    assert blocks[0][1][0].tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    with refused("functional/strict-one-by-one"):
        f.hessian(lambda a: (a * a).sum(), x, vectorize=True, strict=True)


def surplus_gradients_are_nones_all():
    """One that is not is refused, wherever it stands.

    Rules: function/gradients-count, function/surplus-none-is-dropped.
    """
    made = []
    give = lambda *more: type(
        "Give",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(lambda ctx, x: x * 2),
            "backward": staticmethod(lambda ctx, g: (g * 2, *[each and g for each in more])),
        },
    )
    x = torch.tensor([1.0], requires_grad=True)
    made += [give(None, None).apply(x), give(True, None).apply(x), give(None, True).apply(x)]
    made[0].backward()
    assert x.grad.tolist() == [2.0]
    with refused("function/gradients-count"):
        made[1].backward()
    with refused("function/gradients-count"):
        made[2].backward()
    assert x.grad.tolist() == [2.0]


def module_hooks_and_second_derivatives():
    """A double backward through a module calls its hooks once in each backward that reaches its results.

    Rules: nn/backward-hooks-replace, nn/backward-hooks-stand-before-and-behind.
    """
    m = torch.nn.Tanh()
    seen = []
    m.register_full_backward_hook(lambda module, gi, go: (seen.append((len(gi), len(go))), (gi[0] * 2,))[1])
    x = torch.tensor([0.5], requires_grad=True)
    (g,) = torch.autograd.grad(m(x), x, create_graph=True)
    plain = 1 - x.detach().tanh() ** 2
    assert [round(v, 5) for v in g.tolist()] == [round(v * 2, 5) for v in plain.tolist()] and seen == [(1, 1)]
    (h,) = torch.autograd.grad(g, x)
    assert [round(v, 3) for v in h.tolist()] == [-1.454] and seen == [(1, 1)]


def sums_along_dimensions_from_the_back():
    """Counted from either end and in any order, kept or not.

    Rule: op/derivatives-beyond-programs.
    """
    x = torch.arange(1.0, 13.0, dtype=torch.float64).reshape(2, 2, 3).requires_grad_()
    g = torch.tensor([1.0, 10.0], dtype=torch.float64)
    grad = torch.autograd.grad
    middle = [[[1.0] * 3, [10.0] * 3]] * 2
    assert (
        grad(x.sum((-3, 2)), x, g)[0].tolist() == middle and grad(x.sum((2, -3)), x, g)[0].tolist() == middle
    )
    assert grad(x.mean((-1, 0)), x, g * 6)[0].tolist() == middle
    assert grad(x.sum((-1, -3), keepdim=True), x, g.view(1, 2, 1))[0].tolist() == middle
    assert grad(x.amax((-3, 2)), x, g)[0].sum((0, 2)).tolist() == [1.0, 10.0]
    assert grad(x.logsumexp((-3, 2)), x, g)[0].sum((0, 2)).tolist() != [0.0, 0.0]
    assert [round(v, 5) for v in grad(x.var((-3, 2)) * 0 + x.sum((0, -1)), x, g)[0][0, :, 0].tolist()] == [
        1.0,
        10.0,
    ]
    assert grad(x.prod(-2), x, torch.ones(2, 3).double())[0][0].tolist() == [[4.0, 5.0, 6.0], [1.0, 2.0, 3.0]]


def memory_that_is_shown_twice_refuses_sums():
    """So do writes of every kind to expanded memory; a copy of it takes them.

    Rules: write/overlap-refused, op/derivatives-beyond-programs.
    """
    x = torch.tensor([1.0]).expand(3)
    with refused("write/overlap-refused"):
        x.add_(1)
    with refused("write/overlap-refused"):
        x.copy_(torch.ones(3))
    i = torch.tensor([0])
    with refused("write/overlap-refused"):
        x.cumsum_(0)
    with refused("write/overlap-refused"):
        x.scatter_reduce_(0, i, torch.ones(1), "sum")
    with refused("write/overlap-refused"):
        x.index_add_(0, i, torch.ones(1))
    with refused("write/overlap-refused"):
        x.exp_()
    y = x.clone()
    y.add_(1)
    assert y.tolist() == [2.0, 2.0, 2.0] and x.tolist() == [1.0, 1.0, 1.0] and y._version == 1


def versions_may_be_restored():
    """Of one tensor or several, after any number of writes. Rule: save/modified-refused."""
    x = torch.tensor([2.0], requires_grad=True)
    made = []
    made += [x * 1, x * 1]
    a, b = made
    y = a * a + b * b
    with torch.autograd._unsafe_preserve_version_counter((a, b)):
        a.detach().mul_(10).mul_(2)
        b.detach().mul_(3)
    assert a._version == 0 and b._version == 0
    y.backward(retain_graph=True)
    assert x.grad.tolist() == [92.0]
    with torch.autograd._unsafe_preserve_version_counter(a):
        b.detach().mul_(3)
    with refused("save/modified-refused"):
        y.backward()


def a_node_wants_as_many_gradients_as_it_has_outputs():
    """Too few and too many are refused, and so is what is no tensor. Rule: backward/nodes-can-be-called."""
    x = torch.tensor([2.0], requires_grad=True)
    y = x * 3
    with contextlib.suppress(TypeError):
        y.grad_fn()
    with contextlib.suppress(TypeError):
        y.grad_fn(torch.ones(1), torch.ones(1))
    with contextlib.suppress(TypeError):
        y.grad_fn("text")
    assert y.grad_fn(torch.ones(1))[0].tolist() == [3.0]


def epochs_that_are_given():
    """A schedule goes to them by its closed form, and on from there. Rule: optim/schedules-set-the-rate."""
    s = torch.optim.lr_scheduler
    o = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    a = s.StepLR(o, 2, gamma=0.5)
    a.step(5)
    assert a.last_epoch == 5 and o.param_groups[0]["lr"] == 0.25 and a.state_dict()["_step_count"] == 2
    a.step()
    assert a.last_epoch == 6 and o.param_groups[0]["lr"] == 0.125 and a.state_dict()["_step_count"] == 3
    o = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    found = []
    found.append((b := s.ExponentialLR(o, 0.5), b.step(3), o.param_groups[0]["lr"])[2])
    o = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    found.append((b := s.LinearLR(o, 0.5, total_iters=4), b.step(2), o.param_groups[0]["lr"])[2])
    o = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    found.append((b := s.MultiStepLR(o, [1, 3], 0.5), b.step(3), o.param_groups[0]["lr"])[2])
    o = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    found.append((b := s.PolynomialLR(o, 4), b.step(3), o.param_groups[0]["lr"])[2])
    o = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    found.append((b := s.CosineAnnealingLR(o, 4), b.step(2), round(o.param_groups[0]["lr"], 6))[2])
    o = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    found.append((b := s.ConstantLR(o, 0.5, 4), b.step(4), o.param_groups[0]["lr"])[2])
    assert found == [0.125, 0.75, 0.25, 0.25, 0.5, 1.0]


def divided_zeros_without_memory():
    """A quotient by such zeros is infinite, whatever is divided. Rule: op/zeros-pass-on."""
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    (z,) = torch.autograd.grad(x.sgn(), x, torch.ones(2))
    assert (torch.tensor([-1.0, 0.0]) / z).tolist() == [float("inf"), float("inf")]
    with refused("op/zeros-are-not-read"):
        (z / torch.tensor([-1.0, 0.0])).tolist()


def gradients_of_one_element_on_another_device():
    """One of no dimension follows its tensor, one of a dimension is refused.

    Rules: device/one-element-gradient-follows, device/gradient-elsewhere.
    """
    x = torch.tensor(2.0, requires_grad=True)
    y = x.cuda()
    y.backward(torch.tensor(3.0), retain_graph=True)
    assert x.grad.item() == 3.0 and x.grad.is_cuda is False
    v = torch.tensor([2.0], requires_grad=True)
    w = v.cuda()
    with refused("device/gradient-elsewhere"):
        w.backward(torch.tensor([3.0]))
    assert v.grad is None


def fills_from_the_same_device_and_from_another():
    """By a number that is a tensor there, or one that is not; both give it their gradients.

    Rules: device/copy-crosses, write/copy-passes-gradient.
    """
    a = torch.tensor([1.0, 2.0], requires_grad=True).cuda()
    n = torch.tensor(5.0, requires_grad=True)
    here = n.cuda()
    y = a * 1
    y.fill_(here)
    assert y.tolist() == [5.0, 5.0]
    y.sum().backward()
    assert n.grad.item() == 2.0
    z = a * 1
    z.fill_(n)
    assert z.tolist() == [5.0, 5.0]
    z.sum().backward()
    assert n.grad.item() == 4.0 and n.grad.is_cuda is False
    z[0].copy_(n)
    assert z.tolist() == [5.0, 5.0] and z.is_cuda is True


def levels_may_be_named():
    """There is one, level 0, which may be given or left out. Rule: forward/level-ends."""
    fw = torch.autograd.forward_ad
    x = torch.tensor([1.0, 2.0])
    with fw.dual_level() as level:
        d = fw.make_dual(x, x * 3, level=level)
        assert level == 0 and fw.unpack_dual(d * 2, level=0).tangent.tolist() == [6.0, 12.0]
    with fw.dual_level():
        assert fw.unpack_dual(d, level=0).tangent is None


def grads_of_leaves_with_gaps_accumulate_in_silence():
    """They lie by rows, as they should. Rules: grad/accumulates, op/derivatives-beyond-programs."""
    x = torch.zeros(2, 4)[:, ::2].detach().requires_grad_()
    with warnings.catch_warnings(record=True, action="always") as told:
        (x * 2).sum().backward()
        (x * 2).sum().backward()
    assert told == [] and x.grad.tolist() == [[4.0, 4.0], [4.0, 4.0]]
    y = (x * x).exp()
    assert isinstance(y.grad_fn._raw_saved_result, torch.autograd.SavedTensor)
    assert not isinstance(y, torch.autograd.SavedTensor)


def numbers_are_taken_in_silence_where_nothing_is_recorded():
    """Under no_grad a float leaves no graph. Rule: copy/number-leaves-the-graph-warns."""
    x = torch.tensor([1.0], requires_grad=True)
    seen = []
    torch.set_warn_always(True)
    with warnings.catch_warnings(record=True, action="always") as told:
        with torch.no_grad():
            seen.append(float(x))
        seen.append(x.item())
        seen.append(int(x))
        seen.append(len(told))
        seen.append(float(x))
    torch.set_warn_always(False)
    assert seen == [1.0, 1.0, 1, 0, 1.0] and len(told) == 1


def what_was_written_before_it_was_saved_may_be_written_again():
    """Its version then is no matter. Rule: saved_hooks/mutation-is-allowed."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        y = x * 1
        y.add_(1)
        z = y * y
        y.mul_(3)
        w = y * y
        y[0] = 0.0
        (z + w).sum().backward()
    assert x.grad.tolist() == [40.0, 60.0]


def what_is_written_past_autograd_is_copied_once():
    """Writes to the data of a saved tensor are seen as well. Rule: saved_hooks/mutation-is-allowed."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    seen = []
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        y = x * 1
        z = y * y
        y.data.mul_(3)
        y.data.mul_(3)
        seen.append(y.tolist())
        w = z * z
        z.mul_(2)
        w.sum().backward()
    assert x.grad.tolist() == [4.0, 32.0] and seen == [[9.0, 18.0]]


def nodes_are_called_with_as_many_gradients():
    """As they have outputs, neither more nor fewer. Rule: backward/nodes-can-be-called."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    node = (x * 3).grad_fn
    made = []
    with contextlib.suppress(TypeError):
        made.append(node(torch.ones(2), torch.ones(2)))
    with contextlib.suppress(TypeError):
        made.append(node())
    assert made == [] and node(torch.ones(2))[0].tolist() == [3.0, 3.0]


def no_hook_makes_a_gradient_of_nothing():
    """Behind a node an operand that needs none gets none. Rule: hook/undefined-stays."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * torch.tensor([3.0, 4.0])
    seen = []
    y.grad_fn.register_hook(lambda before, behind: (seen.append(before[1]), (before[0], torch.ones(2)))[1])
    with refused("hook/undefined-stays"):
        y.sum().backward()
    assert seen == [None] and x.grad is None


def kinds_of_backward_hooks_do_not_mix():
    """A module has full ones or those of its last node. Rule: nn/backward-hooks-stand-before-and-behind."""
    m = torch.nn.Tanh()
    n = torch.nn.Tanh()
    seen = []
    m.register_full_backward_hook(lambda module, gi, go: seen.append(len(gi)))
    n.register_backward_hook(lambda module, gi, go: None)
    with contextlib.suppress(RuntimeError):
        seen.append(m.register_backward_hook(lambda module, gi, go: None))
    with contextlib.suppress(RuntimeError):
        seen.append(n.register_full_backward_hook(lambda module, gi, go: None))
    assert seen == []
    x = torch.tensor([0.0], requires_grad=True)
    m(x).backward()
    y = m(x)
    assert seen == [1] and y.grad_fn.name() == "BackwardHookFunctionBackward"


def complex_double_precision_is_not_warned_of():
    """As little as float64 is. Rule: gradcheck/needs-double-precision."""
    x = torch.tensor([complex(1.0, 2.0)], dtype=torch.complex128, requires_grad=True)
    y = torch.tensor([1.0], requires_grad=True)
    seen = []
    with warnings.catch_warnings(record=True, action="always") as told:
        seen.append(torch.autograd.gradcheck(lambda a: a * a, x))
        seen.append(len(told))
        seen.append(torch.autograd.gradcheck(lambda a: a * 1, y, eps=0.125))
        seen.append(len(told))
    assert seen == [True, 0, True, 1]
