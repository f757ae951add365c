"""``gradcheck`` and ``gradgradcheck``: gradients against finite differences.

NB: ``fast_mode`` and ``check_batched_grad`` have no effect: every element is checked by itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from reference_impl.autograd import grad
from reference_impl.autograd.forward_check import check_forward, check_undefined_forward
from reference_impl.base.modes import enable_grad
from reference_impl.base.rules import by, refuse_by, warn
from reference_impl.core.access import array_of, make_output_of
from reference_impl.core.graph import Node, gradient_edge
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.namespace.factories import zeros_like
from reference_impl.namespace.random import rand_like
from specs.errors import admit

Function = Callable[..., Any]


@admit
class GradcheckError(RuntimeError):
    """Gradients do not match finite differences."""


def gradcheck(
    func: Function,
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Check the gradients of ``func`` at ``inputs``.

    Returns True if they match; raises GradcheckError if not, or returns False without ``raise_exception``.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    given = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    _check_inputs(given)
    try:
        if check_backward_ad:
            _check(func, given, eps, atol, rtol, nondet_tol, check_undefined_grad)
        if check_forward_ad:
            _check_forward(func, given, eps, atol, rtol, check_undefined_grad)
    except GradcheckError:
        if raise_exception or not by("gradcheck/may-answer-false"):
            raise
        return False
    return True


def gradgradcheck(
    func: Function,
    inputs: Any,
    grad_outputs: Any = None,
    *,
    gen_non_contig_grad_outputs: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    **how: Any,
) -> bool:
    """Check the second derivatives of ``func`` by inputs and incoming gradients; see `gradcheck`.

    They are computed backward (``check_rev_over_rev``), or forward through the backward.
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    if how.get("check_undefined_grad", True) and not check_rev_over_rev:
        raise AssertionError("Setting check_undefined_grad=True requires check_rev_over_rev to be True")
    how |= {"check_forward_ad": check_fwd_over_rev, "check_backward_ad": check_rev_over_rev}
    given = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    if grad_outputs is None:
        outputs = _differentiable(func(*given))
        seeds = tuple(rand_like(x.detach()).mul_(2).sub_(1).requires_grad_() for x in outputs)
    else:
        seeds = (grad_outputs,) if isinstance(grad_outputs, Tensor) else tuple(grad_outputs)

    flags = [isinstance(x, Tensor) and x.requires_grad for x in (*given, *seeds)]

    def gradients(*args: Any) -> tuple[Tensor, ...]:
        # Forward mode gives them without their flags.
        args = tuple(x.requires_grad_() if flag else x for x, flag in zip(args, flags, strict=True))
        own, coming = args[: len(given)], args[len(given) :]
        wanted = [x for x, flag in zip(own, flags, strict=False) if flag]
        grads = grad(_differentiable(func(*own)), wanted, coming, create_graph=True, allow_unused=True)
        return tuple(g for g in grads if g is not None)

    return gradcheck(gradients, (*given, *seeds), **how)


def _tensors(values: Any) -> tuple[Any, ...]:
    return tuple(values) if isinstance(values, (tuple, list)) else (values,)


def _differentiable(outputs: Any) -> tuple[Tensor, ...]:
    return tuple(x for x in _tensors(outputs) if x.requires_grad)


def _wanted(inputs: tuple[Any, ...]) -> list[tuple[int, Tensor]]:
    """The inputs that require grad, with their positions."""
    return [(at, x) for at, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]


def _check_inputs(inputs: tuple[Any, ...]) -> None:
    wanted = _wanted(inputs)
    if not wanted:
        refuse_by("gradcheck/needs-an-input-that-requires-grad")
    for at, x in wanted:
        if x.dtype.numpy not in (np.float64, np.complex128):
            warn("gradcheck/needs-double-precision", at=at)
        if any(n > 1 and s == 0 for n, s in zip(x.shape, x.stride(), strict=True)):
            refuse_by("gradcheck/inputs-do-not-overlap", at=at)


