"""Each function saves for its gradient what PyTorch's saves: saved-tensor hooks see the same tensors.

What is saved decides which write makes a later backward fail, what other ``.data`` does to a gradient, and
whether a second backward is refused.
"""

from __future__ import annotations

import re
import warnings
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import reference_impl
from benchmarks.formulas.inputs import expressions
from benchmarks.formulas.measure import put
from together import called, together

torch = pytest.importorskip("torch")

NUMBERS = np.array([0.5, -1.25, 2.0, 0.75, -0.5, 1.5, 0.25, 3.0, -2.0, 1.0, -0.75, 1.75])
OTHERWISE = {
    "systems are solved without factors that are kept": r"det\(|solve(_ex)?\(|tensorsolve\(|\.lstsq\(",
    "vectors have another sign": r"\.eig\(|\.svd\(",
    "probabilities are computed again": r"ctc_loss\(",
    "what is not drawn is not written": r"rrelu\(x\)",
    "made of other functions": r"pack_|packed|logsigmoid|soft_margin|einsum\(\"ij,kj,i|frexp|\.cov\(",
}
"""Reasons why a function saves other tensors besides its operands, and who does."""


def _seen(tensor: Any) -> tuple[str, tuple[int, ...], np.ndarray]:
    values = tensor.detach() if tensor.dtype.is_complex else tensor.detach().double()
    return str(tensor.dtype), tuple(tensor.shape), np.asarray((values + values.new_zeros(())).tolist())


def _saved(namespace: Any, expression: str, shapes: list[tuple[int, ...]]) -> tuple[list[str], list[Any]]:
    """The operands that are saved, and all that is, in an order of its own."""
    operands = {
        name: namespace.tensor(
            np.resize(np.roll(NUMBERS, -5 * n), shape), dtype=namespace.float32
        ).requires_grad_()
        for n, (name, shape) in enumerate(zip("xyz", shapes, strict=False))
    }
    packed: list[Any] = []
    namespace.manual_seed(0)
    names = {"torch": namespace, "F": namespace.nn.functional, "put": put, **operands}
    with warnings.catch_warnings(), namespace.autograd.graph.saved_tensors_hooks(packed.append, lambda x: x):
        warnings.simplefilter("ignore")
        with suppress(RuntimeError):  # both refuse, as `test_surface_gradients` says
            eval(expression, names)
    places = {x.data_ptr(): name for name, x in operands.items() if x.numel()}
    own = sorted({places[x.data_ptr()] for x in packed if x.numel() and x.data_ptr() in places})
    return own, sorted(map(_seen, packed), key=lambda each: (*each[:2], repr(np.round(each[2], 2).tolist())))


ROWS = [
    row
    for block in ("same graph", "same values", "branches of formulas")
    for row in expressions(block)
    if "triangular_solve("
    not in row[0]  # deprecated: here it is `solve_triangular`, which saves no right side
]


def _need_same(ours: list[Any], saved: list[Any]) -> None:
    assert [each[:2] for each in ours] == [each[:2] for each in saved]
    for mine, wanted in zip(ours, saved, strict=True):
        np.testing.assert_allclose(mine[2], wanted[2], atol=1e-2, rtol=1e-2)


@together("expression, shapes", ROWS, lambda row: called(row[0]))
def test_hooks_see_what_is_saved(expression: str, shapes: list[tuple[int, ...]]) -> None:
    """The operands among it, and all else, where no reason is given."""
    (own, saved), (our_own, ours) = (_saved(each, expression, shapes) for each in (torch, reference_impl))
    assert our_own == own
    if not any(re.search(who, expression) for who in OTHERWISE.values()):
        _need_same(ours, saved)


@pytest.mark.parametrize("why", OTHERWISE)
def test_exceptions_are_needed(why: str) -> None:
    """A reason whose functions all save what PyTorch's save would be no exception any more."""
    rows = [row for row in ROWS if re.search(OTHERWISE[why], row[0])]
    both = [[_saved(each, *row)[1] for each in (reference_impl, torch)] for row in rows]
    with pytest.raises(AssertionError):
        [_need_same(*saved) for saved in both]


@pytest.mark.parametrize("expression", ["x * x", "x.pow(2)", "x.exp()", "x.addcmul(x, x)"])
def test_a_node_lists_what_it_saves_alone(expression):
    """By ``dir``."""
    listed = []
    for t in (torch, reference_impl):
        node = eval(expression, {"x": t.ones(2, requires_grad=True)}).grad_fn
        listed.append([name for name in dir(node) if name.startswith("_saved")])
    assert listed[0] == listed[1]


NORMS = [
    "f.layer_norm(x, (2,))",
    "f.layer_norm(x, (2,), w)",
    "f.layer_norm(x, (2,), w, w)",
    "f.batch_norm(i, None, None, training=True)",
    "f.batch_norm(i, v, v)",
    "f.batch_norm(i, v, v, w, w)",
    "f.batch_norm(i, v.clone(), v.clone(), w, w, training=True)",
    "f.instance_norm(i, weight=w, bias=w)",
    "f.group_norm(i, 1)",
    "f.group_norm(i, 1, w, w)",
    "f.max_pool2d(i, 2)",
    "x.clamp(x)",
    "x.clone().clamp_(max=x)",
    "torch.linalg.svd(x).S",
]


@pytest.mark.parametrize("call", NORMS)
def test_hooks_are_given_statistics_and_nothing_that_stands_in(call):
    """Hooks on saved tensors see the shapes that PyTorch's kernels save, in its order, and unpack them."""
    seen = []
    for side in (torch, reference_impl):
        w = side.ones(2, requires_grad=True)
        names = {
            "torch": side,
            "f": side.nn.functional,
            "x": side.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True),
            "i": side.arange(32.0).reshape(1, 2, 4, 4).requires_grad_(),
            "w": w,
            "v": w.detach(),
        }
        packed, unpacked = [], []

        def pack(x, into=packed):
            into.append(tuple(x.shape))
            return x

        def unpack(x, into=unpacked):
            into.append(tuple(x.shape))
            return x

        with side.autograd.graph.saved_tensors_hooks(pack, unpack):
            out = eval(call, names)
        out.sum().backward()
        seen.append((packed, unpacked))
    assert seen[0] == seen[1]
