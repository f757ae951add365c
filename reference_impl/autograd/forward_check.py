"""The forward-mode part of ``gradcheck``: tangents against finite differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from reference_impl.autograd.forward_ad import dual_level, make_dual, unpack_dual
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor

Differences = Sequence[Sequence[Sequence[np.ndarray]]]
"""The change of each output, by input and input element; imaginary parts follow the real ones.
"""


def check_forward(
    func: Callable[..., Any],
    inputs: tuple[Any, ...],
    wanted: Sequence[tuple[int, Tensor]],
    places: Sequence[int],
    differences: Differences,
    atol: float,
    rtol: float,
) -> str | None:
    """Describe a mismatch of the tangents of the outputs at ``places``; None if there is none."""
    for (number, x), rows in zip(wanted, differences, strict=True):
        columns = list(_jacobian(func, inputs, number, x, places))
        half = len(rows) // 2 if x.is_complex() else len(rows)
        for part, of in (("imaginary", slice(half, None)), ("real", slice(half))):
            if not rows[of]:
                continue
            for at, place in enumerate(places):
                expected = np.stack([row[place] for row in rows[of]])
                actual = np.stack([row[at] for row in columns[of]])
                if not np.allclose(actual, expected, rtol, atol):
                    note = (
                        f"While considering the {part} part of complex inputs only, "
                        if x.is_complex()
                        else ""
                    )
                    return (
                        f"{note}Jacobian computed with forward mode mismatch for output {at} with respect "
                        f"to input "
                        f"{number},\nnumerical:{expected}\nanalytical:{actual}\n"
                    )
    return None


def _jacobian(
    func: Callable[..., Any], inputs: tuple[Any, ...], number: int, x: Tensor, places: Sequence[int]
) -> Iterator[list[np.ndarray]]:
    """Yield the tangents of the outputs for each element of ``x``, real parts first."""
    for unit in (1, 1j) if x.is_complex() else (1,):
        for at in np.ndindex(x.shape):
            tangent = x.detach().zeros_like()
            array_of(tangent)[at] = unit
            yield [_values(t, shape) for t, shape in _run(func, inputs, {number: tangent}, places)]


def _run(
    func: Callable[..., Any],
    inputs: tuple[Any, ...],
    tangents: dict[int, Tensor],
    places: Sequence[int],
    plain: bool = False,
) -> list[tuple[Tensor | None, tuple[int, ...]]]:
    """The tangents of outputs, with their shapes.

    Differentiable inputs have a tangent of zeros by default, with ``plain`` none.
    """
    with dual_level():
        given = []
        for at, x in enumerate(inputs):
            differentiable = isinstance(x, Tensor) and x.requires_grad
            if differentiable and (at in tangents or not plain):
                own = x.detach()
                x = make_dual(own, tangents[at] if at in tangents else own.zeros_like())
            elif differentiable:
                x = x.detach()
            given.append(x)
        outputs = func(*given)
        outputs = (outputs,) if isinstance(outputs, Tensor) else tuple(outputs)
        return [(unpack_dual(outputs[at]).tangent, outputs[at].shape) for at in places]


def _values(tangent: Tensor | None, shape: tuple[int, ...]) -> np.ndarray:
    return (np.zeros(shape) if tangent is None else array_of(tangent)).reshape(-1).copy()


def check_undefined_forward(
    func: Callable[..., Any],
    inputs: tuple[Any, ...],
    wanted: Sequence[tuple[int, Tensor]],
    places: Sequence[int],
) -> str | None:
    """Describe a case in which an input without tangent differs from one with zeros; None without one."""
    for number, x in wanted if len(wanted) > 1 else ():
        tangent = x.detach().zeros_like().add(1)
        with_zeros, without = (
            _run(func, inputs, {number: tangent.clone()}, places, plain=plain) for plain in (False, True)
        )
        for (a, shape), (b, _) in zip(with_zeros, without, strict=True):
            if not np.allclose(_values(a, shape), _values(b, shape)):
                return (
                    "Expected the tangents of the outputs to be the same whether an input has a tangent "
                    "of zeros or "
                    "none: undefined tangents count as zero"
                )
    return None
