"""Applying ops: operands, attribute values and spelling of one call, for maths, views and writes alike.

Which recipe is applied when is the guide's business; which arguments fit is ``recipe``'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.generate.ops.arguments import NUMBERS
from conformance.generate.ops.magnitude import of_number
from conformance.generate.ops.recipe import At, Call, Recipe
from conformance.generate.scene.features import DATA, DOUBLE, GRAD_CALL, HOOKS
from conformance.generate.scene.scene import CAP, Live, Scene, Store
from conformance.generate.steps import leaves
from conformance.program import REST, Dtype
from specs.domain import AVOIDANCES

TWICE = DOUBLE | GRAD_CALL
"""The groups that second derivatives take."""
_NUMBER_BOUNDS = {n: of_number(n) for n in NUMBERS}
_CASTS = (
    ("double", ()),
    ("float", ()),
    ("half", ()),
    ("bfloat16", ()),
    ("to", (Dtype("float64"),)),
    ("to", (Dtype("float32"),)),
)
_CAST_TO = {"double": "float64", "float": "float32", "half": "float16", "bfloat16": "bfloat16"}
_CATEGORY = {"bool": 0, "int64": 1, "float16": 2, "bfloat16": 2, "float32": 2, "float64": 2,
             "complex64": 3, "complex128": 3}  # fmt: skip


def maths(scene: Scene, about: Any = None) -> bool:
    """An op from the shared budget of plain maths; False if nothing live suits it."""
    recipes = scene.vocabulary.maths
    return bool(recipes) and apply(scene, recipes[scene.word() * len(recipes) >> 16], about)


def operator(scene: Scene, about: Any = None) -> bool:
    """A Python operator on tensors, or on a tensor and a number."""
    return apply(scene, scene.pick(scene.vocabulary.operators), about)


def view(scene: Scene, about: Any = None) -> bool:
    """A view, most often of something recent; later steps write through it or through its base."""
    recipes = scene.vocabulary.views
    return apply(scene, recipes[scene.word() * len(recipes) >> 16], about)


def odd(scene: Scene, about: Any = None) -> bool:
    """Any op, the rare ones as often as the common: for steps whose refusal is as good as their result."""
    recipes = scene.vocabulary.each
    return bool(recipes) and apply(scene, scene.pick(recipes), about)


def cast(scene: Scene, about: Any = None) -> bool:
    """A change of dtype; one to the dtype it has gives the tensor itself."""
    x = scene.some()
    op, args = scene.pick(_CASTS)
    dtype = _CAST_TO.get(op) or args[0].name
    if not scene.may(op) or not scene.fits(dtype, x.store.bits, x.store.frac):
        return False
    name = scene.name()
    if scene.emit(op, (x.ref, *args), (), (name,)):
        same = x.dtype == dtype
        store = x.store if same else Store(x.store.bits, x.store.frac, x.store.rough)
        live = scene.bind(name, store, x.parents if same else (x,))
        if live is not None and same:
            live.base, live.multi = x.base, x.multi
    return True


def apply(scene: Scene, recipe: Recipe, x: Live | None = None) -> bool:
    """One call of an op on ``x`` (or whatever is picked); False if nothing live suits it."""
    if x is None:
        x = scene.some()
        if x.kind != "f" and not recipe.suits(x, scene.wild):
            x = scene.some()
    if x.kind != "f" and not recipe.suits(x, scene.wild):
        return False
    if not recipe.others:
        call = _call(scene, recipe, (x.shape,))
        return call is not None and perform(scene, recipe, x, (x,), (x.ref, *call.tail), call)
    operands: list[Any] = [x] * len(recipe.kinds)
    for at in recipe.others:
        operand = _operand(scene, recipe, at, x)
        if operand is None:
            return False
        if operand is True:  # a leaf had to be made first
            return True
        operands[at] = operand
    call = _call(scene, recipe, tuple([o.shape if o.__class__ is Live else None for o in operands]))
    return call is not None and perform(
        scene, recipe, x, operands, _arguments(recipe, operands, x, call), call
    )


def _call(scene: Scene, recipe: Recipe, shapes: tuple[Any, ...]) -> Call | None:
    """A call that fits operands of these shapes, or, wildly, one that does not; None if there is none."""
    table = recipe.table(shapes)
    at = scene.word() * table.size >> 16
    if scene.wild and scene.below(4):
        return table.misfit(at) or table.fit(at)
    call = table.fit(at)
    if call is not None and call.kwargs and not scene.optional:
        call = table.fit(0)
        return None if call is None or call.kwargs else call
    return call or (table.misfit(at) if scene.wild else None)


def _operand(scene: Scene, recipe: Recipe, at: int, x: Live) -> Any:
    """A number, a tensor, None if there is none that fits, or True if one is being made first."""
    kind = recipe.kinds[at]
    if kind == "either":
        if recipe.reflected or (scene.numbers and scene.below(5) == 4):
            return scene.pick(recipe.numbers[at])
    elif kind == "number":
        return scene.pick(recipe.numbers[at])
    elif kind != "tensor":
        return _positions(scene, recipe, at, x)
    y = scene.some()
    if scene.wild:
        return y if recipe.suits(y, wild=True) else None
    if _partner(recipe, at, x, y):
        return y
    y = scene.some()
    if _partner(recipe, at, x, y):
        return y
    for y in reversed(scene.lives):
        if y is not x and _partner(recipe, at, x, y):
            return y
    return x if _partner(recipe, at, x, x) else None


def _positions(scene: Scene, recipe: Recipe, at: int, x: Live) -> Live | bool | None:
    """A mask or a tensor of indices, which is made first if there is none that fits."""
    dtype, row = ("bool", "bool") if recipe.kinds[at] == "mask" else ("int64", "indices")
    for y in reversed(scene.lives):
        if y.dtype == dtype and (scene.wild or y.shape == x.shape or recipe.takes(_pair(recipe, x, at, y))):
            return y
    if not scene.may("torch.tensor"):
        return None
    shape = x.shape if dtype == "bool" or recipe.name == "gather" else (2,)
    leaves.needed(scene, shape, dtype if scene.wild else row, dtype)
    scene.then(lambda scene, about: apply(scene, recipe, about), x)
    return True


def _pair(recipe: Recipe, x: Live, at: int, y: Live) -> tuple[Any, ...]:
    shapes: list[Any] = [() if kind == "tensor" else None for kind in recipe.kinds]
    shapes[recipe.first], shapes[at] = x.shape, y.shape
    return tuple(shapes)


def _partner(recipe: Recipe, at: int, x: Live, y: Live) -> bool:
    """Whether ``y`` may stand at place ``at`` beside ``x``."""
    if x.dtype != y.dtype and (
        recipe.same or (recipe.casts and _CATEGORY[y.dtype] > _CATEGORY[x.dtype]) or not recipe.suits(y)
    ):
        return False
    if not recipe.binary:
        return y.shape == x.shape or y.shape == () or y.shape == (1,)
    return recipe.takes((x.shape, y.shape) if recipe.first == 0 else (y.shape, x.shape))


def perform(
    scene: Scene, recipe: Recipe, x: Live, operands: Sequence[Any], args: tuple[Any, ...], call: Call
) -> bool:
    """Emit the call unless it would leave the exact range or the op's domain, and take note of what it
    gives.
    """
    if recipe.view:
        return _view(scene, recipe, x, operands, args, call)
    if len(operands) == 1:
        stores = [x.store]
    else:
        stores = [o.store if o.__class__ is Live else _NUMBER_BOUNDS.get(o) or of_number(o) for o in operands]
    bits, frac = recipe.grow(stores, x.size, operands)
    if bits + frac > CAP.get(x.dtype, 20):
        return False
    rough = False
    if scene.rounding:
        rough = not recipe.exact or any(store.rough for store in stores)
        if rough and recipe.jumps:
            return False
    if recipe.choosy and not _admitted(scene, recipe, operands, call):
        return False
    store = Store(bits, frac, rough)
    if recipe.mutates:
        return _write(scene, recipe, x, operands, args, call, store)
    name = scene.name()
    if scene.emit(call.op, args, call.kwargs, (name,)):
        live = scene.bind(name, store, _tensors(operands))
        if recipe.name == "abs" and live is not None and live.grad and scene.groups & TWICE == TWICE:
            scene.then(scene.vocabulary.kink, live)
        if recipe.indexed and live is not None and live.grad and scene.groups & DATA and not scene.below(3):
            scene.then(scene.vocabulary.backward, live)
            scene.then(scene.vocabulary.resize, next(o for o in _tensors(operands) if o.kind in "ib"))
    return True


def _tensors(operands: Sequence[Any]) -> tuple[Live, ...]:
    if operands.__class__ is tuple:  # the one operand
        return operands
    return tuple([o for o in operands if o.__class__ is Live])


def _arguments(recipe: Recipe, operands: Sequence[Any], x: Live, call: Call) -> tuple[Any, ...]:
    """The words of a call with several operands, in torch's order."""
    words = [o.ref if o.__class__ is Live else o for o in operands]
    if call.pattern is not None:
        return tuple([words[p] if p.__class__ is At else p for p in call.pattern])
    if recipe.first == 0:
        return (*words, *call.tail)
    return (x.ref, *[words[at] for at in recipe.others], *call.tail)


