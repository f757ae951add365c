"""Calls of ops: the operands, attribute values and spelling of one call, and a record of its effects.

In-place ops pick their targets in ``inplace``. The arguments that an op takes are worked out by ``recipe``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.generate.ops.arguments import DRAWN_NUMBERS
from conformance.generate.ops.magnitude import bounds_of_number
from conformance.generate.ops.recipe import At, Call, Recipe
from conformance.generate.state.features import DATA, DOUBLE, DTYPES, GRAD_CALL, HOOKS, OPERATORS, VIEWS
from conformance.generate.state.gen_state import GenState
from conformance.generate.state.registry import step
from conformance.generate.state.tensor_info import CAP, Store, TensorInfo
from conformance.generate.steps import leaves
from conformance.program import REST, Dtype
from specs.domain import AVOIDANCES

SECOND_DERIVATIVES = DOUBLE | GRAD_CALL
"""The features that second derivatives need."""
_NUMBER_BOUNDS = {n: bounds_of_number(n) for n in DRAWN_NUMBERS}
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


@step(13, recipes="functional")
def functional_op(state: GenState, about: Any = None) -> bool:
    """A plain op, neither a view nor in-place."""
    recipes = state.vocabulary.functional
    return bool(recipes) and apply(state, state.pick(recipes), about)


@step(7, OPERATORS, recipes="operators")
def operator(state: GenState, about: Any = None) -> bool:
    """A Python operator on tensors, or on a tensor and a number."""
    return apply(state, state.pick(state.vocabulary.operators), about)


@step(15, VIEWS, recipes="views")
def view_op(state: GenState, about: Any = None) -> bool:
    """A view; later steps write through it or through its base."""
    return apply(state, state.pick(state.vocabulary.views), about)


def any_op(state: GenState, about: Any = None) -> bool:
    """Any op, rare ones as often as common ones: for unchecked steps, where refusals are welcome."""
    recipes = state.vocabulary.all_recipes
    return bool(recipes) and apply(state, state.pick(recipes), about)


@step(4, DTYPES, emits=("double", "float", "to"))
def cast(state: GenState, about: Any = None) -> bool:
    """A cast; to the same dtype it returns the tensor itself."""
    x = state.any_tensor()
    op, args = state.pick(_CASTS)
    dtype = _CAST_TO.get(op) or args[0].name
    if not state.supports(op) or not state.fits(dtype, x.store.bits, x.store.frac):
        return False
    name = state.result_name()
    if state.emit(op, (x.ref, *args), (), (name,)):
        same = x.dtype == dtype
        store = x.store if same else Store(x.store.bits, x.store.frac, x.store.inexact)
        tensor = state.bind(name, store, x.parents if same else (x,))
        if tensor is not None and same:
            tensor.base, tensor.multi_view = x.base, x.multi_view
    return True


def apply(state: GenState, recipe: Recipe, x: TensorInfo | None = None) -> bool:
    """Draw one call of an op on ``x``, or on a tensor picked; False if nothing live suits it."""
    if x is None:
        x = state.any_tensor()
        if x.kind != "f" and not recipe.accepts(x, state.unchecked):
            x = state.any_tensor()
    if x.kind != "f" and not recipe.accepts(x, state.unchecked):
        return False
    if x.kind == "c" and not (state.rounding or recipe.exact_on_complex or state.unchecked):
        return False
    if not recipe.others:
        call = call_on(state, recipe, (x.shape,))
        return call is not None and perform(state, recipe, x, (x,), (x.ref, *call.tail), call)
    operands: list[Any] = [x] * len(recipe.kinds)
    words: list[Any] = [x.ref] * len(operands)
    shapes: list[Any] = [x.shape] * len(operands)
    for at in recipe.others:
        operand = _operand(state, recipe, at, x)
        if operand is None or operand is True:  # nothing fits, or a leaf had to be made first
            return operand is True
        operands[at] = operand
        is_tensor = operand.__class__ is TensorInfo
        words[at], shapes[at] = (operand.ref, operand.shape) if is_tensor else (operand, None)
    call = call_on(state, recipe, tuple(shapes))
    return call is not None and perform(state, recipe, x, operands, arguments(recipe, words, call), call)


def call_on(state: GenState, recipe: Recipe, shapes: tuple[Any, ...]) -> Call | None:
    """Pick a call on operands of these shapes, or an invalid one if unchecked; None if there is none."""
    table = recipe.table(shapes)
    at = state.below(table.size)
    if state.unchecked and state.below(4):
        return table.invalid(at) or table.valid(at)
    call = table.valid(at)
    if call is not None and call.kwargs and not state.full_api:
        call = table.valid(0)
        return None if call is None or call.kwargs else call
    return call or (table.invalid(at) if state.unchecked else None)


def _operand(state: GenState, recipe: Recipe, at: int, x: TensorInfo) -> Any:
    """Pick a number or a tensor; None if nothing fits, True if a tensor is made first."""
    kind = recipe.kinds[at]
    if kind == "either":
        if recipe.reflected or (state.numbers and state.below(5) == 4):
            return state.pick(recipe.numbers[at])
    elif kind == "number":
        return state.pick(recipe.numbers[at])
    elif kind != "tensor":
        return _mask_or_indices(state, recipe, at, x)
    y = state.any_tensor()
    if state.unchecked:
        return y if recipe.accepts(y, unchecked=True) else None
    if _partner(recipe, at, x, y):
        return y
    y = state.any_tensor()
    if _partner(recipe, at, x, y):
        return y
    for y in reversed(state.tensors):
        if y is not x and _partner(recipe, at, x, y):
            return y
    return x if _partner(recipe, at, x, x) else None


def _mask_or_indices(state: GenState, recipe: Recipe, at: int, x: TensorInfo) -> TensorInfo | bool | None:
    """Pick a mask or a tensor of indices; True if one is made first, since none fits."""
    dtype, row = ("bool", "bool") if recipe.kinds[at] == "mask" else ("int64", "indices")
    for y in reversed(state.tensors):
        if y.dtype == dtype and (
            state.unchecked or y.shape == x.shape or recipe.fits_shapes(_pair(recipe, x, at, y))
        ):
            return y
    if not state.supports("torch.tensor"):
        return None
    shape = (2,) if recipe.op.operands[at].kind.vector else x.shape
    leaves.make_leaf(state, shape, dtype if state.unchecked else row, dtype)
    state.schedule(lambda state, about: apply(state, recipe, about), x)
    return True


def _pair(recipe: Recipe, x: TensorInfo, at: int, y: TensorInfo) -> tuple[Any, ...]:
    shapes: list[Any] = [() if kind == "tensor" else None for kind in recipe.kinds]
    shapes[recipe.first], shapes[at] = x.shape, y.shape
    return tuple(shapes)


def _partner(recipe: Recipe, at: int, x: TensorInfo, y: TensorInfo) -> bool:
    """True if ``y`` may be operand number ``at`` beside ``x``."""
    if x.dtype != y.dtype and (
        recipe.same_dtype
        or (recipe.casts and _CATEGORY[y.dtype] > _CATEGORY[x.dtype])
        or not recipe.accepts(y)
    ):
        return False
    if not recipe.binary:
        return y.shape == x.shape or y.shape == () or y.shape == (1,)
    return recipe.fits_shapes((x.shape, y.shape) if recipe.first == 0 else (y.shape, x.shape))


def perform(
    state: GenState, recipe: Recipe, x: TensorInfo, operands: Sequence[Any], args: tuple[Any, ...], call: Call
) -> bool:
    """Emit the call, unless it would leave the exact range or the op's domain, and record its result."""
    tensors: tuple[TensorInfo, ...] = (x,)
    of_complex, stores = x.kind == "c", [x.store]
    if len(operands) > 1:
        tensors, stores = (), []
        for o in operands:  # NB: once, in less time than a comprehension for each of the three
            if o.__class__ is TensorInfo:
                tensors += (o,)
                stores.append(o.store)
                of_complex = of_complex or o.kind == "c"
            else:
                stores.append(_NUMBER_BOUNDS.get(o) or bounds_of_number(o))
    if recipe.view:
        return _view(state, recipe, x, tensors, args, call)
    if of_complex:
        stores = [Store(store.bits + 1, store.frac, store.inexact) for store in stores]  # magnitudes of pairs
    bits, frac = recipe.grow(stores, x.size, operands)
    if bits + frac > CAP.get(x.dtype, 20):
        return False
    inexact = False
    if state.rounding:
        inexact = any(store.inexact for store in stores)
        if inexact and (recipe.jumps or (recipe.overwrites and x.kind in "ib")):  # an integer is cut off
            return False
        inexact = inexact or not (recipe.exact if x.kind != "c" else recipe.exact_on_complex)
    if recipe.checks_values and not _admitted(state, recipe, operands, call):
        return False
    store = Store(bits, frac, inexact)
    if recipe.mutates:
        return _write(state, recipe, x, tensors, args, call, store)
    name = state.result_name()
    if state.emit(call.op, args, call.kwargs, (name,)):
        tensor = state.bind(name, store, tensors)
        if (
            recipe.op.zero == "derivative"
            and tensor is not None
            and tensor.requires_grad
            and state.features & SECOND_DERIVATIVES == SECOND_DERIVATIVES
        ):
            state.schedule("differentiate_twice", tensor)
        if (
            recipe.indexed
            and tensor is not None
            and tensor.requires_grad
            and state.features & DATA
            and not state.below(3)
        ):
            state.schedule("backward", tensor)
            state.schedule("set_data", next(o for o in tensors if o.kind in "ib"))
    return True


