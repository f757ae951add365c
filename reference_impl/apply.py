"""Running an op: choose its overload, promote, compute, and record a node if somebody wants a gradient.

Ops that write into their first operand go through ``write``; what a view is lives in ``views``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl import dtypes
from reference_impl.graph import NOWHERE, Node, Saved, SavedNumber, gradient_edge, next_number
from reference_impl.modes import STATE
from reference_impl.rule_marks import by
from reference_impl.tensor import Tensor
from reference_impl.views import as_view
from specs.layout import as_torch_lays_out
from specs.op import Op, Overloads
from specs.refusal import Refusal

if TYPE_CHECKING:
    from reference_impl.engine import Task


ARITHMETIC = frozenset({"add", "copy", "div", "mul", "pow", "rsub", "sub"})
"""Ops whose gradient for a real operand is the real part of a complex one."""
OVERWRITING = frozenset({"copy_", "fill_", "zero_"})
"""In-place ops that ignore the old value."""


_TORCH_NAMES = {"x": "self", "y": "other", ("mm", "y"): "mat2", ("bmm", "y"): "mat2", ("mv", "y"): "vec", ("dot", "y"): "tensor"}


def _torch_name(op: Op, at: int) -> str:
    """PyTorch's name of an operand: its generated nodes compute gradients in the alphabetical order of these, and look at what they saved in it."""
    name = op.operands[at].name
    return _TORCH_NAMES.get((op.name.rstrip("_"), name)) or _TORCH_NAMES.get(name, name)


