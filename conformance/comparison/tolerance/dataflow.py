"""Data flow: the values and grads of a program that rounding may have reached, and by which steps.

A walk along what was observed of a program that follows memory (views, detached tensors, `.data`, and grads
kept as they came share it, so that a write reaches them all), history (where a gradient goes) and grads.
Where nothing tells which of two things happened, both are taken to have. The things that are followed live
in `aliasing`, what an operation does to them in `op_effects`; `bounds` turns roundings into error bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from conformance.comparison.tolerance.aliasing import (
    EXACT,
    AbstractMemory,
    AbstractNode,
    AbstractTensor,
    Arrival,
    Family,
    Rounded,
    Roundings,
    Tensors,
    carry,
    families_of,
    grads_of,
    level_of,
    memories_of,
    nodes_of,
    sharing,
)
from conformance.comparison.tolerance.gradients import CROWD, GradientsOfRun
from conformance.comparison.tolerance.op_effects import (
    ALIASES,
    CASTS,
    CLIPS,
    FLAGS,
    HOLDERS,
    PARTS_BY_KEYWORD,
    RUNS_OF_ENGINE,
    base,
    divides,
    hands_on,
    keeps_values,
    overwrites,
    saves_by_hooks,
    shows,
    writes,
    written_all_the_same,
)  # fmt: skip
from conformance.execution.trace import Done, Refused, Trace
from conformance.program import DELETE, Step, binds, grad_and_inference, is_assignment, reads, refs
from specs.callbacks import PARAMETRIZED, class_of
from specs.fact import POSITION

Seen = tuple[Any, ...]
"""The facts of a name."""

_GRAD, _DTYPE, _DEVICE = POSITION["grad"], POSITION["dtype"], POSITION["device"]
_IS_LEAF, _RETAINS = POSITION["is_leaf"], POSITION["retains_grad"]


class DataFlow:
    """The walk, as far as it was asked about; it starts again when asked about an earlier step.

    `seen` gives the facts of a name after a step, `rounds` says whether a step's operation rounds.
    `roundings` lists what was rounded, and so gives each its number.
    """

    def __init__(
        self, trace: Trace, seen: Callable[[int, str], Seen | None], rounds: Callable[[Step], bool]
    ) -> None:
        self._trace, self._seen, self._rounds = trace, seen, rounds
        # Called as a function it may turn the mode of a step into another.
        self._modes = all(step.op != "torch.set_grad_enabled" for step in trace.program)
        self._inference = any(grad_and_inference(step.mode)[1] for step in trace.program)
        self._hands_on_grads = any(step.op == "register_post_accumulate_grad_hook" for step in trace.program)
        self._start()

    def _start(self) -> None:
        self.roundings: list[Rounded] = []
        self._names: dict[str, Tensors] = {}
        self._passed = self._saved = EXACT
        self._next = 0

    def value(self, step: int, name: str) -> Roundings:
        """Return the roundings that had reached the value of `name` after `step`."""
        return level_of(memories_of(self._after(step).get(name, ())))

    def grad(self, step: int, name: str) -> Roundings:
        """Return the roundings that had reached the grad of `name` after `step`."""
        return level_of(memories_of(grads_of(self._after(step).get(name, ()))))

    def passed(self, index: int, saved: bool = False) -> Roundings:
        """Return the roundings of what functions may be given; hooks of what was ``saved``, of it all."""
        self._after(index)
        step, held = self._trace.program[index], self._saved if saved else EXACT
        level = self._passed | held
        for name in binds(step) if step.op not in RUNS_OF_ENGINE else ():
            level |= self.value(index, name)
        return level

    def _after(self, index: int) -> dict[str, Tensors]:
        if index < self._next - 1:
            self._start()
        while self._next <= index:
            self._step(now := self._next)
            self._next += 1
            if saves_by_hooks(self._trace.program[now]):
                self._saved |= self.passed(now)
        return self._names

    def _step(self, index: int) -> None:
        step, seen = self._trace.program[index], self._trace[index]
        done = type(seen.outcome) is Done
        operands = self._tensors(reads(step))
        self._passed = level_of(memories_of(operands))
        if step.op in RUNS_OF_ENGINE:
            self._differentiate(index, step, done)
        elif done:
            self._perform(index, step)
        elif type(seen.outcome) is Refused and written_all_the_same(step, seen.outcome.rule):
            if step.op == "step":
                self._optimize(index, step, self._tensors(reads(step)[:1]))
            elif step.op == "set_":
                self._perform(index, step._replace(out=()))
            else:
                self._write(index, step._replace(out=()), self._tensors(reads(step)[:1]), operands)
        if step.op not in RUNS_OF_ENGINE:
            for tensor in operands:
                tensor.passes_on = False  # it may have become a leaf, or retain its grad
            if not done:  # a function may have been given the result before the refusal
                self._passed |= self._level(index, step, operands)
        names = self._names
        for name, facts in seen.facts.items():
            if len(facts) > _GRAD and len(found := names.get(name, ())) == 1:
                for tensor in found:
                    tensor.passes_on = facts[_IS_LEAF] is False is facts[_RETAINS]
                    if facts[-1] is None:
                        tensor.grads = {}

    def _tensors(self, names: Sequence[str]) -> Tensors:
        return {tensor: None for name in names for tensor in self._names.get(name, ())}

    def _bind(self, step: Step, tensors: Tensors) -> None:
        self._names.update(dict.fromkeys(binds(step), tensors))

    def _rounding(self, index: int, step: Step, gradient: bool = True, from_exact: bool = True) -> int:
        """The number of a new rounding, of what the step binds or writes or of a gradient that reaches it."""
        return self._number(self._own(index, step, gradient, from_exact))

    def _own(self, index: int, step: Step, gradient: bool = True, from_exact: bool = True) -> Rounded:
        return Rounded(index, (*binds(step), *reads(step), "")[0], gradient, from_exact)

    def _number(self, rounded: Rounded) -> int:
        self.roundings.append(rounded)
        return len(self.roundings) - 1

    def _recorded(self, step: Step) -> bool:
        if not self._modes:
            return True
        grad, inference = grad_and_inference(step.mode)
        return grad and not (inference and class_of(step.op) is None)

    def _node(self, index: int, step: Step, operands: Tensors) -> AbstractNode:
        node = AbstractNode(self._rounding(index, step))
        if self._recorded(step):
            node.parents = nodes_of(operands)
            node.rounds = self._rounds(step)
            if keeps_values(step.op):
                # NB: not the memory alone: `.data` of what is kept may be assigned.
                node.keeps, node.operands = {*memories_of(operands)}, operands
                node.hands_on, node.divides = hands_on(step.op, self._inference), divides(step.op)
        return node

    # -- plain steps -----------------------------------------------------------------------------

    def _perform(self, index: int, step: Step) -> None:
        op, names = step.op, reads(step)
        operands, first = self._tensors(names), self._tensors(names[:1])
        if op == DELETE:
            for name in names:
                self._names.pop(name, None)
        elif is_assignment(op):
            self._assign(op, first, self._tensors([*refs(step.args[1:])]))
            if op not in (".grad=", ".data=") and names:  # a module that holds tensors holds one more
                self._names[names[0]] = operands
        elif op == "set_":
            self._assign(".data=", first, self._tensors([*refs(step.args[1:])]))
        elif op in FLAGS or (base(op) in CASTS and self._cast(index, step) == "same"):
            self._bind(step, first)
        elif op == ".grad":
            self._bind(step, grads_of(first))
        elif op in PARAMETRIZED:
            self._bind(step, {self._alias(index, step, self._tensors([name])): None for name in names})
        elif op in HOLDERS:
            self._bind(step, operands)
        elif op == "step":
            self._optimize(index, step, first)
        elif op.rpartition(".")[2] in CLIPS:
            self._clip(index, step, operands)
        elif base(op) in ALIASES:
            self._bind(step, {self._alias(index, step, first): None})
        elif writes(op):
            self._write(index, step, first, operands)
        else:
            self._make(index, step, operands)

    def _alias(self, index: int, step: Step, shown: Tensors) -> AbstractTensor:
        """Return a leaf on the memory of what is shown, without its history."""
        family = Family(AbstractNode(self._rounding(index, step)))
        return AbstractTensor(memories_of(shown), [family], made=False)

    def _assign(self, op: str, targets: Tensors, value: Tensors) -> None:
        """An assignment replaces what was there, unless there is doubt about who is assigned to."""
        sure = len(targets) == 1
        for target in targets:
            if op == ".grad=":
                target.grads = value if sure else target.grads | value
            elif op == ".data=":
                for memory in target.memory:
                    memory.owner = None  # it may come to lie on a part of what it covered
                target.memory = memories_of(value) | ({} if sure else target.memory)

    def _optimize(self, index: int, step: Step, held: Tensors) -> None:
        """A step of an optimizer writes to each tensor it holds what its grad comes to."""
        named = {tensor: name for name, found in self._names.items() for tensor in found if found != held}
        for tensor in held:
            level = level_of(memories_of({tensor, *tensor.grads}))
            if level or self._rounds(step):
                name = named.get(tensor, reads(step)[0])
                level |= 1 << self._number(Rounded(index, name, gradient=False, from_exact=not level))
            for memory in tensor.memory:
                memory.write(level, len(self.roundings))

    def _clip(self, index: int, step: Step, operands: Tensors) -> None:
        """A clip of grads writes to them what all of them come to; its result is a norm of its own."""
        level = self._level(index, step, grads_of(operands))
        for memory in memories_of(grads_of(operands)):
            memory.write(level, len(self.roundings))
        for name in binds(step):
            norm = AbstractMemory(level)
            leaf = Family(AbstractNode(self._rounding(index, step)))
            self._names[name] = {AbstractTensor([norm], [leaf], made=False): None}

    def _level(self, index: int, step: Step, operands: Tensors) -> Roundings:
        """Return the roundings that reach the result of a computation: its operands', and its own."""
        level = level_of(memories_of(operands))
        if level or self._rounds(step):
            level |= 1 << self._rounding(index, step, gradient=False, from_exact=not level)
        return level

    def _write(self, index: int, step: Step, targets: Tensors, operands: Tensors) -> None:
        """A write reaches whatever shares the memory, and replaces what it overwrites as a whole."""
        whole = overwrites(step.op) and targets.keys() == {each.owner for each in memories_of(targets)}
        values = [*step.args[1:], *(value for _, value in step.kwargs)]
        level = self._level(index, step, self._tensors([*refs(values)]) if whole else operands)
        if saves_by_hooks(step):
            self._passed |= level  # the result may be what is saved
        for memory in memories_of(targets):
            memory.write(level, len(self.roundings))
            if whole and len(targets) == 1:
                memory.overwrite(level)
        if self._recorded(step):
            node = self._node(index, step, operands)
            for family in families_of(targets):
                family.extend(node)
        self._bind(step, targets)
        # A function that writes may give another tensor on that memory, or more.
        for name in binds(step)[0 if class_of(step.op) else 1 :]:
            self._names[name] = self._made(index, step, operands, "self")

    def _make(self, index: int, step: Step, operands: Tensors) -> None:
        kind = self._cast(index, step) if base(step.op) in CASTS else shows(step)
        for name in binds(step):
            self._names[name] = self._made(index, step, operands, kind if operands else "never")

    def _made(self, index: int, step: Step, operands: Tensors, kind: str) -> Tensors:
        """Return what a result may be; ``kind`` is a word of `Op.aliases`."""
        memory = {} if kind == "never" else memories_of(operands)
        families = {} if kind == "never" else families_of(operands)
        own = AbstractMemory()
        if kind != "always":
            own.level = self._level(index, step, operands)
            node = self._node(index, step, operands)
            if node.keeps:
                node.keeps |= {own}
            memory[own] = None
            families[Family(node)] = None
        made = AbstractTensor(memory, families, bool(operands) and (kind != "never" or self._recorded(step)))
        own.owner = made if kind == "never" else None
        return {made: None, **operands} if kind == "self" else {made: None}

    def _cast(self, index: int, step: Step) -> str:
        """Return what a cast gives: a tensor that has the dtype is returned itself."""
        pairs = [
            (self._seen(index - 1, x), self._seen(index, y)) for x in reads(step)[:1] for y in binds(step)
        ]
        if step.kwargs or len(step.args) > 2 or not all(x and y for x, y in pairs):
            return "self"
        kept = all((x[_DTYPE], x[_DEVICE]) == (y[_DTYPE], y[_DEVICE]) for x, y in pairs if x and y)
        return "same" if kept else "never"

    # -- the engine ------------------------------------------------------------------------------

    def _differentiate(self, index: int, step: Step, done: bool) -> None:
        """A run of the engine; one that was refused may have got half-way."""
        given: dict[str, list[Any]] = {"roots": [], "seeds": [], "inputs": [], "create_graph": []}
        for part, value in (*zip(RUNS_OF_ENGINE[step.op], step.args, strict=False), *step.kwargs):
            given.setdefault(PARTS_BY_KEYWORD.get(part, part), []).append(value)
        roots, seeds, inputs = ([*refs(given[part])] for part in ("roots", "seeds", "inputs"))
        begun, targets = self._tensors(seeds), self._tensors(inputs)
        # What is off is off by as much more as the gradient is larger that was passed in.
        magnified = EXACT
        for name in seeds:
            magnified |= 1 << self._number(Rounded(index, name, gradient=True))
        captures = step.op == "torch.autograd.grad"
        ran, arrived, passed = carry(nodes_of(self._tensors(roots)), begun, magnified, targets)
        # A leaf's own hooks are given the leaf itself, or its grad by the hook before them.
        given_too = dict.fromkeys(arrived) | (grads_of(arrived) if self._hands_on_grads else {})
        self._passed = passed | level_of(memories_of(given_too))
        create = any(given["create_graph"])
        own = self._own(index, step)
        gradients = GradientsOfRun(
            self.roundings,
            ran,
            begun,
            captures,
            create,
            lambda: self._number(own),
            crowded=len(arrived) > CROWD,
        )
        everyone = not captures and all(value is None for value in given["inputs"])
        mine: list[Tensors] = [{} for _ in inputs]
        asked = [self._tensors([name]) for name in inputs] if captures and done else []
        for tensor, arrival in arrived.items():
            for found, wanted in zip(mine, asked, strict=False):
                if tensor in wanted:
                    found[gradients.gradient(arrival)] = None
            if (tensor.made and not tensor.passes_on) or everyone or (not captures and tensor in targets):
                gradients.accumulate(tensor, arrival)
        if captures and done:
            for found, wanted in zip(mine, asked, strict=True):
                found |= {gradients.gradient(Arrival()): None for _ in wanted.keys() - arrived.keys()}
            handed_out = dict(begun)
            for found in mine:
                handed_out |= found
            for name, found in zip(binds(step), mine, strict=False):
                # One gradient may be handed out twice, or be what it began as.
                self._names[name] = sharing(handed_out, memories_of(found))
