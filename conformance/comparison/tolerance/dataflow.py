"""Data flow: the values and grads of a program that rounding may have reached, and by which steps.

A walk along what was observed of a program that follows memory (views, detached tensors, `.data`, and grads
kept as they came share it, so that a write reaches them all), history (where a gradient goes) and grads.
Where nothing tells which of two things happened, both are taken to have. The things that are followed live
in `aliasing`, what an operation does to them in `op_effects`; `bounds` turns roundings into error bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from conformance.comparison.tolerance.aliasing import (
    AbstractMemory,
    AbstractNode,
    AbstractTensor,
    Arrival,
    Family,
    Roundings,
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
    base,
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

ENGINE: Mapping[str, tuple[str, ...]] = {
    "backward": ("roots", "seeds", "retain_graph", "create_graph", "inputs"),
    "torch.autograd.backward": ("roots", "seeds", "retain_graph", "create_graph", "seeds", "inputs"),
    "torch.autograd.grad": ("roots", "inputs", "seeds", "retain_graph", "create_graph"),
}
"""The operations that run the engine, and the parts their leading arguments play."""

KEYWORDS = {
    "tensors": "roots", "outputs": "roots",
    "gradient": "seeds", "grad_tensors": "seeds", "grad_variables": "seeds", "grad_outputs": "seeds",
}  # fmt: skip
"""The parts of arguments that are passed by keyword."""

Seen = tuple[Any, ...]
"""The facts of a name."""

_GRAD, _DTYPE, _DEVICE = POSITION["grad"], POSITION["dtype"], POSITION["device"]


class Rounded(NamedTuple):
    """A rounding: the step and the name of its result, whether it is that of a gradient there, and whether
    what it was computed from was exact.
    """

    step: int
    name: str
    gradient: bool
    from_exact: bool = True


class DataFlow:
    """The walk, as far as it was asked about; it starts again when asked about an earlier step.

    `seen` holds the facts of each name after each step, `rounds` says whether a step's operation rounds.
    `roundings` lists what was rounded, and so gives each its number.
    """

    def __init__(
        self, trace: Trace, seen: Sequence[Mapping[str, Seen]], rounds: Callable[[Step], bool]
    ) -> None:
        self._trace, self._seen, self._rounds = trace, seen, rounds
        # Called as a function it may turn the mode of a step into another.
        self._modes = all(step.op != "torch.set_grad_enabled" for step in trace.program)
        self._hands_on_grads = any(step.op == "register_post_accumulate_grad_hook" for step in trace.program)
        self._start()

    def _start(self) -> None:
        self.roundings: list[Rounded] = []
        self._names: dict[str, set[AbstractTensor]] = {}
        self._passed, self._saved, self._next = Roundings(), Roundings(), 0

    def value(self, step: int, name: str) -> Roundings:
        """Return the roundings that had reached the value of `name` after `step`."""
        return level_of(memories_of(self._after(step).get(name, ())))

    def grad(self, step: int, name: str) -> Roundings:
        """Return the roundings that had reached the grad of `name` after `step`."""
        return level_of(memories_of(grads_of(self._after(step).get(name, ()))))

    def passed(self, index: int, saved: bool = False) -> Roundings:
        """Return the roundings of what functions may be given; hooks of what was ``saved``, of it all."""
        self._after(index)
        step, held = self._trace.program[index], self._saved if saved else ()
        return self._passed.union(held, *(self.value(index, x) for x in binds(step) if step.op not in ENGINE))

    def _after(self, index: int) -> dict[str, set[AbstractTensor]]:
        if index < self._next - 1:
            self._start()
        while self._next <= index:
            self._step(now := self._next)
            self._next += 1
            self._saved |= self.passed(now) if saves_by_hooks(self._trace.program[now]) else Roundings()
        return self._names

    def _step(self, index: int) -> None:
        step, seen = self._trace.program[index], self._trace[index]
        done = type(seen.outcome) is Done
        operands = self._tensors(reads(step))
        self._passed = level_of(memories_of(operands))
        if step.op in ENGINE:
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
        if not done and step.op not in ENGINE:  # a function may have been given the result before the refusal
            self._passed |= self._level(index, step, operands)
        for name, facts in seen.facts.items():
            found = self._names.get(name, ())
            if len(facts) > _GRAD and facts[_GRAD] is None and len(found) == 1:
                for tensor in found:
                    tensor.grads = set()

    def _tensors(self, names: Sequence[str]) -> set[AbstractTensor]:
        return {tensor for name in names for tensor in self._names.get(name, ())}

    def _bind(self, step: Step, tensors: set[AbstractTensor]) -> None:
        self._names.update(dict.fromkeys(binds(step), tensors))

    def _rounding(self, index: int, step: Step, gradient: bool = True, from_exact: bool = True) -> int:
        """The number of a new rounding, of what the step binds or writes or of a gradient that reaches it."""
        return self._number(Rounded(index, (*binds(step), *reads(step), "")[0], gradient, from_exact))

    def _number(self, rounded: Rounded) -> int:
        self.roundings.append(rounded)
        return len(self.roundings) - 1

    def _recorded(self, step: Step) -> bool:
        if not self._modes:
            return True
        grad, inference = grad_and_inference(step.mode)
        return grad and not (inference and class_of(step.op) is None)

    def _node(self, index: int, step: Step, operands: set[AbstractTensor]) -> AbstractNode:
        node = AbstractNode(self._rounding(index, step))
        if self._recorded(step):
            node.parents = nodes_of(operands)
            node.rounds = self._rounds(step)
            if keeps_values(step.op):
                # NB: not the memory alone: `.data` of what is kept may be assigned.
                node.keeps, node.operands = memories_of(operands), operands.copy()
                node.hands_on = hands_on(step.op)
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
            self._bind(step, {self._alias(index, step, self._tensors([name])) for name in names})
        elif op in HOLDERS:
            self._bind(step, operands)
        elif op == "step":
            self._optimize(index, step, first)
        elif op.rpartition(".")[2] in CLIPS:
            self._clip(index, step, operands)
        elif base(op) in ALIASES:
            self._bind(step, {self._alias(index, step, first)})
        elif writes(op):
            self._write(index, step, first, operands)
        else:
            self._make(index, step, operands)

    def _alias(self, index: int, step: Step, shown: set[AbstractTensor]) -> AbstractTensor:
        """Return a leaf on the memory of what is shown, without its history."""
        family = Family(AbstractNode(self._rounding(index, step)))
        return AbstractTensor(memories_of(shown), [family], made=False)

    def _assign(self, op: str, targets: set[AbstractTensor], value: set[AbstractTensor]) -> None:
        """An assignment replaces what was there, unless there is doubt about who is assigned to."""
        sure = len(targets) == 1
        for target in targets:
            if op == ".grad=":
                target.grads = value if sure else target.grads | value
            elif op == ".data=":
                for memory in target.memory:
                    memory.owner = None  # it may come to lie on a part of what it covered
                target.memory = memories_of(value) | (set() if sure else target.memory)

    def _optimize(self, index: int, step: Step, held: set[AbstractTensor]) -> None:
        """A step of an optimizer writes to each tensor it holds what its grad comes to."""
        named = {tensor: name for name, found in self._names.items() for tensor in found if found != held}
        for tensor in held:
            level = level_of(memories_of({tensor, *tensor.grads}))
            if level or self._rounds(step):
                name = named.get(tensor, reads(step)[0])
                level |= {self._number(Rounded(index, name, gradient=False, from_exact=not level))}
            for memory in tensor.memory:
                memory.write(level)

    def _clip(self, index: int, step: Step, operands: set[AbstractTensor]) -> None:
        """A clip of grads writes to them what all of them come to; its result is a norm of its own."""
        level = self._level(index, step, grads_of(operands))
        for memory in memories_of(grads_of(operands)):
            memory.write(level)
        for name in binds(step):
            norm = AbstractMemory()
            norm.level = level
            leaf = Family(AbstractNode(self._rounding(index, step)))
            self._names[name] = {AbstractTensor({norm}, [leaf], made=False)}

    def _level(self, index: int, step: Step, operands: set[AbstractTensor]) -> Roundings:
        """Return the roundings that reach the result of a computation: its operands', and its own."""
        level = level_of(memories_of(operands))
        if level or self._rounds(step):
            level |= {self._rounding(index, step, gradient=False, from_exact=not level)}
        return level

    def _write(
        self, index: int, step: Step, targets: set[AbstractTensor], operands: set[AbstractTensor]
    ) -> None:
        """A write reaches whatever shares the memory, and replaces what it overwrites as a whole."""
        whole = overwrites(step.op) and targets == {memory.owner for memory in memories_of(targets)}
        values = [*step.args[1:], *(value for _, value in step.kwargs)]
        level = self._level(index, step, self._tensors([*refs(values)]) if whole else operands)
        if saves_by_hooks(step):
            self._passed |= level  # the result may be what is saved
        for memory in memories_of(targets):
            memory.write(level)
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

    def _make(self, index: int, step: Step, operands: set[AbstractTensor]) -> None:
        kind = self._cast(index, step) if base(step.op) in CASTS else shows(step)
        for name in binds(step):
            self._names[name] = self._made(index, step, operands, kind if operands else "never")

    def _made(self, index: int, step: Step, operands: set[AbstractTensor], kind: str) -> set[AbstractTensor]:
        """Return what a result may be; ``kind`` is a word of `Op.aliases`."""
        memory = set() if kind == "never" else memories_of(operands)
        families = set() if kind == "never" else families_of(operands)
        own = AbstractMemory()
        if kind != "always":
            own.level = self._level(index, step, operands)
            node = self._node(index, step, operands)
            if node.keeps:
                node.keeps |= {own}
            memory |= {own}
            families |= {Family(node)}
        made = AbstractTensor(memory, families, bool(operands) and (kind != "never" or self._recorded(step)))
        own.owner = made if kind == "never" else None
        return {made, *operands} if kind == "self" else {made}

    def _cast(self, index: int, step: Step) -> str:
        """Return what a cast gives: a tensor that has the dtype is returned itself."""
        before, after = self._seen[index - 1], self._seen[index]
        pairs = [(before.get(x), after.get(y)) for x in reads(step)[:1] for y in binds(step)]
        if step.kwargs or len(step.args) > 2 or not all(x and y for x, y in pairs):
            return "self"
        kept = all((x[_DTYPE], x[_DEVICE]) == (y[_DTYPE], y[_DEVICE]) for x, y in pairs if x and y)
        return "same" if kept else "never"

    # -- the engine ------------------------------------------------------------------------------

    def _differentiate(self, index: int, step: Step, done: bool) -> None:
        """A run of the engine; one that was refused may have got half-way."""
        given: dict[str, list[Any]] = {"roots": [], "seeds": [], "inputs": [], "create_graph": []}
        for part, value in (*zip(ENGINE[step.op], step.args, strict=False), *step.kwargs):
            given.setdefault(KEYWORDS.get(part, part), []).append(value)
        roots, seeds, inputs = ([*refs(given[part])] for part in ("roots", "seeds", "inputs"))
        begun, targets = self._tensors(seeds), self._tensors(inputs)
        # What is off is off by as much more as the gradient is larger that was passed in.
        magnified = frozenset(self._number(Rounded(index, name, gradient=True)) for name in seeds)
        ran, arrived = carry(nodes_of(self._tensors(roots)), begun, magnified)
        # A leaf's own hooks are given the leaf itself, or its grad by the hook before them.
        given_too = arrived.keys() | (grads_of(arrived) if self._hands_on_grads else set())
        onto = (arrival.onto(frozenset()) for arrival in arrived.values())
        self._passed = level_of(memories_of(given_too)).union(*onto)
        create = any(given["create_graph"])
        made = GradientsOfRun(self.roundings, ran, begun, create, crowded=len(arrived) > CROWD)

        def gradient(arrival: Arrival, old: set[AbstractTensor]) -> AbstractTensor:
            return made.gradient(arrival, old, lambda: self._rounding(index, step))

        captures = step.op == "torch.autograd.grad"
        everyone = not captures and all(value is None for value in given["inputs"])
        mine: list[set[AbstractTensor]] = [set() for _ in inputs]
        asked = [self._tensors([name]) for name in inputs] if captures and done else []
        for tensor, arrival in arrived.items():
            for found, wanted in zip(mine, asked, strict=False):
                if tensor in wanted:
                    found.add(gradient(arrival, set()))
            if tensor.made or everyone or (not captures and tensor in targets):
                # Under create_graph the sum is a new tensor.
                for memory in memories_of(tensor.grads) if not create else ():
                    memory.write(arrival.onto(memory.level))
                tensor.grads = {*tensor.grads, gradient(arrival, tensor.grads)}
        if captures and done:
            for found, wanted in zip(mine, asked, strict=True):
                found |= {gradient(Arrival(), set()) for _ in wanted - arrived.keys()}
            handed_out = begun.union(*mine)
            for name, found in zip(binds(step), mine, strict=False):
                # One gradient may be handed out twice, or be what it began as.
                self._names[name] = sharing(handed_out, memories_of(found))
