"""Records of the tensors of a program being drawn: state, relations, and bounds on the values.

They are updated by ``gen_state`` and by the steps. Values themselves stay in the oracle.
"""

from __future__ import annotations

from math import prod

from conformance.generate.state.oracle import RawState
from conformance.program import ref

CAP = {
    "float64": 20,
    "complex128": 18,
    "complex64": 11,
    "float32": 11,
    "float16": 5,
    "bfloat16": 5,
    "int64": 20,
}
"""Bits that values may span (integer and fraction together); gradients need the rest of the mantissa."""


def kind_of(dtype: str) -> str:
    """The kind of a dtype's elements: b, i, f or c."""
    return "f" if dtype == "bfloat16" else dtype[0]


class Store:
    """Memory that some names share, with bounds that keep arithmetic on it exact.

    Magnitudes stay below ``2**bits``, with ``frac`` fractional bits; ``inexact`` says that values were
    rounded. ``may_hold_grad``: a gradient is, or may be, part of this memory. ``shared_with_numpy``: some
    names came through numpy, so torch does not know that they share it. ``self_overlapping``: some view
    shows an element more than once. ``initialised``: the number of elements written, if there are more.
    """

    __slots__ = (
        "aliases", "bits", "frac", "inexact", "initialised", "may_hold_grad", "self_overlapping",
        "shared_with_numpy",
    )  # fmt: skip

    def __init__(self, bits: int, frac: int = 0, inexact: bool = False, may_hold_grad: bool = False) -> None:
        self.bits = bits
        self.frac = frac
        self.inexact = inexact
        self.may_hold_grad = may_hold_grad
        self.shared_with_numpy = self.self_overlapping = False
        self.initialised: int | None = None
        self.aliases: list[TensorInfo] = []

    def widen(self, bits: int, frac: int, inexact: bool) -> None:
        """Widen the bounds to cover values with these, too."""
        if bits > self.bits:  # NB: a call of max() takes several times as long
            self.bits = bits
        if frac > self.frac:
            self.frac = frac
        self.inexact = self.inexact or inexact


class TensorInfo:
    """A name bound to a tensor: raw state as last read, and its relations.

    ``parents``: the tensors a recorded op made it from. ``base``: the tensor it is a differentiable view of.
    ``freed``: a backward went through it. ``grad_likely``: a gradient has likely arrived. ``multi_view``: an
    op returned several views at once, this one among them. ``deleted``: the name was deleted or bound anew.
    """

    base: TensorInfo | None = None
    grad_likely = False
    multi_view = False
    freed = False
    deleted = False
    device = "cpu"

    def __init__(self, name: str, store: Store, parents: tuple[TensorInfo, ...], raw: RawState) -> None:
        self.name = name
        self.ref = ref(name)
        self.store = store
        self.parents = parents
        self.update(raw)

    def update(self, raw: RawState) -> None:
        """Take over raw state."""
        self.shape, dtype, self.requires_grad, self.is_leaf = raw
        self.dtype = dtype
        self.kind = kind_of(dtype)
        self.size = prod(self.shape)


def ancestors(root: TensorInfo, limit: int = 24) -> list[TensorInfo]:
    """The tensors that a result was made from, itself first, nearest first."""
    path = [root]
    seen = {root}
    for tensor in path:
        for parent in tensor.parents:
            if parent not in seen and len(path) < limit:
                seen.add(parent)
                path.append(parent)
    return [tensor for tensor in path if not tensor.deleted]


def can_require_grad(tensor: TensorInfo) -> bool:
    """True for floating point and complex tensors."""
    return tensor.kind in "fc"


def needs_grad(tensor: TensorInfo) -> bool:
    """True if the tensor requires grad."""
    return tensor.requires_grad


def backward_ready(tensor: TensorInfo) -> bool:
    """True for results of recorded ops that no backward has gone through yet."""
    return tensor.requires_grad and not tensor.is_leaf and not tensor.freed


def is_grad_leaf(tensor: TensorInfo) -> bool:
    """True for leaves that require grad."""
    return tensor.requires_grad and tensor.is_leaf


def is_constant(tensor: TensorInfo) -> bool:
    """True if the tensor does not require grad."""
    return not tensor.requires_grad
