"""The declaration of an op: ``@op`` and ``@composite`` make an `Op`, and everything else is read off it.

Every fact of an op is a field of `Op`, with a default that is right for most: no other file knows an op by
its name. ``specs/kind.py`` explains the words of fields and annotations, ``specs/domain.py`` value domains.

    @op(inplace=True, node="MulBackward0", dtypes="promote")
    def mul(x: Tensor, y):
        return np.multiply(x, y)

    mul.wrt(x=lambda g, y: g.mul(y), y=lambda g, x: g.mul(x))

A formula's parameters are what it needs:

* ``g`` is the incoming gradient; of several results, ``gs`` is the tuple of theirs, with None for a result
  that the backward did not reach;
* ``out`` is the result, an operand's name is that operand (both are saved), an attribute's is its value;
* ``x_shape``, ``x_dtype``, ``x_strides``, ``x_offset`` (in elements) and ``x_place`` (the device) are
  metadata of operand ``x``, which is kept without saving the operand.

A formula returns None for an undefined gradient. In place, operand 0 is saved as it was before the write.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from specs.errors import refuse, taking
from specs.inference_alone import Alone
from specs.kind import EITHER, WORDS, Kind, kind_of
from specs.layout import as_torch_lays_out
from specs.signature import KEYWORDS, TORCH_NAMES, Attribute, Formula, Operand, Slot, misfit, picker, slot_for


@dataclass(slots=True, eq=False)
class Op:
    """One op: a numpy body, its formulas, and every fact of it."""

    name: str  # the public name; overloads share it
    key: str  # the declared function's name, unique among all ops
    body: Callable[..., Any]
    operands: tuple[Operand, ...]
    attributes: tuple[Attribute, ...]
    order: tuple[str, ...]  # all parameters, as torch takes them positionally
    names: tuple[str, ...]  # the operands among them
    # -- what it is in PyTorch
    node: str = ""  # grad_fn.name() in torch; "" if the op never makes a node
    dtypes: str = "promote"  # how operands are cast: see DTYPES
    into: str = ""  # the operand whose dtype the result is put into; "": it has the one it was computed in
    lacks: str = ""  # the dtypes that its kernel does not take, in the letters of specs.errors.need_kernel
    kernel: str = ""  # what PyTorch calls the kernel where it refuses a dtype; default: its name
    wide: bool = False  # half precision is computed as float32 and rounded at the end; default: unless "keep"
    factor: str = ""  # the operand that, if it is a number, is not rounded to half precision first
    view: bool | str = False  # True: one view of operand 0; "multi": a tuple of them
    inplace: bool = False  # there also is a `name_`
    mutates: bool = False  # this is such a `name_`: operand 0 is written
    node_in_place: str = ""  # of a view that can also change its operand's own shape: the node of that
    composite: bool = False  # the body is Python over tensor methods; no node, no formulas
    layout: tuple[str, ...] | None = None  # operands that decide the result's layout; None: all, if promoted
    function: bool = True  # torch has it as a function, too, not only as a method
    torch_names: Mapping[str, str] = field(default_factory=dict)  # of operands, where TORCH_NAMES are wrong
    # -- what its memory and its gradients depend on
    aliases: str = "never"  # whose memory its result shows: see ALIASES; default: by view, composite
    memory: str = "window"  # what its in-place form demands of the memory it writes: see MEMORY
    overwrites: str = ""  # a write that ignores the old value: see OVERWRITES
    mixes_elements: bool = False  # of in-place forms: an element of the gradient is made of several
    hands_on: bool = False  # a formula that reads elements may still return the very gradient that came in
    joint: bool = False  # one formula gives the gradients of all operands, wanted or not
    second_result: str = ""  # the operand that is a result of PyTorch's op: saved once the op has run
    real: bool = False  # of a complex gradient, a real operand gets the real part
    complex_history: bool = True  # a complex result can have a history
    # -- how generated programs call it
    internal: bool = False  # never: it is there for formulas, composites and users
    often: int | tuple[int, int] = 1  # in this proportion; the second number is for the in-place form
    exact: bool = True  # small dyadic operands give exact results, in any summation order
    ulp: int = 0  # how far a result may be off where it is not exact
    cancels: bool = False  # its last step adds an operand: it is off by units of what it adds
    grows: str = "contracts"  # how large its result may be: see GROWS; default: "saturates" if it gives bools
    jumps: bool = False  # value or derivative jump: no rounded operands; default: if it gives bools
    domain: str | Mapping[str, str] = "any"  # the values to draw: one name of DOMAINS, or one per operand
    avoid: tuple[str, ...] = ()  # names in AVOIDANCES
    complex: bool | str = False  # programs call it on complex numbers; "rounds ...": inexactly
    tries: tuple[str, ...] = ()  # values, besides the usual, that branches of its formulas need
    # -- what PyTorch does in rare states
    zero: str = ""  # what it makes of a ZeroTensor: see ZERO_TENSORS
    casts_out: bool = True  # `out=` may have another dtype; default: unless "keep" or "same"
    crosses: bool = False  # operands on other devices are copied over
    iterates: bool | None = None  # takes a number of the CPU beside others; default: if its layout is theirs
    on_cpu: tuple[str, ...] = ()  # indices and single elements that may be on the CPU, while others are not
    beside_first: bool = False  # its result is made on the first operand's device, whatever the others'
    checks_first: bool | Callable[..., None] = False  # what is refused before devices are compared
    shown_apart: bool = False  # a view that PyTorch computes when it is read; it has memory of its own here
    alone: Alone | None = None  # what it does with inference tensors alone
    counts_itself: str = ""  # the rule by which the write that makes the result counts
    with_array: Callable[..., Any] | None = None  # what it gives, as an operator, with an array of numpy's
    batched_write: str = ""  # what vmap calls it where it refuses to write; default: "aten::" and its name
    sized_by: str = ""  # the operand whose elements decide the result's shape
    jvp: Callable[..., Any] | None = None  # its tangent, where formulas do not tell: ``dx`` is that of ``x``
    takes_view: Callable[..., Any] | None = None  # True or the operands of which its kernel takes views
    # -- read off the declaration
    formulas: dict[str, Formula] = field(default_factory=dict)
    slots: tuple[Slot, ...] = (Slot("g", "g"),)  # what a node keeps; slot 0 is the incoming gradient
    edges: tuple[int, ...] = ()  # operands that have an edge in the graph (a formula), in order
    in_place: Op | None = None  # the record of `name_`, where there is one
    defaults: dict[str, Any] = field(default_factory=dict)  # attributes when none is passed; read only
    receiver: int = 0  # where a method's `self` stands among the positional parameters
    interleaved: bool = False  # an attribute stands before an operand, as in gather(x, dim, index)
    _kinds: tuple[Kind, ...] = ()
    _layout: Callable[[Any], Any] | None = None  # picks the operands that decide the result's layout
    _saved: dict[int, tuple[bool, ...]] = field(default_factory=dict)

    @property
    def doc(self) -> str:
        return inspect.getdoc(self.body) or ""

    @property
    def differentiable(self) -> bool:
        """Say if a result can require grad at all."""
        return bool(self.formulas) or self.composite

    def wrt(self, **formulas: Callable[..., Any]) -> Op:
        """Give the formula of each operand named; in-place forms share them."""
        for op in filter(None, (self, self.in_place)):
            op._set_formulas(formulas)
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
                    kept.append(slot_for(self.key, param, index, attributes))
            picks = tuple(slots[param] for param in params)
            self.formulas[name] = Formula(fn, index[name], params, picks)
        self.formulas = {o.name: self.formulas[o.name] for o in self.operands if o.name in self.formulas}
        self.slots = tuple(kept)
        self.edges = tuple(formula.operand for formula in self.formulas.values())
        self._saved = {}

    def _kept(self, mask: int) -> tuple[bool, ...]:
        """The slots filled when the operands in ``mask`` require grad, as in torch's generated nodes."""

        def filled(n: int, slot: Slot) -> bool:
            users = [f for f in self.formulas.values() if n in f.picks]
            one_of_several = slot.source == "operand" and len(self.formulas) > 1 and len(users) == 1
            return not one_of_several or "backward" in self.name or bool(mask >> users[0].operand & 1)

        return tuple(filled(n, slot) for n, slot in enumerate(self.slots))

    def filled(self, mask: int) -> tuple[bool, ...]:
        """Per slot, whether a node keeps it, given the bit mask of the operands that require grad.

        An operand that only one of several formulas uses is kept when that formula's operand requires grad;
        one that several use, and the result, always.
        """
        if mask not in self._saved:
            self._saved[mask] = self._kept(mask)
        return self._saved[mask]

    def saves(self, what: str, needs: Collection[str]) -> bool:
        """Say if ``what`` (an operand's name, or ``"out"``) is saved when those operands require grad."""
        mask = sum(1 << i for i, operand in enumerate(self.operands) if operand.name in needs)
        kept = [slot for slot, full in zip(self.slots, self.filled(mask), strict=True) if full]
        recorded = any(mask >> i & 1 for i in self.edges)
        return recorded and any(s.name == what for s in kept if s.source in ("operand", "out"))

    def fits(self, types: tuple[type, ...], keywords: Mapping[str, type], tensor: type) -> bool:
        """Say if arguments of those types are for this overload; ``tensor`` is the type of tensors."""
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
        """The places of the parameters among arguments of those types, which fit, and keywords' values."""
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
        """Torch's name of operand number ``at``."""
        name = self.names[at]
        return self.torch_names.get(name) or TORCH_NAMES.get(name, name)

    def _own(self, keyword: str) -> str:
        """This op's name of the parameter that torch calls ``keyword``."""
        keyword = KEYWORDS.get(keyword, keyword)
        own = (name for at, name in enumerate(self.names) if self.torch_name(at) == keyword)
        return keyword if keyword in self.order else next(own, keyword)

    def compute(self, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
        """Run the numpy body on prepared operands; shapes that do not broadcast are refused by rule.

        The result is an ndarray or a numpy scalar (as ufuncs give for 0-d operands), or a tuple of views.
        """
        try:
            if self.interleaved:
                result = self.body(**dict(zip(self.names, operands, strict=True)), **attributes)
            elif attributes:
                result = self.body(*operands, **attributes)
            else:
                result = self.body(*operands)
        except ValueError:
            where = misfit(() if self.mutates else self.names, operands)
            if not where:
                raise
            refuse("op/shapes-broadcast", **where)
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

    def fitting(self, types: tuple[type, ...], keywords: Mapping[str, type], tensor: type) -> Op | None:
        """The overload for arguments of those types; None if none fits."""
        return next((op for op in self.ops if op.fits(types, keywords, tensor)), None)

    def choose(self, types: tuple[type, ...], keywords: Mapping[str, type], tensor: type) -> Op:
        """The overload for arguments of those types; ``tensor`` is the implementation's own type."""
        if (op := self.fitting(types, keywords, tensor)) is None:
            kinds = [t.__name__ for t in types] + [f"{n}={t.__name__}" for n, t in keywords.items()]
            refuse("op/arguments", name=self.name, given=", ".join(kinds))
        return op

    def bind(
        self, args: tuple[Any, ...], keywords: Mapping[str, Any], tensor: type
    ) -> tuple[Op, tuple[Any, ...], dict[str, Any]]:
        """The overload that takes the arguments, its operands, and its attributes."""
        op = self.choose(tuple(map(type, args)), {n: type(value) for n, value in keywords.items()}, tensor)
        return op, *op.bind(args, keywords)


def _declare(body: Callable[..., Any], *, name: str | None, inplace: bool | str, **facts: Any) -> Op:
    """Make the op: the annotations of the body's parameters tell operands and attributes apart."""
    hints = inspect.get_annotations(body, eval_str=True)
    params = inspect.signature(body).parameters.values()
    kinds = {param.name: kind_of(hints.get(param.name), EITHER) for param in params}
    names = tuple(p.name for p in params if p.kind is not p.KEYWORD_ONLY and kinds[p.name].operand)
    attributes = tuple(Attribute(p.name, kinds[p.name], p.default) for p in params if p.name not in names)
    order = tuple(kinds)
    dtypes, view = facts.get("dtypes"), facts.get("view")
    facts.setdefault("wide", dtypes != "keep")
    facts.setdefault("casts_out", dtypes not in ("keep", "same"))
    facts.setdefault("jumps", dtypes == "bool")
    facts.setdefault("grows", "saturates" if dtypes == "bool" else "contracts")
    facts.setdefault("aliases", "always" if view else "self" if facts.get("composite") else "never")
    made = Op(
        name=name or body.__name__,
        key=body.__name__,
        body=taking(body, facts.get("kernel") or (name or body.__name__).rstrip("_"), facts.get("lacks", "")),
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
    for fact, words in WORDS.items():
        if (word := getattr(made, fact)) not in words:
            raise TypeError(f"{made.key}: {fact}={word!r} is none of {', '.join(filter(None, words))}")
    made._set_formulas({})
    promoted = made.dtypes in ("promote", "numeric", "float", "bool")
    if deciding := names if made.layout is None and promoted else made.layout or ():
        made._layout = picker([names.index(operand) for operand in deciding])
    if inplace is True:
        often = made.often[1] if isinstance(made.often, tuple) else 1
        form = replace(made, name=made.name + "_", key=made.key + "_", mutates=True, often=often)
        made.in_place = replace(form, formulas={}, alone=None)
    return made


def op(
    *, name: str | None = None, inplace: bool | str = False, **facts: Any
) -> Callable[[Callable[..., Any]], Op]:
    """Declare an op by its numpy body; ``facts`` are fields of `Op`, most often ``node`` and ``dtypes``.

    ``name`` is the public name, if not the body's (overloads). ``inplace=True`` adds ``name_``, and
    ``inplace="only"`` declares such a form (``zero_``): the body's result is written into operand 0. The body
    of a view returns numpy views of operand 0. An op without formulas is not differentiable.
    """
    return lambda body: _declare(body, name=name, inplace=inplace, **facts)


def composite(*, name: str | None = None, **facts: Any) -> Callable[[Callable[..., Any]], Op]:
    """Declare an op by a body over tensor methods, which make the nodes.

    The body gets operands and attributes as they were passed, and its result is the caller's. A body that
    writes is declared with ``inplace="only"``: it calls in-place methods on its first operand and returns it.
    """
    return lambda body: _declare(body, name=name, composite=True, **{"inplace": False} | facts)
