"""``torch.testing``: `assert_close`."""

from __future__ import annotations

from collections.abc import Mapping
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
    check_device: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    allow_subclasses: bool = True,
    msg: Any = None,
) -> None:
    """Raise AssertionError unless shapes, dtypes and elements match within tolerances.

    The default tolerances are PyTorch's for the dtype. Sequences and mappings are compared item by item.
    ``msg`` replaces what the error says, or makes it of that. NB: all tensors have one layout, and none is
    of a subclass, so that ``check_layout`` and ``allow_subclasses`` decide nothing.
    """
    checked = {"device": check_device, "dtype": check_dtype, "stride()": check_stride}
    try:
        _compare(actual, expected, (rtol, atol, equal_nan), ["shape", *filter(checked.get, checked)])
    except AssertionError as error:
        if msg is None:
            raise
        raise AssertionError(msg(str(error)) if callable(msg) else msg) from None


def _compare(
    actual: Any, expected: Any, how: tuple[Any, ...], attributes: list[str], place: str = ""
) -> None:
    where = f"\n\nThe failure occurred for item {place}" if place else ""
    for kind, keys in ((Mapping, list), ((list, tuple), lambda items: range(len(items)))):
        if isinstance(actual, kind) and isinstance(expected, kind):
            if len(actual) != len(expected):
                raise AssertionError(
                    f"The length of the sequences mismatch: {len(actual)} != {len(expected)}{where}"
                )
            for key in keys(actual):
                _compare(actual[key], expected[key], how, attributes, f"{place}[{key!r}]")
            return
    rtol, atol, equal_nan = how
    a, b = (array_of(x) if isinstance(x, Tensor) else np.asarray(x) for x in (actual, expected))
    for attribute in attributes if isinstance(actual, Tensor) and isinstance(expected, Tensor) else ():
        name, is_method, _ = attribute.partition("()")
        mine, theirs = getattr(actual, name), getattr(expected, name)
        if is_method:
            mine, theirs = mine(), theirs()
        if mine != theirs:
            raise AssertionError(
                f"The values for attribute '{attribute}' do not match: {mine} != {theirs}.{where}"
            )
    relative = _RELATIVE.get(a.dtype.name, 0.0) if rtol is None else rtol
    absolute = _ABSOLUTE.get(a.dtype.name, 0.0) if atol is None else atol
    if not np.allclose(a, b, relative, absolute, equal_nan):
        wrong = np.count_nonzero(~np.isclose(a, b, relative, absolute, equal_nan))
        part = f"{wrong} / {a.size} ({wrong / a.size:.1%})"
        raise AssertionError(f"Tensor-likes are not close!\n\nMismatched elements: {part}{where}")


__getattr__ = loading(__name__)
