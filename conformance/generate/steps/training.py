"""Training: parameters, losses and linear layers as functions, and optimizers.

Modules are no values of a program; what an optimizer does to the tensors it holds is drawn here, since it
writes to them long after it was given them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from conformance.generate.scene.choices import weighted
from conformance.generate.scene.scene import CAP, Live, Scene, Store, floating, made
from conformance.generate.steps import backward, leaves
from conformance.program import Ref, ref
from specs.domain import AVOIDANCES

_RATES = (1.0, 0.5, 0.5, 0.25)
_REDUCTIONS = weighted({"mean": 3, "sum": 2, "none": 1})
_LOSSES = ("torch.nn.functional.mse_loss", "torch.nn.functional.l1_loss")
_ODD: tuple[Any, ...] = ([], [2.0], None)
"""What no optimizer takes; None stands for a bare tensor."""


class Optimizer(NamedTuple):
    """The name of an optimizer, and what it was given."""

    ref: Ref
    lives: tuple[Live, ...]


def parameter(scene: Scene, about: Any = None) -> bool:
    """``nn.Parameter`` of a tensor, whose memory it shares."""
    live = scene.find(floating)
    if live is None:
        return False
    name = scene.name()
    kwargs = (("requires_grad", False),) if scene.below(4) == 0 else ()
    if scene.emit("torch.nn.Parameter", (live.ref,), kwargs, (name,)):
        alias = scene.bind(name, live.store)
        if alias is not None:
            scene.heed((alias, live))
            if made(live):
                scene.then(scene.vocabulary.use, alias)
    return True


def loss(scene: Scene, about: Any = None) -> bool:
    """A loss of two tensors of one shape, which is then differentiated."""
    x = scene.find(_real)
    if x is None:
        return False
    y = scene.like(x, but=x)
    if y is None or (y.shape, y.dtype) != (x.shape, x.dtype) or x.kind != "f":
        return False
    op, reduction = scene.pick(_LOSSES), scene.pick(_REDUCTIONS)
    halvings = x.size.bit_length() - 1
    if reduction == "mean" and x.size != 1 << max(halvings, 0):
        reduction = "sum"  # a division that rounds
    power = 2 if op is _LOSSES[0] else 1
    bits = (max(x.store.bits, y.store.bits) + 1) * power + x.size.bit_length()
    frac = max(x.store.frac, y.store.frac) * power + x.size.bit_length()
    if bits + frac > CAP.get(x.dtype, 20):
        return False
    kwargs = () if reduction == "mean" else (("reduction", reduction),)
    name = scene.name()
    if scene.emit(op, (x.ref, y.ref), kwargs, (name,)):
        live = scene.bind(name, Store(bits, frac, x.store.rough or y.store.rough), (x, y))
        if live is not None and reduction != "none":
            live.store.known = 1
        if live is not None and made(live):
            scene.then(backward.backward, live)
    return True


def linear(scene: Scene, about: Any = None) -> bool:
    """A linear layer's function, with a weight of its own and perhaps a bias."""
    x = scene.find(_rows)
    if x is None or not _rows(x):
        return False
    features = x.shape[-1]
    bits, frac = x.store.bits + 4 + features.bit_length(), x.store.frac + 1
    if bits + frac > CAP.get(x.dtype, 20):
        return False
    weight = leaves.needed(scene, (2, features), "any", x.dtype, bool(scene.below(4)))
    bias = leaves.needed(scene, (2,), "any", x.dtype, bool(scene.below(2))) if scene.below(4) else None
    operands = (x, weight) if bias is None else (x, weight, bias)
    name = scene.name()
    args = tuple(operand.ref for operand in operands)
    if scene.emit("torch.nn.functional.linear", args, (), (name,)):
        live = scene.bind(name, Store(bits, frac, x.store.rough), operands)
        if live is not None and made(live):
            scene.then(backward.backward, live)
    return True


def _real(live: Live) -> Any:
    return live.grad and live.kind == "f"


def _rows(live: Live) -> Any:
    return live.kind == "f" and live.shape and live.size


def _leaf(live: Live) -> Any:
    return live.grad and live.leaf


# -- optimizers ----------------------------------------------------------------------------------------
def optimizer(scene: Scene, about: Any = None) -> bool:
    """An optimizer of one or two leaves; a backward and a step are to follow."""
    given = [scene.find(_leaf) for _ in range(1 + scene.below(2))]
    lives = tuple(dict.fromkeys(live for live in given if live is not None))
    if not lives or any(map(scene.folded, lives)):
        return False
    params: Any = [live.ref for live in (given if scene.wild else lives) if live is not None]
    if scene.wild and scene.below(3) == 0:
        params = scene.pick(_ODD)
        params = lives[0].ref if params is None else params
    name = scene.fresh()
    if scene.emit("torch.optim.SGD", (params,), _settings(scene), (name,)):
        held = Optimizer(ref(name), lives)
        scene.then(step, held)
        scene.then(backward.reach, lives[0])
    return True


def _settings(scene: Scene) -> tuple[tuple[str, Any], ...]:
    settings: tuple[tuple[str, Any], ...] = (("lr", scene.pick(_RATES)),)
    if not scene.rounding and scene.below(3) == 0:
        settings = (*settings, ("momentum", 0.5))
    if scene.below(3) == 0:
        settings = (*settings, ("weight_decay", 0.5))
    return settings


def step(scene: Scene, held: Optimizer) -> bool:
    """A step, after which something goes on: grads are cleared, or what saved the old values is used."""
    if _tangled(scene, held) or not scene.emit("step", (held.ref,)):
        return False
    for live in held.lives:
        for other in live.store.lives:
            scene.grow(other)
    scene.heed(held.lives)
    if scene.below(3):
        scene.then(step, held)
    if scene.below(3):
        scene.then(backward.reach, held.lives[-1])
    if scene.below(4):
        return zero_grad(scene, held)
    return True


def _tangled(scene: Scene, held: Optimizer) -> bool:
    """Whether a step would depend on the order of its loop: a tensor's grad is other parts of its memory,
    which came through numpy, so that torch does not know and refuses nothing.
    """
    if not any(live.store.foreign for live in held.lives):
        return False
    pairs = scene.oracle.stepped(held.ref.name)
    return any(AVOIDANCES["partly_overlapping_write"].meets(pair, {"foreign": True}) for pair in pairs)


def zero_grad(scene: Scene, held: Optimizer) -> bool:
    """``zero_grad()`` in one of its two ways."""
    kwargs = (("set_to_none", False),) if scene.below(2) else ()
    return scene.emit("zero_grad", (held.ref,), kwargs)
