"""Answers about every fact of a tensor but its gradient: since when it holds, by which line and rule."""

from __future__ import annotations

from conformance.explanation.history import changes_of, cuts_before, made_at, origin
from conformance.explanation.no_history import no_history
from conformance.explanation.optimizers import not_stepped
from conformance.explanation.value import ExecutedLine, Story, TensorState
from conformance.explanation.ways_out import COMPARISONS, cure_of, way_out
from conformance.explanation.words import at, name_at, names, stated_by
from specs.rule import RULES

ASKED = ("is_leaf", "requires_grad", "grad", "grad_fn", "version", "device", "base", "retains_grad", "value",
         "shape", "dtype")  # fmt: skip
"""The facts that can be asked for."""


def fact_told(found: Story, name: str, fact: str, state: TensorState, step: ExecutedLine) -> str:
    """Answer why a fact of a tensor is what it is."""
    if fact in ("requires_grad", "grad_fn") and (why := _unrecorded(found, state)):
        since = at(found, made_at(found, state).line)
        return f"{name}.{fact} is {getattr(state, fact)} since {since}. {why}"
    tell = _TELLERS.get(fact, _since)
    parts = [tell(found, name, fact, state, step)]
    rules: list[str] = []
    for _, change in changes_of(found, state.number, fact):
        rules = list(change.because)
    if rules:
        parts.append(f"{stated_by(rules[0])} ({rules[0]})")
    if cure := _kept(found, fact, state) or _cure(name, fact, state, rules):
        parts.append(f"Cure: {cure}")
    return " ".join(part for part in parts if part)


def _unrecorded(found: Story, state: TensorState) -> str:
    """Return why nothing was recorded for the result of an op, and what to do; nothing for others."""
    computed = any(f.takes and state.number in f.gives for s in found.steps for f in s.flows)
    changed = [c for _, c in changes_of(found, state.number, "requires_grad") if c.before is not None]
    if state.requires_grad or changed or not computed or not state.dtype.startswith(("float", "complex")):
        return ""
    _, told, *cure = no_history(found, state.number, made_at(found, state).line)
    rule = "leaf/no-history-without-requires-grad"
    return " ".join([told, f"{stated_by(rule)} ({rule})", *(f"Cure: {x[0].lower()}{x[1:]}" for x in cure)])


def _kept(found: Story, fact: str, state: TensorState) -> str:
    """Return how not to lose the history, where it was lost before a float was computed."""
    if fact != "requires_grad" or state.requires_grad or "float" not in state.dtype:
        return ""
    lost = [c for c in cuts_before(found, state.number) if c.flow.gives and c.flow.how in COMPARISONS]
    return f"{cure_of(found, lost[0])}." if lost else ""


def _cure(name: str, fact: str, state: TensorState, rules: list[str]) -> str:
    if fact == "is_leaf" and not state.is_leaf:
        return (
            f"if {name} is to be a leaf, make it last: compute it first, then "
            f"{name} = {name}.detach().requires_grad_(); or call {name}.retain_grad() to see its gradient."
        )
    if fact == "requires_grad" and not state.requires_grad:
        if "int" in state.dtype or state.dtype == "bool":
            return f"only floating point and complex tensors can require grad: {name} = {name}.float()."
        cut = any(rule.split("/")[0] in ("detach", "data", "copy", "mode", "inference") for rule in rules)
        if cut:
            return f"compute {name} without leaving the graph; or {name}.requires_grad_() for a new leaf."
        return f"{name}.requires_grad_() before it is used."
    if fact != "base" and (fact != "grad_fn" or state.grad_fn is not None):
        return ""
    return next((c.format(tensor=name) for rule in rules if (c := RULES[rule].cure)), "")


def _is_leaf(found: Story, name: str, fact: str, state: TensorState, step: ExecutedLine) -> str:
    made = made_at(found, state)
    became = [s for s, _ in changes_of(found, state.number, "is_leaf")]
    if not state.is_leaf:
        since = became[-1] if became else made
        if len(became) > 1:
            text = f"{name}.is_leaf is False since {at(found, since.line)} wrote to it: its history is"
            return f"{text} {state.grad_fn}, computed from {origin(found, step, state)}."
        return (
            f"{name}.is_leaf is False because {name} is the result of {state.grad_fn} at "
            f"{at(found, since.line)}, computed from {origin(found, step, state)}."
        )
    flag = "and it requires grad" if state.requires_grad else "and it does not require grad"
    if not state.requires_grad and (cut := _cut(found, state)):
        return f"{name}.is_leaf is True: it has no history. {cut}"
    return f"{name}.is_leaf is True: {name} was made at {at(found, made.line)} and has no history, {flag}."


def _cut(found: Story, state: TensorState) -> str:
    """The sentence of the call that made a tensor and lost its history, if one did."""
    cuts = [cut for cut in cuts_before(found, state.number) if state.number in cut.flow.gives]
    return way_out(found, cuts[0]) if cuts else ""


