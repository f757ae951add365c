"""Custom functions at the borders of what they may mark, save and give back."""

import contextlib
import warnings
import weakref

import torch

from specs.case import refused
from specs.cases._functions import Marked
from specs.cases._functions_borders import (
    KeptAlone,
    KeptFirst,
    LooksAtNothing,
    MarkedInput,
    OncePair,
    ReadByTheOldName,
    SaidTwice,
    TwoDtypes,
    WrittenFirst,
    WrittenUnmarked,
    WrittenView,
)
from specs.cases._measures import error_kinds


def an_input_that_goes_out_as_it_came_is_not_saved():
    """It need not require grad, nor be of floats; with grad mode off it may, if it requires grad.

    Rule: function/saved-input-returned.
    """
    w = torch.tensor([3.0], requires_grad=True)
    p = torch.tensor([1.0])
    i = torch.tensor([1])
    with refused("function/saved-input-returned"):
        KeptAlone.apply(w)
    with refused("function/saved-input-returned"):
        KeptAlone.apply(p)
    with refused("function/saved-input-returned"):
        KeptFirst.apply(p, w)
    with refused("function/saved-input-returned"):
        KeptFirst.apply(i, w)
    with torch.no_grad():
        y = KeptAlone.apply(w)
        assert y.requires_grad is False
        with refused("function/saved-input-returned"):
            KeptAlone.apply(p)


def a_view_that_is_no_input_is_not_marked():
    """It is refused before it is asked whether it comes alone; that a leaf was written is seen first.

    Rules: function/dirty-view-is-an-input, write/leaf-refused.
    """
    x = torch.tensor([1.0], requires_grad=True)
    with refused("function/dirty-view-is-an-input"):
        WrittenView.apply(x, torch.tensor([1.0]))
    with refused("function/dirty-view-is-an-input"):
        WrittenView.apply(x, torch.tensor([1.0, 2.0])[:1])
    with refused("write/leaf-refused"):
        WrittenView.apply(x, x * 1)


def a_write_that_is_refused_has_dropped_the_grad():
    """The values are written and the grad is gone when the history of a view turns out not to be tracked.

    Rules: function/dirty-is-rewritten, write/no-grad-view-refused.
    """
    w = torch.tensor([3.0], requires_grad=True)
    b = torch.tensor([1.0, 2.0])
    with torch.no_grad():
        v = b[:1]
    v.grad = torch.tensor([3.0])
    with refused("write/no-grad-view-refused"):
        WrittenFirst.apply(v, w)
    assert v.grad is None
    assert b.tolist() == [2.0, 2.0]
    k = torch.tensor([1.0, 2.0])
    k.grad = torch.tensor([3.0, 1.0])
    WrittenFirst.apply(k, w)
    assert k.grad is None


def a_view_that_was_written_without_a_mark_has_the_functions_history():
    """The write counts, but is none that came after the view.

    Rules: function/backward-gives-the-gradients, function/views-are-tagged.
    """
    x = torch.tensor([1.0], requires_grad=True)
    a = x * 1
    y = WrittenUnmarked.apply(a)
    assert y.tolist() == [2.0]
    assert a.tolist() == [2.0]
    assert y._version == 1
    assert y.grad_fn.name() == "WrittenUnmarkedBackward"
    y.backward()
    assert x.grad.tolist() == [3.0]


def each_result_has_the_dtype_of_its_own_gradient():
    """A grad is judged by the output that it is assigned to.

    Rules: grad/assign-dtype, grad/assign-asks-history.
    """
    x = torch.tensor([1.0], requires_grad=True)
    a, b = TwoDtypes.apply(x)
    with refused("grad/assign-dtype"):
        a.grad = torch.ones(1, dtype=torch.float64)
    a.grad = torch.ones(1)
    with refused("grad/assign-dtype"):
        b.grad = torch.ones(1)
    b.grad = torch.ones(1, dtype=torch.float64)
    assert b.grad.dtype == torch.float64


