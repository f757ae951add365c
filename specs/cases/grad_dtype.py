"""A leaf's grad may have a dtype of its own."""

import copy
import pickle

import torch

from specs.case import refused
from specs.cases._functions import Same


def a_grad_has_the_grad_dtype():
    """A gradient is cast to grad_dtype before hooks see it, whatever the graph was made of and whenever.

    Rule: grad/own-dtype.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert x.grad_dtype == torch.float32
    y = x * 2
    x.grad_dtype = torch.float64
    x.register_hook(lambda g: g.double())  # changes nothing: a hook that changes the dtype is refused
    y.sum().backward()
    assert x.grad.dtype == torch.float64
    x.backward(torch.ones(2))
    assert x.grad.tolist() == [3.0, 3.0]
    (g,) = torch.autograd.grad((x * 3).sum(), x)
    assert g.dtype == torch.float64
    with refused("grad/assign-dtype"):
        x.grad = torch.ones(2)


def a_grad_dtype_stays_with_its_tensor():
    """Writes and assigned data leave it; views, copies and detached aliases have their own.

    Rule: grad/own-dtype.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.grad_dtype = torch.float16
    with torch.no_grad():
        x.mul_(2)
    x.data = torch.ones(2, dtype=torch.float64)
    assert x.grad_dtype == torch.float16
    assert x.detach().grad_dtype == torch.float64
    x.backward(torch.ones(2))
    assert x.grad.dtype == torch.float16
    w = torch.ones(2)
    w.grad_dtype = torch.float64
    w.mul_(torch.ones(2, requires_grad=True))
    w.retain_grad()
    w.backward(torch.ones(2))
    assert w.grad.dtype == torch.float64


def any_dtype_arrives_where_none_is_asked_for():
    """None lets gradients through; a sum has the dtype of the grad that was there first.

    Rule: grad/any-dtype.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.grad_dtype = None
    assert x.grad_dtype is None
    x.backward(torch.ones(2, dtype=torch.float64))
    assert x.grad.dtype == torch.float64
    x.backward(torch.ones(2))
    assert x.grad.dtype == torch.float64 and x.grad.tolist() == [2.0, 2.0]
    x.grad = torch.ones(2, dtype=torch.int64)
    assert x.grad.dtype == torch.int64


def paths_of_two_dtypes_are_summed_into_the_first():
    """A gradient that nothing else references takes up later ones; one that is referenced stays as it is,
    and so does a view.

    Rule: grad/sums-into-the-first.
    """
    a = torch.tensor(2.0, requires_grad=True)
    a.grad_dtype = None
    b = a.half()
    b.mul_(a)
    b.backward()
    assert a.grad.dtype == torch.float16 and a.grad.item() == 4.0
    a.grad = None
    g = torch.ones((), dtype=torch.float16)
    b = a.half()
    b.add_(a)
    b.backward(g)
    assert a.grad.dtype == torch.float32 and a.grad.item() == 2.0 and g.item() == 1.0
    a.grad = None
    b = a.half()
    b.add_(a)
    c = b.view(1)
    c.backward(torch.ones(1, dtype=torch.float16))
    assert a.grad.dtype == torch.float32 and a.grad.item() == 2.0


def zeros_without_memory_take_up_nothing():
    """A gradient of another dtype is added to them in memory of its own. Rule: grad/sums-into-the-first."""
    a = torch.tensor(2.0, requires_grad=True)
    a.grad_dtype = None
    c = a.half()
    c.mul_(a)
    c.backward()
    assert a.grad.dtype == torch.float16 and a.grad.item() == 4.0
    b = torch.tensor([4.0, -1.0], dtype=torch.float64, requires_grad=True)
    b.grad_dtype = None
    p = torch.tensor([-0.5, 0.5]).add_(b)
    (y,) = torch.autograd.grad(b.abs(), b, p, create_graph=True)
    y.sum().backward()  # the first gradient is zeros without memory
    assert b.grad.tolist() == [1.0, -1.0]


def a_grad_dtype_is_set_on_leaves():
    """A non-leaf has none of its own. Rule: grad/own-dtype-on-leaves."""
    y = torch.ones(2, requires_grad=True) * 2
    with refused("grad/own-dtype-on-leaves"):
        y.grad_dtype = torch.float64


def a_grad_dtype_is_read_on_leaves():
    """Nor could it be read before 2.15. Rule: grad/own-dtype-read-on-leaves."""
    y = torch.ones(2, requires_grad=True) * 2
    with refused("grad/own-dtype-read-on-leaves"):
        y.grad_dtype


def a_grad_dtype_fits_the_grad_there_is():
    """Another is refused until the grad is gone; None and the same are not.

    Rule: grad/own-dtype-fits-the-grad.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.grad = torch.ones(2)
    x.grad_dtype = None
    x.grad_dtype = torch.float32
    with refused("grad/own-dtype-fits-the-grad"):
        x.grad_dtype = torch.float64
    x.grad = None
    x.grad_dtype = torch.float64