def _check(
    func: Function,
    inputs: tuple[Any, ...],
    eps: float,
    atol: float,
    rtol: float,
    nondet_tol: float,
    undefined: bool,
) -> None:
    outputs = _tensors(func(*inputs))
    places = [at for at, x in enumerate(outputs) if x.requires_grad]
    wanted = _wanted(inputs)
    numeric = [list(numerical(func, inputs, x, eps)) for _, x in wanted]
    for at, out in enumerate(outputs):
        differences = [np.stack([row[at] for row in rows]) if rows else None for rows in numeric]
        if at in places:
            _compare(out, at, wanted, differences, (rtol, atol, nondet_tol))
        elif not places and any(changes is not None and np.any(changes) for changes in differences):
            refuse_by("gradcheck/plain-outputs-are-constant", at=at)
    chosen = tuple(outputs[at] for at in places)
    if chosen:
        _check_linear(chosen, wanted)
        if undefined:
            _check_undefined(func, inputs, wanted)


def _check_forward(
    func: Function, inputs: tuple[Any, ...], eps: float, atol: float, rtol: float, undefined: bool
) -> None:
    """Check the tangents of forward mode; see `_check`."""
    outputs = _tensors(func(*inputs))
    places = [at for at, x in enumerate(outputs) if x.requires_grad]
    wanted = _wanted(inputs)
    numeric = [list(numerical(func, inputs, x, eps)) for _, x in wanted]
    wrong = check_forward(func, inputs, wanted, places, numeric, atol, rtol)
    if undefined and wrong is None:
        wrong = check_undefined_forward(func, inputs, wanted, places)
    if wrong is not None:
        raise GradcheckError(wrong)


def _compare(
    out: Tensor,
    at: int,
    wanted: list[tuple[int, Tensor]],
    differences: list[np.ndarray | None],
    tolerances: tuple[float, float, float],
) -> None:
    """Compare the Jacobians of one output with the differences, after computing them twice."""
    rtol, atol, nondet_tol = tolerances
    for part, unit in (("imaginary", 1j), ("real", 1)) if out.is_complex() else (("", 1),):
        found = [(analytical(out, x, unit), analytical(out, x, unit)) for _, x in wanted]
        if not all(np.allclose(once, again, 0, nondet_tol) for once, again in found):
            refuse_by("gradcheck/same-twice", tolerance=nondet_tol)
        for (number, x), (actual, _), changes in zip(wanted, found, differences, strict=True):
            if changes is None:
                continue
            expected = _by_parts(changes.imag if part == "imaginary" else changes.real, x)
            if not np.allclose(actual, expected, rtol, atol):
                told = part and f"While considering the {part} part of complex outputs only, "
                refuse_by(
                    "gradcheck/mismatch", part=told, at=at, number=number, expected=expected, actual=actual
                )


def _by_parts(differences: np.ndarray, x: Tensor) -> np.ndarray:
    """Combine rows for real parts and rows for imaginary parts into complex rows."""
    if not x.is_complex():
        return differences
    half = len(differences) // 2
    return differences[:half] + 1j * differences[half:]


def numerical(func: Function, inputs: tuple[Any, ...], x: Tensor, eps: float) -> Iterator[list[np.ndarray]]:
    """Yield the central differences of the outputs for each element of ``x``, real parts first.

    Elements are written past autograd, in ``x.data``.
    """
    array = array_of(x.data)
    with enable_grad():
        for unit in (1, 1j) if x.is_complex() else (1,):
            for at in np.ndindex(x.shape):
                before = array[at]
                array[at] = before + eps * unit
                above = _values(func(*inputs))
                array[at] = before - eps * unit
                below = _values(func(*inputs))
                array[at] = before
                yield [_difference(a, b, eps) for a, b in zip(above, below, strict=True)]


def _values(outputs: Any) -> list[np.ndarray]:
    return [array_of(x).copy() if isinstance(x, Tensor) else np.asarray(x) for x in _tensors(outputs)]


def _difference(a: np.ndarray, b: np.ndarray, eps: float) -> np.ndarray:
    for what in ("shape", "dtype"):
        if getattr(a, what) != getattr(b, what):
            raise AssertionError(
                f"Expected `func` to return outputs with the same {what} when inputs are perturbed slightly, "
                f"but got {getattr(a, what)} and {getattr(b, what)}"
            )
    if a.dtype.kind == "b":
        refuse_by("op/bool-arithmetic", name="sub", case="sub both")
    return np.asarray((a - b) / (2 * eps)).reshape(-1)


