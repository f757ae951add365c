"""The past of a script's tensors: where each was made, from what, and where its history was lost."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.adapters.call_names import STEP
from conformance.explanation.value import Change, ExecutedLine, Flow, Story, TensorState
from conformance.explanation.ways_out import QUIET, Cut
from conformance.explanation.words import in_print, names, of_shape


def made_at(found: Story, state: TensorState) -> ExecutedLine:
    """Return the step that made a tensor, or at which it was first seen."""
    return next((s for s in found.steps if s.number >= state.made), found.steps[-1])


def state_of(found: Story, tensor: int) -> TensorState | None:
    """Return the last known state of a tensor."""
    return next((s.tensors[tensor] for s in reversed(found.steps) if tensor in s.tensors), None)


def last_with(found: Story, name: str) -> ExecutedLine | None:
    """Return the last step at which something goes by a name."""
    return next((step for step in reversed(found.steps) if name in step.names), None)


def names_held(found: Story, tensor: int | None) -> tuple[str, ...]:
    """Return the names of a tensor, or else of those that share its version counter, or else those it had."""
    step = found.steps[-1]
    if tensor is None:
        return ()
    if known := step.named(tensor):
        first = {name: s.number for s in reversed(found.steps) for name in s.named(tensor)}
        return tuple(sorted(known, key=lambda name: first[name]))
    state = state_of(found, tensor)
    if sharing := _sharing(step, state):
        return sharing
    had = (s.named(tensor) for s in reversed(found.steps))
    return next(filter(None, had), ()) or next(
        (n for s in reversed(found.steps) if (n := _sharing(s, state))), ()
    )


def _sharing(step: ExecutedLine, state: TensorState | None) -> tuple[str, ...]:
    """Return the names of the tensors that share a version counter with one."""
    if state is None:
        return ()
    held = ((name, step.tensors.get(number)) for name, number in step.names.items())
    return tuple(name for name, other in held if other is not None and other.counter == state.counter)


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


def root_of(found: Story, step: ExecutedLine) -> tuple[int | None, str]:
    """Return the tensor from which a backward started, and its name or what it is.

    Hooks of the script's part a backward into several steps, the first of which knows.
    """
    place = step.line, step.function, step.passes
    step = next(s for s in found.steps if s is step or (s.ran and (s.line, s.function, s.passes) == place))
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
    """Return the calls that took a tensor, but for optimizers' steps."""
    flows = ((step, flow) for step in found.steps for flow in step.flows if tensor in flow.takes)
    return [(step, flow) for step, flow in flows if flow.how != STEP]


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
        aside = cut.flow.how in QUIET or "state_dict(" in found.text_of(cut.step.line)
        return not (leads & set(cut.flow.gives)), aside, cut.step.number

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


def grad_told(state: TensorState) -> str:
    """Return a tensor's gradient in words."""
    return in_print(state.grad_value) if state.grad_value is not None else of_shape(state.shape)