class Kernel:
    """What is read off an op once, so that running it costs little."""

    __slots__ = ("body", "dtypes", "edges", "fast", "formulas", "keeps", "layout", "multi", "op", "overwrites", "result", "saved", "slots")

    def __init__(self, op: Op) -> None:
        self.op = op
        self.body = op.body
        self.dtypes = op.dtypes
        self.edges = op.edges
        formulas = [(formula.fn, formula.picks, at) for at, formula in enumerate(op.formulas.values())]
        self.formulas = tuple(sorted(formulas, key=lambda f: _torch_name(op, op.edges[f[2]])))
        inputs = [i for i, slot in enumerate(op.slots) if slot.source == "operand"]
        self.saved = (
            *sorted(inputs, key=lambda i: _torch_name(op, op.slots[i].operand)),
            *(i for i, slot in enumerate(op.slots) if slot.source == "out"),
        )
        self.fast = not op.interleaved
        self.layout = op._layout
        self.slots = len(op.slots)
        self.multi = op.view == "multi"
        self.keeps = tuple((i, s.source, s.name, s.operand) for i, s in enumerate(op.slots) if s.source not in ("g", "out"))
        self.result = next((i for i, slot in enumerate(op.slots) if slot.source == "out"), 0)
        self.overwrites = op.mutates and op.name in OVERWRITING

    def compute(self, arrays: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
        """The numpy body's result."""
        if self.fast:
            try:
                result = self.body(*arrays, **attributes)
            except ValueError:
                pass  # once more below, where it is told whether the shapes were at fault
            else:
                if self.layout and result.ndim > 1:
                    return as_torch_lays_out(result, [arrays[i] for i in self.layout])
                return result
        return self.op.compute(arrays, attributes)


class OpNode(Node):
    """The history an op records: its formulas, and what they need."""

    __slots__ = ("kernel", "values")

    def __init__(self, kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> None:
        edges = []
        reached = 0
        for i in kernel.edges:
            operand = operands[i]
            edge = gradient_edge(operand) if isinstance(operand, Tensor) else NOWHERE
            edges.append(edge)
            if edge[0] is not None:
                reached |= 1 << i
        # What Node.__init__ does, written out: this is the one place where it costs.
        self.edges = tuple(edges)
        self.metadata = []
        self.retained = None
        self.sequence_nr = next_number()
        self.kernel = kernel
        self.values: list[Any] = [None] * kernel.slots
        if kernel.keeps:
            _keep(self.values, kernel, operands, attributes, reached)

    def name(self) -> str:
        return self.kernel.op.node

    @property
    def real_part(self) -> bool:  # type: ignore[override]
        return self.kernel.op.name.rstrip("_") in ARITHMETIC

    def apply(self, grads: list[Tensor | None], task: Task) -> list[Tensor | None]:
        kernel = self.kernel
        values = self.values.copy()
        for i in kernel.saved:
            if values[i] is not None:
                values[i] = values[i].unpack(self)
        if not kernel.multi:
            g = grads[0]
            if g is None:
                return [None] * len(self.edges)
            values[0] = g
        elif all(g is None for g in grads):
            return [None] * len(self.edges)
        elif any(g is None for g in grads) and not by("backward/undefined-passes-on"):
            values[0] = tuple(next(g for g in grads if g is not None) for _ in grads)
        else:
            values[0] = tuple(grads)
        out: list[Tensor | None] = [None] * len(self.edges)
        only = task.only
        for fn, picks, at in kernel.formulas:
            target = self.edges[at][0]
            if target is not None and (only is None or task.runs(target)):
                out[at] = fn(*[values[i] for i in picks])
        if kernel.overwrites and not by("write/cuts-what-it-overwrites"):
            out[0] = grads[0]
        return out

    def release(self) -> None:
        for i in self.kernel.saved:
            if self.values[i] is not None:
                self.values[i].freed = True

    def save_output(self, tensor: Tensor, written_view: bool = False) -> None:
        """Keep the op's result, if a formula asks for it."""
        slot = self.kernel.result
        if slot:
            if by("save/output-is-saved"):
                self.values[slot] = Saved(tensor, is_output=True, written_view=written_view)
            else:
                self.values[slot] = Saved(Tensor(tensor._array.copy()))


def _keep(values: list[Any], kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any], reached: int) -> None:
    """Fill in what the formulas need of operands and attributes."""
    op = kernel.op
    filled = op.filled(reached)  # NB: by edges that lead somewhere; a view tagged no_grad can require grad and lead nowhere
    for i, source, name, at in kernel.keeps:
        if source == "operand":
            if filled[i] or not by("save/only-what-a-formula-needs"):
                operand = operands[at]
                if not isinstance(operand, Tensor):
                    values[i] = SavedNumber(operand, op.operands[at].kind.name != "number")
                elif op.mutates and at == 0 and by("save/in-place-saves-the-original"):
                    values[i] = Saved(operand.clone())  # type: ignore[attr-defined]  # recorded: it has a history too
                else:
                    values[i] = Saved(operand)
        elif source == "attribute":
            values[i] = attributes[name]
        else:
            values[i] = _METADATA[source](operands[at])


_METADATA: dict[str, Callable[[Any], Any]] = {
    "shape": lambda x: x._array.shape if isinstance(x, Tensor) else (),
    "dtype": lambda x: x._array.dtype if isinstance(x, Tensor) else None,
    "strides": lambda x: x.stride(),
    "offset": lambda x: x.storage_offset(),
}


def recorded_mask(kernel: Kernel, operands: tuple[Any, ...]) -> int:
    """Which operands require grad, as a bit mask; 0 if nothing is to be recorded."""
    if not STATE.enabled:
        return 0
    mask = plain = 0
    for i in kernel.edges:
        operand = operands[i]
        if isinstance(operand, Tensor):
            if operand._flag or operand._node is not None or (operand._view is not None and operand.requires_grad):
                mask |= 1 << i
            else:
                plain |= 1 << i
    if not mask:
        return 0 if by("leaf/no-history-without-requires-grad") else plain
    if not by("leaf/op-result-is-no-leaf") or (plain and not by("requires_grad/any-input")):
        return 0
    return mask


def prepare(kernel: Kernel, operands: tuple[Any, ...]) -> tuple[tuple[Any, ...], np.dtype | None]:
    """The arrays a body computes on, cast as the op says, and the dtype they were cast to (None: none were)."""
    count = len(operands)
    if count == 1:
        arrays: tuple[Any, ...] = (operands[0]._array,)
    else:
        arrays = tuple([x._array if isinstance(x, Tensor) else x for x in operands])
    how = kernel.dtypes
    if how == "keep" or how == "same":
        return arrays, None
    first = arrays[0]
    if count == 2 and type(first) is np.ndarray and first.dtype.kind == "f":
        second = arrays[1]
        if type(second) is np.ndarray:
            if first.dtype is second.dtype:
                return arrays, first.dtype
        elif type(second) is not complex:
            return arrays, first.dtype
    elif count == 1:
        if how == "promote" or first.dtype.kind in "fc":
            return arrays, first.dtype
        if how == "float":
            return (first.astype(np.float32),), dtypes.float32.numpy
    if how == "sum":
        if first.dtype.kind in "bi":
            arrays = (first.astype(np.int64), *arrays[1:])
        return arrays, None
    return _promoted(kernel.op, arrays)


def _promoted(op: Op, arrays: tuple[Any, ...]) -> tuple[tuple[Any, ...], np.dtype]:
    """All operands but masks and indices in the dtype torch.result_type gives."""
    apart = [operand.kind.name in ("mask", "indices") for operand in op.operands]
    taking = [a for a, skip in zip(arrays, apart, strict=True) if not skip]
    target = dtypes.promote(
        [a for a in taking if isinstance(a, np.ndarray)], [a for a in taking if not isinstance(a, np.ndarray)]
    )
    if op.dtypes == "float" and target.kind in "bi":
        target = dtypes.float32.numpy
    return tuple(a if skip else _cast(a, target) for a, skip in zip(arrays, apart, strict=True)), target


def _cast(value: Any, target: np.dtype) -> Any:
    if isinstance(value, np.ndarray):
        return value if value.dtype == target else value.astype(target)
    return np.asarray(value).astype(target)


def call(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
    """Run an op that writes nothing: its result, or a tuple of them."""
    op = kernel.op
    mask = recorded_mask(kernel, operands) if kernel.edges else 0
    node = OpNode(kernel, operands, attributes) if mask else None
    arrays, target = prepare(kernel, operands)
    try:
        result = kernel.compute(arrays, attributes)
    except Refusal as refused:
        if by(refused.rule):
            raise
        result = np.array(arrays[0])
    if op.view:
        return _views(op, operands[0], result, node)
    array = result if type(result) is np.ndarray else np.asarray(result)
    if array is arrays[0]:
        array = array.copy()
    if target is not None and array.dtype is not target and array.dtype != target and op.dtypes != "bool":
        array = array.astype(target)
    out = Tensor(array)
    if node is not None:
        node.metadata.append((array.shape, array.dtype))
        out._node = node
        if kernel.result:
            node.save_output(out)
        if not by("grad/only-leaves-are-filled"):
            out.retain_grad()  # type: ignore[attr-defined]
    elif op.dtypes == "bool" and STATE.enabled and _wrongly_recorded(operands):
        out._node = Node((NOWHERE,))
    return out


def _wrongly_recorded(operands: tuple[Any, ...]) -> bool:
    """Whether a result without gradient is taken for a differentiable one (only with that rule knocked out)."""
    wanted = any(isinstance(x, Tensor) and x.requires_grad for x in operands)
    return wanted and not by("requires_grad/integer-results-never")


def _views(op: Op, source: Tensor, result: Any, node: OpNode | None) -> Any:
    multi = op.view == "multi"
    views = []
    for array in result if multi else (result,):
        if by("view/shares-storage"):
            view = Tensor(array, source._storage, source._counter)
        else:
            view = Tensor(array.copy())
        as_view(source, view, multi)
        if node is not None:
            view._node = node
            number = node.add_output(view)
            view._nr = number if not number or by("view/outputs-share-a-node") else 0
        views.append(view)
    return tuple(views) if multi else views[0]


class Plan:
    """How positional arguments of certain types become an op's operands and attributes."""

    __slots__ = ("attributes", "count", "kernel", "places")

    def __init__(self, kernel: Kernel, count: int) -> None:
        op = kernel.op
        self.kernel = kernel
        order = op.order
        places = tuple(order.index(name) for name in op.names)
        self.count = len(places)
        self.places = None if places == tuple(range(self.count)) else places
        self.attributes = tuple(
            (a.name, order.index(a.name), a.kind.read) for a in op.attributes if order.index(a.name) < count
        )

    def bind(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
        """Operands and attributes."""
        defaults = self.kernel.op.defaults
        operands = args[: self.count] if self.places is None else tuple([args[i] for i in self.places])
        if not self.attributes:
            return operands, defaults
        attributes = defaults.copy()
        for name, at, read in self.attributes:
            attributes[name] = read(args[at])
        return operands, attributes


def dispatch(overloads: Overloads) -> Callable[..., Any]:
    """The Python function that runs whichever overload takes its arguments."""
    from reference_impl.write import call_in_place

    kernels = {id(op): Kernel(op) for op in overloads.ops}
    plans: dict[tuple[type, ...], Plan] = {}

    def slowly(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Bind in full, and remember how where the types alone tell."""
        op, operands, attributes = overloads.bind(args, kwargs, Tensor)
        kernel = kernels[id(op)]
        if not kwargs and not any(isinstance(a, int) and k.variadic for a, k in zip(args, op._kinds, strict=False)):
            plans[tuple(map(type, args))] = Plan(kernel, len(args))
        return kernel, operands, attributes

    def run(*args: Any, **kwargs: Any) -> Any:
        plan = None if kwargs else plans.get(tuple(map(type, args)))
        try:
            if plan is not None:
                kernel = plan.kernel
                operands, attributes = plan.bind(args)
            else:
                kernel, operands, attributes = slowly(args, kwargs)
            op = kernel.op
            if op.composite:
                return op.body(*operands, **attributes)
        except Refusal as refused:
            if by(refused.rule):
                raise
            return args[0]
        if op.mutates:
            return call_in_place(kernel, operands, attributes)
        return call(kernel, operands, attributes)

    run.__name__ = run.__qualname__ = overloads.name
    run.__doc__ = overloads.ops[0].doc
    return run