def arguments(recipe: Recipe, words: list[Any], call: Call) -> tuple[Any, ...]:
    """Arguments of a call in torch's order; ``words`` are its several operands in the op's own."""
    if call.pattern is not None:
        return tuple([words[p] if p.__class__ is At else p for p in call.pattern])
    if recipe.first == 0:
        return (*words, *call.tail)
    return (words[recipe.first], *[words[at] for at in recipe.others], *call.tail)


def _admitted(state: GenState, recipe: Recipe, operands: Sequence[Any], call: Call) -> bool:
    """True if the op's domain and avoidances allow the operands' values."""
    values = [state.oracle.array(o.name) if o.__class__ is TensorInfo else o for o in operands]
    return recipe.allows_values(values, dict(call.attributes))


def _view(
    state: GenState,
    recipe: Recipe,
    x: TensorInfo,
    tensors: tuple[TensorInfo, ...],
    args: tuple[Any, ...],
    call: Call,
) -> bool:
    """Emit a view, or several at once, of which only the first three get names."""
    outs = call.outs
    names = (state.result_name(),) if outs == 1 else tuple([state.fresh_name() for _ in range(min(outs, 3))])
    if state.emit(call.op, args, call.kwargs, (*names, REST) if outs > 3 else names):
        multi = recipe.multi or outs > 1 or x.multi_view
        for name in names:
            tensor = state.bind(name, x.store, tensors)
            if tensor is not None:
                tensor.base, tensor.multi_view = x.base or x, multi
                if tensor.size > x.size and not state.below(4):
                    state.schedule("index_put", tensor)
                elif outs > 1 and tensor.requires_grad and state.features & HOOKS:
                    state.schedule("hook_on_unused_output", tensor)
                elif state.mode and state.mode[0] == "inference_mode" and state.below(4):
                    state.schedule("write_outside", tensor)
    return True


