"""The lines that caused an error or a warning, told from the steps before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from conformance.explanation.carried import of_earlier_pass, shared_result
from conformance.explanation.causes_in_transforms import transformed, written_while_mapped
from conformance.explanation.causes_of_calls import (
    in_place_layers,
    other_sizes,
    other_state,
    out_of_place,
    to_numpy,
    two_devices,
    two_dtypes,
    view_made,
)
from conformance.explanation.causes_of_gradients import other_shape, registered, returned
from conformance.explanation.history import (
    backwards,
    changes_of,
    leaves_of,
    made_at,
    names_held,
    origin,
    state_of,
)
from conformance.explanation.missing_grad import missing_grad
from conformance.explanation.no_history import constant_gradient, no_history
from conformance.explanation.not_finite import away_from
from conformance.explanation.optimizers import no_parameters
from conformance.explanation.plain_calls import plain_cure, plain_number
from conformance.explanation.value import GraphNode, Mishap, Story
from conformance.explanation.words import at, beginning, names
from specs.rule import RULES

Some = TypeVar("Some", bound=Story)
Told = tuple[list[int], str] | tuple[list[int], str, str]
"""The lines that led to a mishap, the decisive first, what happened there in sentences, and the cure where it
depends on that.
"""


def with_causes(found: Some) -> Some:
    """Return the explanation with names, causing lines and cures of its errors and warnings."""
    error = found.error and _explained(found, found.error)
    warnings, caught = (
        tuple(_explained(_until(found, mishap.step), mishap) for mishap in mishaps)
        for mishaps in (found.warnings, found.caught)
    )
    return replace(found, error=error, warnings=warnings, caught=caught)


def _until(found: Some, step: int | None) -> Some:
    """Return the story up to a step: what came later is no cause, and names may hold something else then."""
    if step is None:
        return found
    return replace(found, steps=tuple(s for s in found.steps if s.number <= step))


def _explained(found: Story, mishap: Mishap) -> Mishap:
    if not found.steps:
        return mishap
    if (missing := missing_grad(found, mishap)) is not None:
        told, cure, tensor = missing
        return replace(mishap, tensors=names_held(found, tensor), sentence=told, cure=cure)
    if (number := plain_number(found, mishap)) is not None:
        lines, told, cure = number
        return replace(mishap, causes=tuple(lines), sentence=told, cure=cure)
    named = names_held(found, mishap.tensor) if _is_about_a_tensor(found, mishap) else ()
    lines, told, *better = CAUSES.get(mishap.rule or "", _made)(found, mishap)
    causes = tuple(line for line in dict.fromkeys(lines) if line)
    rule = RULES.get(mishap.rule or "")
    others = [n for operand in mishap.operands for n in names_held(found, operand)[:1]]
    if (mishap.rule or "").startswith("write/") and (named or "BackwardHookFunction" in mishap.message):
        others = []  # what is written there, and where, was not at fault
    if mishap.rule == "op/matmul-shape":
        others = [name for name in others if not name.endswith(".bias")]  # it is added to the product
    tensors = tuple(dict.fromkeys((*named, *others)))
    cure = _filled(rule.cure, tensors[0] if named or len(tensors) == 1 else "") if rule and rule.cure else ""
    cure = cure or (plain_cure(mishap) if rule is None else "")
    return replace(mishap, tensors=tensors, causes=causes, sentence=told, cure=better[0] if better else cure)


def _is_about_a_tensor(found: Story, mishap: Mishap) -> bool:
    """Tell whether an error is about a tensor of the script, not about a call or what a layer made."""
    if "BackwardHookFunction" in mishap.message:
        return bool(found.steps[-1].named(mishap.tensor))
    if mishap.rule == "save/freed-refused":  # one that a node saved, whose history is not asked for, is not
        state = state_of(found, mishap.tensor or 0)
        return state is not None and state.node is not None
    return mishap.rule not in OF_NO_TENSOR


def _filled(cure: str, name: str) -> str:
    """Return a cure with the name of the tensor to act on, or without any."""
    return cure.format(tensor=name) if name else cure.replace("{tensor}.", ".").format(tensor="the tensor")


def _node(found: Story, mishap: Mishap) -> GraphNode | None:
    number = mishap.node or 0
    return next((s.nodes[number] for s in reversed(found.steps) if number in s.nodes), None)


def _line_of(found: Story, step: int | None) -> int:
    return next((s.line for s in found.steps if s.number == step), 0)


def _made(found: Story, mishap: Mishap) -> Told:
    """The line that made the tensor, and the one that gave it its history."""
    state = state_of(found, mishap.tensor or 0)
    if state is None:
        return [], ""
    line = made_at(found, state).line
    if state.is_leaf:
        return [line], ""
    changed = [s.line for s, _ in changes_of(found, state.number, "grad_fn")]
    line = changed[-1] if changed else line
    name = next(iter(names_held(found, state.number)), "the tensor")
    came = origin(found, found.steps[-1], state)
    return [line], f"{name} is the result of {state.grad_fn} at {at(found, line)}, computed from {came}."


def _freed(found: Story, mishap: Mishap) -> Told:
    """The backward that freed what was saved; and the line of the node that both backwards meet."""
    node = _node(found, mishap)
    if node is None:
        ran = backwards(found)
        return [ran[-1].line] if ran else [], ""
    ran = [s for s in found.steps if any(r.node == node.number for r in s.ran)]
    first = next((s for s in found.steps if s.number == node.freed), ran[0] if ran else None)
    made = _line_of(found, node.made)
    if first is None:
        return [made], ""
    text = (
        f"{node.name}, recorded at {at(found, made)}, was freed by the backward of {at(found, first.line)}."
    )
    if first.line == mishap.line:
        text, cure = of_earlier_pass(found, first, node, made)
        if not any("optim/step-is-a-write" in s.marks for s in found.steps):  # else what was saved is old
            cure += " Or pass retain_graph=True to the first backward()."
        return ([made, first.line] if made != first.line else [first.line]), text, cure
    shared = shared_result(found, first, node.number)
    if shared:
        cure = (
            f"Pass retain_graph=True at line {first.line}, or compute {shared} anew before the second "
            f"backward(). If the first is not to reach past {shared}, give it {shared}.detach()."
        )
        return [first.line, made], text, cure
    return [first.line, made], text


def _modified(found: Story, mishap: Mishap) -> Told:
    """The writes since the tensor was saved, and the line that saved it."""
    state, node = state_of(found, mishap.tensor or 0), _node(found, mishap)
    writes: list[int] = []
    known = mishap.saved_version or 0
    for step in found.steps:
        versions = [
            t.version for t in step.tensors.values()
            if state is not None and t.counter == state.counter and t.version is not None
        ]  # fmt: skip
        if versions and max(versions) > known:
            known = max(versions)
            writes.append(step.line)
    if not writes and state is None:
        return [], ""
    name = next(iter(names_held(found, mishap.tensor)), "a tensor")
    if node is None:
        return writes, ""
    saved = _line_of(found, node.made)
    wrote = names([at(found, line) for line in dict.fromkeys(writes)])
    text = f"{node.name} of {at(found, saved)} saved {name} at version {mishap.saved_version}"
    text += f"; {wrote} wrote to it, which made it version {known}." if wrote else "."
    if writes and (layers := in_place_layers(found, writes)):
        told = names([at(found, line) for line in layers])
        instead = "" if name == "a tensor" else f"; or give it {name}.clone()"
        cure = f"Leave inplace=True out of the layer: {told}{instead}."
        return [*writes, saved], f"{text} A layer with inplace=True writes to what it is given.", cure
    stepped = [s for s in found.steps if s.line in writes and "optim/step-is-a-write" in s.marks]
    if stepped and (carried := _carried_on(found, mishap, node, saved)):
        return [*writes, saved], text, carried
    if stepped:
        cure = (
            "Call each backward() that needs the old parameters before step(), or compute "
            "the loss anew after it."
        )
        return [*writes, saved], text, cure
    held = next(iter(names_held(found, mishap.tensor)), "")
    if better := out_of_place(found, writes, held, saved):
        return [*writes, saved], text, better
    return [*writes, saved], text


def _carried_on(found: Story, mishap: Mishap, node: GraphNode, saved: int) -> str:
    """Return how to cut what an earlier pass of the same backward handed on, if the node is one of it."""
    ran = [s for s in found.steps if s.line == mishap.line and any(r.node == node.number for r in s.ran)]
    if len(ran) < 2:
        return ""
    return of_earlier_pass(found, ran[0], node, saved)[1]


def _no_history(found: Story, mishap: Mishap) -> Told:
    return ([], "") if mishap.tensor is None else no_history(found, mishap.tensor, mishap.line)


def _shapes(found: Story, mishap: Mishap) -> Told:
    """The shapes of the operands that do not go together."""
    known = [(n[0], x) for o in mishap.operands if (n := names_held(found, o)) and (x := state_of(found, o))]
    told = dict.fromkeys(f"{name} has shape {list(state.shape)}" for name, state in known)
    return _made(found, mishap)[0], f"{names(list(told))}." if told else ""


def _mode(found: Story, mishap: Mishap) -> Told:
    lines, text = _made(found, mishap)[:2]
    state = state_of(found, mishap.tensor or 0)
    if state is not None and state.node is not None:
        leaves = leaves_of(found.steps[-1], state.node)
        lines += [
            _line_of(found, found.steps[-1].tensors[n].made) for n in leaves if n in found.steps[-1].tensors
        ]
    return lines, text


def _unused(found: Story, mishap: Mishap) -> Told:
    state = state_of(found, mishap.tensor or 0)
    if state is None:
        return [], ""
    name = next(iter(names_held(found, state.number)), "an input")
    used = [s.line for s in found.steps for f in s.flows if state.number in f.takes]
    made = made_at(found, state).line
    if gradient := constant_gradient(found, state.number, mishap.line):
        text, cure = gradient[1:]
        cure = f"{cure[:-1]}; or pass allow_unused=True for None, materialize_grads=True for zeros."
        return [gradient[0], made], text, cure
    if used:
        return [*used, made], f"{name} was used at {at(found, used[-1])}, and not for this output."
    return [made], f"No op took {name}, which was made at {at(found, made)}."


def _nan(found: Story, mishap: Mishap) -> Told:
    """The line of the node that gave NaN: the last that the backward reached."""
    step = next((s for s in reversed(found.steps) if s.ran), None)
    node = step.nodes.get(step.ran[-1].node) if step is not None else None
    if step is None or node is None:
        return _made(found, mishap)
    line = _line_of(found, node.made)
    text = f"{node.name} is of {at(found, line)}, and the gradient that came to it was finite."
    return [line, mishap.line], text, beginning(f"{away_from(step, node)}")


def _underivable(found: Story, mishap: Mishap) -> Told:
    """The line whose op has no derivative: the last node that the backward reached."""
    step = next((s for s in reversed(found.steps) if s.ran), None)
    node = step.nodes.get(step.ran[-1].node) if step is not None else None
    if node is None:
        return [mishap.line], ""
    line = _line_of(found, node.made)
    return [line, mishap.line], f"The op of {at(found, line)} has no derivative."


CAUSES: dict[str, Callable[[Story, Mishap], Told]] = {
    "save/freed-refused": _freed,
    "save/modified-refused": _modified,
    "backward/root-needs-grad": _no_history,
    "retain/needs-requires-grad": _no_history,
    "hook/needs-requires-grad": _no_history,
    "grad_call/input-needs-grad": _no_history,
    "grad_call/unused-refused": _unused,
    "write/view-of-leaf-refused": view_made,
    "write/no-grad-view-refused": view_made,
    "write/multi-output-refused": view_made,
    "write/function-view-refused": view_made,
    "view/stale-tag-refused": view_made,
    "detach/view-refused": view_made,
    "optim/needs-leaves": _mode,
    "optim/needs-parameters": no_parameters,
    "device/one-for-all": two_devices,
    "op/one-dtype": two_dtypes,
    "op/shapes-broadcast": _shapes,
    "op/cat-sizes": _shapes,
    "op/stack-sizes": _shapes,
    "op/matmul-shape": other_sizes,
    "op/no-derivative": _underivable,
    "copy/numpy-refused-with-grad": to_numpy,
    "nn/state-that-does-not-fit-refused": other_state,
    "anomaly/nan-refused": _nan,
    "function/gradients-count": returned,
    "function/gradient-type": returned,
    "function/no-gradient-for-others": returned,
    "backward/gradient-shape-inside": other_shape,
    **{r: transformed for r in RULES if r.startswith(("functional/vmap-", "functional/transforms-"))},
    "functional/vmap-writes-into-batched": written_while_mapped,
    "hook/keeps-shape": registered,
    "hook/keeps-dtype": registered,
}
"""The account of each rule's causes; of any other, the line that made the tensor counts."""
OF_NO_TENSOR = frozenset(
    {"nn/state-that-does-not-fit-refused", "backward/gradient-shape-inside", "anomaly/nan-refused"}
)
"""Rules whose refusals are about no tensor of the script."""
