"""The claims of an implementation, held against steps, traces and texts: what these need that it lacks.

The names of all operations live here too: those of the op table, and of the steps beside it (`other_ops`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from conformance.execution.other_ops import BESIDE
from conformance.execution.region import belongs
from conformance.execution.trace import Observation, Refused
from conformance.program import (
    ANOMALY_MODES,
    DELETE,
    DUAL_LEVEL,
    SAVING_MODES,
    Device,
    Dtype,
    Function,
    Program,
    Ref,
    Step,
)
from conformance.program.printing import to_text
from specs import ops
from specs.callbacks import CLASSES, class_of
from specs.fact import POSITION, UNSEEN

DTYPES = frozenset(["float64", "float32", "float16", "bfloat16", "complex128", "complex64", "int64", "bool"])
"""The dtypes of drawn programs."""

_CASTS = {"double": "float64", "float": "float32", "half": "float16", "bfloat16": "bfloat16"}
_SECOND = re.compile(r"cuda(:1\b|\(1\))")


@cache
def known_ops() -> dict[str, tuple[str, ...]]:
    """Every operation that a step may name, with its keywords."""
    ops.load()
    found = {op: tuple(k for k in keywords.split() if k != "_") for op, (_, keywords) in BESIDE.items()}
    found |= {f"{name}.apply": () for name in CLASSES}
    for table in (ops.ALL, ops.IN_PLACE):
        for name, overloads in table.items():
            if name not in ops.REFLECTED_ONLY and name[0] != "_":
                keywords = tuple(dict.fromkeys(a.name for op in overloads for a in op.attributes))
                found.setdefault(name, keywords)
                if any(op.function for op in overloads):
                    found.setdefault(f"torch.{name}", keywords)
    return found | dict.fromkeys(ops.OPERATORS, ())


@cache
def features_of(op: str) -> frozenset[str]:
    """The features that an operation needs whatever its arguments."""
    ops.load()
    if op in BESIDE:
        return frozenset(BESIDE[op][0].split())
    if (name := class_of(op)) is not None:
        return needs_of(CLASSES[name]).features | {"functions"}
    name = op.removeprefix("torch.")
    name = ops.OPERATORS.get(name, name)
    overloads = ops.ALL.get(name) or ops.IN_PLACE.get(name) or ()
    needs = {"inplace" for each in overloads if each.mutates}
    views = {"views" for each in overloads if each.view or each.aliases in ("always", "maybe")}
    return frozenset(needs or views)


class Needs:
    """The features and dtypes that a text needs, and the operations it names."""

    def __init__(self, text: str) -> None:
        self.features, self.dtypes, self.ops = frozenset[str](), frozenset[str](), frozenset[str]()
        for node in ast.walk(ast.parse(text.strip())):
            self._take(node)

    def _take(self, node: ast.AST) -> None:
        match node:
            case ast.Attribute(attr=name, ctx=context):
                stored = isinstance(context, ast.Store)
                spelled = (f".{name}=",) if stored else (name, f".{name}", f"torch.{name}")
                self.features |= {each for op in spelled for each in features_of(op)}
                self.features |= _of_modes(name)
                self.dtypes |= {_CASTS.get(name, name)} & (DTYPES - {"bool"})
                self.ops |= {name} & known_ops().keys()
            case ast.AugAssign():
                self.features |= {"inplace"}
            case ast.keyword(arg="create_graph", value=ast.Constant(value=True)):
                self.features |= {"double"}
            case ast.keyword(arg="out"):
                self.features |= {"inplace"}


@cache
def needs_of(text: str) -> Needs:
    """Everything that a text needs, as far as its names tell."""
    return Needs(text)


def _of_modes(mode: str) -> frozenset[str]:
    """The features that the name of a mode speaks of."""
    if "saved_tensors_hooks" in mode or "save_on_cpu" in mode:
        return frozenset(["hooks"])
    if "inference_mode" in mode:
        return frozenset(["inference"])
    if mode == DUAL_LEVEL:
        return frozenset(["forward_mode"])
    if mode in ANOMALY_MODES:
        return frozenset(["anomaly"])
    return frozenset(
        ["modes"] if mode.lstrip("@").startswith(("no_grad", "enable_grad", "set_grad_enabled")) else []
    )


@cache
def _narrowed(claimed: frozenset[str]) -> dict[str, frozenset[str] | None]:
    """The operations claimed, each with the keywords it is narrowed to."""
    found: dict[str, frozenset[str] | None] = {}
    for op in claimed:
        name, narrowed, keywords = op.partition("(")
        found[name] = frozenset(keywords.rstrip(")").replace(" ", "").split(",")) if narrowed else None
    return found


def names_of(claimed: frozenset[str] | None) -> frozenset[str] | None:
    """The operations claimed without what they are narrowed to; None for all."""
    return None if claimed is None else frozenset(_narrowed(claimed))


def lacking(limits: Any, step: Step) -> str:
    """Return what a step needs that is not claimed, in words, or nothing."""
    return asked(limits)(step)


@cache
def asked(limits: Any) -> Callable[[Step], str]:
    """`lacking` of one claim: steps of one kind are held against it once."""
    answers: dict[Any, str] = {}

    def ask(step: Step) -> str:
        op, args, kwargs, _, mode = step
        if kwargs:
            return ask_in_full(step)
        count = len(args)
        if count == 1:
            answer = answers.get((op, mode, type(args[0])))
        elif count == 2:
            answer = answers.get((op, mode, type(args[0]), type(args[1])))
        else:
            answer = answers.get((op, mode, *map(type, args)))
        return ask_in_full(step) if answer is None else answer

    def ask_in_full(step: Step) -> str:
        op, args, kwargs, _, mode = step
        if op == "cuda":  # of which the number matters
            return _lacking(limits, step)
        told: list[Any] = [op, mode]
        for value in args:
            kind = type(value)
            told.append(kind if kind in _UNTOLD else _kind(value))
        for name, value in kwargs:
            told.append(name)
            told.append(value if type(value) in _TOLD else _kind(value))
        key = tuple(told)
        answer = answers.get(key)
        if answer is None:
            named = tuple([(name, _kind(value)) for name, value in kwargs])
            answer = answers[key] = _lacking(limits, Step(op, tuple(map(_kind, args)), named, (), mode))
        return answer

    return ask


@cache
def met_within(limits: Any) -> set[tuple[Any, Any]]:
    """Shapes with dtypes that were held against one claim by `lacking_of`, and lack nothing."""
    return set()


def _kind(value: Any) -> Any:
    """All of a value that claims speak of: numbers and names are one, and lists of them are nothing."""
    kind = type(value)
    if kind in _TOLD:
        return value
    if kind is tuple or kind is list:
        return (
            None if _UNTOLD.issuperset(map(type, value)) else tuple(filter(None, map(_kind, value))) or None
        )
    return _ANY_NAME if kind is Ref else None


_ANY_NAME = Ref("x")
_TOLD = frozenset([bool, Dtype, Device, Function])
"""Types of values that claims speak of: dtypes, devices, functions, and flags that are given by name."""
_UNTOLD = frozenset([int, float, complex, bool, str, slice, type(None), type(Ellipsis), Ref])
"""Types of arguments of which claims speak no further."""


def _lacking(limits: Any, step: Step) -> str:
    op, _, kwargs, _, mode = step
    if limits.ops is not None and op != DELETE:
        claimed = _narrowed(limits.ops)
        if op not in claimed:
            return f"needs {op}"
        allowed = claimed[op]
        surplus = [] if allowed is None else [k for k in _keywords(step) if k not in allowed]
        if surplus:
            return f"needs {op}({surplus[0]})"
    values = list(_flat((step.args, [value for _, value in kwargs])))
    placed = any(isinstance(value, Device) for value in values) or op in ("cuda", "cpu")
    if placed and (lack := lacks_device(limits, Program((step,)))):
        return lack
    features = set(features_of(op))
    features |= {each for name in mode for each in _of_modes(name)}
    features |= {"double" for key, value in kwargs if key == "create_graph" and value is True}
    features |= {"inplace" for key, value in kwargs if key == "out" or (key, value) == ("set_to_none", False)}
    dtypes = {value.name for value in values if isinstance(value, Dtype)}
    dtypes |= {_CASTS[op]} if op in _CASTS else set()
    texts = [value.text for value in values if isinstance(value, Function)]
    for needs in map(needs_of, (*texts, *(text for name in mode for text in SAVING_MODES.get(name, ())))):
        features |= needs.features
        dtypes |= needs.dtypes
        missing = set() if limits.ops is None else needs.ops - _narrowed(limits.ops).keys()
        if missing:
            return f"needs {min(missing)}"
    return _lacks(limits, features, dtypes)


def lacks_of_text(limits: Any, text: str) -> str:
    """Return what a text that is no program needs and an implementation does not claim, or nothing."""
    if limits.ops is not None or limits.shapes == "scalar":
        return "needs more than a program can say"
    if limits.refusals == "none" and "refused(" in text:
        return "needs refusals"
    needs = needs_of(text)
    return _lacks(limits, needs.features, needs.dtypes)


def _lacks(limits: Any, features: Iterable[str], dtypes: Iterable[str]) -> str:
    # NB: devices are told by the arguments.
    missing = sorted(set(features) - limits.features - {"devices"})
    if missing:
        return "needs grad modes" if missing == ["modes"] else f"needs {_WORDS.get(missing[0], missing[0])}"
    return next((f"needs {d}" for d in sorted(dtypes) if not claims_dtype(limits, d)), "")


_WORDS = {
    "modes": "grad modes", "inference": "inference mode", "inplace": "in-place operations", "double":
    "double backward", "grad_call": "torch.autograd.grad", "data": ".data", "retain": "retain_grad",
    "functions": "custom functions",
}  # fmt: skip


def claims_dtype(limits: Any, dtype: str) -> bool:
    """Tell whether a dtype is claimed; whoever has one float dtype only has it for the default one, too."""
    if dtype in limits.dtypes or limits.dtypes >= DTYPES:
        return True
    return dtype == "float32" and len(limits.dtypes & _FLOATS) == 1


_FLOATS = {"float64", "float32", "float16", "bfloat16"}


def _keywords(step: Step) -> list[str]:
    """The keywords that a step gives, also by position."""
    op, args, kwargs, _, _ = step
    given = [key for key, _ in kwargs]
    names = _positions(op)
    for at, value in enumerate(args):
        if isinstance(value, (Dtype, Device)):
            given.append("dtype" if isinstance(value, Dtype) else "device")
        elif at and names:
            name = names[min(at, len(names)) - 1]
            given += [name] if name != "_" else []
    return given


@cache
def _positions(op: str) -> tuple[str, ...]:
    """The keywords that arguments after the first give by position; `_` stands for operands."""
    if op in BESIDE:
        return tuple(BESIDE[op][1].split())
    name = op.removeprefix("torch.")
    overloads = ops.ALL.get(name) or ops.IN_PLACE.get(name) or ()
    for each in sorted(overloads, key=lambda overload: -len(overload.order))[:1]:
        first = 0 if op.startswith("torch.") else each.receiver
        rest = [n for at, n in enumerate(each.order) if at != first]
        return tuple("_" if n in each.names else n for n in rest)
    return ()


def _flat(value: Any) -> Iterator[Any]:
    if type(value) in (tuple, list):
        for item in value:
            yield from _flat(item)
    else:
        yield value


def lacks_device(limits: Any, program: Program) -> str:
    """Return the device that a program needs and an implementation lacks, in words, or nothing."""
    said = [to_text(Program((step,))) for step in program]
    if "devices" not in limits.features and any("cuda" in step for step in said):
        return "needs a device besides the CPU"
    second = "two_devices" not in limits.features and any(map(_SECOND.search, said))
    return "needs two devices besides the CPU" if second else ""


def lacking_after(limits: Any, step: Step, seen: Observation) -> str:
    """Return what the reference did that is not claimed: a refusal, a shape, a dtype; or nothing."""
    if isinstance(seen.outcome, Refused) and not judges(limits, step):
        return "needs refusals"
    for facts in seen.facts.values():
        if len(facts) > 1 and (
            lack := lacking_of(limits, facts[POSITION["shape"]], facts[POSITION["dtype"]])
        ):
            return lack
    return ""


def judges(limits: Any, step: Step) -> bool:
    """Tell whether a refusal of the step is judged."""
    return limits.refusals != "none" and not (limits.refusals == "outside" and belongs(step))


def lacking_of(limits: Any, shape: Any, dtype: Any) -> str:
    """Return what a tensor of that shape and dtype has that is not claimed, in words, or nothing."""
    if limits.shapes == "scalar" and shape is not UNSEEN and tuple(shape) != ():
        return "needs more than scalars"
    return "" if dtype is UNSEEN or claims_dtype(limits, dtype) else f"needs {dtype}"