def an_input_marked_and_given_back_has_no_tangent():
    """A jvp that has one for it is refused. Rule: forward/jvp-fits-the-outputs."""
    f = torch.autograd.forward_ad
    with f.dual_level():
        x = f.make_dual(torch.tensor([1.0]), torch.tensor([2.0]))
        y = f.make_dual(torch.tensor([1.0]), torch.tensor([3.0]))
        with refused("forward/jvp-fits-the-outputs"):
            MarkedInput.apply(x, y)


def a_marked_output_dies_with_its_name():
    """Its node keeps it no longer than the call, nor do hooks around what is saved keep a graph alive.

    Rule: leaf/graph-keeps-its-leaves.
    """
    x = torch.tensor([1.0], requires_grad=True)
    y, marked = Marked.apply(x)
    of_marked = weakref.ref(marked)
    del marked
    assert of_marked() is None and y.requires_grad is True
    w = torch.tensor([2.0], requires_grad=True)
    of_leaf = weakref.ref(w)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(force=True), torch.from_numpy):
        z = w.exp()
    del w
    assert of_leaf() is not None
    with contextlib.suppress(RuntimeError):
        z.backward(torch.ones(2))
    del z
    assert of_leaf() is None


def one_gradient_that_requires_grad_is_enough():
    """The result of backward is not to be differentiated again, whichever gradient it depends on.

    Rule: function/once-differentiable.
    """
    x = torch.tensor([1.0], requires_grad=True)
    a, b = OncePair.apply(x)
    p = torch.ones(1)
    w = torch.ones(1, requires_grad=True)
    g = torch.autograd.grad((a, b), x, (p, w), create_graph=True)[0]
    assert g.tolist() == [5.0]
    assert g.requires_grad is True
    a, b = OncePair.apply(x)
    h = torch.autograd.grad((a, b), x, (w, p), create_graph=True)[0]
    assert h.requires_grad is True
    with refused("function/once-differentiable"):
        h.sum().backward()


def what_is_said_last_counts():
    """Marks and saved tensors are replaced, not added to. Rule: function/non-differentiable."""
    x = torch.tensor([1.0], requires_grad=True)
    a, b = SaidTwice.apply(x)
    assert a.requires_grad is True
    assert b.requires_grad is False
    a.backward()
    assert x.grad.tolist() == [5.0]


def what_was_never_saved_is_freed_as_well():
    """After a backward nobody may ask for saved tensors, be there any or not. Rule: save/freed-refused."""
    x = torch.tensor([1.0], requires_grad=True)
    y = LooksAtNothing.apply(x)
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4.0]
    with refused("save/freed-refused"):
        y.backward()


def a_hook_from_before_a_write_stays_with_the_old_history():
    """One that comes later sees the gradient of what was written.

    Rules: hook/once-for-each-gradient, hook/stays-with-old-history.
    """
    x = torch.tensor([1.0], requires_grad=True)
    w = torch.tensor([1.0], requires_grad=True)
    seen = []
    a = x * 1
    a.register_hook(lambda g: seen.append(("old", g.tolist())))
    WrittenFirst.apply(a, w)
    a.register_hook(lambda g: seen.append(("new", g.tolist())))
    (a * 5).backward()
    assert seen == [("new", [5.0]), ("old", [10.0])] and x.grad.tolist() == [10.0]


def gradients_of_fewer_dimensions_do_not_fit():
    """One of more dimensions is summed, one of fewer is refused.

    Rules: backward/gradient-shape-inside, grad/reduces-broadcast.
    """
    seen = []
    made = lambda g: type(
        "Made",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(lambda ctx, x: x * 2),
            "backward": staticmethod(lambda ctx, upstream: (seen.append(tuple(upstream.shape)), g)[1]),
        },
    )
    x = torch.tensor([[1.0, 2.0]], requires_grad=True)
    with refused("backward/gradient-shape-inside"):
        made(torch.ones(2)).apply(x).sum().backward()
    with refused("backward/gradient-shape-inside"):
        made(torch.tensor(1.0)).apply(x).sum().backward()
    with refused("backward/gradient-shape-inside"):
        made(torch.ones(1, 3)).apply(x).sum().backward()
    assert x.grad is None
    made(torch.ones(3, 4, 2)).apply(x).sum().backward()
    assert x.grad.tolist() == [[12.0, 12.0]] and seen == [(1, 2)] * 4


