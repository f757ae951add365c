"""The words of an op's declaration: annotations of its parameters, and the values of its fields.

An annotation is an alias that a type checker understands (``Dim`` is an ``int`` in a body) and that carries a
`Kind`: what the parameter may be, and how it is read. The generator draws values by the kind's name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

NUMBERS = (bool, int, float, complex)


def _as_given(value: Any) -> Any:
    return value


def _as_tuple(value: Any) -> Any:
    """One int or a sequence of them, as a tuple; None stays None."""
    if value is None:
        return None
    return (value,) if isinstance(value, int) else tuple(value)


@dataclass(frozen=True)
class Kind:
    """The values that a parameter takes: Python types (and the tensor type), and how they are read."""

    name: str
    meaning: str
    types: tuple[type, ...] = ()
    tensor: bool = False
    operand: bool = False
    vector: bool = False  # a tensor of one dimension
    variadic: bool = False  # ints may also be passed one by one: x.view(2, 3)
    read: Callable[[Any], Any] = _as_given
    never: tuple[type, ...] = ()  # of the types, those that are not meant

    def takes(self, given: type, tensor: type) -> bool:
        """Say if a value of type ``given`` may stand here; ``tensor`` is the type of tensors."""
        meant = issubclass(given, self.types) and not issubclass(given, self.never)
        return meant or (self.tensor and issubclass(given, tensor))


NONE = type(None)
SEQUENCE = (tuple, list)

EITHER = Kind("either", "a tensor or a Python number", NUMBERS, tensor=True, operand=True)
"""The kind of a parameter that bears no annotation."""

# -- operands
Tensor = Annotated[Any, Kind("tensor", "a tensor", tensor=True, operand=True)]
Number = Annotated[Any, Kind("number", "a Python number, never a tensor", NUMBERS, operand=True)]
Wrapped = Annotated[Any, Kind("wrapped", "a Python number in a tensor's place", NUMBERS, operand=True)]
Mask = Annotated[Any, Kind("mask", "a bool tensor; not promoted", tensor=True, operand=True)]
Indices = Annotated[
    Any, Kind("indices", "an int64 tensor of positions; not promoted", tensor=True, operand=True)
]

Vector = Annotated[
    Any,
    Kind("indices", "a vector of int64 positions; not promoted", tensor=True, operand=True, vector=True),
]

# -- attributes
Dim = Annotated[int, Kind("dim", "a dimension of operand x, -ndim..ndim-1", (int,))]
NewDim = Annotated[int, Kind("new_dim", "a place for a new dimension, -ndim-1..ndim", (int,))]
Dims = Annotated[
    tuple[int, ...],
    Kind("dims", "distinct dimensions; none means all", (int, *SEQUENCE), read=_as_tuple),
]
DimList = Annotated[
    tuple[int, ...],
    Kind("dim_list", "distinct dimensions; none means none", SEQUENCE, variadic=True, read=_as_tuple),
]
OptDims = Annotated[
    tuple[int, ...] | None,
    Kind("opt_dims", "distinct dimensions; None or none means all", (int, *SEQUENCE, NONE), read=_as_tuple),
]
Perm = Annotated[
    tuple[int, ...],
    Kind("perm", "each dimension once, in any order", SEQUENCE, variadic=True, read=_as_tuple),
]
Shape = Annotated[
    tuple[int, ...],
    Kind("shape", "sizes, not negative, one of which may be -1", SEQUENCE, variadic=True, read=_as_tuple),
]
Size = Annotated[
    tuple[int, ...],
    Kind("size", "the sizes of a new tensor, not negative", SEQUENCE, variadic=True, read=_as_tuple),
]
Index = Annotated[
    Any,
    Kind(
        "index", "what stands in brackets: int, slice, None, Ellipsis, tensor, or a tuple of them", (object,)
    ),
]
Position = Annotated[int, Kind("position", "an index into dimension dim, negative from the end", (int,))]
OptPosition = Annotated[int | None, Kind("opt_position", "an index into dimension dim, or None", (int, NONE))]
Length = Annotated[int, Kind("length", "how many elements, not negative", (int,))]
Stride = Annotated[int, Kind("stride", "a positive step", (int,))]
Count = Annotated[int, Kind("count", "a positive number of pieces", (int,))]
IntList = Annotated[tuple[int, ...], Kind("int_list", "integers", (int, *SEQUENCE), read=_as_tuple)]
Offset = Annotated[int, Kind("offset", "which diagonal, 0 is the main one", (int,))]
Bool = Annotated[bool, Kind("bool", "True or False", (bool,))]
Scale = Annotated[Any, Kind("scale", "a Python number to multiply by", NUMBERS)]
Scalar = Annotated[Any, Kind("scalar", "a Python number", NUMBERS)]
OptNumber = Annotated[Any, Kind("opt_number", "a Python number, or None", (*NUMBERS, NONE))]
Nothing = Annotated[None, Kind("nothing", "None", (NONE,))]
Rounding = Annotated[str, Kind("rounding", "floor or trunc", (str,))]
Reduction = Annotated[str, Kind("reduction", "none, mean or sum", (str,))]
Format = Annotated[str, Kind("format", "a memory format", (object,), read=str, never=(*NUMBERS, *SEQUENCE))]
Dtype = Annotated[Any, Kind("dtype", "a dtype, or None for the default", (object,))]
ElementType = Annotated[Any, Kind("dtype", "a dtype", (object,), never=(*NUMBERS, *SEQUENCE, NONE, str))]
Statistic = Annotated[
    Any, Kind("statistic", "a tensor that the forward pass computed for the backward", tensor=True)
]
Value = Annotated[Any, Kind("value", "a number or nested lists of them", (*NUMBERS, *SEQUENCE))]


def kind_of(hint: Any, default: Kind) -> Kind:
    """The kind that an annotation carries; ``default`` if there is no annotation."""
    if hint is None:
        return default
    notes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    found = [note for note in notes if isinstance(note, Kind)]
    if not found:
        raise TypeError(f"{hint!r} says nothing about an op's parameter")
    return found[0]


# -- the words of an op's fields
DTYPES = {
    "promote": "torch.result_type of the operands (tensors, 0-d tensors and numbers rank in that order)",
    "numeric": "as promote, but refused if any operand is bool, before anything is cast",
    "float": "as promote, but bool and integer operands become the default float dtype",
    "keep": "the first operand's dtype; nothing is cast",
    "same": "tensor operands must have one dtype; nothing is cast",
    "bool": "operands are promoted, the result is bool",
    "accumulate": "the first operand's dtype, but bool and integers become int64, unless in place",
}
"""``dtypes``: how operands are cast before the body runs. Masks and indices never take part."""

MEMORY = {
    "window": "the first operand after the target is the same window on the memory, or shares none of it; "
    "a target that shows an element twice is refused",
    "mask": "as window, but such a target is only deprecated",
    "alone": "no operand shares memory with the target; a target that shows an element twice is refused",
    "apart": "no operand shares memory with the target; a target that shows an element twice is deprecated",
    "value": "the value is taken out of its memory first; such a target is refused",
    "constant": "one number goes everywhere, so nothing can go wrong",
}
"""``memory``: what a write demands of the memory it writes."""

OVERWRITES = {
    "": "the new value depends on the old one, or the op writes nothing",
    "fill": "one value goes everywhere",
    "copy": "the values of operand 1, cast; copying a tensor to itself does nothing",
    "part": "only some elements are overwritten, by writing to a view of them",
}
"""``overwrites``: how a write ignores the old value."""

ALIASES = {
    "never": "the result has memory of its own",
    "always": "the result is a view of operand 0",
    "maybe": "one or the other, depending on the arguments, but never the operand itself",
    "self": "as maybe, and the result may be the operand itself",
}
"""``aliases``: whose memory a result shows; the later words include the earlier ones."""

GROWS = {
    "contracts": "sums of products of the operands",
    "keeps": "as large as the operands",
    "adds": "a sum of two operands",
    "totals": "a sum of all elements",
    "averages": "the same divided by their number",
    "multiplies": "a product of the operands",
    "squares": "a product of the first operand with itself",
    "multiplies_all": "a product of all elements",
    "divides": "a quotient of the first and the last operand",
    "inverts": "one over the first operand",
    "raises": "the first operand to the power of a number",
    "explodes": "an exponential of the first operand",
    "saturates": "a small number, whatever the operands",
}
"""``grows``: how large results are, so that drawn programs stay exact; the first word bounds most others."""

ZERO_TENSORS = {
    "": "a result with memory of its own, unless it is a view of the ZeroTensor",
    "product": "another ZeroTensor; the other operand is not looked at, and may be on another device",
    "passes": "another ZeroTensor; devices are compared",
    "quotient": "another ZeroTensor if the dividend is one; dividing by one gives inf or nan unseen",
    "addition": "another ZeroTensor if both are; else a copy of the operand that has memory",
    "subtraction": "as addition, with bools taken for numbers",
    "kept": "a view, but its in-place form refuses to change the ZeroTensor",
    "copy": "zeros with memory, laid out as the ZeroTensor says it is",
    "filled": "a composite that in inference mode gives the ZeroTensor memory of one element first",
    "derivative": "nothing special, but the second derivative of the op is a ZeroTensor",
}
"""``zero``: what an op makes of a ZeroTensor, PyTorch's zeros without memory."""

WORDS = {
    "dtypes": DTYPES,
    "memory": MEMORY,
    "overwrites": OVERWRITES,
    "aliases": ALIASES,
    "grows": GROWS,
    "zero": ZERO_TENSORS,
}
"""The words that a field may hold, by the field's name."""
