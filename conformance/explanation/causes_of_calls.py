"""The causes of errors of calls: operands on two devices, an optimizer without parameters, writes aside."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import prod

from conformance.explanation.history import changes_of, made_at, names_held, origin, sources, state_of
from conformance.explanation.value import Mishap, Story, TensorState
from conformance.explanation.words import at, names

CUTS = (".data", "detach")
"""Ways to a tensor's memory past its history."""


def two_devices(found: Story, mishap: Mishap) -> tuple[list[int], str] | tuple[list[int], str, str]:
    """Tell which operand is on which device, since when, and what to move."""
    step = found.steps[-1]
    told: list[tuple[str, str, int]] = []
    for number in dict.fromkeys(mishap.operands):
        state, known = state_of(found, number), names_held(found, number)
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
    there = [n for n, held in step.names.items() if n.startswith(f"{owner}.") and state_of(found, held)]
    if of_module and any(step.tensors[step.names[n]].device == stay for n in there):
        cure = f"self.register_buffer({part!r}, ...) at its line, and to() moves it with the module"
        return lines, f"{text}.", f"Move {names(move)} there too: {cure}."
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


def to_numpy(found: Story, mishap: Mishap) -> tuple[list[int], str] | tuple[list[int], str, str]:
    """Tell which tensor numpy asked for, and since when it has a history."""
    number = mishap.tensor or 0
    state = next((s.tensors[number] for s in reversed(found.steps) if number in s.tensors), None)
    name, came, line = next(iter(names_held(found, number)), "the tensor"), "", mishap.line
    if state is not None:
        changed = [s.line for s, _ in changes_of(found, state.number, "grad_fn")]
        line = changed[-1] if changed else made_at(found, state).line
        came = f"{name} requires grad since {at(found, line)}."
        if not state.is_leaf:
            since = f"{name} is the result of {state.grad_fn} at {at(found, line)}"
            came = f"{since}, computed from {origin(found, found.steps[-1], state)}."
    text = found.text_of(mishap.line)
    if "numpy(" in text or not 0 < mishap.line <= len(found.source):
        return [line], came
    if called := re.search(r"\b(?:np|numpy)\.([\w.]+)\(", text):
        told = f"np.{called[1]}() computes with arrays, and asks {name} for one."
        cure = f"Compute with torch's ops, which record; or give numpy the numbers alone: {name}.detach()."
        return [mishap.line, line], f"{told} {came}".strip(), cure
    array, made = _array_in(found, mishap.line)
    if not array:
        return [line], came
    told = (
        f"{array} is an array of numpy's since {at(found, made)}, so numpy computes, and asks {name} for one."
    )
    cure = f"Make a tensor of the array: torch.as_tensor({array}, dtype={name}.dtype)."
    return [made, mishap.line], f"{told} {came}".strip(), cure


def _array_in(found: Story, line: int) -> tuple[str, int]:
    """Return the name on a line that stands for an array of numpy's, and the line that assigned it."""
    step = found.steps[-1]
    for name in re.findall(r"(?<![.\w])[A-Za-z_]\w*\b(?!\s*\()", found.text_of(line)):
        assigned = re.compile(rf"^\s*{name}\s*=[^=].*(\bnp\.|\bnumpy\b|\.numpy\()")
        for at_line in range(line, 0, -1):
            if name not in step.names and assigned.match(found.text_of(at_line)):
                return name, at_line
    return "", 0


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


def view_made(found: Story, mishap: Mishap) -> tuple[list[int], str] | tuple[list[int], str, str]:
    """Tell the line that made the view, and the one that made its base."""
    layers = in_place_layers(found, [mishap.line])
    if "BackwardHookFunction" in mishap.message and layers:
        told = names([at(found, line) for line in layers])
        text = "A full backward hook makes views of what its module gives, and the next layer wrote to one."
        return [*layers, mishap.line], text, f"Leave inplace=True out of the layer: {told}."
    state = state_of(found, mishap.tensor or 0)
    if state is None:
        return [], ""
    made = made_at(found, state).line
    base = found.steps[-1].tensors.get(state.base or 0)
    if base is None:
        return [made], ""
    name = next(iter(names_held(found, base.number)), "a tensor without a name")
    return [made, made_at(found, base).line], f"{at(found, made)} made a view of {name}."


def frozen_among(found: Story, tensors: Iterable[int]) -> list[int]:
    """Return the lines that set requires_grad of tensors to False."""
    return [s.line for n in sorted(tensors) for s, c in changes_of(found, n, "requires_grad") if c.before]


