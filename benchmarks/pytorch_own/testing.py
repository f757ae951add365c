"""The parts of PyTorch's testing tools that the test files import: a `TestCase` and decorators."""

# ruff: noqa: PT009 — the tests are unittest's, and so is their case.
from __future__ import annotations

import cmath
import contextlib
import functools
import gc
import types
import unittest
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from benchmarks.pytorch_own.substitute import Missing

SINGLE, DOUBLE = (1.3e-6, 1e-5), (1e-7, 1e-7)
"""Relative and absolute tolerance, for single precision and for everything finer."""


class TestCase(unittest.TestCase):
    """A test case whose `assertEqual` knows tensors."""

    torch: Any = None

    def setUp(self) -> None:
        self.torch.manual_seed(0)

    def assertEqual(self, first: Any, second: Any, msg: Any = None, **how: Any) -> None:
        """Tensors are equal but for rounding and agree in dtype; numbers are equal but for rounding."""
        tensor = self.torch.Tensor
        sequences = (list, tuple)
        if isinstance(first, tensor) or isinstance(second, tensor):
            self._same_tensor(first, second, msg, **how)
        elif isinstance(first, sequences) and isinstance(second, sequences):
            super().assertEqual(len(first), len(second), msg)
            for a, b in zip(first, second, strict=True):
                self.assertEqual(a, b, msg, **how)
        elif isinstance(first, dict) and isinstance(second, dict):
            super().assertEqual(set(first), set(second), msg)
            for key in first:
                self.assertEqual(first[key], second[key], msg, **how)
        elif isinstance(first, (int, float, complex)) and isinstance(second, (int, float, complex)):
            self.assertTrue(_close(first, second, **how), msg or f"{first!r} != {second!r}")
        else:
            super().assertEqual(first, second, msg)

    def _same_tensor(self, first: Any, second: Any, msg: Any, exact_dtype: bool = True, **how: Any) -> None:
        if first is None or second is None:
            self.fail(msg or f"{first!r} != {second!r}")
        a, b = (_array(x, self.torch) for x in (first, second))
        if isinstance(first, self.torch.Tensor) and isinstance(second, self.torch.Tensor):
            super().assertEqual(a.shape, b.shape, msg)
            if exact_dtype:
                super().assertEqual(a.dtype, b.dtype, msg)
        single = any(x.dtype in (np.float16, np.float32, np.complex64) for x in (a, b))
        rtol, atol = _tolerances(SINGLE if single else DOUBLE, **how)
        fits = a.shape == b.shape or not a.ndim or not b.ndim
        if not fits or not np.allclose(a, b, rtol, atol, equal_nan=True):
            self.fail(msg if isinstance(msg, str) else f"tensors differ: {a!r} != {b!r}")

    def assertNotEqual(self, first: Any, second: Any, msg: Any = None, **how: Any) -> None:
        """The opposite."""
        try:
            self.assertEqual(first, second, **how)
        except AssertionError:
            return
        self.fail(msg or f"{first!r} == {second!r}")

    @contextlib.contextmanager
    def assertWarnsOnceRegex(self, category: type[Warning], regex: str) -> Iterator[None]:
        """The block warns so; PyTorch's own also asks that it does so only once in a process."""
        with self.assertWarnsRegex(category, regex):
            yield

    def assertNotWarn(self, function: Callable[[], Any], msg: str = "") -> None:
        """Calling the function does not warn."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            function()
        super().assertEqual([], [str(w.message) for w in caught], msg)


def _close(first: complex, second: complex, **how: Any) -> bool:
    if first == second or (cmath.isnan(first) and cmath.isnan(second)):
        return True
    exact = isinstance(first, int) and isinstance(second, int)
    rtol, atol = _tolerances((0.0, 0.0) if exact else DOUBLE, **how)
    return abs(first - second) <= atol + rtol * abs(second)


def _tolerances(
    usual: tuple[float, float], rtol: float | None = None, atol: float | None = None, **_: Any
) -> tuple[float, float]:
    return usual[0] if rtol is None else rtol, usual[1] if atol is None else atol


def _array(x: Any, torch: Any) -> np.ndarray:
    if not isinstance(x, torch.Tensor):
        return np.asarray(x)
    return np.asarray(x.detach().resolve_conj().resolve_neg().numpy())


# -- decorators -------------------------------------------------------------------------------------
class subtest:
    """A set of arguments with more said about it."""

    def __init__(self, arg_values: Any, **_: Any) -> None:
        self.arg_values = arg_values


def variants(test: Any) -> list[dict[str, Any]]:
    """The arguments a test is run with, one set for each time."""
    return getattr(test, "variants", [{}])


def parametrize(names: str, values: Iterable[Any], **_: Any) -> Callable[[Any], Any]:
    """Run the test once for each value of an argument, or set of values of several."""
    keys = [name.strip() for name in names.split(",")]
    bare = [v.arg_values if isinstance(v, subtest) else v for v in values]
    sets = [dict(zip(keys, v if len(keys) > 1 else (v,), strict=True)) for v in bare]

    def with_variants(test: Any) -> Any:
        test.variants = [old | new for old in variants(test) for new in sets]
        return test

    return with_variants


def dtypes(*given: Any) -> Callable[[Any], Any]:
    """Run the test once for each dtype."""
    return parametrize("dtype", given)


def as_it_is(*args: Any, **kwargs: Any) -> Any:
    """A decorator that says something of other places or moods: the test is run here and now."""
    if len(args) == 1 and not kwargs and isinstance(args[0], types.FunctionType):
        return args[0]
    return lambda test: test


def plain(x: Any, requires_grad: bool = False) -> Any:
    """A plain tensor, where PyTorch also tries a subclass that logs what is called."""
    return x.detach().requires_grad_(requires_grad)


def nothing(*args: Any, **kwargs: Any) -> None:
    """Stand in for everything else that is called when a test file is loaded."""


@contextlib.contextmanager
def disable_gc() -> Iterator[None]:
    """No garbage is collected in the block."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def modules(torch: Any) -> dict[str, types.ModuleType]:
    """The testing modules, by name; what they lack is missing."""

    @contextlib.contextmanager
    def set_warn_always_context(new: bool) -> Iterator[None]:
        was = torch.is_warn_always_enabled()
        torch.set_warn_always(new)
        try:
            yield
        finally:
            torch.set_warn_always(was)

    def checked(name: str) -> Callable[..., Any]:
        def check(*args: Any, **kwargs: Any) -> Any:
            return getattr(torch.autograd, name)(*args, **kwargs)

        return functools.wraps(Missing(name))(check)

    case = type("TestCase", (TestCase,), {"torch": torch})
    skips = (
        "skipIfTorchDynamo xfailIfTorchDynamo skipIfNoLapack skipIfMPS skipIfWindows slowTest xfailIfS390X"
    )
    utils = {
        "TestCase": case,
        "disable_gc": disable_gc,
        "gradcheck": checked("gradcheck"),
        "gradgradcheck": checked("gradgradcheck"),
        "instantiate_parametrized_tests": nothing,
        "parametrize": parametrize,
        "set_warn_always_context": set_warn_always_context,
        "subtest": subtest,
        **dict.fromkeys(skips.split(), as_it_is),
    }
    devices = {
        "dtypes": dtypes,
        "instantiate_device_type_tests": nothing,
        **dict.fromkeys(("dtypesIfCUDA", "dtypesIfMPS", "onlyCPU", "skipMeta"), as_it_is),
    }
    logging = {"LoggingTensor": plain}
    made = {}
    groups = {"common_utils": utils, "common_device_type": devices, "logging_tensor": logging}
    for name, names in groups.items():
        module = types.ModuleType(f"torch.testing._internal.{name}")
        vars(module).update(names)
        made[module.__name__] = module
    return made
