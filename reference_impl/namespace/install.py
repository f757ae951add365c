"""Installs methods of `Tensor` and functions of the namespace: the ops of the table, and everything else.

This module only binds names; the functions are defined elsewhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.base.rules import by, refuse_by, warn
from reference_impl.base.session import STATE
from reference_impl.core import as_strided, detach, extension_points, hooks, retain
from reference_impl.core.dispatch import dispatch
from reference_impl.core.tensor import Tensor
from reference_impl.fidelity import grad_dtype
from reference_impl.fidelity.out_argument import taking_out
from reference_impl.namespace import (
    argument_names,
    attributes,
    binning,
    bits,
    complex_views,
    composite,
    compositions,
    copy_ops,
    distinct,
    einsum,
    factories,
    finite_differences,
    geometry,
    index_functions,
    new_factories,
    node_api,
    non_differentiable,
    quantiles,
    random,
    random_inplace,
    rarer_names,
    resize,
    serialization,
    signal_windows,
    sorting,
    spectra,
    spellings,
    splitting,
    view_copies,
)
from reference_impl.namespace.casts import CASTS
from reference_impl.namespace.like_operands import like_its_operands, naming_input
from reference_impl.namespace.missing import missing_of_class
from reference_impl.namespace.tensor_arguments import needing_tensors
from specs import ops
from specs.kind import NUMBERS
from specs.op import Overloads

_WITH_INPUT = (
    "combinations", "detach", "fake_quantize_per_tensor_affine", "gradient", "is_complex",
    "is_floating_point", "numel", "pdist", "poisson",
)  # fmt: skip
"""Functions of a first operand that PyTorch calls ``input``, and that do not say so."""

FUNCTIONS: dict[str, Any] = {}
"""The functions of the namespace by name: ``torch.maximum``."""


_BOTH = (
    non_differentiable,
    binning,
    bits,
    distinct,
    sorting,
    composite,
    einsum,
    compositions,
    index_functions,
    quantiles,
    spectra,
    spellings,
    splitting,
    rarer_names,
    view_copies,
)
"""The modules of functions that are methods too."""


def install() -> None:
    """Install every method, property, operator and function."""
    ops.load()
    node_api.bind_saved()
    _install_ops()
    _install_variants()
    _install_methods()
    _install_functions()


def _install_ops() -> None:
    """Install the ops of the table and the internal ones, as methods and functions."""
    own = {
        op.name: Overloads(op.name, [op])
        for op in (
            copy_ops.cast,
            copy_ops.copy_to,
            copy_ops.clone_contiguous,
            copy_ops.fill_across_,
            copy_ops.filled_with_number,
            copy_ops.filled_with_tensor,
            as_strided._as_strided,
            complex_views.view_as_real,
            complex_views._view_as_complex,
        )
    }
    for name in (*ops.ALL, *ops.IN_PLACE, *own):
        overloads = own.get(name) or ops.overloads(name)
        if not overloads.ops[0].operands:
            continue  # a factory
        function = dispatch(overloads)
        FUNCTIONS[name] = _taking_tuples(function, overloads)
        setattr(Tensor, name, function if overloads.receiver == 0 else _method(function, overloads.receiver))
    METHODS["reshape"] = _reshaping(vars(Tensor)["reshape"])
    METHODS["copy_"] = _taking_numbers(vars(Tensor)["copy_"])
    for operator, name in ops.OPERATORS.items():
        brackets = operator in ("__getitem__", "__setitem__")
        method = getattr(Tensor, name)
        setattr(Tensor, operator, method if brackets else dispatch(ops.overloads(name), operator=True))


def _install_variants() -> None:
    """Install ops with further arguments, and ops under their aliases."""
    for name, extended in composite.WRAPPED.items():
        FUNCTIONS[name] = extended(FUNCTIONS[name])
        setattr(Tensor, name, FUNCTIONS[name])
    for name, same in composite.ALIASES.items():
        FUNCTIONS[name] = FUNCTIONS[same]
        setattr(Tensor, name, getattr(Tensor, same))


def _install_methods() -> None:
    """Install the methods and properties that are no ops."""
    for table in (
        METHODS,
        CASTS,
        geometry.METHODS,
        new_factories.METHODS,
        geometry.PROPERTIES,
        attributes.METHODS,
        attributes.PROPERTIES,
        serialization.METHODS,
        grad_dtype.METHODS,
        resize.METHODS,
        as_strided.METHODS,
        complex_views.METHODS,
        complex_views.PROPERTIES,
    ):
        for name, attribute in table.items():
            setattr(Tensor, name, attribute)
            if isinstance(attribute, property):
                attribute.__set_name__(Tensor, name)  # type: ignore[attr-defined]  # for Python's errors


def _install_functions() -> None:
    """Install the functions that are no ops, as methods too if they are."""
    for functions in _BOTH:
        for name, function in functions.BOTH.items():
            FUNCTIONS[name] = like_its_operands(needing_tensors(function, name))
            setattr(Tensor, name, FUNCTIONS[name])
    for name, function in (random_inplace.METHODS | spellings.METHODS | rarer_names.METHODS).items():
        setattr(Tensor, name, like_its_operands(function))
    FUNCTIONS["bernoulli"] = vars(Tensor)["bernoulli"]
    FUNCTIONS["poisson"] = random_inplace.poisson
    FUNCTIONS.update(
        non_differentiable.FUNCTIONS | composite.FUNCTIONS | einsum.FUNCTIONS | attributes.FUNCTIONS
    )
    FUNCTIONS.update(as_strided.METHODS | complex_views.FUNCTIONS | compositions.FUNCTIONS)
    FUNCTIONS.update(quantiles.FUNCTIONS | spellings.FUNCTIONS | rarer_names.FUNCTIONS | splitting.FUNCTIONS)
    FUNCTIONS.update(binning.FUNCTIONS | finite_differences.FUNCTIONS)
    FUNCTIONS.update(signal_windows.FUNCTIONS | view_copies.FUNCTIONS)
    for module in _BOTH:
        for name in getattr(module, "FUNCTIONS", {}):
            FUNCTIONS[name] = needing_tensors(FUNCTIONS[name], name)
    for name, extended in composite.EXTENDED.items():
        FUNCTIONS[name] = extended(FUNCTIONS[name])
    for name in _WITH_INPUT:
        FUNCTIONS[name] = naming_input(FUNCTIONS[name])
    for name in (*composite.CASTING_OUT, *composite.EXACT_OUT):
        FUNCTIONS[name] = taking_out(FUNCTIONS[name], casts=name in composite.CASTING_OUT, name=name)
    for name, names in argument_names.RENAMED.items():
        setattr(Tensor, name, argument_names.renaming(getattr(Tensor, name), names))
        if name in FUNCTIONS:
            FUNCTIONS[name] = argument_names.renaming(FUNCTIONS[name], names)
    for name, last in argument_names.ONE_BY_ONE.items():
        setattr(Tensor, name, argument_names.taking_ints_one_by_one(getattr(Tensor, name), last))
    for name, function in MISSING.items():
        setattr(*name, function)
    for operator, name in non_differentiable.OPERATORS.items():
        setattr(Tensor, operator, _operator(getattr(Tensor, name)))


def _operator(method: Any) -> Any:
    """Leave an operator with anything but tensors and numbers to Python."""

    def operator(self: Tensor, *other: Any) -> Any:
        plain = [each.item() if isinstance(each, np.generic) else each for each in other]
        foreign = not all(isinstance(each, (Tensor, *NUMBERS)) for each in plain)
        return NotImplemented if foreign else method(self, *plain)

    return operator


def _taking_tuples(function: Any, overloads: Overloads) -> Any:
    """Make the function of an op: it takes a tuple of ints, where the method also takes separate ints."""
    places = [at for op in overloads.ops for at, kind in enumerate(op._kinds) if kind.variadic]
    if not places:
        return function

    def taking(*args: Any, **kwargs: Any) -> Any:
        if any(len(args) > at and isinstance(args[at], int) for at in places):
            refuse_by("op/arguments", name=overloads.name, given="ints one by one")
        return function(*args, **kwargs)

    return taking


def _method(function: Any, receiver: int) -> Any:
    """Make a method whose receiver is not the first parameter: ``x.where(condition, y)``."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return function(*args[:receiver], self, *args[receiver:], **kwargs)

    return method


