"""Functions on dtypes that few call them on: the reference gives what torch gives, or refuses, too."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reference_impl
from benchmarks.formulas.inputs import EXPRESSIONS as ALL_EXPRESSIONS
from benchmarks.formulas.inputs import expressions

torch = pytest.importorskip("torch")

from together import called, together  # noqa: E402 -- needs torch

EXPRESSIONS = """
torch.float_power(torch.tensor([1 + 2j]), 2).dtype
torch.vander(torch.tensor([1, 2, 3], dtype=torch.uint8))
torch.vander(torch.tensor([True, False]))
torch.tensor([True, True, False]).diff()
torch.repeat_interleave(torch.tensor([2, 0, 1]))
torch.zeros(2).long().index_add(0, torch.tensor([0, 1]), torch.tensor([1, 2]), alpha=2)
torch.nn.functional.avg_pool1d(torch.tensor([[[1, 2, 4, 5, -3, -4]]]), 2)
torch.tensor([[1, 2], [3, 5]]).cov()
torch.tensor([1.0, float("nan"), float("inf")], dtype=torch.bfloat16).nan_to_num()
torch.linalg.matrix_norm(torch.ones(2, 2).half())
torch.tensor([1 + 2j, 3 - 1j]).var()
torch.tensor([1 + 2j, 3]).argmax()
torch.tensor([True, False]).argmin(0)
torch.tensor([1 + 2j, 3]).argsort()
torch.unique(torch.tensor([1 + 2j, 3]))
torch.isin(torch.tensor([True]), torch.tensor([True]))
torch.bincount(torch.tensor([True]))
torch.histc(torch.tensor([1, 2]))
torch.nextafter(torch.tensor([1]), torch.tensor([2]))
torch.gcd(torch.tensor([1.0]), torch.tensor([2.0]))
torch.signbit(torch.tensor([1j]))
torch.isposinf(torch.tensor([1j]))
torch.hypot(torch.tensor([1]), torch.tensor([2]))
torch.tensor([1]).frac()
torch.tensor([1, 2]).quantile(0.5)
torch.multinomial(torch.tensor([1, 2]), 1)
torch.repeat_interleave(torch.tensor([1.0]))
torch.add(torch.ones(1), torch.ones(1), alpha=1j)
"""


def found(namespace: Any, expression: str) -> Any:
    """The dtype and elements of a result, or that it is refused; classes differ between releases of torch."""
    try:
        result = eval(expression, {"torch": namespace})
    except (RuntimeError, TypeError):
        return "refused"
    return str(getattr(result, "dtype", "")), str(result.tolist() if hasattr(result, "tolist") else result)


@pytest.mark.parametrize("expression", EXPRESSIONS.split("\n")[1:-1])
def test_a_dtype_is_taken_or_refused_as_in_torch(expression: str) -> None:
    """The same elements of the same dtype, or neither has any."""
    assert found(torch, expression) == found(reference_impl, expression)


# -- each function on each dtype -----------------------------------------------------------------------
DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "complex64")
CLOSE = {"float16": 2e-2, "bfloat16": 8e-2}
"""The tolerance of elements in half precision, each step of which may round."""
CALLS = [
    line
    for line in Path(__file__).with_name("surface_dtypes.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
]
HEADINGS = [
    line.strip("# \n") for line in ALL_EXPRESSIONS.read_text("utf-8").splitlines() if line.startswith("#")
]
NUMBERS = np.array([0.5, -1.25, 2.0, 0.75, -0.5, 1.5, 0.25, 3.0, -2.0, 1.0, -0.75, 1.75])
INTEGERS = np.array([1, -2, 3, 0, 2, 1, -1, 4, 2, 3, 1, 2])

_HALF = ("float16", "bfloat16")
UNLIKE = {
    "torch.complex(": ("float16",),  # complex32, which numpy has not
    "torch.pow(1 + 2j, x)": ("float16",),
    "matrix_exp": _HALF,  # PyTorch's series is not for half precision: it gives nonsense
    "bicubic": ("uint8",),  # bytes are rounded after each dimension, by weights in integers
    "bilinear": ("uint8",),
    "x(2).pow(-1)": ("uint8",),  # the power wraps around before it is looked at
    "x(2)**-1": ("uint8",),
    "F.binary_cross_entropy_with_logits(x(2).float(),x(2))": ("complex64",),
}
"""Parts of expressions that are left out, of these dtypes."""
OF_OTHER_RELEASES = {
    "trace()": _HALF,  # before 2.13 there are no kernels
    "narrow_copy": _HALF,
    "torch.cholesky(": DTYPES,  # from 2.14 on they are gone
    "torch.qr(": DTYPES,
    "torch.polar": ("float16",),  # complex32 since 2.14
    "hardtanh(x": ("uint8",),  # taken since 2.15
    "clamp": ("uint8",),  # a negative bound does not wrap around since 2.15
}
"""Those that are left out besides where torch is not the one that the tests are pinned to."""
PINNED = torch.__version__.startswith("2.13.")


def pairs(lines: list[Any], dtypes: tuple[str, ...]) -> list[Any]:
    """Each expression with each dtype, but those that are left out."""
    left_out = UNLIKE if PINNED else UNLIKE | OF_OTHER_RELEASES
    return [
        (line, dtype)
        for line in lines
        for dtype in dtypes
        if not any(part in line and dtype in out for part, out in left_out.items())
    ]


def seen(x: Any) -> tuple[str, tuple[int, ...], Any]:
    """Dtype, shape and elements."""
    return str(x.dtype), tuple(x.shape), np.array(x.detach().tolist())


def outcome(namespace: Any, expression: str, names: dict[str, Any]) -> list[Any] | str:
    """The first result and its gradients, or the class of the exception that refuses them."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            out = eval(expression, {"torch": namespace, "F": namespace.nn.functional, **names})
            out = out[0] if isinstance(out, tuple) else out
            if not getattr(out, "requires_grad", False):
                return [seen(out)]
            leaves = [x for x in names.values() if getattr(x, "requires_grad", False)]
            grads = namespace.autograd.grad(
                out, leaves, namespace.ones_like(out).mul_(1.5), allow_unused=True
            )
            return [seen(x) for x in (out, *grads) if x is not None]
    except Exception as error:
        return type(error).__name__.removeprefix("Refused")


