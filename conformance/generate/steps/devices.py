"""Devices: copies there and back, and meetings of tensors that are in different places.

A program on devices is drawn in one place at a time (`scene.lives` are those there), and now and then goes on
in another.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.scene.choices import weighted
from conformance.generate.scene.scene import Live, Scene
from conformance.program import Device, Dtype, ref

PLACES = ("cpu", "cuda:0", "cuda:1")
"""Where programs move; without the last one where an implementation has no second device."""
_WAYS = weighted({"cuda": 3, "to": 3, "cpu": 2, "second": 1, "like": 1, "cast": 1})
_MEETINGS = (
    "mul",
    "add",
    "__sub__",
    "__mul__",
    "maximum",
    "matmul",
    "eq",
    "mul_",
    "__iadd__",
    "sub_",
    "where",
)


def move(scene: Scene, about: Any = None) -> bool:
    """A copy on another device, or none where the tensor is there already."""
    live = scene.find(lambda one: one.grad)
    if live is None:
        return False
    op, args, kwargs = _way(scene, live)
    name = scene.name()
    if not scene.emit(op, args, kwargs, (name,)):
        return True
    same = scene.env[name] is scene.env[live.name]
    copy = scene.bind(name, live.store if same else scene.measure(name), (live,) if live.grad else ())
    if copy is None:
        return True
    if not same:
        copy.store.rough = live.store.rough
    if scene.below(4):
        scene.go(copy.place)
    scene.heed((copy, live))
    if copy.grad and not scene.below(3):
        scene.then(scene.vocabulary.backward, copy)
    return True


def _way(scene: Scene, live: Live) -> tuple[str, tuple[Any, ...], tuple[tuple[str, Any], ...]]:
    way = scene.pick(_WAYS)
    if way == "cpu":
        return "cpu", (live.ref,), ()
    if way == "second":
        return "cuda", (live.ref, len(_places(scene)) - 2), ()
    if way == "like":
        return "to", (live.ref, scene.pick(scene.everyone()).ref), ()
    if way == "cast":
        return "to", (live.ref, Device(scene.pick(_places(scene))), Dtype(scene.pick(scene.floats))), ()
    if way == "cuda":
        return "cuda", (live.ref,), (("non_blocking", True),) if not scene.below(8) else ()
    flags = (("copy", True),) if not scene.below(6) else ()
    return "to", (live.ref, Device(scene.pick((*_places(scene), "cuda")))), flags


def go(scene: Scene, about: Any = None) -> bool:
    """Nothing but a change of place, for the steps that follow."""
    return scene.go(scene.pick(_places(scene)))


def _places(scene: Scene) -> tuple[str, ...]:
    """Where the program moves."""
    return tuple(scene.places or ())


def meet(scene: Scene, about: Any = None) -> bool:
    """An op on tensors in two places: refused, unless one is a number on the CPU."""
    live, other = scene.some(), scene.pick(scene.everyone())
    if scene.below(4):
        other = next((one for one in scene.everyone() if not one.shape and one.place == "cpu"), other)
    if live.place == other.place or live.kind != other.kind or live.kind not in "fc":
        return False
    if live.grad and live.kind == "f" and not scene.below(6):
        return _with_zeros(scene, live, other)
    if live.grad and live.place != "cpu" and live.kind == "f" and not scene.below(3):
        return _power_of_one(scene, live)
    op = scene.pick(_MEETINGS)
    operands = (live, other) if scene.below(3) else (other, live)
    bits, frac = live.store.bits + other.store.bits + 1, live.store.frac + other.store.frac
    if not scene.may(op) or not scene.fits(live.dtype, bits + 2, frac):
        return False
    writes = op.endswith("_") and (op[:2] != "__" or op.startswith("__i"))
    if writes and scene.folded(operands[0]):
        return False
    args: tuple[Any, ...] = tuple(one.ref for one in operands)
    if op == "where":
        args = (args[0], args[0], args[1])
    out = operands[0].name if op.startswith("__i") else "" if writes else scene.name()
    if scene.emit(op, args, (), (out,) if out else ()):
        _note(scene, operands, out, writes)
    return True


def _with_zeros(scene: Scene, live: Live, other: Live) -> bool:
    """Zeros without memory, which the second derivative of abs gives, with a tensor in another place."""
    if not scene.may("abs") or not scene.may("detach"):
        return False
    given, size, first, zeros = names = [scene.fresh() for _ in range(4)]
    grad = "torch.autograd.grad"
    met = (
        scene.emit("detach", (live.ref,), (), (given,))
        and scene.emit("abs", (live.ref,), (), (size,))
        and scene.emit(grad, (ref(size), live.ref, ref(given)), (("create_graph", True),), (first,))
        and scene.emit(grad, (ref(first), live.ref, ref(given)), (), (zeros,))
        and scene.emit(
            scene.pick(("add", "sub", "mul", "div")), (ref(zeros), other.ref), (), (scene.fresh(),)
        )
    )
    if met:
        scene.forget(*names)
    return True


def _power_of_one(scene: Scene, live: Live) -> bool:
    """One, from the CPU, to the power of a tensor elsewhere, which is exact; and the gradient of that."""
    if not scene.may("pow"):
        return False
    one, power, grad = names = [scene.fresh() for _ in range(3)]
    met = (
        scene.emit("torch.tensor", (1.0,), (("dtype", Dtype(live.dtype)),), (one,))
        and scene.emit("pow", (ref(one), live.ref), (), (power,))
        and scene.emit("torch.autograd.grad", (ref(power), live.ref, ref(power)), (), (grad,))
    )
    if met:
        scene.forget(*names)
    return True


def _note(scene: Scene, operands: tuple[Live, ...], out: str, writes: bool) -> None:
    """Take note of what came of a meeting."""
    if writes:
        scene.grow(operands[0])
        scene.look_around(operands[0])
        scene.heed(operands)
        return
    made = scene.bind(out, scene.measure(out), tuple(one for one in operands if one.grad))
    if made is not None:
        made.store.rough = any(one.store.rough for one in operands)
        scene.heed((made, *operands))


def bring(scene: Scene, about: Any = None) -> bool:
    """``copy_`` from another place."""
    live = scene.some()
    others = [x for x in scene.everyone() if x.place != live.place and x.shape == live.shape]
    if not others or scene.folded(live):
        return False
    other = scene.pick(tuple(others))
    if other.kind != live.kind:
        return False
    if scene.emit("copy_", (live.ref, other.ref)):
        scene.grow(live)
        live.store.rough = live.store.rough or other.store.rough
        scene.look_around(live)
        scene.heed((live, other))
    return True


def misplaced(scene: Scene, about: Any = None) -> bool:
    """A gradient, given or assigned, memory, or positions from another place than where they belong, or a
    device that is not there.
    """
    live = scene.some()
    if not scene.below(8):
        return scene.emit("to", (live.ref, Device("cuda:7")), (), (scene.fresh(),)) or True
    if live.place != "cpu" and live.shape and not scene.below(3):
        return _by_position(scene, live)
    if live.place != "cpu" and live.grad and live.leaf and live.kind == "f" and not scene.below(2):
        return _grad_left(scene, live)
    others = [x for x in scene.everyone() if x.place != live.place and x.shape == live.shape]
    if not others or live.kind not in "fc":
        return False
    other = scene.pick(tuple(others))
    if not live.grad and other.dtype == live.dtype and scene.may("set_"):
        scene.emit("set_", (live.ref, other.ref))
    elif live.grad and scene.below(2):
        scene.emit("backward", (live.ref, other.ref))
    else:
        scene.emit(".grad=", (live.ref, other.ref))
    return True


def _by_position(scene: Scene, live: Live) -> bool:
    """Elements at positions that are on the CPU."""
    at = scene.fresh()
    if live.shape[0] and scene.emit("torch.tensor", ([0],), (), (at,)):
        name = scene.fresh()
        if scene.emit("__getitem__", (live.ref, ref(at)), (), (name,)):
            scene.bind(name, scene.measure(name), (live,) if live.grad else ())
            scene.forget(at)
        return True
    return False


def _grad_left(scene: Scene, live: Live) -> bool:
    """A step of an optimizer, for which a grad has left its parameter's device, as integers."""
    if not (scene.may("torch.optim.SGD") and scene.may(".data=")):
        return False
    grad, zeros, held = names = [scene.fresh() for _ in range(3)]
    done = (
        scene.emit("backward", (live.ref, live.ref))
        and scene.emit(".grad", (live.ref,), (), (grad,))
        and scene.emit("torch.zeros", (live.shape,), (("dtype", Dtype("int64")),), (zeros,))
        and scene.emit(".data=", (ref(grad), ref(zeros)))
        and scene.emit("torch.optim.SGD", ([live.ref],), (), (held,))
    )
    if done:
        scene.emit("step", (ref(held),))
        scene.forget(*names)
        if scene.below(2):
            scene.emit(".grad=", (live.ref, None))
    return True
