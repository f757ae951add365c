"""``torch.testing``: `assert_close`."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.missing import loading

_RELATIVE = {"float16": 1e-3, "bfloat16": 1.6e-2, "float32": 1.3e-6, "complex64": 1.3e-6,
             "float64": 1e-7, "complex128": 1e-7}  # fmt: skip
_ABSOLUTE = {"float16": 1e-5, "bfloat16": 1e-5, "float32": 1e-5, "complex64": 1e-5,
             "float64": 1e-7, "complex128": 1e-7}  # fmt: skip


def assert_close(
    actual: Any,
    expected: Any,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_dtype: bool = True,
) -> None:
    """Raise AssertionError unless shapes, dtypes and elements match within tolerances.

    The default tolerances are PyTorch's for the dtype. Lists and tuples are compared element by element."""
    if isinstance(actual, (list, tuple)) and isinstance(expected, (list, tuple)):
        assert len(actual) == len(expected), f"The lengths do not match: {len(actual)} != {len(expected)}"
        for mine, theirs in zip(actual, expected, strict=True):
            assert_close(mine, theirs, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=check_dtype)
        return
    a, b = (array_of(x) if isinstance(x, Tensor) else np.asarray(x) for x in (actual, expected))
    assert a.shape == b.shape, f"The values for attribute 'shape' do not match: {a.shape} != {b.shape}"
    if check_dtype:
        assert a.dtype == b.dtype, f"The values for attribute 'dtype' do not match: {a.dtype} != {b.dtype}"
    relative = _RELATIVE.get(a.dtype.name, 0.0) if rtol is None else rtol
    absolute = _ABSOLUTE.get(a.dtype.name, 0.0) if atol is None else atol
    if not np.allclose(a, b, relative, absolute, equal_nan):
        wrong = np.count_nonzero(~np.isclose(a, b, relative, absolute, equal_nan))
        raise AssertionError(f"Tensor-likes are not close! Mismatched elements: {wrong} / {a.size}")


__getattr__ = loading(__name__)
