"""Copies of tensors and of modules: what they keep, what they share, and which are refused.

The same assertions hold on torch and on the reference.
"""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")


def test_a_deep_copy_keeps_flag_and_grad(namespace: Any) -> None:
    """A deep copy keeps the flag and the grad, and shares nothing with the original."""
    x = namespace.tensor([1.0, 2.0], requires_grad=True)
    x.sum().backward()
    y = copy.deepcopy(x)
    with namespace.no_grad():
        y.mul_(5)
        y.grad.mul_(3)
    assert ([1.0, 2.0], [1.0, 1.0]) == (x.tolist(), x.grad.tolist())
    assert ([5.0, 10.0], [3.0, 3.0]) == (y.tolist(), y.grad.tolist())
    assert y.requires_grad
    assert y.is_leaf


def test_deep_copies_made_together_share_as_the_originals_do(namespace: Any) -> None:
    """A plain view's copy looks at the copy of its base, and what comes twice is copied once."""
    x = namespace.arange(4.0)
    a, b, c = copy.deepcopy([x, x[1:3], x])
    a.mul_(2)
    assert [2.0, 4.0] == b.tolist()
    assert a is c
    assert [0.0, 1.0, 2.0, 3.0] == x.tolist()


def test_unpickled_tensors_share_no_memory(namespace: Any) -> None:
    """Each has been pickled with all the memory that it lies in; what `save` writes is shared again."""
    x = namespace.arange(6.0).reshape(2, 3)
    whole, row = pickle.loads(pickle.dumps([x, x[1]]))
    whole.mul_(2)
    assert (row.tolist(), row.storage_offset()) == ([3.0, 4.0, 5.0], 3)
    file = io.BytesIO()
    namespace.save([x, x[1]], file)
    file.seek(0)
    whole, row = namespace.load(file)
    whole.mul_(2)
    assert row.tolist() == [6.0, 8.0, 10.0]


def test_a_deep_copy_of_a_result_is_refused(namespace: Any) -> None:
    """Only leaves can be deep-copied."""
    y = namespace.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match=r"Only Tensors created explicitly by the user"):
        copy.deepcopy(y)


@pytest.mark.parametrize("way", [copy.copy, lambda x: pickle.loads(pickle.dumps(x))], ids=["copy", "pickle"])
def test_copy_and_pickle_make_a_leaf_of_a_result(namespace: Any, way: Any) -> None:
    """The copy keeps the flag, and has neither history nor grad."""
    x = namespace.ones(2, requires_grad=True)
    x.sum().backward()
    for tensor in (x, x * 2):
        y = way(tensor)
        assert (True, True) == (y.requires_grad, y.is_leaf)
        assert tensor.tolist() == y.tolist()
        assert y.grad is None
    assert not way(x.detach()).requires_grad


def test_saved_is_loaded(namespace: Any) -> None:
    """A dictionary of tensors comes back from a file as it was."""
    file = io.BytesIO()
    namespace.save({"x": namespace.arange(3), "n": 1}, file)
    file.seek(0)
    found = namespace.load(file)
    assert ([0, 1, 2], 1) == (found["x"].tolist(), found["n"])


def test_a_tensor_of_a_tensor_warns_and_is_a_plain_copy(namespace: Any) -> None:
    """The copy has no history and no flag, and memory of its own."""
    x = namespace.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="detach\\(\\)"):
        y = namespace.tensor(x)
    assert (False, True) == (y.requires_grad, y.is_leaf)
    y.mul_(2)
    assert [1.0, 1.0] == x.tolist()


def test_numpy_of_what_requires_grad_is_refused_in_grad_mode_only(namespace: Any) -> None:
    """numpy() of a tensor that requires grad is refused, except under no_grad."""
    x = namespace.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
        x.numpy()
    with namespace.no_grad():
        assert np.shares_memory(x.numpy(), x.detach().numpy())


def test_a_write_through_numpy_goes_unnoticed(namespace: Any) -> None:
    """A write through numpy changes saved tensors, and no version shows it."""
    x = namespace.tensor([2.0], requires_grad=True)
    y = x * x
    x.detach().numpy()[0] = 5.0
    y.backward()
    assert [10.0] == x.grad.tolist()


def test_a_module_is_copied_with_its_parameters(namespace: Any) -> None:
    """The copy has parameters of its own under the same names; pickling does likewise."""
    net = namespace.nn.Sequential(namespace.nn.Linear(2, 3), namespace.nn.ReLU())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        twins = copy.deepcopy(net), pickle.loads(pickle.dumps(net))
    for twin in twins:
        assert [name for name, _ in net.named_parameters()] == [name for name, _ in twin.named_parameters()]
        assert isinstance(twin[0].weight, namespace.nn.Parameter)
        assert twin[0].weight is not net[0].weight
        assert net[0].weight.tolist() == twin[0].weight.tolist()