def a_function_is_applied_and_not_made():
    """To make one warns, and to call it is refused. Rule: function/is-recorded."""
    seen = []
    doubled = type(
        "Doubled",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(lambda ctx, x: x * 2),
            "backward": staticmethod(lambda ctx, g: g * 2),
        },
    )
    x = torch.tensor(5.0, requires_grad=True)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        made = doubled()
    seen += [warning.category for warning in told]
    assert seen == [DeprecationWarning]
    assert error_kinds([lambda: made(x)]) == "o"
    y = made.apply(x)
    assert y.requires_grad is True and y.grad_fn.name() == "DoubledBackward"


def saved_variables_is_the_old_name_of_saved_tensors():
    """The saved tensors may be read by either. Rule: function/backward-gives-the-gradients."""
    x = torch.tensor(3.0, requires_grad=True)
    y = ReadByTheOldName.apply(x)
    y.backward()
    assert x.grad.item() == 6.0


def a_backward_may_be_called_vjp():
    """Either name serves, and both are inherited. Rule: function/needs-a-backward."""
    seen = []
    members = {"forward": staticmethod(lambda ctx, x: (seen.append(len(seen)), x * 2)[1])}
    named = type("Named", (torch.autograd.Function,), {**members, "vjp": staticmethod(lambda ctx, g: g * 5)})
    below = type("Below", (named,), {})
    neither = type("Neither", (torch.autograd.Function,), members)
    x = torch.tensor(3.0, requires_grad=True)
    named.apply(x).backward()
    assert x.grad.item() == 5.0
    below.apply(x).backward()
    assert x.grad.item() == 10.0
    y = neither.apply(x)
    with refused("function/needs-a-backward"):
        y.backward()
    assert seen == [0, 1, 2]


def a_function_says_nothing_of_maps_by_itself():
    """vmap is to be written; other bases hear of a subclass as they do elsewhere.

    Rule: function/backward-gives-the-gradients.
    """
    seen = []
    told = type("Told", (), {"__init_subclass__": classmethod(lambda cls: seen.append(cls.__name__))})
    doubled = type(
        "Doubled",
        (torch.autograd.Function, told),
        {"forward": staticmethod(lambda ctx, x: x * 2), "backward": staticmethod(lambda ctx, g: g * 2)},
    )
    x = torch.tensor(3.0, requires_grad=True)
    doubled.apply(x).backward()
    assert x.grad.item() == 2.0 and seen == ["Doubled"]
    assert error_kinds([lambda: doubled.vmap(None, (0,), x)]) == "N"


def arguments_have_a_place():
    """Defaults count as given if the context is set up apart.

    Rule: function/backward-gives-the-gradients.
    """
    seen = []
    made = lambda forward: type(
        "Made",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(forward),
            "setup_context": staticmethod(lambda ctx, inputs, output: seen.append(len(inputs))),
            "backward": staticmethod(lambda ctx, g: (g * 7, None)),
        },
    )
    x = torch.tensor(3.0, requires_grad=True)
    placed = made(lambda x, by=2: x * by)
    others = made(lambda x, by=2, **more: x * by)
    y = placed.apply(x, 4)
    z = placed.apply(x)
    w = others.apply(x)
    assert y.item() == 12.0 and z.item() == 6.0 and w.item() == 6.0 and seen == [2, 2, 2]
    (y + z).backward()
    assert x.grad.item() == 14.0
