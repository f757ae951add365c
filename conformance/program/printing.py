"""Printing: a program as a PyTorch script, and the script of a report.

Here lives printing; `parsing` reads it back: the two are inverses. What a trace holds is
rendered here only as far as a script needs it (a refused step is wrapped, a diverging fact is printed).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from conformance.program.syntax import AUGMENTED, BINARY, REFLECTED, TUPLES, UNARY
from conformance.program.value import (
    COPY,
    DELETE,
    REST,
    Device,
    Dtype,
    Function,
    Program,
    Ref,
    Step,
    decoration,
    is_assignment,
    is_path,
    is_read,
)
from specs.callbacks import source_of

INDENT = "    "


def literal(value: Any) -> str:
    """An argument as Python source."""
    kind = type(value)
    if kind is Ref:
        return value.name
    if kind is Dtype:
        return f"torch.{value.name}"
    if kind is Device:
        return repr(value.name)
    if kind is Function:
        return value.text
    if kind is float and not math.isfinite(value):
        return f'float("{value}")'
    if kind is complex:
        return f"complex({literal(value.real)}, {literal(value.imag)})"
    if kind is tuple:
        return "(" + ", ".join(map(literal, value)) + ("," if len(value) == 1 else "") + ")"
    if kind is list:
        return "[" + ", ".join(map(literal, value)) + "]"
    if kind is slice:
        return f"slice({literal(value.start)}, {literal(value.stop)}, {literal(value.step)})"
    if value is Ellipsis:
        return "..."
    if value is None or kind in (bool, int, float, str):
        return repr(value)
    raise ValueError(f"a program cannot hold {value!r}")


def _bound(value: Any) -> str:
    return "" if value is None else literal(value)


def _index(value: Any) -> str:
    """Return what stands between the brackets of a subscript."""
    if type(value) is tuple and value:
        return ", ".join(map(_index_item, value)) + ("," if len(value) == 1 else "")
    return _index_item(value)


def _index_item(value: Any) -> str:
    if type(value) is slice:
        tail = "" if value.step is None else f":{literal(value.step)}"
        return f"{_bound(value.start)}:{_bound(value.stop)}{tail}"
    return literal(value)


def _operand(value: Any) -> str | None:
    """An operand of an operator, or None where only the method form says it."""
    if type(value) is Ref:
        return value.name
    if type(value) in (int, float, complex):
        text = literal(value)
        return f"({text})" if text.startswith("-") else text
    return None


def _call(step: Step) -> str:
    args = step.args
    if is_path(step.op):
        head, rest = step.op, args
    else:
        if not args or type(args[0]) is not Ref:
            raise ValueError(f"{step.op} needs a name as its first operand")
        head, rest = f"{args[0].name}.{step.op}", args[1:]
    if step.op == "__call__":
        head = args[0].name
    words = [*map(literal, rest), *(f"{key}={literal(value)}" for key, value in step.kwargs)]
    return f"{head}({', '.join(words)})"


def expression(step: Step) -> str:
    """The step's right-hand side; raises ValueError if only a statement says it."""
    op, args = step.op, step.args
    plain = not step.kwargs and bool(args) and type(args[0]) is Ref
    if is_read(op):
        if not plain or len(args) != 1:
            raise ValueError(f"{op} reads from one name")
        return f"{args[0].name}{op}"
    if is_assignment(op):
        if not plain or len(args) != 2:
            raise ValueError(f"{op} takes a name and a value")
        return f'setattr({args[0].name}, "{op[1:-1]}", {literal(args[1])})'
    if op == DELETE:
        raise ValueError("del is no expression")
    if plain and len(args) == 2:
        if op == "__getitem__":
            return f"{args[0].name}[{_index(args[1])}]"
        other = _operand(args[1])
        if other is not None and op in BINARY:
            return f"{args[0].name} {BINARY[op]} {other}"
        if other is not None and op in REFLECTED and type(args[1]) is not Ref:
            return f"{other} {REFLECTED[op]} {args[0].name}"
    if plain and len(args) == 1 and op in UNARY:
        return f"{UNARY[op]}{args[0].name}"
    return _call(step)


def targets(step: Step) -> str:
    """Return what stands left of the equals sign, with it, or nothing."""
    if not step.out:
        return ""
    names = ", ".join("*_" if name == REST else name for name in step.out)
    return f"{names}, = " if len(step.out) == 1 and step.op in TUPLES else f"{names} = "


