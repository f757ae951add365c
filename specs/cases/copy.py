"""Ways out of the graph, and copies."""

import copy
import pickle

import numpy as np
import torch

from specs.case import refused, warned


def numpy_of_what_requires_grad():
    """numpy() is refused for a leaf that requires grad and for a result, and goes after detach().

    Rule: copy/numpy-refused-with-grad. Source: seed 003_08ed0c2a945abd78.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    k = x * 2
    with refused("copy/numpy-refused-with-grad"):
        x.numpy()
    with refused("copy/numpy-refused-with-grad"):
        k.numpy()
    m = k.detach()
    n = m.numpy()
    assert m.tolist() == [2.0, 4.0]
    k.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def numpy_while_nothing_is_recorded():
    """Under no_grad numpy() is given all the same: it is the recording that is protected.

    Rule: copy/numpy-refused-with-grad.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.no_grad():
        n = x.numpy()
        y = torch.from_numpy(n)
    assert y.tolist() == [1.0, 2.0]
    with refused("copy/numpy-refused-with-grad"):
        x.numpy()


def numpy_of_zeros_without_memory_is_refused():
    """The gradient through the sign that abs() computes is a ZeroTensor with no memory to share; force=True
    allocates some.

    Rule: copy/zeros-refuse-numpy.
    """
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    (g,) = torch.autograd.grad(x.abs().sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x)
    with refused("copy/zeros-refuse-numpy"):
        h.numpy()
    h.requires_grad_()
    with refused("copy/zeros-refuse-numpy"):
        h.numpy()
    assert h.numpy(force=True).tolist() == [0.0, 0.0]


def numpy_of_bfloat16_is_refused():
    """numpy has no bfloat16, so it can neither share nor copy the tensor; numbers come out as Python's own.

    Rules: copy/bfloat16-refuses-numpy, copy/numpy-refused-with-grad.
    """
    x = torch.tensor([1.0, 2.5], dtype=torch.bfloat16, requires_grad=True)
    with refused("copy/numpy-refused-with-grad"):
        x.numpy()
    k = x.detach()
    with refused("copy/bfloat16-refuses-numpy"):
        k.numpy()
    with refused("copy/bfloat16-refuses-numpy"):
        k.numpy(force=True)
    assert k.tolist() == [1.0, 2.5] and k.sum().item() == 3.5
    assert k.float().numpy().tolist() == [1.0, 2.5]


def numpy_and_back_is_one_memory():
    """Through numpy and from_numpy a tensor shows its own memory: writes go both ways, uncounted.

    Rules: copy/numpy-shares, copy/from-numpy-shares. Source: seed 003_08ed0c2a945abd78.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    k = x * 3
    m = k.detach()
    n = m.numpy()
    y = torch.from_numpy(n)
    y.mul_(2)
    assert k.tolist() == [6.0, 12.0] and k._version == 0
    assert y.requires_grad is False and y.is_leaf is True
    m.add_(1)
    assert y.tolist() == [7.0, 13.0]
    assert y._version == 1 and k._version == 1


def write_through_numpy_is_not_noticed():
    """A write through numpy changes what backward saved, and nothing is refused.

    Rules: copy/numpy-shares, save/modified-refused.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    d = x.detach()
    n = d.numpy()
    other = torch.from_numpy(n)
    other.fill_(5.0)
    y.backward()
    assert x.grad.tolist() == [10.0, 10.0]
    z = (x * x).sum()
    d.fill_(7.0)
    with refused("save/modified-refused"):
        z.backward()