def compare(expected: list[Any] | str, actual: list[Any] | str, dtype: str) -> None:
    if isinstance(expected, str) or isinstance(actual, str):
        # NB: some classes of exceptions differ between releases of torch.
        assert expected == actual if PINNED else isinstance(expected, str) == isinstance(actual, str)
        return
    assert [row[:2] for row in expected] == [row[:2] for row in actual]
    close = CLOSE.get(dtype, 1e-3)
    for (*_, mine), (*_, theirs) in zip(actual, expected, strict=True):
        np.testing.assert_allclose(mine.astype(complex), theirs.astype(complex), rtol=close, atol=close)


@together("line, dtype", pairs(CALLS, DTYPES), by=lambda row: row[1])
def test_a_call_gives_or_refuses_what_torch_does(line: str, dtype: str) -> None:
    """On ones and twos: the same elements of the same dtype, or an exception of the same class."""

    def ones_and_twos(namespace: Any) -> dict[str, Any]:
        def x(*shape: int) -> Any:
            flat = namespace.arange(max(1, math.prod(shape))) % 2 + 1
            return flat.reshape(shape).to(getattr(namespace, dtype))

        return {"x": x, "dt": getattr(namespace, dtype)}

    expected, actual = (outcome(each, line, ones_and_twos(each)) for each in (torch, reference_impl))
    compare(expected, actual, dtype)


def rows() -> list[tuple[str, tuple[tuple[int, ...], ...], str]]:
    """The expressions by which formulas are checked, on the dtypes that those checks do not have."""
    known = {
        (text, tuple(shapes))
        for heading in HEADINGS
        if heading != "complex numbers"
        for text, shapes in expressions(heading)
    }
    return [
        (text, shapes, dtype)
        for text, shapes in sorted(known)
        for _, dtype in pairs([text], ("bool", "uint8", "int32", "int64", "float16", "bfloat16"))
    ]


@together("expression, shapes, dtype", rows(), by=lambda row: called(row[0])[0])
def test_values_gradients_and_refusals_are_torchs(
    expression: str, shapes: tuple[tuple[int, ...], ...], dtype: str
) -> None:
    """Of integers, bools and half precision: in value, shape and dtype, or in the class of the exception."""
    floats = "float" in dtype
    numbers = NUMBERS if floats else INTEGERS > 0 if dtype == "bool" else INTEGERS

    def operands(namespace: Any) -> dict[str, Any]:
        made = {}
        for n, (name, shape) in enumerate(zip("xyz", shapes, strict=False)):
            elements = np.resize(np.roll(numbers, -5 * n), shape).tolist()
            made[name] = namespace.tensor(elements, dtype=getattr(namespace, dtype))
            made[name].requires_grad_(floats)
        return made

    expected, actual = (outcome(each, expression, operands(each)) for each in (torch, reference_impl))
    compare(expected, actual, dtype)
