"""The state of the namespace: seeds, the default dtype, and memory that numpy shares."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reference_impl

torch = pytest.importorskip("torch")


def test_a_seed_fixes_what_follows() -> None:
    """The same seed, or the state put back, gives the same numbers, and in the ranges of their names."""
    ours = reference_impl
    ours.manual_seed(1)
    first = ours.randn(3)
    state = ours.get_rng_state()
    second = ours.rand(3)
    assert state.shape == torch.get_rng_state().shape
    ours.set_rng_state(state)
    assert second.equal(ours.rand(3))
    ours.manual_seed(1)
    assert first.equal(ours.randn(3))
    assert 0.5 == pytest.approx(float(ours.rand(10000).mean()), abs=0.02)
    assert 1.0 == pytest.approx(float(ours.randn(10000).pow(2).mean()), abs=0.1)
    assert 1.0 == pytest.approx(float(ours.randn(10000, dtype=ours.cdouble).abs().pow(2).mean()), abs=0.1)


def test_the_default_dtype_is_what_floats_become() -> None:
    """Numbers, factories and quotients of integers take the default dtype."""
    for namespace in (torch, reference_impl):
        namespace.set_default_dtype(namespace.float64)
        try:
            found = [
                namespace.tensor(1.5),
                namespace.ones(1),
                namespace.tensor([1]) / 2,
                namespace.tensor([1]) * 1.5,
            ]
            assert [repr(namespace.float64)] * 4 == [repr(x.dtype) for x in found]
            assert "tensor(1.5000)" == repr(found[0])
        finally:
            namespace.set_default_dtype(namespace.float32)


@pytest.mark.parametrize("namespace", [torch, reference_impl], ids=["torch", "reference"])
def test_numpy_shares_memory_and_counts_no_version(namespace: Any) -> None:
    """A write on either side shows on the other; only the tensor's own writes are counted."""
    array = np.zeros(2)
    x = namespace.from_numpy(array)
    array[0] = 1
    assert [1.0, 0.0] == x.tolist()
    assert 0 == x._version
    x.add_(1)
    assert [2.0, 1.0] == array.tolist()
    assert 1 == x._version
    assert np.shares_memory(array, x.numpy())
    assert np.shares_memory(array, namespace.as_tensor(array).numpy())
