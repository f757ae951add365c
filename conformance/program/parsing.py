"""Parsing: a PyTorch script read back as a program.

Accepted is the straight line a program prints as, and what people write by hand: nested expressions become
steps on temporaries (`_1`, `_2`) that are deleted when their statement is over, as Python drops them. `print`
and `try` are observation, not program, and are passed over. Expectations (`assert`, `refused`) are read by
`case`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from conformance.program.expressions import ModuleNames, ProgramError, dotted, mode_of, need_torch, number
from conformance.program.syntax import (
    ARITHMETIC,
    AUGMENTED_METHOD_OF,
    BUILTINS,
    DTYPE_NAMES,
    METHOD_OF,
    REFLECTED_METHOD_OF,
    SIGN_OF,
    TUPLES,
)
from conformance.program.value import (
    COPY,
    DELETE,
    GRAD_MODES,
    REST,
    Device,
    Dtype,
    Function,
    Program,
    Ref,
    Step,
    is_device,
)  # fmt: skip
from specs.callbacks import CLASSES, MENU, MODULES, class_of


class Lowering:
    """Turns statements into steps, temporaries and all."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.steps: list[Step] = []
        self.mode: tuple[str, ...] = ()
        self.at: ast.stmt | None = None
        self._taken = set(taken)
        self._count = 0
        self._temporaries: list[str] = []
        self._modules = ModuleNames()

    # statements

    def statements(self, nodes: Iterable[ast.stmt]) -> None:
        for node in nodes:
            self.statement(node)

    def statement(self, node: ast.stmt) -> None:
        self.at = node
        match node:
            case ast.Import(names=imported):
                for name in imported:
                    need_torch(node, name)
                return
            case ast.ImportFrom() | ast.Pass():
                return
            case ast.ClassDef(name=name):
                known = CLASSES.get(name) or MODULES.get(name, "")
                if ast.unparse(node) != ast.unparse(ast.parse(known)):
                    raise ProgramError(node, f"{name} is not on the menu of functions", "see specs.callbacks")
                return
            case ast.Expr(value=ast.Constant(value=str())):
                return
            case ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
                return
            case ast.Expr(value=value):
                self.bind((), value)
            case ast.Assign(targets=[target], value=value):
                self.assign(target, value)
            case ast.AugAssign(target=target, op=sign, value=value):
                self.augment(target, sign, value)
            case ast.Delete(targets=targets):
                names = tuple(Ref(t.id) for t in targets if isinstance(t, ast.Name))
                if len(names) != len(targets):
                    raise ProgramError(node, "only names can be deleted")
                self.emit(DELETE, names)
            case ast.With(items=items, body=body):
                self.block(node, [item.context_expr for item in items], body)
            case ast.Try(body=body):
                self.statements(body)
            case ast.Assert():
                raise ProgramError(
                    node, "a program holds no assert", "write it as a case, or leave the line out"
                )
            case _:
                kind = type(node).__name__.lower()
                raise ProgramError(node, f"a program is a straight line; {kind} has no place in it")
        self.release()

    def block(self, node: ast.stmt, openers: list[ast.expr], body: list[ast.stmt]) -> None:
        modes = [mode_of(opener) for opener in openers]
        if None in modes:
            text = ast.unparse(openers[modes.index(None)])
            known = f"{', '.join(GRAD_MODES)}, or hooks around what is saved: a pair of specs.callbacks"
            raise ProgramError(node, f"with {text}: is no mode of a program", f"one of {known}")
        outer = self.mode
        self.mode = (*outer, *(mode for mode in modes if mode is not None))
        self.statements(body)
        self.mode = outer

    def release(self) -> None:
        """Delete the temporaries of the statement just lowered."""
        if self._temporaries:
            self.emit(DELETE, tuple(map(Ref, self._temporaries)))
            self._temporaries = []

    def assign(self, target: ast.expr, value: ast.expr) -> None:
        match target:
            case ast.Name(id=name):
                self.bind((name,), value)
            case ast.Tuple(elts=elements) if isinstance(value, ast.Tuple) and (
                len(held := [e for e in elements if isinstance(e, ast.Attribute)]) == len(value.elts)
            ):
                for each, given in zip(held, [self.value(each) for each in value.elts], strict=True):
                    self.emit(f".{each.attr}=", (self.operand(each.value), given))
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                self.bind(tuple(self._target(e, last=e is elements[-1]) for e in elements), value)
            case ast.Attribute(value=owner, attr=attribute):
                given = self.value(value)
                self.emit(f".{attribute}=", (self.operand(owner), given))
            case ast.Subscript(value=owner, slice=index):
                given = self.value(value)
                self.emit("__setitem__", (self.operand(owner), self.value(index), given))
            case _:
                raise ProgramError(target, f"cannot assign to {ast.unparse(target)}")

    def _target(self, node: ast.expr, last: bool) -> str:
        match node:
            case ast.Name(id=name):
                return name
            case ast.Starred(value=ast.Name(id="_")) if last:
                return REST
        raise ProgramError(node, f"cannot bind {ast.unparse(node)}", "names, and *_ at the end")

    def augment(self, target: ast.expr, sign: ast.operator, value: ast.expr) -> None:
        op = AUGMENTED_METHOD_OF.get(SIGN_OF.get(type(sign), ""))
        if op is None:
            raise ProgramError(target, "this in-place operator has no place in a program")
        match target:
            case ast.Name(id=name):
                self.emit(op, (Ref(name), self.value(value)), out=(name,))
            case ast.Attribute(value=owner, attr=attribute):
                holder = self.operand(owner)
                held = self.temporary()
                self.emit(f".{attribute}", (holder,), out=(held.name,))
                self.emit(op, (held, self.value(value)), out=(held.name,))
                self.emit(f".{attribute}=", (holder, held))
            case ast.Subscript(value=owner, slice=index):
                holder, at = self.operand(owner), self.value(index)
                held = self.temporary()
                self.emit("__getitem__", (holder, at), out=(held.name,))
                self.emit(op, (held, self.value(value)), out=(held.name,))
                self.emit("__setitem__", (holder, at, held))

    # expressions

    def emit(self, op: str, args: tuple[Any, ...], kwargs: tuple[tuple[str, Any], ...] = (),
             out: tuple[str, ...] = ()) -> None:  # fmt: skip
        self.steps.append(step := Step(op, args, kwargs, out, self.mode))
        if out:
            self._modules.note(step)

    def temporary(self) -> Ref:
        while True:
            self._count += 1
            name = f"_{self._count}"
            if name not in self._taken:
                self._temporaries.append(name)
                return Ref(name)

    def operand(self, node: ast.expr) -> Ref:
        value = self.value(node)
        if type(value) is not Ref:
            raise ProgramError(node, f"{ast.unparse(node)} is no tensor")
        return value

    def value(self, node: ast.expr) -> Any:
        """A literal, a name, or a temporary bound to what the expression computes."""
        match node:
            case ast.Constant(value=bytes() as value):
                raise ProgramError(node, f"bytes such as {value!r:.40} have no place in a program")
            case ast.Constant(value=value):
                return Device(value) if isinstance(value, str) and is_device(value) else value
            case ast.Name(id=name):
                if name == "torch":
                    raise ProgramError(node, "torch itself is no value")
                return Ref(name)
            case ast.Tuple(elts=elements):
                return tuple(self.value(element) for element in elements)
            case ast.List(elts=elements):
                return [self.value(element) for element in elements]
            case ast.Slice(lower=low, upper=high, step=stride):
                return slice(*(None if part is None else self.value(part) for part in (low, high, stride)))
            case ast.Attribute():
                path = dotted(node)
                if path is not None and path.startswith("torch."):
                    if path[6:] in DTYPE_NAMES:
                        return Dtype(path[6:])
                    if path in ("torch.inf", "torch.nan"):
                        return float(path[6:])
                    raise ProgramError(node, f"{path} is no value of a program")
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in BUILTINS:
                return BUILTINS[name](*(self.value(arg) for arg in args))
            case ast.Lambda():
                text = ast.unparse(node)
                if text not in MENU:
                    raise ProgramError(node, f"{text} is not on the menu of functions", "see specs.callbacks")
                return Function(text)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = self.value(operand)
                if type(value) is not Ref:
                    return -value
                return self._temporary_of("__neg__", (value,))
            case ast.BinOp(left=left, op=sign, right=right):
                parts = self._binary(node, left, SIGN_OF.get(type(sign), "?"), right)
                return parts if not isinstance(parts, Step) else self._temporary_of(parts.op, parts.args)
        held = self.temporary()
        self.bind((held.name,), node)
        return held

    def _temporary_of(self, op: str, args: tuple[Any, ...]) -> Ref:
        held = self.temporary()
        self.emit(op, args, out=(held.name,))
        return held

    def _binary(self, node: ast.expr, left: ast.expr, sign: str, right: ast.expr) -> Any:
        x, y = self.value(left), self.value(right)
        if type(x) is Ref and sign in METHOD_OF:
            return Step(METHOD_OF[sign], (x, y))
        if type(y) is Ref and sign in REFLECTED_METHOD_OF:
            return Step(REFLECTED_METHOD_OF[sign], (y, x))
        if sign in ARITHMETIC and type(x) is not Ref and type(y) is not Ref:
            return number(node, sign, x, y)
        raise ProgramError(node, f"{ast.unparse(node)} is no expression of a program")

    def bind(self, out: tuple[str, ...], node: ast.expr) -> None:
        """Lower an expression whose result takes the names `out` (or none)."""
        match node:
            case ast.Call(func=ast.Call(func=opener, args=[ast.Lambda(body=body)]), args=[], keywords=[]):
                mode = mode_of(opener)
                if mode is None:
                    raise ProgramError(
                        node, f"{ast.unparse(opener)} decorates nothing", "torch.no_grad()(lambda: ...)()"
                    )
                outer, self.mode = self.mode, (*self.mode, f"@{mode}")
                self.bind(out, body)
                self.mode = outer
            case ast.Call(
                func=ast.Name(id="setattr"), args=[owner, ast.Constant(value=str() as name), value]
            ):
                self.emit(f".{name}=", (self.operand(owner), self.value(value)), out=out)
            case ast.Call(func=ast.Attribute(value=owner, attr=method) as function):
                path = dotted(function)
                if path is not None and (path.startswith("torch.") or path == COPY or class_of(path)):
                    self.emit(path, *self._arguments((), node), out=out)
                else:
                    self.emit(method, *self._arguments((self.operand(owner),), node), out=out)
            case ast.Call(func=ast.Name(id=name)) if name in MODULES:
                self.emit(name, *self._arguments((), node), out=out)
            case ast.Call(func=ast.Name(id=name)) if name in self._modules.callables:
                self.emit("__call__", *self._arguments((Ref(name),), node), out=out)
            case ast.Subscript(value=owner, slice=ast.Constant(value=int() as at)) if (
                at >= 0 and self._is_tuple(owner)
            ):
                if len(out) != 1:
                    raise ProgramError(node, "one name for one element")
                skipped = tuple(self.temporary().name for _ in range(at))
                self.bind((*skipped, *out, REST), owner)
            case ast.Subscript(value=owner, slice=index):
                self.emit("__getitem__", (self.operand(owner), self.value(index)), out=out)
            case ast.Attribute(value=owner, attr=attribute) if not (dotted(node) or "").startswith("torch."):
                self.emit(f".{attribute}", (self.operand(owner),), out=out)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                self.emit("__neg__", (self.operand(operand),), out=out)
            case ast.BinOp(left=left, op=sign, right=right):
                self._operator(node, left, SIGN_OF.get(type(sign), "?"), right, out)
            case ast.Compare(left=left, ops=[compared], comparators=[right]):
                self._operator(node, left, SIGN_OF.get(type(compared), "?"), right, out)
            case _:
                raise ProgramError(node, f"{ast.unparse(node)} is no operation on tensors")

    def _operator(
        self, node: ast.expr, left: ast.expr, sign: str, right: ast.expr, out: tuple[str, ...]
    ) -> None:
        made = self._binary(node, left, sign, right)
        if not isinstance(made, Step):
            raise ProgramError(node, f"{ast.unparse(node)} is a number", "write it as an argument")
        self.emit(made.op, made.args, out=out)

    def _is_tuple(self, node: ast.expr) -> bool:
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            return False
        path = dotted(node.func) or ""
        return (path if path.startswith("torch.") else node.func.attr) in TUPLES

    def _arguments(
        self, first: tuple[Any, ...], node: ast.Call
    ) -> tuple[tuple[Any, ...], tuple[tuple[str, Any], ...]]:
        for given in node.args:
            if isinstance(given, ast.Starred):
                raise ProgramError(node, "starred arguments have no place in a program")
        args = (*first, *(self.value(given) for given in node.args))
        kwargs = []
        for keyword in node.keywords:
            if keyword.arg is None:
                raise ProgramError(node, "starred arguments have no place in a program")
            kwargs.append((keyword.arg, self.value(keyword.value)))
        return args, tuple(kwargs)


def names_in(tree: ast.AST) -> set[str]:
    """Every name a piece of source mentions."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def parse(text: str) -> Program:
    """The program a script spells; raises `ProgramError` where it is none."""
    return lowered(text, Lowering)


def lowered(text: str, make: Callable[[set[str]], Lowering]) -> Program:
    """The program that a script spells when it is lowered so; raises `ProgramError` where it is none."""
    try:
        tree = ast.parse(text)
        lowering = make(names_in(tree))
        lowering.statements(tree.body)
    except SyntaxError as error:
        where = f"line {error.lineno}: " if error.lineno else ""
        raise ProgramError(None, f"{where}not Python: {error.msg}") from None
    except (RecursionError, MemoryError):
        raise ProgramError(None, "it is nested too deeply") from None
    except ProgramError:
        raise
    except ValueError as error:
        raise ProgramError(None, f"not Python: {error}") from None
    if not lowering.steps:
        raise ProgramError(None, "there is no step in it", "a program is PyTorch, one operation a line")
    return Program(tuple(lowering.steps))