def statement(step: Step) -> str:
    """The step as one line of Python, its `with` blocks left out."""
    _, decorated = decoration(step.mode)
    op, args = step.op, step.args
    if decorated is not None:
        opener = decorated if decorated.endswith(")") else f"{decorated}()"
        return f"{targets(step)}torch.{opener}(lambda: {expression(step)})()"
    if op == DELETE:
        return f"del {', '.join(map(literal, args))}"
    if args and type(args[0]) is Ref and not step.kwargs:
        if op in AUGMENTED and len(args) == 2 and step.out == (args[0].name,):
            return f"{args[0].name} {AUGMENTED[op]} {literal(args[1])}"
        if not step.out and op == "__setitem__" and len(args) == 3:
            return f"{args[0].name}[{_index(args[1])}] = {literal(args[2])}"
        if not step.out and is_assignment(op):
            return f"{args[0].name}{op[:-1]} = {literal(args[1])}"
    return targets(step) + expression(step)


def _blocks(steps: Iterable[Step], wrap: Mapping[int, tuple[list[str], list[str]]]) -> Iterator[str]:
    """The lines of the steps, grouped into `with` blocks, each step between its `wrap` lines."""
    open_modes: tuple[str, ...] = ()
    for index, step in enumerate(steps):
        modes, _ = decoration(step.mode)
        shared = 0
        while shared < min(len(open_modes), len(modes)) and open_modes[shared] == modes[shared]:
            shared += 1
        for depth in range(shared, len(modes)):
            opener = modes[depth] if modes[depth].endswith(")") else f"{modes[depth]}()"
            yield f"{INDENT * depth}with torch.{opener}:"
        open_modes = modes
        before, after = wrap.get(index, ([], []))
        inner = INDENT if before and before[-1].endswith(":") else ""
        for line in (*before, inner + statement(step), *after):
            yield INDENT * len(modes) + line


def to_text(program: Program) -> str:
    """The program as a PyTorch script; `parsing.parse` reads it back."""
    return "\n".join([*_head(program), *_blocks(program.steps, {})]) + "\n"


def _head(program: Program) -> Iterator[str]:
    """Return the lines before the steps: the imports, and the custom functions and modules that they call."""
    ops = dict.fromkeys(step.op for step in program.steps)
    if COPY in ops:
        yield from ("import copy", "")
    yield from ("import torch", "")
    called = dict(found for found in map(source_of, ops) if found is not None)
    for source in called.values():
        yield from ("", source, "")
    if called:
        yield ""


def script(
    program: Program, *, refused: Iterable[int] = (), notes: Mapping[int, Iterable[str]] | None = None
) -> str:
    """A script that runs by itself: refused steps print their error, `notes` follow their steps as lines.

    It parses back to the same program, since a program ignores `print` and `try`.
    """
    wrap: dict[int, tuple[list[str], list[str]]] = {}
    expected = set(refused)
    for index in range(len(program.steps)):
        before: list[str] = []
        after = list((notes or {}).get(index, ()))
        if index in expected:
            before = ["try:"]
            after = ["except Exception as error:", INDENT + "print(type(error).__name__, error)", *after]
        if before or after:
            wrap[index] = (before, after)
    return "\n".join([*_head(program), *_blocks(program.steps, wrap)]) + "\n"


READING = {
    "value": "{}.tolist()", "dtype": "{}.dtype", "shape": "tuple({}.shape)",
    "device": "{}.device", "is_leaf": "{}.is_leaf",
    "requires_grad": "{}.requires_grad", "retains_grad": "{}.retains_grad",
    "grad_fn": "{}.grad_fn", "output_nr": "{}.output_nr", "is_view": "{}._is_view()",
    "version": "{}._version", "grad": "{}.grad", "history": "{}.grad_fn.next_functions",
    "age": "{}.grad_fn._sequence_nr()",
    "memory": "{0}.untyped_storage().data_ptr(), {0}.storage_offset(), {0}.stride()",
    "grad_memory": "{0}.grad.untyped_storage().data_ptr(), {0}.grad.storage_offset(), {0}.grad.stride()",
}  # fmt: skip
"""The expression that reads each fact in a script."""
