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
    for cut in cuts_before(found, number):
        meant = frozen and cut.flow.how in ("detach", ".data")  # more likely than what was frozen
        if meant or (plain and not cut.flow.gives):
            break
        return [cut.step.line, made], way_out(found, cut), f"{beginning(cure_of(found, cut))}."
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
    known = names([names_held(found, n)[0] for n in from_])
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
