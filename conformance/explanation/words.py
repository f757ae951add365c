"""Words for values, facts and lines: what the text, the answers and the errors of an explanation share."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from conformance.explanation.value import Change, ExecutedLine, Story, TensorState
from specs.rule import RULES

LONGEST = 46
"""The characters that the elements of a tensor may take."""


def in_print(value: Any) -> str:
    """Return elements as torch prints them, the middle of many left out."""
    if value is None or isinstance(value, str):
        return str(value)
    numbers = list(_flat(value))
    form = _form(numbers)
    whole = _nested(value, form, 10**6)
    for most in (6, 4, 3, 2):
        if len(whole) <= LONGEST:
            break
        whole = _nested(value, form, most)
    return whole


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from _flat(part)
    else:
        yield value


def _form(numbers: Sequence[Any]) -> Any:
    """Choose the notation for all elements, as torch does: whole numbers, four decimals, or powers of ten."""
    floats = [abs(x) for x in numbers if isinstance(x, float) and math.isfinite(x)]
    whole = all(x == int(x) for x in floats)
    small = min((x for x in floats if x), default=0.0)
    large = max(floats, default=0.0)
    wide = bool(small) and (large / small > 1000 or large > 1e8 or small < 1e-4)

    def told(x: Any) -> str:
        if not isinstance(x, float):
            return str(x)
        if whole:
            return f"{x:.4e}" if large > 1e8 else f"{x:.0f}."
        return f"{x:.4e}" if wide else f"{x:.4f}"

    return told


def _nested(value: Any, told: Any, most: int) -> str:
    if not isinstance(value, (list, tuple)):
        return str(told(value))
    parts = [_nested(part, told, most) for part in value[:most]]
    return f"[{', '.join(parts)}{', ...' if len(value) > most else ''}]"


def of_shape(shape: Sequence[int]) -> str:
    """Return words for a tensor whose elements are too many to tell."""
    return f"a tensor of shape {list(shape)}"


def same(one: Any, other: Any) -> bool:
    """Tell whether two values print the same."""
    return in_print(one) == in_print(other)


def fact_in_words(change: Change, step: ExecutedLine) -> str:
    """Return a changed fact in words: ``no leaf``, ``requires grad``, ``grad = [3.]``."""
    new, value = change.before is None, change.after
    match change.fact:
        case "is_leaf":
            return "leaf" if value else "no leaf"
        case "requires_grad":
            return "requires grad" if value else "needs no grad" if new else "requires no grad any more"
        case "retains_grad":
            return "retains its grad" if value else "retains no grad any more"
        case "grad_fn":
            return "no grad_fn any more" if value is None else f"grad_fn {value}{_from(change.name, step)}"
        case "version":
            return f"version {value}" if new else f"version {change.before} -> {value}"
        case "device":
            return f"on {value}"
        case "base":
            return "no view" if value is None else f"view of {name_at(step, value)}"
        case "memory":
            return f"shares memory with {name_at(step, value)}"
        case "stale":
            return (
                "its history is out of date until it is read"
                if value
                else "this line brought its history up to date"
            )
        case "value":
            return f"values {in_print(value)}, unseen by the version counter"
    return f"{change.fact} = {in_print(value)}"


def _from(name: str, step: ExecutedLine) -> str:
    """Return what a result was computed from during a step, in words: the nearest tensors with a name."""
    found: list[str] = []
    todo, met = [step.names.get(name, 0)], set()
    while todo:
        number = todo.pop()
        met.add(number)
        for taken in [t for flow in step.flows if number in flow.gives for t in flow.takes]:
            known = [n for n in step.named(taken) if n != name]
            state = step.tensors.get(taken)
            if known and state is not None and state.requires_grad:
                found.append(known[0])
            elif not known and taken not in met:
                todo.append(taken)
    return f" from {names(found[::-1])}" if found else ""


def name_at(step: ExecutedLine, tensor: int | None) -> str:
    """Return a name of a tensor at a step, or words that say it has none."""
    names = step.named(tensor)
    return names[0] if names else "a tensor without a name"


def at(found: Story, line: int) -> str:
    """Return a line with its text, for sentences."""
    text = re.sub(r"\s+", " ", found.text_of(line))
    return f"line {line} `{text}`" if text else f"line {line}"


def beginning(text: str) -> str:
    """Return text with a capital at its beginning, and the rest as it stands."""
    return text[:1].upper() + text[1:]


def names(several: Sequence[str]) -> str:
    """Join names: ``a``, ``a and b``, ``a, b and c``; of many, the first ones."""
    several = list(dict.fromkeys(several))
    if len(several) > 6:
        return f"{', '.join(several[:5])} and {len(several) - 5} more"
    return " and ".join(filter(None, [", ".join(several[:-1]), *several[-1:]]))


def stated_by(rule: str) -> str:
    """Return the statement of a rule, or what is left of it where it goes on at length."""
    text = RULES[rule].statement
    return (
        text
        if len(text) <= 160
        else re.split(r"(?<=[a-z)])(?:\. |: |; )", text, maxsplit=1)[0].rstrip(".") + "."
    )


def with_rule(rule: str) -> str:
    """Return the statement of a rule and its name."""
    return f"{stated_by(rule)} ({rule})"


def kind_of(state: TensorState) -> str:
    """Return what a tensor is, in words."""
    if not state.is_leaf:
        return f"the result of {state.grad_fn}"
    return "a leaf that requires grad" if state.requires_grad else "a leaf that does not require grad"
