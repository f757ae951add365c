"""Applying ops: operands, attribute values and spelling of one call, for maths, views and writes alike.

Which recipe is applied when is the guide's business; which arguments fit is ``recipe``'s.
"""

from __future__ import annotations

from typing import Any

from conformance.generate import leaves
from conformance.generate.arguments import NUMBERS
from conformance.generate.bounds import of_number
from conformance.generate.recipe import At, Call, Recipe
from conformance.generate.scene import Live, Scene, Store
from conformance.program import REST, Dtype
from specs.domain import AVOIDANCES

_NUMBER_BOUNDS = {n: of_number(n) for n in NUMBERS}
_CASTS = (("double", ()), ("float", ()), ("to", (Dtype("float64"),)), ("to", (Dtype("float32"),)))
_CATEGORY = {"bool": 0, "int64": 1, "float32": 2, "float64": 2, "complex64": 3, "complex128": 3}


def maths(scene: Scene, about: Any = None) -> bool:
    """An op from the shared budget of plain maths; False if nothing live suits it."""
    return apply(scene, scene.pick(scene.vocabulary.maths), about)


def operator(scene: Scene, about: Any = None) -> bool:
    """A Python operator on tensors, or on a tensor and a number."""
    return apply(scene, scene.pick(scene.vocabulary.operators), about)


def view(scene: Scene, about: Any = None) -> bool:
    """A view, most often of something recent; later steps write through it or through its base."""
    return apply(scene, scene.pick(scene.vocabulary.views), about)


def cast(scene: Scene, about: Any = None) -> bool:
    """A change of dtype; one to the dtype it has gives the tensor itself."""
    x = scene.some()
    op, args = scene.pick(_CASTS)
    dtype = {"double": "float64", "float": "float32"}.get(op) or args[0].name
    if not scene.fits(dtype, x.store.bits, x.store.frac) or (x.dtype == "complex128") > scene.wild:
        return False
    name = scene.fresh()
    if scene.emit(op, (x.ref, *args), (), (name,)):
        same = x.dtype == dtype
        store = x.store if same else Store(x.store.bits, x.store.frac, x.store.rough)
        live = scene.bind(name, store, x.parents if same else (x,))
        if live is not None and same:
            live.base, live.multi = x.base, x.multi
    return True


def apply(scene: Scene, recipe: Recipe, x: Live | None = None, out: str | None = None) -> bool:
    """One call of an op on ``x`` (or whatever is picked); False if nothing live suits it."""
    wild = scene.wild
    if x is None:
        x = scene.some()
        if not _suits(recipe, x):
            x = scene.some()
    if not _suits(recipe, x):
        return False
    operands: list[Any] = [x]
    if recipe.others:
        operands = [x] * len(recipe.kinds)
        for at in recipe.others:
            operand = _operand(scene, recipe, at, x)
            if operand is None:
                return False
            operands[at] = operand
            if operand is True:  # a leaf had to be made first
                return True
    shapes = tuple([o.shape if o.__class__ is Live else None for o in operands])
    calls = recipe.calls(shapes)
    if wild and (not calls or scene.below(2)):
        calls = recipe.loose(shapes)
    if not scene.optional:
        calls = tuple([call for call in calls if not call.kwargs])
    if not calls:
        return False
    call = calls[0] if len(calls) == 1 else scene.pick(calls)
    return perform(scene, recipe, operands, x, call, out)


def _suits(recipe: Recipe, x: Live) -> bool:
    """Whether an op takes a tensor of that dtype."""
    return x.dtype[0] in recipe.dtypes


def _operand(scene: Scene, recipe: Recipe, at: int, x: Live) -> Any:
    """A number, a tensor, None if there is none that fits, or True if one is being made first."""
    kind = recipe.kinds[at]
    if kind == "either":
        if recipe.reflected or (scene.numbers and scene.below(5) == 4):
            return scene.pick(recipe.numbers[at])
    elif kind == "number":
        return scene.pick(recipe.numbers[at])
    elif kind != "tensor":
        dtype, row = ("bool", "bool") if kind == "mask" else ("int64", "indices")
        for y in reversed(scene.lives):
            if y.dtype == dtype and (y.shape == x.shape or recipe.calls(_pair(recipe, x, at, y))):
                return y
        if not scene.may("torch.tensor"):
            return None
        shape = x.shape if kind == "mask" or recipe.name == "gather" else (2,)
        leaves.literal(scene, shape, dtype if scene.wild else row, dtype, False)
        scene.then(lambda scene, about: apply(scene, recipe, about), x)
        return True
    if scene.wild:
        y = scene.some()
        return y if _suits(recipe, y) else None
    y = scene.some()
    if _partner(recipe, at, x, y):
        return y
    y = scene.some()
    if _partner(recipe, at, x, y):
        return y
    for y in reversed(scene.lives):
        if y is not x and _partner(recipe, at, x, y):
            return y
    return x if _partner(recipe, at, x, x) else None


def _pair(recipe: Recipe, x: Live, at: int, y: Live) -> tuple[Any, ...]:
    shapes: list[Any] = [() if kind == "tensor" else None for kind in recipe.kinds]
    shapes[recipe.first], shapes[at] = x.shape, y.shape
    return tuple(shapes)