def _admitted(scene: Scene, recipe: Recipe, operands: Sequence[Any], call: Call) -> bool:
    """Whether the op's domain and avoidances allow the values at hand."""
    values = [scene.oracle.array(o.name) if o.__class__ is Live else o for o in operands]
    return recipe.admits(values, dict(call.given))


def _view(
    scene: Scene, recipe: Recipe, x: Live, operands: Sequence[Any], args: tuple[Any, ...], call: Call
) -> bool:
    """Emit a view, or several at once, of which the later ones may be dropped."""
    outs = call.outs
    names = (scene.name(),) if outs == 1 else tuple([scene.fresh() for _ in range(min(outs, 3))])
    if scene.emit(call.op, args, call.kwargs, (*names, REST) if outs > 3 else names):
        multi = recipe.multi or outs > 1 or x.multi
        for name in names:
            live = scene.bind(name, x.store, _tensors(operands))
            if live is not None:
                live.base, live.multi = x.base or x, multi
                if live.size > x.size and not scene.below(4):
                    scene.then(scene.vocabulary.scatter, live)
                elif outs > 1 and live.grad and scene.groups & HOOKS:
                    scene.then(scene.vocabulary.overlook, live)
                elif scene.mode and scene.mode[0] == "inference_mode" and scene.below(2):
                    scene.then(scene.vocabulary.edit, live)  # which is refused outside
    return True


