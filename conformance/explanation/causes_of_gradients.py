"""The causes of errors about gradients: what a backward returned, what a hook did, shapes that changed."""

from __future__ import annotations

import re

from conformance.explanation.history import names_held
from conformance.explanation.statements import statement_of
from conformance.explanation.value import Mishap, Story
from conformance.explanation.words import at, beginning, names


def returned(found: Story, mishap: Mishap) -> tuple[list[int], str]:
    """Tell where the backward of a custom function returned."""
    line = next((s.line for s in reversed(found.steps) if s.function == "backward"), 0)
    return ([line], f"{beginning(at(found, line))} gave them.") if line else ([], "")


def other_shape(found: Story, mishap: Mishap) -> tuple[list[int], str] | tuple[list[int], str, str]:
    """Tell which line gave a gradient of another shape than its tensor, or changed that of the tensor."""
    shapes = re.search(
        r"index (\d+) - got (\[.*?\]) but expected shape compatible with (\[.*?\])", mishap.message
    )
    if changed := _reshaped(found):
        line, name, before, after = changed
        text = f"{beginning(at(found, line))} gave {name} the shape {after}; it was used in shape {before}."
        return [line, mishap.line], text, f"Leave the shape of {name} as it is until backward() has run."
    line = next((s.line for s in reversed(found.steps) if s.function == "backward"), 0)
    if not line or shapes is None:
        return [mishap.line], ""
    text = (
        f"{beginning(at(found, line))} gave a gradient of shape {shapes[2]} for argument "
        f"{int(shapes[1]) + 1} of forward(), whose shape is {shapes[3]}."
    )
    cure = f"Return a gradient of shape {shapes[3]} there"
    if re.search(r"\.(sum|mean)\(", statement_of(found, line)):
        cure += ", without the reduction"
    return [line, mishap.line], text, f"{cure}."


def _reshaped(found: Story) -> tuple[int, str, list[int], list[int]] | None:
    """Return the last line that changed the shape of a tensor with a name, the name, and both shapes."""
    for before, step in zip(found.steps[-2::-1], found.steps[:0:-1], strict=True):
        for number, state in step.tensors.items():
            old = before.tensors.get(number)
            if old is not None and old.shape != state.shape and (known := names_held(found, number)):
                return step.line, known[0], list(old.shape), list(state.shape)
    return None


def registered(found: Story, mishap: Mishap) -> tuple[list[int], str]:
    """Tell at which lines the script registered hooks, the last first."""
    lines = [s.line for s in found.steps if "hook(" in found.text_of(s.line)]
    told = names([at(found, line) for line in dict.fromkeys(lines)])
    return [*reversed(lines), mishap.line], f"{beginning(told)} registered a hook." if lines else ""
