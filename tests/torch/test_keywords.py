"""Keyword arguments: the reference does with each what torch does, or refuses it. None is passed over."""

from __future__ import annotations

import ast
import inspect
import json
import re
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reference_impl
import specs
from benchmarks.formulas.inputs import EXPRESSIONS, expressions

torch = pytest.importorskip("torch")

from together import called, together  # noqa: E402 -- needs torch

OUTS = """
torch.all(b, out=o)
torch.any(b, out=torch.empty(0, dtype=torch.bool))
torch.argmax(x, out=torch.empty(0, dtype=torch.long))
torch.argsort(x, out=torch.empty(0, dtype=torch.long))
torch.bitwise_and(i, i, out=torch.empty(0, dtype=torch.long))
torch.bitwise_not(i, out=torch.empty(0, dtype=torch.int32))
torch.bucketize(x, x[0], out=torch.empty(0, dtype=torch.long))
torch.cat([x, x], out=o)
torch.cat([x, x], 1, out=o)
torch.column_stack([x, x], out=o)
torch.cross(x.new_ones(3), x.new_ones(3), dim=0, out=o)
torch.diag(x, out=o)
torch.diff(x, out=o)
torch.float_power(x, 2, out=torch.empty(0, dtype=torch.float64))
torch.gcd(i, i, out=torch.empty(0, dtype=torch.long))
torch.histc(x, 4, out=o)
torch.hstack([x, x], out=o)
torch.inner(x, x, out=o)
torch.isin(i, i, out=torch.empty(0, dtype=torch.bool))
torch.isposinf(x, out=o)
torch.kron(x, x, out=o)
torch.softmax(x, 0, out=o)
torch.log_softmax(x, 0, out=o)
torch.logical_and(b, b, out=o)
torch.logical_not(b, out=o)
torch.max(x, 0, out=(o, torch.empty(0, dtype=torch.long)))
torch.max(x, x, out=o)
torch.min(x, dim=1, out=(o, torch.empty(0, dtype=torch.long)))
torch.max(x, out=o)
torch.msort(x, out=o)
torch.nanmean(x, out=o)
torch.nextafter(x, x, out=o)
torch.nonzero(x, out=torch.empty(0, dtype=torch.long))
torch.polygamma(1, x, out=o)
torch.quantile(x, 0.5, out=o)
torch.searchsorted(x, x, out=torch.empty(0, dtype=torch.long))
torch.signbit(x, out=torch.empty(0, dtype=torch.bool))
torch.signbit(x, out=o)
torch.stack([x, x], out=o)
torch.take_along_dim(x, torch.tensor([[0, 1]]), 0, out=o)
torch.tensordot(x, x, 1, out=o)
torch.vdot(x[0], x[1], out=o)
torch.vstack([x, x], out=o)
torch.cat([x.clone().requires_grad_(), x], out=o)
torch.inner(x, x, out=torch.empty(0, dtype=torch.long))
torch.cat([x, x], out=torch.empty(0, dtype=torch.float64))
torch.kron(x, x, out=torch.empty(0, dtype=torch.float64))
torch.bernoulli(x * 0, out=o)
torch.lcm(i, i, out=torch.empty(0, dtype=torch.long))
torch.row_stack([x, x], out=o)
torch.nanquantile(x, 0.5, out=o)
torch.concat([x, x], out=o)
torch.argmax(x, out=o)
torch.float_power(x, 2, out=o)
torch.softmax(x, 0, out=torch.empty(0, dtype=torch.float64))
torch.stack([x, x], out=torch.empty(0, dtype=torch.float64))
torch.quantile(x, 0.5, out=torch.empty(0, dtype=torch.float64))
torch.msort(x, out=torch.empty(0, dtype=torch.float64))
torch.min(x, x, out=torch.empty(0, dtype=torch.float64))
torch.bitwise_or(i, i, out=torch.empty(0, dtype=torch.float64))
torch.logical_xor(b, b, out=o)
torch.dstack([x, x], out=torch.empty(0, dtype=torch.float64))
torch.fft.fft(x, out=torch.empty(0, dtype=torch.complex64))
torch.fft.irfft(x, out=o)
torch.fft.rfft(x, out=o)
torch.linalg.det(x, out=o)
torch.linalg.inv(x, out=o)
torch.linalg.solve(x, x, out=o)
torch.linalg.vector_norm(x, out=o)
torch.linalg.matrix_norm(x, out=o)
torch.linalg.cross(x.new_ones(3), x.new_ones(3), out=o)
torch.linalg.svdvals(x, out=o)
torch.linalg.pinv(x, out=o)
torch.linalg.vecdot(x, x, out=o)
torch.linalg.matrix_power(x, 2, out=o)
torch.linalg.multi_dot([x, x], out=o)
torch.linalg.tensorinv(x, ind=1, out=o)
torch.linalg.cholesky(x @ x.mT, out=o)
torch.linalg.eigvalsh(x @ x.mT, out=o)
torch.linalg.solve_triangular(x, x, upper=True, out=o)
torch.linalg.norm(x, out=o)
torch.special.ndtr(x, out=o)
torch.linalg.det(x.clone().requires_grad_(), out=o)
"""
"""Calls of functions that are no ops, with ``out``."""