def a_grad_dtype_is_a_dtype():
    """A name is none. Rule: grad/own-dtype-type."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with refused("grad/own-dtype-type"):
        x.grad_dtype = "float64"


def a_grad_dtype_does_not_leak_to_what_comes_back():
    """A custom function that returns its input as it came: gradients have the leaf's own dtype there.

    Rule: function/input-comes-back-with-its-dtype.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.grad_dtype = torch.float64
    y = Same.apply(x)
    y.retain_grad()
    y.backward(torch.tensor([1.0, 2.0]))
    assert y.grad.dtype == torch.float32 and x.grad.dtype == torch.float64


def a_sum_of_two_dtypes_leaves_the_memory_of_others_alone():
    """A gradient that is a part of it, or the same elsewhere, takes up no later ones.

    Rule: grad/sums-into-the-first.
    """
    whole = torch.ones(4, dtype=torch.float16)
    made = lambda backward: type(
        "Made",
        (torch.autograd.Function,),
        {"forward": staticmethod(lambda ctx, x: x * 2), "backward": staticmethod(backward)},
    )
    x = torch.ones(2, requires_grad=True)
    x.grad_dtype = None
    y = made(lambda ctx, g: g).apply(x)
    (y + made(lambda ctx, g: g.half() * 3).apply(x)).sum().backward()
    assert x.grad.dtype is torch.float16 and x.grad.tolist() == [4.0, 4.0]
    x.grad = None
    y = made(lambda ctx, g: g).apply(x)
    (y + made(lambda ctx, g: whole[:2]).apply(x)).sum().backward()
    assert x.grad.dtype is torch.float32 and x.grad.tolist() == [2.0, 2.0] and whole.tolist() == [1.0] * 4
    x.grad = None
    y = made(lambda ctx, g: g).apply(x)
    (y + made(lambda ctx, g: whole[:2].detach()).apply(x)).sum().backward()
    assert x.grad.dtype is torch.float32 and whole.tolist() == [1.0] * 4


def copies_have_their_own_grad_dtype():
    """A grad_dtype goes along neither with a deep copy nor with a pickle or copy.copy.

    Rule: copy/deepcopy-drops-hooks.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.grad_dtype = torch.float64
    y = copy.copy(x)
    z = pickle.loads(pickle.dumps(x))
    assert y.grad_dtype == torch.float32 and z.grad_dtype == torch.float32
    p = torch.nn.Parameter(torch.tensor([1.0]))
    p.grad_dtype = torch.float64
    q = pickle.loads(pickle.dumps(p))
    assert q.grad_dtype == torch.float32
    w = copy.deepcopy(x)
    assert w.grad_dtype == torch.float32
    w.backward(torch.tensor([1.0, 1.0]))
    assert w.grad.dtype == torch.float32
