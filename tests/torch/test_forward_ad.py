"""Forward mode: tangents are torch's, op by op, and through views, writes, modes and custom functions."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import forward_scripts
import reference_impl
from op_calls import CALLS, ONE, Leaf, plain
from specs import ops
from specs.op import Op

torch = pytest.importorskip("torch")
ops.load()
pytestmark = pytest.mark.filterwarnings("ignore")  # torch's first dual loads a compiler that warns of itself

EMPTY_MEAN = "mean_all"
"""Its tangent is a mean, hence NaN of nothing in torch; the product with its formula is a sum, hence zero."""


def called() -> dict[str, Op]:
    """The ops that users call, by key, with their in-place forms; those that views and indices make are
    below.
    """
    named = [*ops.ALL.values(), *ops.IN_PLACE.values()]
    flat = [op for entry in named for op in (entry if isinstance(entry, (list, tuple)) else [entry])]
    return {
        op.key: op
        for op in flat
        if isinstance(op, Op)
        and not op.internal
        and op.receiver == 0
        and hasattr(torch.Tensor, op.name)
        and calls_of(op)
    }


def calls_of(op: Op) -> list[Any]:
    """Arguments to try: those on record, or tensors alone where that will do."""
    key = op.key.removesuffix("_") if op.mutates and op.key not in CALLS else op.key
    alone = len(op.operands) == 1 and not any(a.required for a in op.attributes)
    return CALLS.get(key) or (plain(*ONE) if alone and op.operands[0].kind.name == "tensor" else [])


def array_of(leaf: Leaf, rng: np.random.Generator) -> np.ndarray:
    """Numbers that no function has a corner at, in the layout asked for."""
    order = leaf.order or tuple(range(len(leaf.shape)))
    shape = [leaf.shape[d] for d in order]
    if leaf.dtype == "bool":
        return rng.random(leaf.shape) < 0.5
    if leaf.dtype == "int64":
        return rng.integers(1, 4, leaf.shape)
    numbers = (
        rng.uniform(0.1, 0.9, shape) + rng.permutation(int(np.prod(shape))).reshape(shape) % 2 * 0.05
    ).astype(leaf.dtype)
    return numbers.transpose(np.argsort(order)) if order else numbers


def strided(module: Any, array: np.ndarray) -> Any:
    """The array as a tensor of a module, its layout kept."""
    array = np.array(array)  # 'K' order: the layout stays
    return torch.from_numpy(array) if module is torch else reference_impl.from_numpy(array)


def pushed(module: Any, op: Op, args: Any, given: Any, arrays: Any, chosen: tuple[bool, ...]) -> Any:
    """The op's result on duals: values, tangent, its layout and dtype; or its refusal."""
    forward = module.autograd.forward_ad
    with forward.dual_level():
        made = []
        for arg, (array, tangent), dual in zip(args, arrays, chosen, strict=True):
            x = arg if array is None else strided(module, array)
            made.append(forward.make_dual(x, strided(module, tangent)) if dual else x)
        try:
            out = getattr(made[0], op.name)(*made[1:], **given)
        except (IndexError, RuntimeError):
            return "refused"
        if not hasattr(out, "detach"):
            return [seen(forward.unpack_dual(x)) for x in out]
        return [seen(forward.unpack_dual(x)) for x in (out, *(made[:1] if op.mutates else ()))]


def seen(unpacked: Any) -> Any:
    """A tangent as plain values; strides are shown only where they say where an element lies."""
    tangent = unpacked.tangent
    if tangent is None:
        return None
    strides = [
        step for n, step in zip(tangent.shape, tangent.stride(), strict=True) if n > 1 and tangent.numel()
    ]
    return np.asarray(tangent.tolist()), strides, str(tangent.dtype).rpartition(".")[2]


def same(a: Any, b: Any, rtol: float = 2e-5) -> bool:
    if a is None or b is None or isinstance(a, str) or isinstance(b, str):
        return a is b or a == b
    return a[0].shape == b[0].shape and a[1:] == b[1:] and np.allclose(a[0], b[0], rtol, 1e-6, equal_nan=True)


@pytest.mark.parametrize("key", sorted(called()))
def test_an_op_pushes_tangents_as_in_torch(key):
    """The values, layout and dtype of tangents are those of torch, whichever operands have one."""
    op = called()[key]
    rng = np.random.default_rng(0)
    for args, given in calls_of(op):
        if key == EMPTY_MEAN and args[0].shape == (0,):
            continue
        arrays = [
            (array_of(a, rng), rng.integers(-3, 4, a.shape).astype(a.dtype))
            if isinstance(a, Leaf)
            else (None, None)
            for a in args
        ]
        can = [isinstance(a, Leaf) and a.dtype.startswith("float") for a in args]
        if not isinstance(args[0], Leaf):
            continue
        for chosen in product(*((False, True) if able else (False,) for able in can)):
            ours, theirs = (pushed(m, op, args, given, arrays, chosen) for m in (reference_impl, torch))
            assert isinstance(ours, str) == isinstance(theirs, str), (args, given, chosen, ours, theirs)
            if isinstance(ours, str):
                continue
            agree = len(ours) == len(theirs) and all(map(same, ours, theirs))
            assert agree, f"{args} {given} {chosen}:\n{ours}\n{theirs}"


@pytest.mark.parametrize("script", forward_scripts.ALL, ids=lambda script: script.__name__)
def test_a_script_shows_the_same_on_both(script):
    """A forward-mode script yields the same on torch and on the reference."""
    ours, theirs = (list(script(module, module.autograd.forward_ad)) for module in (reference_impl, torch))
    assert ours
    for at, (mine, its) in enumerate(zip(ours, theirs, strict=True)):
        assert mine == its, f"at {at}"