def _write(
    state: GenState,
    recipe: Recipe,
    x: TensorInfo,
    tensors: tuple[TensorInfo, ...],
    args: tuple[Any, ...],
    call: Call,
    after: Store,
) -> bool:
    """Emit an in-place op and record its effects on all aliases."""
    if state.self_overlapping(x):
        return False
    if len(tensors) > 1 and _order_dependent(state, x, call.op, args, tensors):
        return False
    done = state.emit(call.op, args, call.kwargs, (x.name,) if recipe.rebinds else ())
    if done or state.inference:  # torch writes to inference tensors before it refuses
        note_write(state, x, tensors, after)
    return True


def _order_dependent(
    state: GenState, x: TensorInfo, op: str, args: tuple[Any, ...], tensors: tuple[TensorInfo, ...]
) -> bool:
    """True if the result of a write would depend on the order of its loop."""
    if all(y is x or not may_share(x.store, y.store) for y in tensors):
        return False
    target = state.oracle.memory(x.name)
    if target is None:
        return False
    if op == "__setitem__":
        if not _basic(args[1]):
            return False  # torch goes through positions in a known order
        try:
            target = target[args[1]] if isinstance(args[1], tuple) else target[(args[1], ...)]
        except IndexError:
            return False
    others = [state.oracle.memory(y.name) for y in tensors if y is not x]
    shared_with_numpy = any(y.store.shared_with_numpy for y in (x, *tensors))
    return AVOIDANCES["partly_overlapping_write"].meets((target, *others), {"foreign": shared_with_numpy})


def may_share(one: Store, other: Store) -> bool:
    """True if two stores may be the same memory.

    A gradient may have become an alias of another without a step that says so, and arrays know no names.
    """
    return one is other or (
        (one.may_hold_grad or one.shared_with_numpy) and (other.may_hold_grad or other.shared_with_numpy)
    )


def _basic(index: Any) -> bool:
    """True if an index makes a view: ints, slices, None and Ellipsis."""
    items = index if isinstance(index, tuple) else (index,)
    return all(item is None or item is Ellipsis or type(item) in (int, slice) for item in items)


def note_write(state: GenState, x: TensorInfo, operands: tuple[TensorInfo, ...], after: Store) -> None:
    """Record a write to ``x``: bounds, parents, and aliases that come into focus."""
    store = x.store
    shared = {o.store for o in state.tensors if o.store.may_hold_grad} if store.may_hold_grad else (store,)
    for one in shared:
        one.widen(after.bits, after.frac, after.inexact)
    for o in operands:
        if o is not x:
            x.parents = (*x.parents, o)[-6:]
            x.freed = x.freed or o.freed
            if o.requires_grad and not (x.requires_grad or state.mode or state.no_grad_turns):
                state.refresh_aliases(x)  # x gets a history from what was written
    if len(store.aliases) > 1:
        state.prioritise(store.aliases[-3:])
        if x.base is not None and not x.base.deleted:
            state.prioritise((x.base,))
    else:
        state.prioritise((x,))
