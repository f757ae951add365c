"""The past of a script's tensors: where each was made, from what, and where its history was lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from conformance.explanation.value import Change, ExecutedLine, Flow, Story, TensorState
from conformance.explanation.words import at, beginning, in_print, names

WAYS_OUT = {
    "detach": "detach() cut the history",
    "detach_": "detach_() cut the history",
    ".data": ".data cut the history",
    "nn.Parameter": "nn.Parameter() made a new leaf, which takes no history",
    "torch.tensor": "torch.tensor() copied the values without the history",
    "numpy": "numpy() left torch, and with it the graph",
    "array": "the conversion to a numpy array left the graph",
    "item": "item() made a plain number of it",
    "tolist": "tolist() made plain numbers of it",
    "float": "float() made a plain number of it",
    "int": "int() made a plain number of it",
    "deepcopy": "deepcopy() made a leaf of its own",
}
"""The ways out of the graph, and how each lost the history."""
POSITIONS = frozenset({
    "argmax", "argmin", "argsort", "bucketize", "count_nonzero", "nonzero", "searchsorted",
})  # fmt: skip
"""Ops that give places or counts."""
COMPARISONS = frozenset({
    "eq", "ge", "gt", "isclose", "isfinite", "isinf", "isnan", "le", "logical_and", "logical_not",
    "logical_or", "lt", "ne", "signbit",
})  # fmt: skip
TO_INTEGERS = frozenset({"bool", "byte", "char", "int", "long", "short", "to", "type", "type_as"})
FLAT = {
    "RoundBackward0": "round", "FloorBackward0": "floor", "CeilBackward0": "ceil", "TruncBackward0": "trunc",
    "SignBackward0": "sign",
}  # fmt: skip
"""The ops that are flat between their steps, by their nodes: their gradient is zero everywhere."""
DRAWN = {
    "NormalBackward1": "normal", "NormalBackward2": "normal", "NormalBackward3": "normal",
    "BernoulliBackward0": "bernoulli",
}  # fmt: skip
"""The functions that draw from a distribution, by their nodes: no gradient passes through the drawing."""


def cure_of_cut(how: str, line: int) -> str:
    """Return what to do where a call lost the history, as a sentence without its end."""
    if how in POSITIONS:
        return (
            f"for a loss use the scores themselves at line {line} (cross_entropy of the logits, softmax(), "
            f"or max() for the value); {how}() gives positions, which have no gradient"
        )
    if how in COMPARISONS:
        return (
            f"for a loss take something smooth at line {line}, for instance "
            "torch.sigmoid(k * (x - threshold)) for x > threshold; a comparison has no gradient"
        )
    if how in TO_INTEGERS:
        return f"keep floats at line {line}: integers and bools have no gradient, they serve as indices alone"
    call = how if how.startswith(".") else f"{how}()"
    return f"stay in the graph at line {line}: compute with torch's ops, without {call}"


QUIET = ("format", "tolist", "item", "float", "int")
"""Ways out that often serve printing alone: they count if nothing else does."""


@dataclass(frozen=True)
class Cut:
    """A place where a history was lost: the step, and the call that lost it."""

    step: ExecutedLine
    flow: Flow


def made_at(found: Story, state: TensorState) -> ExecutedLine:
    """Return the step that made a tensor, or at which it was first seen."""
    return next((s for s in found.steps if s.number >= state.made), found.steps[-1])


def last_with(found: Story, name: str) -> ExecutedLine | None:
    """Return the last step at which something goes by a name."""
    return next((step for step in reversed(found.steps) if name in step.names), None)


def changes_of(found: Story, tensor: int, fact: str) -> Iterator[tuple[ExecutedLine, Change]]:
    """Give each change of a fact of a tensor with its step."""
    told: set[str] = set()
    for step in found.steps:
        told |= set(step.named(tensor))
        for change in step.changes:
            if change.fact == fact and step.names.get(change.name) == tensor:
                yield step, change


def leaves_of(step: ExecutedLine, node: int | None) -> list[int]:
    """Return the leaves to which the graph leads from a node."""
    leaves: list[int] = []
    stack, met = [node], set()
    while stack:
        at = step.nodes.get(stack.pop() or 0)
        if at is not None and at.number not in met:
            met.add(at.number)
            stack += [target for target, _ in at.edges]
            if at.variable is not None:
                leaves.append(at.variable)
    return leaves


def origin(found: Story, step: ExecutedLine, state: TensorState) -> str:
    """Return what a result was computed from, in words: the leaves at the end of its graph."""
    leaves = sorted(leaves_of(step, state.node))
    told = []
    for leaf in leaves:
        if known := step.named(leaf):
            told.append(known[0])
        elif (old := _old_name(found, leaf)) is not None:
            told.append(f"the leaf that {old[0]} named until line {old[1].line}")
        elif leaf in step.tensors:
            line = made_at(found, step.tensors[leaf]).line
            told.append(f"an unnamed leaf of line {line} which requires grad")
    return names(told) or "constants"


def _old_name(found: Story, tensor: int) -> tuple[str, ExecutedLine] | None:
    """Return a name that a tensor had, and the step at which it lost it."""
    for before, after in zip(reversed(found.steps[:-1]), reversed(found.steps), strict=False):
        for name, number in before.names.items():
            if number == tensor and after.names.get(name) != tensor:
                return name, after
    return None


def backwards(found: Story) -> list[ExecutedLine]:
    """Return the steps during which a backward ran."""
    return [step for step in found.steps if step.ran]


def root_of(step: ExecutedLine) -> tuple[int | None, str]:
    """Return the tensor from which a backward started, and its name or what it is."""
    node = step.ran[0].node if step.ran else None
    leaf = step.nodes[node].variable if node in step.nodes else None  # type: ignore[index]  # None is in no dict
    if leaf is not None and step.named(leaf):
        return leaf, step.named(leaf)[0]
    for number, state in step.tensors.items():
        if node is not None and state.node == node and step.named(number):
            return number, step.named(number)[0]
    name = step.nodes[node].name if node in step.nodes else "a tensor"  # type: ignore[index]  # None is in no dict
    return None, f"the result of {name}"


def uses(found: Story, tensor: int) -> list[tuple[ExecutedLine, Flow]]:
    """Return the calls that took a tensor."""
    return [(step, flow) for step in found.steps for flow in step.flows if tensor in flow.takes]


def cuts_after(found: Story, tensor: int, root: int | None = None) -> list[Cut]:
    """Return where what was computed from a tensor lost its history, those on the way to ``root`` first."""
    reached, cuts = {tensor}, []
    for step in found.steps:
        for flow in step.flows:
            if reached & set(flow.takes):
                if flow.lost:
                    cuts.append(Cut(step, flow))
                reached |= set(flow.gives)
    leads = _leading_to(found, root) if root is not None else set()

    def rank(cut: Cut) -> tuple[bool, bool, int]:
        return not (leads & set(cut.flow.gives)), cut.flow.how in QUIET, cut.step.number

    return sorted(cuts, key=rank)


def cuts_before(found: Story, tensor: int) -> list[Cut]:
    """Return where the history of what a tensor was computed from was lost, the last first."""
    leads = _leading_to(found, tensor)
    every = [Cut(step, flow) for step in found.steps for flow in step.flows if flow.lost]
    on_the_way = [cut for cut in every if leads & set(cut.flow.gives)]
    outside = [cut for cut in every if not cut.flow.gives and cut.flow.how not in ("format",)]
    return list(reversed(on_the_way)) or list(reversed(outside))


def _leading_to(found: Story, tensor: int) -> set[int]:
    """Return the tensors from which one was computed, itself included."""
    leads = {tensor}
    for step in reversed(found.steps):
        for flow in reversed(step.flows):
            if leads & set(flow.gives):
                leads |= set(flow.takes)
    return leads


def sources(found: Story, tensor: int) -> set[int]:
    """Return the tensors from which one was computed."""
    return _leading_to(found, tensor) - {tensor}


def way_out(found: Story, cut: Cut) -> str:
    """Return how a history was lost, in a sentence."""
    flow, place = cut.flow, beginning(at(found, cut.step.line))
    made_integers = bool(flow.gives) and flow.how in TO_INTEGERS
    taken = names([n for t in flow.takes for n in cut.step.named(t)[:1]])
    of = f" of {taken}" if taken else ""
    if flow.how.endswith(".apply") or flow.how not in WAYS_OUT or made_integers:
        if "mode/no-grad-records-nothing" in cut.step.marks:
            since = _switched_off(found, cut.step)
            return f"{place} ran {flow.how}(){of} while grad mode was off{since}, so nothing was recorded."
        if "inference/records-nothing" in cut.step.marks:
            return f"{place} ran {flow.how}(){of} in inference mode, so nothing was recorded."
        return f"{place}: {flow.how}(){of} gives a tensor that cannot carry a gradient (integers, bools)."
    return f"{place}: {WAYS_OUT[flow.how]}{of}."


def _switched_off(found: Story, step: ExecutedLine) -> str:
    """Return since which line grad mode is off, in words, if a line before did it."""
    rules = {"mode/set-grad-enabled", "mode/no-grad-records-nothing", "mode/decorator"}
    before = [s for s in found.steps if s.number < step.number and rules & set(s.marks)]
    lines = [s.line for s in before if not any(flow.lost for flow in s.flows)]
    return f" since {at(found, lines[-1])}" if lines else ""


def grad_told(state: TensorState) -> str:
    """Return a tensor's gradient in words."""
    return in_print(state.grad_value) if state.grad_value is not None else "a large tensor"
