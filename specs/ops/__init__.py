"""The ops by public name, read off the family modules, and the table of Python operators.

Nothing is declared here: an op is one place, in its family.
"""

from __future__ import annotations

from importlib import import_module

from specs.op import Op, Overloads

FAMILIES = (
    "elementwise", "functions", "pow", "comparison", "reduce", "linear",
    "view", "slice", "cat", "gather", "index_put", "indexing", "create", "random",
    "complex", "unary", "activation", "ternary", "binary", "sort", "norms", "clamp", "nn", "losses", "nll",
    "linalg", "layers", "batch_norm", "windows", "resizing", "sampling", "special", "gamma", "bessel",
    "fourier", "scatter_reduce", "bags", "ctc", "margins", "packing", "pseudo_inverse", "beyond_programs",
    "parts", "distances", "numbers", "forms", "unpooling", "copies", "slopes", "written",
)  # fmt: skip

ALL: dict[str, list[Op]] = {}
"""Public and internal ops by name, in-place forms excluded; overloads in the order torch tries them."""

IN_PLACE: dict[str, list[Op]] = {}
"""In-place forms (``mul_``, ``zero_``) by name."""

OPERATORS = {
    "__add__": "add", "__radd__": "add", "__sub__": "sub", "__rsub__": "rsub", "__mul__": "mul",
    "__rmul__": "mul", "__truediv__": "div", "__rtruediv__": "rtruediv", "__pow__": "pow",
    "__rpow__": "rpow", "__matmul__": "matmul", "__rmatmul__": "rmatmul", "__neg__": "neg",
    "__abs__": "abs", "__gt__": "gt", "__lt__": "lt", "__ge__": "ge", "__le__": "le", "__eq__": "eq",
    "__ne__": "ne", "__getitem__": "getitem", "__setitem__": "setitem", "__iadd__": "add_",
    "__isub__": "sub_", "__imul__": "mul_", "__itruediv__": "div_", "__ipow__": "pow_",
}  # fmt: skip
"""Python's operators: the tensor is the method's receiver, so a reflected one passes ``(tensor, other)`` too.
"""

REFLECTED_ONLY = frozenset(name for sign, name in OPERATORS.items() if sign.startswith("__r")) - frozenset(
    name for sign, name in OPERATORS.items() if not sign.startswith("__r")
)
"""Ops that stand for a reflected operator and nothing else: torch has no such method."""


def load() -> dict[str, list[Op]]:
    """Import the families and fill the tables, once; an op is found by being a family module's attribute."""
    if ALL:
        return ALL
    found: dict[str, list[Op]] = {}
    for family in FAMILIES:
        for op in vars(import_module(f"specs.ops.{family}")).values():
            if isinstance(op, Op) and op not in found.get(op.name, ()):
                found.setdefault(op.name, []).append(op)
    for name, ops in found.items():
        (IN_PLACE if ops[0].mutates else ALL)[name] = ops
        in_place = [op.in_place for op in ops if op.in_place is not None]
        if in_place:
            IN_PLACE[name + "_"] = in_place
    return ALL


def overloads(name: str) -> Overloads:
    """The ops of one name, in-place or not, ready to bind arguments."""
    load()
    return Overloads(name, ALL[name] if name in ALL else IN_PLACE[name])