def analytical(out: Tensor, x: Tensor, unit: Any = 1) -> np.ndarray:
    """The Jacobian from backward, one row for each element of ``x``."""
    columns = []
    for at in np.ndindex(out.shape):
        seed = zeros_like(out)
        array_of(seed)[at] = unit
        (g,) = grad(out, [x], seed, retain_graph=True, allow_unused=True)
        if g is not None and g.dtype != x.dtype:  # NB: PyTorch takes it for one of another size
            raise GradcheckError("Analytical gradient has incorrect size")
        columns.append(array_of(zeros_like(x) if g is None else g).reshape(-1).copy())
    return np.stack(columns, 1) if columns else np.zeros((x.numel(), 0))


def _check_linear(outputs: tuple[Tensor, ...], wanted: list[tuple[int, Tensor]]) -> None:
    """Check that zero gradients stay zero."""
    tensors = [x for _, x in wanted]
    grads = grad(outputs, tensors, [zeros_like(x) for x in outputs], retain_graph=True, allow_unused=True)
    if any(g is not None and np.any(array_of(g)) for g in grads):
        refuse_by("gradcheck/nothing-comes-of-zeros")


class UndefinedGrad(Node):
    """A node that passes on no gradient."""

    __slots__ = ()

    def apply(self, grads: Any, task: Any) -> list[Tensor | None]:
        return [None] * len(self.edges)


def _without_gradient(x: Tensor) -> Tensor:
    """An alias behind a node that passes on no gradient."""
    out = x.detach()
    make_output_of(out, UndefinedGrad((gradient_edge(x),)))
    return out


def _check_undefined(func: Function, inputs: tuple[Any, ...], wanted: list[tuple[int, Tensor]]) -> None:
    """Check that backward handles undefined gradients, of all outputs and of each by itself."""
    count = len(_differentiable(func(*inputs)))
    for missing in [set(range(count)), *([{at} for at in range(count)] if count > 1 else [])]:
        outputs = _differentiable(func(*inputs))
        cut = [_without_gradient(x) if at in missing else x for at, x in enumerate(outputs)]
        try:
            seeds = [zeros_like(x) for x in cut]
            grads = grad(cut, [x for _, x in wanted], seeds, allow_unused=True)
        except RuntimeError as error:
            _warn_of_undefined()
            raise GradcheckError(
                "Expected backward function to handle undefined output grads: zeros come of them, or none"
            ) from error
        if any(g is not None and np.any(array_of(g)) for g in grads):
            _warn_of_undefined()
            raise GradcheckError(
                "Expected all input grads to be undefined or zero when all output grads are undefined or zero"
            )


def _warn_of_undefined() -> None:
    warnings.warn(
        "Backwards compatibility: New undefined gradient support checking feature is on by default; pass "
        "check_undefined_grad=False to go without",
        UserWarning,
        stacklevel=5,
    )


def _warn_of(name: str, grad_out: float) -> None:
    warnings.warn(
        f"`{name}` was part of PyTorch's private API and is deprecated", FutureWarning, stacklevel=3
    )
    if grad_out != 1.0:
        raise ValueError("Expected grad_out to be 1.0: other values are no longer supported")


def get_numerical_jacobian(
    fn: Function, inputs: Any, target: Any = None, eps: float = 1e-3, grad_out: float = 1.0
) -> tuple[Tensor, ...]:
    """The numerical Jacobians of a function's first output; ``fn`` takes the inputs as one tuple."""
    _warn_of("get_numerical_jacobian", grad_out)
    targets = [x for _, x in _wanted(_tensors(inputs))] if target is None else list(_tensors(target))
    differences = [list(numerical(lambda *args: fn(args), _tensors(inputs), x, eps)) for x in targets]
    return tuple(wrap(np.stack([rows[0] for rows in each])) for each in differences)


def get_analytical_jacobian(
    inputs: Any, output: Tensor, nondet_tol: float = 0.0, grad_out: float = 1.0
) -> tuple[tuple[Tensor, ...], bool, bool, bool]:
    """The Jacobians from backward, and whether they are reproducible and of the right shape and dtype."""
    _warn_of("get_analytical_jacobian", grad_out)
    tensors = [x for _, x in _wanted(_tensors(inputs))]
    pairs = [(analytical(output, x), analytical(output, x)) for x in tensors]
    same = all(np.allclose(a, b, 0, nondet_tol) for a, b in pairs)
    return tuple(wrap(a) for a, _ in pairs), same, True, True
