"""What an op records: the node with its formulas and what they need, and who gets one at all.

Running the op is ``apply``'s business, what a saved tensor is ``graph``'s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from reference_impl.graph import NOWHERE, Node, Saved, SavedNumber, gradient_edge, next_number
from reference_impl.rule_marks import by
from reference_impl.tensor import Tensor
from specs.kind import NUMBERS
from specs.layout import as_torch_lays_out
from specs.op import Op

if TYPE_CHECKING:
    from reference_impl.engine import Task

NUMBER_TYPES = frozenset(NUMBERS)


class Kernel:
    """What is read off an op once, so that running it costs little."""

    __slots__ = (
        "body",
        "dtypes",
        "edges",
        "fast",
        "formulas",
        "keeps",
        "layout",
        "multi",
        "op",
        "overwrites",
        "real",
        "result",
        "saved",
        "slots",
        "view",
    )

    def __init__(self, op: Op) -> None:
        self.op = op
        self.body = op.body
        self.dtypes = op.dtypes
        self.edges = op.edges
        # NB: PyTorch's generated nodes compute gradients in the alphabetical order of its names for the
        # operands, and look at what they saved in it.
        formulas = [(formula.fn, formula.picks, at) for at, formula in enumerate(op.formulas.values())]
        self.formulas = tuple(sorted(formulas, key=lambda f: op.torch_name(op.edges[f[2]])))
        inputs = [i for i, slot in enumerate(op.slots) if slot.source == "operand"]
        self.saved = (
            *sorted(inputs, key=lambda i: op.torch_name(op.slots[i].operand)),
            *(i for i, slot in enumerate(op.slots) if slot.source == "out"),
        )
        self.fast = not op.interleaved
        self.layout = op._layout
        self.slots = len(op.slots)
        self.view = op.view
        self.multi = op.view == "multi"
        self.keeps = tuple(
            (i, s.source, s.name, s.operand) for i, s in enumerate(op.slots) if s.source not in ("g", "out")
        )
        self.result = next((i for i, slot in enumerate(op.slots) if slot.source == "out"), 0)
        self.real = op.real
        self.overwrites = op.mutates and bool(op.overwrites)

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
        self.hooks = None
        self.sequence_nr = next_number()
        self.kernel = kernel
        self.values: list[Any] = [None] * kernel.slots
        if kernel.keeps:
            _keep(self.values, kernel, operands, attributes, reached)

    def name(self) -> str:
        return self.kernel.op.node

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
                if kernel.real:
                    out[at] = real_part(out[at], target.metadata[self.edges[at][1]][1])
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


def real_part(g: Tensor | None, dtype: Any) -> Tensor | None:
    """What of a gradient goes to an operand of that dtype: its real part, as a view, to a real one."""
    if g is None or g._array.dtype.kind != "c" or dtype.kind == "c":
        return g
    return g.view_as_real().select(-1, 0)


def _keep(
    values: list[Any], kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any], reached: int
) -> None:
    """Fill in what the formulas need of operands and attributes."""
    op = kernel.op
    filled = op.filled(
        reached
    )  # NB: by edges that lead somewhere; a view tagged no_grad can require grad and lead nowhere
    for i, source, name, at in kernel.keeps:
        if source == "operand":
            if filled[i] or not by("save/only-what-a-formula-needs"):
                operand = operands[at]
                if not isinstance(operand, Tensor):
                    values[i] = SavedNumber(operand, op.operands[at].kind.name != "number")
                elif op.mutates and at == 0 and by("save/in-place-saves-the-original"):
                    values[i] = Saved(operand.clone())  # recorded: it has a history too
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
    mask = plain = 0
    for i in kernel.edges:
        operand = operands[i]
        if operand.__class__ in NUMBER_TYPES:
            continue
        if (
            operand._flag
            or operand._node is not None
            or (operand._view is not None and operand.requires_grad)
        ):
            mask |= 1 << i
        else:
            plain |= 1 << i
    if not mask:
        return 0 if by("leaf/no-history-without-requires-grad") else plain
    if not by("leaf/op-result-is-no-leaf") or (plain and not by("requires_grad/any-input")):
        return 0
    return mask
