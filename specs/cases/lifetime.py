"""Lifetimes of tensors, grads and graphs, seen through weak references."""

import gc
import weakref

import torch


def graph_keeps_its_leaves_alive():
    """A leaf whose name is gone lives on in the graph, gets its grad there, and goes when the graph goes.

    Rule: leaf/graph-keeps-its-leaves.
    """
    x = torch.tensor([3.0], requires_grad=True)
    leaf = weakref.ref(x)
    y = (x * x).sum()
    del x
    assert leaf() is not None
    y.backward()
    assert leaf().grad.tolist() == [6.0]
    del y
    assert leaf() is None


def plain_backward_ties_no_knot():
    """After a plain backward neither the leaf nor its grad outlives its last name.

    Rule: leaf/graph-keeps-its-leaves. Source: seed 002_5576f5c856adb572.txt.
    """
    x = torch.tensor([3.0], requires_grad=True)
    (x * x).backward()
    leaf, grad = weakref.ref(x), weakref.ref(x.grad)
    del x
    assert leaf() is None and grad() is None
    y = torch.tensor([3.0], requires_grad=True)
    kept = weakref.ref(y)
    z = y + 1
    del y
    assert kept() is not None
    del z
    assert kept() is None


def create_graph_ties_leaf_and_grad_together():
    """After backward(create_graph=True) leaf and grad keep each other alive until .grad is set to None.

    Rules: leaf/graph-keeps-its-leaves, double/create-graph-records.
    Source: seed 002_5576f5c856adb572.txt.
    """
    gc.collect()
    x = torch.tensor([3.0], requires_grad=True)
    (x * x).backward(create_graph=True)
    leaf, grad = weakref.ref(x), weakref.ref(x.grad)
    del x
    assert leaf() is not None and grad() is not None
    leaf().grad = None
    assert leaf() is None and grad() is None


def autograd_grad_ties_no_knot():
    """The graph of autograd.grad hangs on its result alone: that is why it is recommended.

    Rules: leaf/graph-keeps-its-leaves, double/create-graph-records.
    Source: seed 002_5576f5c856adb572.txt.
    """
    x = torch.tensor([3.0], requires_grad=True)
    leaf = weakref.ref(x)
    g = torch.autograd.grad(x * x, x, create_graph=True)[0]
    del x
    assert leaf() is not None
    assert g.requires_grad is True
    del g
    assert leaf() is None


def names_of_what_was_added_are_not_needed():
    """A result that no formula needs is freed with its name, one that a product saved is not.

    Rules: leaf/graph-keeps-its-leaves, save/only-what-a-formula-needs.
    """
    x = torch.tensor([3.0], requires_grad=True)
    leaf = weakref.ref(x)
    y = x * 2
    z = y * 3
    added, multiplied = weakref.ref(y), weakref.ref(z)
    w = (y + 1) + z * z
    del x, y, z
    assert added() is None and multiplied() is not None
    w.backward()
    assert leaf().grad.tolist() == [218.0]
