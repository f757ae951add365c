"""What an op declaration is: ``@op`` and ``@composite`` make an `Op`, and everything else is read off it.

Here live the record, its overloads and how arguments bind to them; a machine runs bodies and formulas. The
words of annotations are in ``specs/kind.py``, value domains in ``specs/domain.py``, the ops in ``specs/ops``.

    @op(inplace=True, node="MulBackward0", dtypes="promote")
    def mul(x: Tensor, y):
        \"\"\"Elementwise product; each operand is saved for the other's gradient.\"\"\"
        return np.multiply(x, y)

    mul.wrt(x=lambda g, y: g.mul(y), y=lambda g, x: g.mul(x))

A formula's parameters are what it needs: ``g`` the incoming gradient (``gs``, a tuple with None for what
nobody reached, if the op has several results); ``out`` the saved result; an operand's name, that operand,
saved; an attribute's name, its value; ``x_shape``, ``x_dtype``, ``x_strides``, ``x_offset``, ``x_place``,
metadata of operand ``x`` (strides and offset in elements; its device), which is kept without saving it. A
formula returns None for an undefined gradient. In place, operand 0 is saved as it was before the write.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any, get_type_hints

import numpy as np

from specs.errors import refuse
from specs.kind import DTYPES, EITHER, MEMORY, Kind, kind_of
from specs.layout import as_torch_lays_out

METADATA = ("shape", "dtype", "strides", "offset", "place")
TORCH_NAMES = {"x": "self", "y": "other"}
"""What torch mostly calls the operands that are called ``x`` and ``y`` everywhere here."""


@dataclass(frozen=True, slots=True)
class Operand:
    """What takes part in the graph, or could: a tensor, or a Python number where one may stand."""

    name: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Attribute:
    """A plain value that says how to compute: never differentiated, always kept."""

    name: str
    kind: Kind
    default: Any = inspect.Parameter.empty

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Slot:
    """One thing a node keeps for its formulas: ``source`` of operand number ``operand``, or an attribute, or
    out.
    """

    source: str  # "g", "out", "operand", "attribute", or one of METADATA
    name: str
    operand: int = -1  # only meaningful for "operand" and METADATA


@dataclass(frozen=True, slots=True)
class Formula:
    """The gradient of one operand; ``fn(*[values[i] for i in picks])`` where ``values`` is in the op's slot
    order.
    """

    fn: Callable[..., Any]
    operand: int
    params: tuple[str, ...]
    picks: tuple[int, ...]


@dataclass(slots=True, eq=False)
class Op:
    """One op: a numpy body, its formulas, and what its signature and formulas say about it."""

    name: str  # the public name; overloads share it
    key: str  # the declared function's name, unique among all ops
    body: Callable[..., Any]
    operands: tuple[Operand, ...]
    attributes: tuple[Attribute, ...]
    order: tuple[str, ...]  # all parameters, as torch takes them positionally
    names: tuple[str, ...]  # the operands among them
    node: str = ""  # grad_fn.name() in torch; "" if the op never makes a node
    dtypes: str = "promote"
    into: str = ""  # the operand whose dtype the result is put into; "": it has the one it was computed in
    wide: bool = False  # half precision is computed as float32 and rounded at the end; default: unless "keep"
    view: bool | str = False  # True: one view of operand 0; "multi": a tuple of them
    inplace: bool = False  # there also is a `name_`
    mutates: bool = False  # this is such a `name_`: operand 0 is written
    composite: bool = False  # the body is Python over tensor methods; no node, no formulas
    layout: tuple[str, ...] | None = None  # operands that decide the result's layout; None: all, if promoted
    internal: bool = False  # generated programs never call it: it is there for formulas, composites and users
    exact: bool = True  # small dyadic operands give exact results, in any summation order
    ulp: int = 0  # how far a result may be off where it is not exact
    domain: str | Mapping[str, str] = "any"  # the values to draw: one name of DOMAINS, or one per operand
    avoid: tuple[str, ...] = ()  # names in AVOIDANCES
    complex: bool = False  # body and formulas hold for complex128 as they stand
    memory: str = "window"  # what its in-place form demands of the memory it writes: see MEMORY
    overwrites: str = ""  # a write that ignores the old value: "fill", or "copy" (casts; of itself, nothing)
    mixes_elements: bool = (
        False  # an element of its gradient is made of several: asked of in-place forms only
    )
    real: bool = False  # of a complex gradient, a real operand gets the real part
    torch_names: Mapping[str, str] = field(default_factory=dict)  # of operands, where TORCH_NAMES are wrong
    formulas: dict[str, Formula] = field(default_factory=dict)
    slots: tuple[Slot, ...] = (Slot("g", "g"),)  # what a node keeps; slot 0 is the incoming gradient
    edges: tuple[int, ...] = ()  # operands that have an edge in the graph (a formula), in order
    in_place: Op | None = None  # the record of `name_`, where there is one
    defaults: dict[str, Any] = field(default_factory=dict)  # attributes when none is passed; read only
    receiver: int = 0  # where a method's `self` stands among the positional parameters
    interleaved: bool = False  # an attribute stands before an operand, as in gather(x, dim, index)
    _kinds: tuple[Kind, ...] = ()
    _layout: Callable[[Any], Any] | None = None  # picks the operands that decide the result's layout
    _saved: tuple[tuple[bool, ...], ...] = ()

    @property
    def doc(self) -> str:
        return inspect.getdoc(self.body) or ""

    @property
    def differentiable(self) -> bool:
        """Whether a result can require grad at all."""
        return bool(self.formulas) or self.composite

    # declaring
    def wrt(self, **formulas: Callable[..., Any]) -> Op:
        """Give the formula of each operand named; in-place forms share them."""
        self._set_formulas(formulas)
        if self.in_place is not None:
            self.in_place._set_formulas(formulas)
        return self

    def inplace_wrt(self, **formulas: Callable[..., Any]) -> Op:
        """Give formulas that only the in-place form uses."""
        assert self.in_place is not None, f"{self.key} has no in-place form"
        self.in_place._set_formulas(formulas)
        return self

    def _set_formulas(self, functions: Mapping[str, Callable[..., Any]]) -> None:
        index = {operand.name: i for i, operand in enumerate(self.operands)}
        attributes = {attribute.name for attribute in self.attributes}
        slots = {"gs": 0} | {slot.name: n for n, slot in enumerate(self.slots)}
        kept = list(self.slots)
        for name, fn in functions.items():
            if name not in index:
                raise TypeError(f"{self.key} has no operand {name!r}")
            params = tuple(inspect.signature(fn).parameters)
            for param in params:
                if param not in slots:
                    slots[param] = len(kept)
                    kept.append(_slot(self.key, param, index, attributes))
            picks = tuple(slots[param] for param in params)
            self.formulas[name] = Formula(fn, index[name], params, picks)
        self.formulas = {o.name: self.formulas[o.name] for o in self.operands if o.name in self.formulas}
        self.slots = tuple(kept)
        self.edges = tuple(formula.operand for formula in self.formulas.values())
        self._saved = tuple(self._kept(mask) for mask in range(1 << len(self.operands)))

    def _kept(self, mask: int) -> tuple[bool, ...]:
        """Which slots are filled when the operands in ``mask`` require grad: torch's rule for generated
        nodes.
        """

        def filled(n: int, slot: Slot) -> bool:
            users = [f for f in self.formulas.values() if n in f.picks]
            one_of_several = slot.source == "operand" and len(self.formulas) > 1 and len(users) == 1
            return not one_of_several or "backward" in self.name or bool(mask >> users[0].operand & 1)

        return tuple(filled(n, slot) for n, slot in enumerate(self.slots))

    # what is saved
    def filled(self, mask: int) -> tuple[bool, ...]:
        """Per slot, whether a node keeps it, given the bit mask of the operands that require grad.

        An operand that only one of several formulas uses is kept when that formula's operand requires grad;
        one that several use, and the result, always.
        """
        return self._saved[mask]

    def saves(self, what: str, needs: Collection[str]) -> bool:
        """Whether ``what`` (an operand's name, or ``"out"``) is saved when those operands require grad."""
        mask = sum(1 << i for i, operand in enumerate(self.operands) if operand.name in needs)
        if not any(mask >> i & 1 for i in self.edges):
            return False
        kept = zip(self.slots, self._saved[mask], strict=True)
        return any(slot.name == what and full for slot, full in kept if slot.source in ("operand", "out"))

    # calling
    def fits(self, types: tuple[type, ...], keywords: Mapping[str, type], tensor: type) -> bool:
        """Whether arguments of those types are this overload's; ``tensor`` is the implementation's tensor
        type.
        """
        named = {self._own(keyword): given for keyword, given in keywords.items()}
        if len(named) < len(keywords):
            return False
        left = types
        for name, kind in zip(self.order, self._kinds, strict=True):
            if left and kind.variadic and issubclass(left[0], int):
                if not all(issubclass(given, int) for given in left):
                    return False
                left = ()
            elif left:
                if not kind.takes(left[0], tensor):
                    return False
                left = left[1:]
            elif name in named:
                if not kind.takes(named.pop(name), tensor):
                    return False
            elif name not in self.defaults:
                return False
        return not left and not named

    def places(self, types: tuple[type, ...], keywords: Iterable[str]) -> dict[str, int | slice]:
        """Where the parameters stand among arguments of those types, which fit, and the keywords' values."""
        found: dict[str, int | slice] = {}
        for at, (name, kind) in enumerate(zip(self.order, self._kinds, strict=True)):
            if at == len(types):
                break
            if kind.variadic and issubclass(types[at], int):
                found[name] = slice(at, len(types))
                break
            found[name] = at
        for at, keyword in enumerate(keywords, len(types)):
            found[self._own(keyword)] = at
        return found

    def bind(
        self, args: tuple[Any, ...], keywords: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Operands in declared order, and all attributes as the body wants them, of arguments that fit."""
        places = self.places(tuple(map(type, args)), keywords)
        given = (*args, *keywords.values())
        attributes = {
            a.name: a.kind.read(given[places[a.name]]) if a.name in places else a.default
            for a in self.attributes
        }
        return tuple(given[places[name]] for name in self.names), attributes

    def torch_name(self, at: int) -> str:
        """What torch calls operand number ``at``."""
        name = self.names[at]
        return self.torch_names.get(name) or TORCH_NAMES.get(name, name)

    def _own(self, keyword: str) -> str:
        """This op's name of a parameter that torch calls ``keyword``."""
        if keyword == "input":
            keyword = "self"  # the namespace's functions say so
        names = (name for at, name in enumerate(self.names) if self.torch_name(at) == keyword)
        return keyword if keyword in self.order else next(names, keyword)

    def compute(self, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
        """Run the numpy body on prepared operands; shapes that do not broadcast are refused by rule.

        The result is an ndarray or a numpy scalar (as ufuncs give for 0-d operands), or a tuple of views.
        """
        body = self.body
        try:
            if self.interleaved:
                result = body(**dict(zip(self.names, operands, strict=True)), **attributes)
            elif attributes:
                result = body(*operands, **attributes)
            else:
                result = body(*operands)
        except ValueError:
            shapes = [np.shape(value) for value in operands]
            where = clash(*shapes)
            if not where:
                raise
            refuse("op/shapes-broadcast", shapes=shapes, **where)
        if self._layout is not None and result.ndim > 1:
            return as_torch_lays_out(result, self._layout(operands))
        return result

    def __repr__(self) -> str:
        return f"<op {self.name}: {self.key}>"


class Overloads:
    """The ops of one name, in the order torch would try them."""

    def __init__(self, name: str, ops: list[Op]) -> None:
        self.name = name
        self.ops = ops
        self.receiver = ops[0].receiver

    def choose(self, types: tuple[type, ...], keywords: Mapping[str, type], tensor: type) -> Op:
        """The overload that takes arguments of those types, ``tensor`` being the implementation's own."""
        for op in self.ops:
            if op.fits(types, keywords, tensor):
                return op
        kinds = ", ".join([t.__name__ for t in types] + [f"{n}={t.__name__}" for n, t in keywords.items()])
        refuse("op/arguments", name=self.name, given=kinds)

    def bind(
        self, args: tuple[Any, ...], keywords: Mapping[str, Any], tensor: type
    ) -> tuple[Op, tuple[Any, ...], dict[str, Any]]:
        """The overload that takes the arguments, its operands, and its attributes."""
        types = {name: type(value) for name, value in keywords.items()}
        op = self.choose(tuple(map(type, args)), types, tensor)
        return op, *op.bind(args, keywords)


def picker(places: Sequence[int]) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """Takes the items at these places out of a sequence."""
    if len(places) > 1:
        return itemgetter(*places)
    return itemgetter(slice(places[0], places[0] + 1) if places else slice(0))


def _slot(key: str, param: str, index: Mapping[str, int], attributes: Collection[str]) -> Slot:
    """What a formula's parameter stands for."""
    if param in index:
        return Slot("operand", param, index[param])
    if param in attributes:
        return Slot("attribute", param)
    if param == "out":
        return Slot("out", param)
    operand, _, what = param.rpartition("_")
    if operand in index and what in METADATA:
        return Slot(what, param, index[operand])
    raise TypeError(f"a formula of {key} asks for {param!r}, which is no operand, attribute or metadata")


def clash(a: tuple[int, ...] = (), b: tuple[int, ...] = (), *more: tuple[int, ...]) -> dict[str, int]:
    """The first dimension, from the right, in which two shapes do not broadcast: its sizes and its number."""
    for at, (m, n) in enumerate(zip(reversed(a), reversed(b), strict=False), 1):
        if m != n and 1 not in (m, n):
            return {"a": m, "b": n, "dim": max(len(a), len(b)) - at}
    return clash(np.broadcast_shapes(a, b), *more) if more else {}


def _declare(body: Callable[..., Any], *, name: str | None, inplace: bool | str, **facts: Any) -> Op:
    """Read a body's signature; positional parameters that an annotation calls an attribute are attributes."""
    hints = get_type_hints(body, include_extras=True)
    params = inspect.signature(body).parameters.values()
    kinds = {param.name: kind_of(hints.get(param.name), EITHER) for param in params}
    names = tuple(p.name for p in params if p.kind is not p.KEYWORD_ONLY and kinds[p.name].operand)
    attributes = tuple(Attribute(p.name, kinds[p.name], p.default) for p in params if p.name not in names)
    order = tuple(kinds)
    facts.setdefault("wide", facts.get("dtypes") != "keep")
    made = Op(
        name=name or body.__name__,
        key=body.__name__,
        body=body,
        operands=tuple(Operand(name, kinds[name]) for name in names),
        attributes=attributes,
        order=order,
        names=names,
        inplace=bool(inplace),
        mutates=inplace == "only",
        defaults={a.name: a.default for a in attributes if not a.required},
        receiver=order.index("x") if "x" in order else 0,
        interleaved=order[: len(names)] != names,
        _kinds=tuple(kinds.values()),
        **facts,
    )
    if made.dtypes not in DTYPES:
        raise TypeError(f"{made.key}: dtypes={made.dtypes!r} is none of {', '.join(DTYPES)}")
    if made.memory not in MEMORY:
        raise TypeError(f"{made.key}: memory={made.memory!r} is none of {', '.join(MEMORY)}")
    made._set_formulas({})
    promoted = made.dtypes in ("promote", "numeric", "float", "bool")
    deciding = names if made.layout is None and promoted else made.layout or ()
    if deciding:
        made._layout = picker([names.index(operand) for operand in deciding])
    if inplace is True:
        made.in_place = replace(made, name=made.name + "_", key=made.key + "_", mutates=True, formulas={})
    return made


def op(
    *, name: str | None = None, inplace: bool | str = False, **facts: Any
) -> Callable[[Callable[..., Any]], Op]:
    """Declare an op by its numpy body; ``facts`` are fields of `Op`, most often ``node`` and ``dtypes``.

    ``name`` is the public name where it is not the body's (overloads). ``inplace=True`` adds ``name_``;
    ``inplace="only"`` means the op is its in-place form (``zero_``): what the body returns is written into
    operand 0. ``view`` bodies return numpy views of operand 0. An op without formulas is not differentiable.
    """
    return lambda body: _declare(body, name=name, inplace=inplace, **facts)


def composite(*, name: str | None = None, **facts: Any) -> Callable[[Callable[..., Any]], Op]:
    """Declare an op by a body over tensor methods; it makes no node of its own, what it calls does.

    The body gets operands and attributes as they were passed and returns what the caller gets. One that
    writes (``square_``) is declared with ``inplace="only"``, calls in-place methods on its first operand and
    returns it.
    """
    inplace = facts.pop("inplace", False)
    return lambda body: _declare(body, name=name, inplace=inplace, composite=True, **facts)