def _reshaping(op: Any) -> Any:
    """Make the ``reshape`` method, which copies only if it must."""

    def reshape(self: Tensor, *shape: Any, **named: Any) -> Tensor:
        by("view/reshape-copies-when-it-must")
        return op(self, *shape, **named)

    return reshape


def _taking_numbers(op: Any) -> Any:
    """Make the ``copy_`` method, which takes a number for a tensor and may be told not to block."""

    def copy_(self: Tensor, other: Any, non_blocking: bool = False) -> Tensor:
        if not isinstance(non_blocking, bool):
            refuse_by(
                "op/arguments",
                name="copy_",
                given=f"Tensor, {type(other).__name__}, {type(non_blocking).__name__}",
            )
        if isinstance(other, NUMBERS):
            other = factories.tensor(other, dtype=_WIDEST.get(type(other)))
        return op(self, other)

    return copy_


MISSING: dict[tuple[Any, str], Any] = {
    (random.Generator, "__getattr__"): missing_of_class("Generator"),
}
"""Functions to call for names that classes lack."""

_WIDEST = {float: dtypes.float64, complex: dtypes.complex128}
"""The dtypes of numbers that are taken for tensors; those of others are their only ones."""

METHODS = {
    "__reversed__": lambda self: self.flip((0,)) if self.ndim else self,
    "detach": detach.detach,
    "detach_": detach.detach_,
    "_without_memory": lambda self: extension_points.zero_gradient(self),
    "_is_recorded": lambda self: STATE.enabled,
    "_warn_of_list": lambda self: warn("op/list-as-tuple-warns"),
    "register_hook": hooks.register_hook,
    "register_post_accumulate_grad_hook": hooks.register_post_accumulate_grad_hook,
    "retain_grad": retain.retain_grad,
}
"""Methods that are no ops, by name."""