def written(namespace: Any, call: str) -> Any:
    """The result, and whether it is ``o``; or that the call is refused."""
    x = namespace.tensor([[0.25, 1.0], [0.5, 0.125]])
    o, b, i = namespace.empty(0), namespace.tensor([True, False]), namespace.tensor([1, 2])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = eval(call, {"torch": namespace, "x": x, "o": o, "b": b, "i": i})
    except (RuntimeError, TypeError):
        return None
    first = result if isinstance(result, namespace.Tensor) else result[0]
    return str(first.dtype), first is o, first.tolist()


NAMED = """
torch.max(input=x)
torch.max(input=x, dim=0)
torch.max(input=x, other=x)
torch.max(input=x, keepdim=True)
torch.max(input=x, dim=None)
x.max(other=None)
torch.median(input=x, dim=0)
x.median(keepdim=True)
torch.softmax(input=x, dim=0)
torch.quantile(input=x, q=0.5)
torch.argmax(input=x)
torch.all(input=b)
torch.nanmean(input=x)
torch.sort(input=x)
torch.kron(input=x, other=x)
torch.pdist(input=x)
torch.bucketize(input=x, boundaries=x[0])
torch.searchsorted(sorted_sequence=x[0], input=x)
torch.gradient(input=x)
torch.combinations(input=x[0])
torch.normal(x, x - 1)
"""
"""Calls whose operands have names, or lack one that they need."""


@pytest.mark.parametrize("call", OUTS.split("\n")[1:-1] + NAMED.split("\n")[1:-1])
def test_a_call_with_names_gives_what_torch_does(call: str) -> None:
    """An ``out`` has the dtype of the result, or one that torch casts it to; others are refused."""
    expected, actual = written(torch, call), written(reference_impl, call)
    assert (expected is None) == (actual is None)
    if expected is not None:
        assert expected[:2] == actual[:2]
        np.testing.assert_allclose(np.array(actual[2]), np.array(expected[2]), rtol=1e-4, atol=1e-6)


# -- every keyword of what the expressions call ---------------------------------------------------------
SIGNATURES = json.loads(Path(specs.__file__).with_name("torch_signatures.json").read_text("utf-8"))
VALUES = {
    "dtype": ["torch.float64"], "device": ["'cpu'"], "memory_format": ["torch.contiguous_format"],
    "reduction": ["'sum'", "'none'"], "rounding_mode": ["'floor'", "'trunc'"], "interpolation": ["'lower'"],
    "dim": ["0", "-1", "(0,)"], "size_average": ["False"], "reduce": ["False"], "inplace": ["True"],
}  # fmt: skip
"""Texts of values for arguments of a name; others are tried by their type and default."""
RANDOM = re.compile("dropout|rrelu|gumbel|bernoulli|rand|normal|poisson|uniform")
NUMBERS = np.array([0.5, -1.25, 2.0, 0.75, -0.5, 1.5, 0.25, 3.0, -2.0, 1.0, -0.75, 1.75])


