"""Differentiating an input twice, in any torch-shaped namespace, and comparing two namespaces.

Upstream gradients are uneven, and complex where the result is, so that a formula that drops a conjugate, a
factor or a broadcast sum gives another number.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import reference_impl
from benchmarks.formulas.inputs import Input
from specs.active_rules import modelling

RELATIVE = {
    "float64": 1e-9,
    "complex128": 1e-9,
    "float32": 2e-4,
    "complex64": 2e-4,
    "float16": 3e-2,
    "bfloat16": 2e-1,
}
"""The error of a value, relative to the largest beside it, that rounding may cause."""
UPSTREAM = (1.5, -0.5, 2.0, 0.75, -1.25, 1.0, 0.5)
Values = list[Any]


def put(x: Any, index: Any, value: Any) -> Any:
    """``x[index] = value`` as an expression."""
    x[index] = value
    return x


def upstream(namespace: Any, like: Any, at: int) -> Any:
    """An uneven tensor of the shape and dtype of another."""
    flat = np.resize(np.roll(np.array(UPSTREAM), at), tuple(like.shape))
    if like.is_complex():
        flat = flat + 1j * np.resize(np.roll(np.array(UPSTREAM), at + 3), tuple(like.shape))
    return namespace.tensor(flat.tolist(), dtype=like.dtype).reshape(tuple(like.shape))


def leaves(namespace: Any, given: Input) -> list[Any]:
    """The operands as tensors; those that can require grad do."""
    made = []
    for operand in given.operands:
        if operand.dtype.kind in "bi":
            made.append(namespace.tensor(operand.tolist()).reshape(operand.shape))
            if operand.dtype.kind == "i":
                made[-1] = made[-1].long()
            elif not operand.size:
                made[-1] = made[-1].bool()
        else:
            dtype = getattr(namespace, given.dtype)
            leaf = namespace.tensor(operand.tolist(), dtype=dtype).reshape(operand.shape)
            made.append(leaf.detach().requires_grad_())
    return made


def measured(namespace: Any, given: Input, compiled: Any = None) -> Values:
    """The result, its gradients without and with a graph, and the gradients of those, as arrays; a refusal's
    class name, where one is refused; None for a gradient that is not there or zero throughout.
    """
    if namespace is reference_impl and given.release:
        with modelling(given.release):
            return _measured(namespace, given, compiled)
    return _measured(namespace, given, compiled)


def _measured(namespace: Any, given: Input, compiled: Any) -> Values:
    operands = leaves(namespace, given)
    wanted = [x for x in operands if x.requires_grad]
    env = {"torch": namespace, "F": namespace.nn.functional, "put": put}
    env |= dict(zip("xyzw", operands, strict=False))
    grad = namespace.autograd.grad
    found: Values = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            result = eval(compiled or given.text, env)
            outs = result if isinstance(result, tuple | list) else (result,)
            outs = [out for out in outs if hasattr(out, "requires_grad")]
            found += [_array(out) for out in outs]
            tracked = [out for out in outs if out.requires_grad]
            for chosen in (tracked, tracked[1:]) if len(tracked) > 1 else (tracked,):
                if chosen and wanted:
                    gs = [upstream(namespace, out, at).requires_grad_() for at, out in enumerate(chosen)]
                    plain = grad(chosen, wanted, gs, retain_graph=True, allow_unused=True)
                    found += [_array(each) for each in plain]
                    if given.once:
                        continue
                    first = grad(chosen, wanted, gs, create_graph=True, allow_unused=True)
                    found += [_array(each) for each in first]
                    for at, each in enumerate(first):
                        if each is not None and each.requires_grad:
                            v = upstream(namespace, each, at + 1)
                            twice = grad(each, [*gs, *wanted], v, retain_graph=True, allow_unused=True)
                            found += [_array(one) for one in twice]
        except Exception as error:
            found.append(_class(error))
    return found


def _class(error: Exception) -> str:
    """The class of an exception as torch has it; a refusal of the reference inherits from it."""
    return next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")


def _array(x: Any) -> Any:
    """The elements of a tensor in double precision, with the dtype that it has; None for zeros."""
    if x is None:
        return None
    shown = np.array((x.detach() + x.new_zeros(())).tolist())
    return (str(x.dtype), shown.reshape(tuple(x.shape))) if shown.any() or np.isnan(shown).any() else None


def same(expected: Values, actual: Values, tolerance: float) -> bool:
    """Tell whether two measurements agree."""
    if len(expected) != len(actual):
        return False
    return all(_alike(one, other, tolerance) for one, other in zip(expected, actual, strict=True))


def _alike(one: Any, other: Any, tolerance: float) -> bool:
    if isinstance(one, str) or isinstance(other, str) or one is None or other is None:
        if isinstance(one, tuple) or isinstance(other, tuple):  # zeros, but for rounding
            array = (one or other)[1] if isinstance(one or other, tuple) else None
            return (
                array is not None
                and not isinstance(one, str)
                and not isinstance(other, str)
                and bool(np.all(np.abs(array) <= tolerance))
            )
        return bool(one == other)
    (dtype, x), (other_dtype, y) = one, other
    if dtype != other_dtype or x.shape != y.shape:
        return False
    finite = x[np.isfinite(x)]
    scale = float(np.max(np.abs(finite))) if finite.size else 1.0
    return bool(np.allclose(x, y, rtol=tolerance, atol=tolerance * max(scale, 1e-3), equal_nan=True))