def tensor_of_a_tensor():
    """torch.tensor(x) is a warning and a copy without history.

    Rules: copy/tensor-copies, copy/tensor-of-a-tensor-warns.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    with warned("copy/tensor-of-a-tensor-warns"):
        z = torch.tensor(y)
    assert z.is_leaf is True and z.requires_grad is False
    with torch.no_grad():
        y.fill_(0.0)
    assert z.tolist() == [2.0, 4.0]
    with warned("copy/tensor-of-a-tensor-warns"):
        w = torch.tensor(x, requires_grad=True)
    assert w.is_leaf is True and w.requires_grad is True
    w.sum().backward()
    assert x.grad is None


def as_tensor_does_nothing():
    """as_tensor() of a tensor is that tensor; with another dtype it is a recorded cast.

    Rule: copy/as-tensor-is-itself.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.as_tensor(x)
    y.requires_grad_(False)
    assert x.requires_grad is False
    y.requires_grad_(True)
    z = torch.as_tensor(x, dtype=torch.float64)
    assert z.grad_fn.name() == "ToCopyBackward0"
    z.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def arrays_from_both_sides():
    """numpy's own functions go through numpy(): refused with grad, and the same memory without.

    Rules: copy/numpy-refused-with-grad, copy/numpy-shares, copy/number-leaves-the-graph-warns.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with refused("copy/numpy-refused-with-grad"):
        np.array(x)
    n = np.asarray(x.detach())
    n[0] = 7.0
    assert x.tolist() == [7.0, 2.0] and x._version == 0
    with warned("copy/number-leaves-the-graph-warns"):
        float(x[0])


def array_becomes_a_leaf():
    """A tensor on an array's memory sees later writes to the array, and so does its backward.

    Rules: copy/from-numpy-shares, copy/number-of-one-element.
    """
    n = np.ones(2)
    x = torch.from_numpy(n).requires_grad_()
    assert x.is_leaf is True and x.dtype == torch.float64
    y = (x * x).sum()
    n[0] = 5.0
    y.backward()
    assert x.grad.tolist() == [10.0, 2.0]
    assert torch.as_tensor(n).tolist() == [5.0, 1.0]
    with refused("copy/number-of-one-element"):
        int(x)


def item_and_tolist_are_silent_ways_out():
    """item() gives a Python number and tolist() lists, of results as well, and neither is a tensor any more.

    Rule: op/item-size. Source: seed 003_08ed0c2a945abd78.txt.
    """
    a = torch.tensor([2.0, 3.0], requires_grad=True)
    k = a * 2
    s = k.sum()
    assert s.item() == 10.0
    assert k.tolist() == [4.0, 6.0]
    with refused("op/item-size"):
        k.item()


def kinds_of_ways_out():
    """numpy() is an array, item() a Python number, tolist() a list.

    Rules: copy/numpy-shares, copy/number-leaves-the-graph-warns. Source: seed 003_08ed0c2a945abd78.txt.
    """
    k = torch.tensor([2.0, 3.0], requires_grad=True) * 2
    n = k.detach().numpy()
    assert isinstance(n, np.ndarray) and isinstance(k.sum().item(), float)
    assert isinstance(k.tolist(), list) and isinstance(torch.tensor(3).item(), int)
    n[0] = 1.0
    assert k.tolist() == [1.0, 6.0]
    with warned("copy/number-leaves-the-graph-warns"):
        float(k.sum())
    with warned("copy/number-leaves-the-graph-warns"):
        torch.tensor([k[0], k[1]])


def float_of_many_is_refused():
    """float() of more than one element is refused. Rule: copy/number-of-one-element."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with refused("copy/number-of-one-element"):
        float(x)
    with torch.no_grad():
        assert float(x.sum()) == 3.0
        assert int(x[1]) == 2


