"""The reasons why a result has no history: where it was lost, or what it is computed from instead."""

from __future__ import annotations

import re
from collections.abc import Iterable

from conformance.explanation.causes_of_calls import frozen_among, written_aside
from conformance.explanation.history import cuts_before, leaves_of, made_at, names_held, sources, state_of
from conformance.explanation.statements import statement_of
from conformance.explanation.value import Story
from conformance.explanation.ways_out import WAYS_OUT, Cut, cure_of, way_out
from conformance.explanation.words import at, beginning, names

UNRECORDED = "checkpoint/needs-an-input-that-requires-grad"


def no_history(found: Story, number: int, line: int) -> tuple[list[int], str] | tuple[list[int], str, str]:
    """Return the line at which what a tensor is computed from lost its history, or those of its constants,
    with a sentence and perhaps a cure; ``line`` is where it was asked for one.
    """
    name = next(iter(names_held(found, number)), "what it is called on")
    made = next((s.line for s in found.steps for f in s.flows if number in f.gives), line)
    state = state_of(found, number)
    if state is not None:
        made = made_at(found, state).line
    frozen = frozen_among(found, sources(found, number))
    from_ = [
        n for n in sorted(sources(found, number)) if names_held(found, n) and name not in names_held(found, n)
    ]
    gradients = [(at_line, n) for n in (number, *from_) if (at_line := _gradient_of(found, n))]
    gradients.sort(key=lambda one: "grad(" not in found.text_of(one[0]))  # else it calls what calls it
    plain = [at_line for at_line, _ in gradients if not _keeps_graph(found, at_line)]
    cuts = cuts_before(found, number)
    positions = None if cuts and cuts[0].flow.gives else _positions(found, number)
    for cut in cuts if positions is None else []:
        meant = frozen and cut.flow.how in ("detach", ".data")  # more likely than what was frozen
        if meant or (plain and not cut.flow.gives):
            break
        return [cut.step.line, made], way_out(found, cut), f"{beginning(cure_of(found, cut))}."
    if positions is not None:
        at_line, told, cure = positions
        return [at_line, made], told, cure
    if plain:
        text = f"{beginning(at(found, plain[0]))} computed a gradient without create_graph=True."
        cure = f"Pass create_graph=True at line {plain[0]}, to differentiate the gradient again."
        return [plain[0], made], text, cure
    if gradients and not frozen:
        first, gradient = gradients[0]
        return [first, made], *_of_linear(
            found, first, next(iter(names_held(found, gradient)), "the gradient")
        )
    if filled := _filled_by_backward(found, number):
        text = (
            f"It is computed from {filled[0]}, which {at(found, filled[1])} filled without create_graph=True."
        )
        cure = (
            f"Pass create_graph=True at line {filled[1]}, to differentiate the gradient again; or take it "
            "from torch.autograd.grad(..., create_graph=True)."
        )
        return [filled[1], made], text, cure
    if not from_:
        return [made], f"{name} was made at {at(found, made)} without requires_grad."
    if unrecorded := [s.line for s in found.steps if UNRECORDED in s.marks]:
        text = f"{beginning(at(found, unrecorded[0]))} recorded nothing, since no input of it requires grad."
        cure = f"Pass use_reentrant=False at line {unrecorded[0]}, or let an input require grad."
        return [unrecorded[0], made], text, cure
    states = {n: state_of(found, n) for n in from_}
    known = names([names_held(found, n)[0] for n, x in states.items() if x is None or not x.requires_grad])
    if beside := _cut_beside(found, (number, *from_)):
        return [beside.step.line, made], way_out(found, beside), f"{beginning(cure_of(found, beside))}."
    text = f"{name} is computed from {known} at {at(found, made)}; none of them requires grad."
    if frozen:
        text += f" {beginning(at(found, frozen[0]))} set requires_grad to False."
        cure = f"Leave requires_grad on for what is to be trained, after line {frozen[0]}."
        return [*frozen, made], text, cure
    if written := [(n, aside) for n in (number, *from_) if (aside := written_aside(found, n))]:
        n, aside = written[0]
        text = f"{beginning(at(found, aside))} wrote to {names_held(found, n)[0]} past its history."
        return [aside, made], text, f"Write to {names_held(found, n)[0]} itself at line {aside}."
    return [made], text


