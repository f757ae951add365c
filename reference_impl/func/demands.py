"""Demands of ``torch.func`` on the arguments of a transform, and on what its function gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reference_impl.core.tensor import Tensor
from reference_impl.func.trees import flat, leaves, rebuilt

VJP = "vjp(f, *primals)"
JVP = "jvp(f, primals, tangents)"


def chosen(args: Sequence[Any], argnums: Any) -> tuple[int, ...]:
    """Return the places of the arguments by which is differentiated."""
    if not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    several = (argnums,) if isinstance(argnums, int) else argnums
    for at in several:
        if not isinstance(at, int):
            raise RuntimeError(f"argnum must be int, got: {type(at)}")
        if not -len(args) <= at < len(args):
            raise RuntimeError(f"Got argnum={at}, but only {len(args)} positional inputs")
    places = tuple(at % len(args) for at in several)
    if not places:
        raise RuntimeError("argnums must be non-empty")
    if len(set(places)) < len(places):
        raise RuntimeError(f"argnums elements must be unique, got {places}")
    return places


def need_inputs(tree: Any) -> None:
    """Refuse to differentiate by what is no tensor."""
    for x in leaves(tree):
        if not isinstance(x, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")


def need_real(name: str, tree: Any, what: str) -> None:
    """Refuse complex tensors, for which Jacobians are not defined."""
    for at, x in enumerate(leaves(tree)):
        if isinstance(x, Tensor) and x.is_complex():
            raise RuntimeError(
                f"{name}: Expected all {what} to be real but received complex tensor at flattened input idx: "
                f"{at}"
            )


def without_aux(api: str, out: Any, has_aux: bool) -> tuple[Any, Any]:
    """Return what a function gives, and the tensors that it gives beside."""
    if not has_aux:
        return out, None
    if not (isinstance(out, tuple) and len(out) == 2):
        raise RuntimeError(f"{api}: output of function f should be a tuple: (output, aux) if has_aux is True")
    for x in leaves(out[1]):
        if not isinstance(x, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(x)}")
    return out


def need_outputs(api: str, out: Any) -> None:
    """Refuse a function that gives nothing, or anything but tensors."""
    given = leaves(out)
    if not given or given == [None]:
        raise RuntimeError(
            f"{api}: Expected f to be a function that has non-empty output (got output = {given})"
        )
    for x in given:
        if not isinstance(x, Tensor):
            raise RuntimeError(
                f"{api}: expected f(*primals) to return only tensors, got unsupported type {type(x)}"
            )
    if api != VJP:
        return
    for x in given:
        if not (x.is_floating_point() or x.is_complex()):
            raise RuntimeError(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with "
                f"dtype {x.dtype}"
            )


class _Leaf:
    def __repr__(self) -> str:
        return "*"


def structure(tree: Any) -> str:
    """Say of which containers a tree is made."""
    return repr(rebuilt(tree, [_Leaf()] * len(leaves(tree))))


def need_cotangents(cotangents: Any, out: Any) -> None:
    """Refuse cotangents in other containers than the function's results."""
    given, wanted = structure(cotangents), structure(out)
    if given != wanted:
        raise RuntimeError(
            "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
            f"function. cotangents: {given}, primal output: {wanted}"
        )
    for x, y in zip(leaves(cotangents), flat(out), strict=True):
        if y.requires_grad and not (x is None or isinstance(x, Tensor)):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(x).__name__}")


def need_tangents(primals: Any, tangents: Any) -> None:
    """Refuse tangents that are no tensors like the primals."""
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    if structure(primals) != structure(tangents):
        raise RuntimeError(
            f"{JVP}: Expected primals and tangents to have the same python structure. For example, if "
            "primals is a tuple of 3 tensors, tangents also must be. Got primals with structure "
            f"{structure(primals)} and tangents with structure {structure(tangents)}"
        )
    for name, tree in (("primals", primals), ("tangents", tangents)):
        if not leaves(tree):
            raise RuntimeError(f"{JVP}: Expected {name} to contain at least one Tensor.")
        for x in leaves(tree):
            if not isinstance(x, Tensor):
                raise RuntimeError(f"{JVP}: Expected {name} to only contain Tensors, got {type(x)}")
    for x, t in zip(flat(primals), flat(tangents), strict=True):
        need_dual(x, t)


def need_like(primals: Any, tangents: Any) -> None:
    """Refuse tangents of a linear function in other containers, shapes or dtypes than the primals'."""
    if structure(tangents) != structure(primals):
        raise RuntimeError(
            f"Expected the tangents {structure(tangents)} to have the same argspec as the primals "
            f"{structure(primals)}"
        )
    for at, (x, t) in enumerate(zip(flat(primals), flat(tangents), strict=True)):
        for name in ("shape", "device", "dtype"):
            if getattr(t, name) != getattr(x, name):
                raise RuntimeError(
                    f"tangent:{at} with {name} {getattr(t, name)} in flattened pytree doesn't match the "
                    f"{name} {getattr(x, name)} of the corresponding primal."
                )


def need_dual(primal: Tensor, tangent: Tensor | None = None) -> None:
    """Refuse numbers that have no derivative, and a tangent of another shape."""
    for name, x in (("primal", primal), ("tangent", primal if tangent is None else tangent)):
        if not (x.is_floating_point() or x.is_complex()):
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {x.dtype}")
    if tangent is not None and tangent.shape != primal.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, "
            f"this is not supported. Tensor is of size {list(primal.shape)} while the given forward gradient "
            f"is of size {list(tangent.shape)}."
        )
