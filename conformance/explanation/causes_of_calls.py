"""The causes of errors of calls: operands on two devices, an optimizer without parameters, writes aside."""

from __future__ import annotations

from conformance.explanation.history import changes_of, made_at, names_held
from conformance.explanation.value import Mishap, Story, TensorState
from conformance.explanation.words import at, beginning, names

CUTS = (".data", "detach")
"""Ways to a tensor's memory past its history."""


def two_devices(found: Story, mishap: Mishap) -> tuple[list[int], str] | tuple[list[int], str, str]:
    """Tell which operand is on which device, since when, and what to move."""
    step = found.steps[-1]
    told: list[tuple[str, str, int]] = []
    for number in dict.fromkeys(mishap.operands):
        state, known = step.tensors.get(number), names_held(found, number)
        if state is not None and known:
            moved = [s.line for s, _ in changes_of(found, number, "device")]
            told.append((known[0], state.device, (moved or [made_at(found, state).line])[-1]))
    if not told:
        return [mishap.line], ""
    text = "; ".join(f"{name} is on {device} since {at(found, line)}" for name, device, line in told)
    stay = next((device for _, device, _ in told if device != "cpu"), "")
    move = [name for name, device, _ in told if device != stay]
    lines = [line for name, _, line in told if name in move] + [line for *_, line in told]
    if not stay or not move:
        return lines, f"{text}."
    owner, _, part = move[0].rpartition(".")
    of_module = bool(owner) and "[" not in part
    cure = f"{owner}.to('{stay}')" if of_module else f"{move[0]} = {move[0]}.to('{stay}')"
    return lines, f"{text}.", f"Move {names(move)} there too: {cure}."


def two_dtypes(found: Story, mishap: Mishap) -> tuple[list[int], str] | tuple[list[int], str, str]:
    """Tell which operand has which dtype, since when, and what to cast: data rather than parameters."""
    step = found.steps[-1]
    told: list[tuple[str, TensorState, int]] = []
    for number in dict.fromkeys(mishap.operands):
        state, known = step.tensors.get(number), names_held(found, number)
        if state is not None and known:
            cast = [s.line for s, _ in changes_of(found, number, "dtype")]
            told.append((known[0], state, (cast or [made_at(found, state).line])[-1]))
    if len({state.dtype for _, state, _ in told}) < 2:
        return [mishap.line], ""
    told.sort(key=lambda one: one[1].requires_grad)
    text = "; ".join(f"{name} is {state.dtype} since {at(found, line)}" for name, state, line in told)
    name, wanted = told[0][0], next(s.dtype for _, s, _ in told if s.dtype != told[0][1].dtype)
    lines = [line for *_, line in told]
    return lines, f"{text}.", f"Cast {name}: {name} = {name}.to(torch.{wanted})."


def no_parameters(found: Story, mishap: Mishap) -> tuple[list[int], str] | tuple[list[int], str, str]:
    """Name the tensors that no module registered, though they look like parameters."""
    step = found.steps[-1]
    held = [
        (name, state)
        for name, number in step.names.items()
        if (state := step.tensors.get(number)) is not None and state.requires_grad and "." in name
    ]
    results = [(name, state) for name, state in held if not state.is_leaf]
    leaves = [name for name, state in held if state.is_leaf]
    if results:
        name, state = results[0]
        line = made_at(found, state).line
        text = f"{name} is no parameter: it is the result of {state.grad_fn} at {at(found, line)}."
        return [line], text, f"Make it last of all: {name} = nn.Parameter(...), of plain numbers."
    if leaves:
        text = (
            f"{names(leaves)} require grad, but no module registered them (a plain list or tensor does not)."
        )
        cure = "Keep layers in nn.ModuleList or nn.ModuleDict, and assign tensors as nn.Parameter(...)."
        return [made_at(found, held[0][1]).line], text, cure
    frozen = [s.line for n in step.tensors for s, c in changes_of(found, n, "requires_grad") if c.before]
    if frozen:
        text = f"{beginning(at(found, frozen[0]))} set requires_grad to False, so nothing is left to train."
        cure = f"Leave requires_grad on for what is to be trained, after line {frozen[0]}."
        return [frozen[0]], text, cure
    return [mishap.line], ""


def written_aside(found: Story, tensor: int) -> int:
    """Return the line that wrote to a tensor through .data or detach(), 0 if none did."""
    aside: set[int] = set()
    for step in found.steps:
        for flow in step.flows:
            if flow.how in CUTS and tensor in flow.takes:
                aside |= set(flow.gives)
            elif aside & set(flow.takes):
                if set(flow.gives) & set(flow.takes):
                    return step.line
                aside |= set(flow.gives) if len(flow.takes) == 1 else set()
    return 0