def _positions(found: Story, number: int) -> tuple[int, str, str] | None:
    """Return the line that gave integers beside the values of what requires grad, if a tensor is computed
    from the integers: positions, counts.
    """
    for n in sorted((number, *sources(found, number)), reverse=True):
        state = state_of(found, n)
        if state is None or not state.dtype.startswith(("int", "uint", "bool")):
            continue
        step = made_at(found, state)
        beside = {t for f in step.flows if n in (*f.gives, *f.takes) for t in f.takes if t != n}
        origins = [t for t in beside if (x := state_of(found, t)) is not None and x.requires_grad]
        if origins and (known := names_held(found, n)):
            of = names([name for t in origins for name in names_held(found, t)[:1]])
            told = (
                f"{known[0]} of {at(found, step.line)} holds integers (positions or counts), which carry no "
            )
            cure = f"Compute from {of} itself: from the values that line {step.line} gives beside them, or "
            return step.line, f"{told}gradient.", f"{cure}softmax()."
    return None


def constant_gradient(found: Story, number: int, line: int) -> tuple[int, str, str] | None:
    """Return the line that gave a gradient which ``line`` differentiates again by a tensor on which it does
    not depend, with a sentence and a cure; None if no such gradient is named there.
    """
    text, by = statement_of(found, line), next(iter(names_held(found, number)), "it")
    for step, before in zip(found.steps[:0:-1], found.steps[-2::-1], strict=True):
        if "grad_call/leaves-grad-alone" not in step.marks or step.line == line or not step.ran:
            continue
        if number in leaves_of(step, step.ran[0].node):
            for name in step.names.keys() - before.names.keys():
                if re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text):
                    told = f"{name} of {at(found, step.line)} does not depend on {by}: its derivative is "
                    told += f"zero, as for all that is linear in {by}."
                    return step.line, told, f"Take zeros where {name} does not depend on {by}."
    return None


def _of_linear(found: Story, line: int, gradient: str) -> tuple[str, str]:
    """Tell that a gradient is constant, though its graph was asked for, and what to do."""
    text = f"{beginning(at(found, line))} computed {gradient} with create_graph=True, and {gradient} is "
    text += "constant: what was differentiated is linear, so its second derivative is zero."
    return text, f"Take zeros for it where {gradient} does not require grad."


def _filled_by_backward(found: Story, number: int) -> tuple[str, int] | None:
    """Return the grad from which a tensor was computed, in words, and the line of the backward behind it."""
    leads = sources(found, number)
    for step in reversed(found.steps):
        for name, held in step.names.items():
            state = step.tensors.get(held)
            if state is not None and state.grad in leads and step.ran and not name.startswith("self."):
                return f"{name}.grad", step.line
    return None


def _cut_beside(found: Story, tensors: Iterable[int]) -> Cut | None:
    """Return the loss of a history on the line that made one of the tensors, of whatever left torch there."""
    for tensor in tensors:
        first = next((s for s in found.steps if tensor in s.names.values()), None)
        if first is not None and "numpy" in found.text_of(first.line):
            for flow in first.flows:
                if flow.lost and flow.how in WAYS_OUT:
                    return Cut(first, flow)
    return None


def _gradient_of(found: Story, tensor: int) -> int:
    """Return the line at which autograd.grad() gave a tensor, 0 if it did not."""
    first = next((s for s in found.steps if tensor in s.names.values()), None)
    return 0 if first is None or "grad_call/leaves-grad-alone" not in first.marks else first.line


def _keeps_graph(found: Story, line: int) -> bool:
    """Tell whether a line, or the function of the script that it calls, asks for the graph of a gradient."""
    texts = [statement_of(found, line)]
    if "grad(" not in texts[0]:
        texts = [text for text in found.source if "create_graph" in text]
    return any(re.search(r"create_graph\s*=\s*(?!False)\w", text) for text in texts)