def _write(
    scene: Scene,
    recipe: Recipe,
    x: Live,
    operands: Sequence[Any],
    args: tuple[Any, ...],
    call: Call,
    after: Store,
) -> bool:
    """Emit an in-place op and note what it did to everything that shares the memory."""
    tensors = _tensors(operands)
    if scene.folded(x):
        return False
    if len(tensors) > 1 and _tangled(scene, x, call.op, args, tensors):
        return False
    done = scene.emit(call.op, args, call.kwargs, (x.name,) if recipe.rebinds else ())
    if done or scene.inference:  # what is refused of inference tensors has been written
        written(scene, x, tensors, after)
    return True


def _tangled(scene: Scene, x: Live, op: str, args: tuple[Any, ...], tensors: tuple[Live, ...]) -> bool:
    """Whether the result of a write would depend on the order of its loop."""
    if all(y is x or not _may_share(x.store, y.store) for y in tensors):
        return False
    target = scene.oracle.memory(x.name)
    if target is None:
        return False
    if op == "__setitem__":
        if not _basic(args[1]):
            return False  # torch goes through positions one by one, in an order that is known
        try:
            target = target[args[1]] if isinstance(args[1], tuple) else target[(args[1], ...)]
        except IndexError:
            return False
    others = [scene.oracle.memory(y.name) for y in tensors if y is not x]
    foreign = any(y.store.foreign for y in (x, *tensors))
    return AVOIDANCES["partly_overlapping_write"].meets((target, *others), {"foreign": foreign})


def _may_share(one: Store, other: Store) -> bool:
    """Whether memory may be the same: that of a gradient may be known by names that nobody saw become one,
    and arrays know no names.
    """
    return one is other or ((one.grad or one.foreign) and (other.grad or other.foreign))


def _basic(index: Any) -> bool:
    """Whether an index makes a view: ints, slices, None and Ellipsis."""
    items = index if isinstance(index, tuple) else (index,)
    return all(item is None or item is Ellipsis or type(item) in (int, slice) for item in items)


def written(scene: Scene, x: Live, operands: tuple[Live, ...], after: Store) -> None:
    """Take note of a write to ``x``: bounds, who made it, and who else looks at that memory."""
    store = x.store
    shared = {o.store for o in scene.lives if o.store.grad} if store.grad else (store,)
    for one in shared:
        one.bits, one.frac = max(one.bits, after.bits), max(one.frac, after.frac)
        one.rough = one.rough or after.rough
    for o in operands:
        if o is not x:
            x.parents = (*x.parents, o)[-6:]
            x.freed = x.freed or o.freed
            if o.grad and not (x.grad or scene.mode or scene.off):
                scene.look_around(x)  # a history came with what was written
    if len(store.lives) > 1:
        scene.heed(store.lives[-3:])
        if x.base is not None and not x.base.gone:
            scene.heed((x.base,))
    else:
        scene.heed((x,))