def deepcopy_of_a_leaf():
    """The deep copy of a leaf has its flag and a copy of its grad, on memory of its own.

    Rule: copy/deepcopy-takes-the-grad-along.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    y = copy.deepcopy(x)
    assert y.is_leaf is True and y.requires_grad is True
    assert y.grad is not x.grad and y.grad.tolist() == [2.0, 4.0]
    y.grad.zero_()
    with torch.no_grad():
        y.zero_()
    assert x.tolist() == [1.0, 2.0] and x.grad.tolist() == [2.0, 4.0]
    p = torch.nn.Parameter(x)
    p.grad = torch.tensor([1.0, 1.0])
    q = copy.deepcopy(p)
    assert isinstance(q, torch.nn.Parameter) and q.grad is None


def deepcopy_drops_hooks():
    """The copy calls nobody, the original does. Rule: copy/deepcopy-drops-hooks."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    seen = []
    x.register_hook(lambda g: seen.append("arrives"))
    x.register_post_accumulate_grad_hook(lambda x: seen.append("is there"))
    y = copy.deepcopy(x)
    y.sum().backward()
    assert seen == [] and y.grad.tolist() == [1.0, 1.0]
    x.sum().backward()
    assert seen == ["arrives", "is there"]


def deepcopy_of_a_result():
    """A result cannot be deep-copied, alone or in a list; detached it can.

    Rules: copy/deepcopy-of-a-result-refused, copy/deepcopy-takes-the-grad-along.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    with refused("copy/deepcopy-of-a-result-refused"):
        copy.deepcopy(y)
    with refused("copy/deepcopy-of-a-result-refused"):
        copy.deepcopy([x, y])
    assert copy.deepcopy(y.detach()).tolist() == [2.0, 4.0]
    x.grad = torch.tensor([5.0, 6.0])
    assert copy.deepcopy(x).grad.tolist() == [5.0, 6.0]


def pickle_makes_leaves():
    """Unpickling returns a leaf with the same requires_grad and without grad, also for a result.

    Rule: copy/pickle-keeps-the-flag.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.grad = torch.tensor([1.0, 1.0])
    y = pickle.loads(pickle.dumps(x))
    assert y.is_leaf is True and y.requires_grad is True and y.grad is None
    z = pickle.loads(pickle.dumps(x * 2))
    assert z.is_leaf is True and z.requires_grad is True and z.tolist() == [2.0, 4.0]
    z.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def pickle_counts_one_write():
    """An unpickled tensor begins at version 1, a parameter too; the shallow copy of a parameter does not.

    Rule: copy/pickle-counts-one.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = pickle.loads(pickle.dumps(x.detach()))
    assert y._version == 1 and x._version == 0
    p = torch.nn.Parameter(torch.tensor([3.0]))
    assert pickle.loads(pickle.dumps(p))._version == 1
    q = copy.copy(p)
    assert q._version == 0
    with torch.no_grad():
        q.add_(1.0)
    assert p.tolist() == [4.0]


def shallow_copy_of_a_result():
    """copy.copy of a result is a leaf on the same memory that requires grad, and the graph ends there.

    Rule: copy/pickle-keeps-the-flag.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = copy.copy(y)
    assert z.is_leaf is True and z.requires_grad is True
    z.sum().backward()
    assert x.grad is None and z.grad.tolist() == [1.0, 1.0]
    with torch.no_grad():
        y.fill_(3.0)
    assert z.tolist() == [3.0, 3.0]


def a_clone_shares_nothing():
    """Neither elements nor versions of a clone are those of the original. Rule: copy/clone-shares-nothing."""
    x = torch.tensor([1.0, 2.0])
    y = x.clone()
    y.mul_(5)
    x.add_(1)
    x.add_(1)
    assert x.tolist() == [3.0, 4.0] and y.tolist() == [5.0, 10.0]
    assert x._version == 2 and y._version == 1


def a_clone_can_be_written_after_the_original_was_saved():
    """A write to the clone of a saved tensor does not disturb backward, nor one to a view of the clone.

    Rules: copy/clone-shares-nothing, save/modified-refused.
    """
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    x = torch.tensor([3.0, 4.0])
    y = x.clone()
    z = (w * x).sum()
    y.mul_(5)
    y[:1].zero_()
    z.backward()
    assert w.grad.tolist() == [3.0, 4.0] and y.tolist() == [0.0, 20.0]