def _requires_grad(found: Story, name: str, fact: str, state: TensorState, step: ExecutedLine) -> str:
    changed = list(changes_of(found, state.number, "requires_grad"))
    since = changed[-1][0] if changed else made_at(found, state)
    place = at(found, since.line)
    if state.requires_grad and not state.is_leaf:
        return (
            f"{name}.requires_grad is True since {place}: it was computed from {origin(found, step, state)}."
        )
    if state.requires_grad:
        return f"{name}.requires_grad is True since {place}, which set the flag."
    if len(changed) > 1:
        return f"{name}.requires_grad is False since {place} set the flag to False."
    if cut := _cut(found, state):
        return f"{name}.requires_grad is False since {place}. {cut}"
    if (error := found.error) and error.rule == "backward/root-needs-grad" and error.tensor == state.number:
        return f"{name}.requires_grad is False since {place}. {error.sentence}"
    lost = [c for c in cuts_before(found, state.number) if c.flow.gives]
    if lost:
        return f"{name}.requires_grad is False since {place}. {way_out(found, lost[0])}"
    takes = [t for flow in since.flows if state.number in flow.gives for t in flow.takes]
    known = names([n for t in takes for n in since.named(t)[:1]])
    if known:
        return (
            f"{name}.requires_grad is False since {place}: of what it is computed from "
            f"({known}), nothing requires grad."
        )
    return f"{name}.requires_grad is False: {place} made it without requires_grad=True."


def _grad_fn(found: Story, name: str, fact: str, state: TensorState, step: ExecutedLine) -> str:
    changed = [s for s, c in changes_of(found, state.number, "grad_fn")]
    if state.grad_fn is None:
        if cut := _cut(found, state):
            return f"{name}.grad_fn is None: {cut}"
        made = made_at(found, state)
        what = (
            "a leaf that requires grad" if state.requires_grad else "a leaf, and nothing was recorded for it"
        )
        return f"{name}.grad_fn is None because {name}, made at {at(found, made.line)}, is {what}."
    since = changed[-1] if changed else made_at(found, state)
    out = f", output {state.output_nr} of it" if state.output_nr else ""
    return (
        f"{name}.grad_fn is {state.grad_fn}{out} since {at(found, since.line)}, "
        f"which computed it from {origin(found, step, state)}."
    )


def _version(found: Story, name: str, fact: str, state: TensorState, step: ExecutedLine) -> str:
    changed = [(s, c) for s, c in changes_of(found, state.number, "version") if c.before is not None]
    if not changed:
        made = made_at(found, state)
        if not state.version:
            return (
                f"{name}._version is {state.version}: no in-place op wrote to it since "
                f"{at(found, made.line)}. {not_stepped(found, name, state)}".rstrip()
            )
        return (
            f"{name}._version is {state.version} since {at(found, made.line)}: its memory "
            f"was written to before. {not_stepped(found, name, state)}".rstrip()
        )
    told = [f"{at(found, s.line)} made it {c.after}" for s, c in changed]
    if len(told) > 4:
        told = [*told[:2], f"{len(told) - 3} more writes followed", told[-1]]
    shared = [n for n, t in step.names.items() if n != name and t in step.tensors
              and step.tensors[t].counter == state.counter and t != state.number]  # fmt: skip
    also = f" It shares its version counter with {names(shared)}." if shared else ""
    rest = not_stepped(found, name, state)
    return f"{name}._version is {state.version}: {'; '.join(told)}.{also} {rest}".rstrip()


def _base(found: Story, name: str, fact: str, state: TensorState, step: ExecutedLine) -> str:
    if state.base is not None:
        place = at(found, made_at(found, state).line)
        return f"{name} is a view of {name_at(step, state.base)} since {place}: they show the same memory."
    shared = [n for n, t in step.names.items() if t in step.tensors and t != state.number
              and step.tensors[t].storage == state.storage]  # fmt: skip
    if shared:
        return (
            f"{name}._base is None: to autograd it is no view, although it shares memory "
            f"with {names(shared)}."
        )
    return f"{name}._base is None: it has memory of its own since {at(found, made_at(found, state).line)}."


def _since(found: Story, name: str, fact: str, state: TensorState, step: ExecutedLine) -> str:
    value = getattr(state, fact)
    changed = list(changes_of(found, state.number, fact))
    since = changed[-1][0] if changed else made_at(found, state)
    shown = list(value) if isinstance(value, tuple) else value
    rest = not_stepped(found, name, state) if fact == "value" else ""
    return f"{name}.{fact} is {shown} since {at(found, since.line)}. {rest}".rstrip()


def _retains(found: Story, name: str, fact: str, state: TensorState, step: ExecutedLine) -> str:
    if state.retains_grad:
        return _since(found, name, fact, state, step)
    if state.is_leaf:
        why = "it is a leaf" + (", whose grad is kept anyway" if state.requires_grad else "")
        return f"{name}.retains_grad is False because {why}: retain_grad() does nothing there."
    return (
        f"{name}.retains_grad is False: no retain_grad() was called on it. Cure: "
        f"{name}.retain_grad() before backward()."
    )


_TELLERS = {
    "is_leaf": _is_leaf,
    "requires_grad": _requires_grad,
    "grad_fn": _grad_fn,
    "version": _version,
    "base": _base,
    "retains_grad": _retains,
}
