"""Parts that a script is read by: dotted names, modes and numbers, and the error where it is no program."""

from __future__ import annotations

import ast
from typing import Any

from conformance.program.syntax import ARITHMETIC
from conformance.program.value import COPY, LAYERS, MODES, Step, is_module, reads


class ModuleNames:
    """The names of modules: those that a program may call, and others, whose parameters are random."""

    def __init__(self) -> None:
        self.callables: set[str] = set()
        self._others: set[str] = set()

    def note(self, step: Step) -> None:
        """Note what a step binds."""
        given, names = set(reads(step)), set(step.out)
        if (step.op in LAYERS and not given & self._others) or (step.op == COPY and given <= self.callables):
            self.callables |= names
            return
        self.callables -= names
        if is_module(step.op):
            self._others |= names


LARGEST = 1 << 64
"""Numbers that a script computes stay below it."""


class ProgramError(ValueError):
    """A script that is no program: what, where, and what to do about it."""

    def __init__(self, node: ast.AST | None, problem: str, hint: str = "") -> None:
        self.line = getattr(node, "lineno", None)
        self.problem, self.hint = problem, hint
        where = f"line {self.line}: " if self.line else ""
        super().__init__(f"{where}{problem}" + (f" (hint: {hint})" if hint else ""))


def dotted(node: ast.AST) -> str | None:
    """`torch.autograd.grad` of such an expression, or None where it is none."""
    words: list[str] = []
    while isinstance(node, ast.Attribute):
        words.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        return ".".join([node.id, *reversed(words)])
    return None


def mode_of(node: ast.AST) -> str | None:
    """The mode that `torch.no_grad()` or `torch.set_grad_enabled(False)` names, or None."""
    if isinstance(node, ast.Call):
        path = dotted(node.func)
        if path is not None and path.startswith("torch."):
            text = f"{path[6:]}({', '.join(map(ast.unparse, node.args))})"
            text = text.removesuffix("()")
            if text in MODES and not node.keywords:
                return text
    return None


def number(node: ast.AST, sign: str, x: Any, y: Any) -> Any:
    """The number that two literals make; raises ProgramError where it would be none, or too large a one."""
    problem = f"{ast.unparse(node)} is no number of a program"
    if not all(isinstance(value, int | float | complex) for value in (x, y)):
        raise ProgramError(node, problem, "write the literal out")
    if sign == "**" and isinstance(x, int) and isinstance(y, int) and x.bit_length() * abs(y) > 128:
        raise ProgramError(node, problem, "it is too large")
    try:
        made = ARITHMETIC[sign](x, y)
    except ArithmeticError as error:
        raise ProgramError(node, problem, str(error)) from None
    if isinstance(made, int) and abs(made) > LARGEST:
        raise ProgramError(node, problem, "it is too large")
    return made


def need_torch(node: ast.stmt, name: ast.alias) -> None:
    """Raise ProgramError for an import of anything but torch, or of `copy`, by its own name."""
    if name.name == "copy" and name.asname is None:
        return
    if name.name.partition(".")[0] != "torch":
        raise ProgramError(
            node, f"{name.name} has no place in a program", "a program is calls of torch alone"
        )
    if name.asname is not None:
        raise ProgramError(node, f"torch is called {name.asname}", "write `import torch`, and `torch.` below")