def tried(kind: str, name: str, default: Any) -> list[str]:
    """Texts of values for an argument."""
    if name in VALUES:
        return VALUES[name]
    if name in ("out", "generator", "layout", "pin_memory", "mode") or kind.startswith("Tensor"):
        return []
    if kind.startswith("bool") or default in ("True", "False"):
        return ["True", "False"]
    if kind.startswith(("int", "SymInt")) or default.lstrip("-").isdigit():
        return ["0", "1", "2"]
    return ["0.5", "2.0", "1"]


@cache
def parameters(function: str, name: str) -> list[tuple[str, str, str]]:
    """Type, name and default of each argument that a function, or a method, may be given by name."""
    space = function.rpartition(".")[0]
    if re.fullmatch(r"F|torch\.(linalg|special|fft)", space):
        spaces = {"F": torch.nn.functional, "torch": torch}
        try:
            found = inspect.signature(eval(function, spaces)).parameters.values()
        except ValueError:
            return []
        return [("", p.name, str(p.default)) for p in found if p.default is not p.empty]
    texts = SIGNATURES["functions" if space == "torch" else "methods"].get(name, [])
    parts = [part for text in texts for part in text.split(", ") if "=" in part]
    matches = [re.fullmatch(r"(\S+) (\w+)=(.*)", part) for part in parts]
    return list(dict.fromkeys((m[1], m[2], m[3]) for m in matches if m))


def with_one_more(expression: str) -> list[str]:
    """The expression with one more keyword argument in each of its calls."""
    made = []
    tree = ast.parse(expression, mode="eval")
    for call in [n for n in ast.walk(tree) if isinstance(n, ast.Call)]:
        if not isinstance(call.func, ast.Attribute):
            continue
        given = {each.arg for each in call.keywords}
        for kind, name, default in parameters(ast.unparse(call.func), call.func.attr):
            for value in tried(kind, name, default) if name not in given else ():
                call.keywords.append(ast.keyword(arg=name, value=_value(value)))
                made.append(ast.unparse(tree))
                call.keywords.pop()
    return made


@cache
def _value(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def rows() -> list[tuple[str, tuple[tuple[int, ...], ...]]]:
    """The expressions by which formulas are checked, with one more keyword argument each."""
    texts = EXPRESSIONS.read_text("utf-8").splitlines()
    headings = [line.strip("# \n") for line in texts if line.startswith("#")]
    known = {(text, tuple(shapes)) for heading in headings for text, shapes in expressions(heading)}
    every = {(more, shapes) for text, shapes in known for more in with_one_more(text)}
    # NB: what PyTorch makes of targets that hold the blank is chance.
    return sorted(row for row in every if not RANDOM.search(row[0]) and "blank=2" not in row[0])


def outcome(namespace: Any, text: str, shapes: tuple[tuple[int, ...], ...]) -> list[Any] | None:
    """The first result and its gradients; None if they are refused."""
    operands = {
        name: namespace.tensor(np.resize(np.roll(NUMBERS, -5 * n), shape).tolist(), requires_grad=True)
        for n, (name, shape) in enumerate(zip("xyz", shapes, strict=False))
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            out = eval(text, {"torch": namespace, "F": namespace.nn.functional, **operands})
            out = out[0] if isinstance(out, tuple) else out
            found = [out]
            if out.requires_grad:
                g = namespace.ones_like(out).mul_(1.5)
                found += namespace.autograd.grad(out, list(operands.values()), g, allow_unused=True)
            return [
                (str(x.dtype), tuple(x.shape), np.array(x.detach().tolist())) for x in found if x is not None
            ]
    except Exception:
        return None


@together("text, shapes", rows(), by=lambda row: called(row[0])[0])
def test_no_keyword_is_passed_over(text: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    """A result that both give is the same, and so are its gradients."""
    expected, actual = outcome(torch, text, shapes), outcome(reference_impl, text, shapes)
    if expected is None or actual is None:
        return
    assert [row[:2] for row in expected] == [row[:2] for row in actual]
    for (*_, mine), (*_, theirs) in zip(actual, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-3, atol=2e-3)