def _partner(recipe: Recipe, at: int, x: Live, y: Live) -> bool:
    """Whether ``y`` may stand at place ``at`` beside ``x``."""
    if x.dtype != y.dtype and (
        recipe.same or (recipe.mutates and _CATEGORY[y.dtype] > _CATEGORY[x.dtype]) or not _suits(recipe, y)
    ):
        return False
    if not recipe.binary:
        return y.shape == x.shape or y.shape == () or y.shape == (1,)
    shapes = (x.shape, y.shape) if recipe.first == 0 else (y.shape, x.shape)
    return bool(recipe.calls(shapes))


def perform(scene: Scene, recipe: Recipe, operands: list[Any], x: Live, call: Call, out: str | None) -> bool:
    """Emit the call unless it would leave the exact range or the op's domain, and take note of what it
    gives.
    """
    tensors: tuple[Live, ...]
    args: tuple[Any, ...]
    if len(operands) == 1:
        tensors, stores, args = (x,), [x.store], (x.ref, *call.tail)
    else:
        tensors = tuple([o for o in operands if o.__class__ is Live])
        stores = [o.store if o.__class__ is Live else _NUMBER_BOUNDS.get(o) or of_number(o) for o in operands]
        words = [o.ref if o.__class__ is Live else o for o in operands]
        if call.pattern is not None:
            args = tuple([words[p] if p.__class__ is At else p for p in call.pattern])
        elif recipe.first == 0:
            args = (*words, *call.tail)
        else:
            args = (x.ref, *[words[at] for at in recipe.others], *call.tail)
    bits, frac = recipe.grow(stores, x.size, operands)
    if not scene.fits(x.dtype, bits, frac):
        return False
    rough = False
    if scene.rounding:
        rough = not recipe.exact or any(store.rough for store in stores)
        if rough and recipe.jumps:
            return False
    if recipe.choosy and not _admitted(scene, recipe, operands, call):
        return False
    op = call.op
    if recipe.mutates:
        return _write(scene, recipe, tensors, x, op, args, call, Store(bits, frac, rough))
    if recipe.multi or call.outs > 1:
        return _several(scene, tensors, x, op, args, call)
    name = out or scene.fresh()
    if not scene.emit(op, args, call.kwargs, (name,)):
        return True
    store = x.store if recipe.view else Store(bits, frac, rough)
    live = scene.bind(name, store, tensors)
    if live is not None and recipe.view:
        live.base = x.base or x
        live.multi = x.multi
    return True


def _admitted(scene: Scene, recipe: Recipe, operands: list[Any], call: Call) -> bool:
    """Whether the op's domain and avoidances allow the values at hand."""
    values = [scene.oracle.array(o.name) if o.__class__ is Live else o for o in operands]
    return recipe.admits(values, dict(call.given))


def _several(
    scene: Scene, tensors: tuple[Live, ...], x: Live, op: str, args: tuple[Any, ...], call: Call
) -> bool:
    """Emit an op with several results; the later ones may be dropped."""
    outs = max(1, call.outs)
    names = tuple(scene.fresh() for _ in range(min(outs, 3)))
    if not scene.emit(op, args, call.kwargs, (*names, REST) if outs > 3 else names):
        return True
    for name in names:
        live = scene.bind(name, x.store, tensors)
        if live is not None:
            live.base, live.multi = x.base or x, True
    return True


def _write(
    scene: Scene,
    recipe: Recipe,
    tensors: tuple[Live, ...],
    x: Live,
    op: str,
    args: tuple[Any, ...],
    call: Call,
    after: Store,
) -> bool:
    """Emit an in-place op and note what it did to everything that shares the memory."""
    if len(tensors) > 1 and _tangled(scene, x, op, args, tensors):
        return False
    if not scene.emit(op, args, call.kwargs, (x.name,) if recipe.rebinds else ()):
        return True
    written(scene, x, tensors, after)
    return True


def _tangled(scene: Scene, x: Live, op: str, args: tuple[Any, ...], tensors: tuple[Live, ...]) -> bool:
    """Whether the result of a write would depend on the order of its loop."""
    target = scene.oracle.memory(x.name)
    if target is None:
        return False
    if op == "__setitem__" and _basic(args[1]):
        try:
            target = target[args[1]] if isinstance(args[1], tuple) else target[(args[1], ...)]
        except IndexError:
            return False
    others = [scene.oracle.memory(y.name) for y in tensors if y is not x]
    return AVOIDANCES["tangled_write"].meets((target, *others), {})


def _basic(index: Any) -> bool:
    """Whether an index makes a view: ints, slices, None and Ellipsis."""
    items = index if isinstance(index, tuple) else (index,)
    return all(item is None or item is Ellipsis or type(item) in (int, slice) for item in items)


def written(scene: Scene, x: Live, operands: tuple[Live, ...], after: Store) -> None:
    """Take note of a write to ``x``: bounds, who made it, and who else looks at that memory."""
    store = x.store
    store.bits, store.frac = max(store.bits, after.bits), max(store.frac, after.frac)
    store.rough = store.rough or after.rough
    x.parents = (*x.parents, *(o for o in operands if o is not x))[-6:]
    x.freed = any(parent.freed for parent in x.parents)
    scene.look_around(x)
    if len(store.lives) > 1:
        scene.heed(store.lives[-3:])
        if x.base is not None and not x.base.gone:
            scene.heed((x.base,))
    else:
        scene.heed((x,))