def other_sizes(found: Story, mishap: Mishap) -> tuple[list[int], str] | tuple[list[int], str, str]:
    """Tell the sizes of a linear layer that its input does not fit, and the layer's name."""
    sizes = re.search(r"\((\d+)x(\d+) and (\d+)x(\d+)\)", mishap.message)
    for number in mishap.operands:
        state = state_of(found, number)
        owner = next((n[: -len(".weight")] for n in names_held(found, number) if n.endswith(".weight")), "")
        if sizes and owner and state is not None and list(state.shape) == [int(sizes[4]), int(sizes[3])]:
            line = made_at(found, state).line
            told = f"{owner} takes {sizes[3]} numbers, and the last size of its input is {sizes[2]}."
            inputs = set(mishap.operands).union(*(sources(found, n) for n in mishap.operands))
            shapes = [x.shape for n in sorted(inputs) if (x := state_of(found, n)) is not None]
            flat = next(
                (x for x in shapes if x[-1:] == (int(sizes[2]),) and prod(x[1:]) == int(sizes[3])), ()
            )
            if flat:
                told += f" The {sizes[3]} are those of {' x '.join(map(str, flat[1:]))}."
                return [line, mishap.line], told, "Flatten the input first, with x.flatten(1)."
            return [line, mishap.line], told, f"Make it nn.Linear({sizes[2]}, {sizes[4]})."
    return [mishap.line], ""


def other_state(found: Story, mishap: Mishap) -> tuple[list[int], str, str]:
    """Tell what to do with a state that does not fit, by what is wrong with it."""
    said = mishap.message
    keys = re.findall(r'"([^"]+)"', said.partition("Unexpected key(s)")[2].partition("Missing")[0])
    sizes = re.findall(r"size mismatch for (\S+):", said)
    if keys and all(key.startswith("module.") for key in keys):
        cure = 'It was saved from a wrapper: load {k.removeprefix("module."): v for k, v in state.items()}.'
    elif sizes:
        drop = " and ".join(f"state.pop({name!r})" for name in sizes[:2])
        cure = f"Give the layer the sizes of the state; or leave it as it is: {drop}, then strict=False."
    else:
        cure = (
            "Compare state.keys() with the module's own state_dict().keys(), and rename what differs; "
            "strict=False skips names that are missing or unknown."
        )
    return [mishap.line], "", cure


def _reads_what_it_writes(text: str) -> str:
    """Return what a line reads of a tensor that it writes: ``x[i - 1]`` of ``x[i] = x[i - 1] * w``."""
    put = re.match(r"([\w.]+)\[[^=]*?\]\s*[-+*/@|&^%]*=(?!=)(.*)", text)
    read = re.search(rf"(?<![\w.]){re.escape(put[1])}\b(\[[^\[\]]*\])?", put[2]) if put else None
    return read[0] if read else ""


_METHOD = re.compile(r"([\w.\[\]]+)\.([a-z]\w*[a-z0-9])_\(")
_WRITES = re.compile(rf"{_METHOD.pattern}|[-+*/@|&^%]=|\]\s*=[^=]|[(,]\s*out\s*=")
"""A write that a line shows."""
_IN_PLACE = re.compile(r"\binplace\s*=\s*True|\bReLU6?\(True\)")
_NO_TWIN = frozenset({"copy", "fill", "zero", "normal", "uniform", "data", "set", "resize"})
"""The methods that have no twin out of place."""


def in_place_layers(found: Story, writes: Iterable[int]) -> list[int]:
    """Return the lines that ask a layer to write in place, if no line that wrote shows a write of its own."""
    if any(_WRITES.search(found.text_of(line)) for line in writes):
        return []
    if any("optim/step-is-a-write" in s.marks for s in found.steps if s.line in writes):
        return []
    asking = [line for line, text in enumerate(found.source, 1) if _IN_PLACE.search(text)]
    return [line for line in asking if line in writes] or asking


def out_of_place(found: Story, writes: Iterable[int], name: str, saved: int) -> str:
    """Return how to write otherwise than a line does: to a copy of what goes by a name, or out of place.

    ``saved`` is the line that saved it.
    """
    for line in writes:
        text = found.text_of(line)
        if line == saved and (part := _reads_what_it_writes(text)):
            rows = "or collect the parts in a list, and join them with torch.stack() after the loop"
            return f"Read a copy at line {line}: {part}.clone() in the place of {part}; {rows}."
        if put := re.match(r"([\w.]+)\[[^=]*\]\s*[-+*/@|&^%]?=[^=]", text):
            return f"Write to a copy: {put[1]} = {name or put[1]}.clone() before line {line}."
        if changed := re.match(r"([\w.]+)\s*([-+*/@]+)=\s*(.*)", text):
            whole = changed[3] if re.fullmatch(r"[\w.]+(\(.*\))?", changed[3]) else f"({changed[3]})"
            place = f"Write out of place at line {line}: {changed[1]} = {changed[1]} {changed[2]} {whole}"
            return f"{place}; or write into {changed[1]}.clone()."
        called = _METHOD.search(text)
        if called and called[2] not in _NO_TWIN:
            there = f"{called[1]}.{called[2]}"
            place = f"Write out of place at line {line}: {there}(...) for {there}_(...)"
            return f"{place}; or write into {called[1]}.clone()."
    return ""
