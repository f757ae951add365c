"""Running the listed tests of a folder, and what became of each."""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
import types
import unittest
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks.pytorch_own import testing
from benchmarks.pytorch_own.substitute import torch_is

FILES = ("test_autograd.py", "autograd/test_functional.py")


def load(folder: Path, module: str) -> types.ModuleType:
    """The folder's ``test_autograd``, with ``module`` in place of torch."""
    shaped = importlib.import_module(module)
    sys.path.insert(0, str(folder))
    with torch_is(module, testing.modules(shaped)), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module("test_autograd")


def outcomes(loaded: types.ModuleType, names: Iterable[str]) -> dict[str, str | None]:
    """For each test ``Class.name``, why it fails: the last line of its first error; None if it passes."""
    return {name: _outcome(loaded, *name.split(".")) for name in names}


def _outcome(loaded: types.ModuleType, case: str, name: str) -> str | None:
    cls = getattr(loaded, case, None)
    test = getattr(cls, name, None)
    if test is None:
        return "there is no such test"
    takes = test.__code__.co_varnames[: test.__code__.co_argcount]
    for arguments in testing.variants(test):
        given = {"device": "cpu"} | arguments if "device" in takes else arguments
        why = _run(cls, name, test, given)
        if why is not None:
            return why
    return None


def _run(cls: Any, name: str, test: Callable[..., Any], given: dict[str, Any]) -> str | None:
    one = type(cls.__name__, (cls,), {name: lambda self: test(self, **given)})
    if getattr(test, "__unittest_expecting_failure__", False):
        one = type(cls.__name__, (cls,), {name: unittest.expectedFailure(vars(one)[name])})
    result = unittest.TestResult()
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), _quiet():
        warnings.simplefilter("always")
        one(name).run(result)
    if result.unexpectedSuccesses:
        return "unexpected success"
    for _, text in (*result.errors, *result.failures):
        return text.strip().splitlines()[-1]
    return None


def _quiet() -> contextlib.redirect_stderr[io.StringIO]:
    return contextlib.redirect_stderr(io.StringIO())
