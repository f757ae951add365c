"""``torch.func``: gradients of functions, Jacobians, maps over a batch, and modules as functions.

NB: a transform runs on ordinary leaves, and `vmap` calls the function for each element. Results and their
histories are PyTorch's, the names of nodes within a `vmap` are not. `mapping` has `vmap`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from reference_impl import autograd
from reference_impl.autograd.graph import disable_saved_tensors_hooks
from reference_impl.autograd.leads_beyond import leads_beyond
from reference_impl.base.modes import enable_grad
from reference_impl.base.rules import by
from reference_impl.base.session import STATE
from reference_impl.base.transforms import Mapping, Transformation, transforming
from reference_impl.core.tensor import Tensor, variable_data
from reference_impl.fidelity.batched import levels_of, marked
from reference_impl.func.demands import (
    JVP,
    VJP,
    chosen,
    need_cotangents,
    need_dual,
    need_inputs,
    need_like,
    need_outputs,
    need_real,
    need_tangents,
    without_aux,
)
from reference_impl.func.functional_call import functional_call, stack_module_state
from reference_impl.func.inference import normal, out_of_inference
from reference_impl.func.mapping import need_randomness, vmap
from reference_impl.func.trees import flat, leaves, like
from reference_impl.namespace import composite
from reference_impl.namespace.factories import ones_like, zeros_like
from reference_impl.namespace.missing import loading

_without_hooks = disable_saved_tensors_hooks(
    "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an issue with "
    "your use case."
)


def _own(x: Any) -> Any:
    """Return the tensor by which a transform differentiates: a view with the history there is, or a leaf."""
    if x.requires_grad:
        return x.view_as(x)
    own = marked(variable_data(x), levels_of(x))
    own.requires_grad = True
    return own


def _without(x: Any, own: Sequence[Tensor]) -> Any:
    """Return a result without a history that leads to nothing but a transform's own leaves."""
    if not isinstance(x, Tensor) or x.grad_fn is None:
        return x.detach() if any(x is leaf for leaf in own) and x.is_leaf else x
    if not STATE.enabled and not any(x is each for each in own):
        return x.detach()  # whoever called the transform does not record what it gives
    if leads_beyond(x, own):
        return x
    return x.detach() if by("functional/transforms-leave-no-history") else x


def _places(args: Sequence[Any], argnums: Any) -> Sequence[int]:
    """Return the places of the arguments by which is differentiated: all, without ``argnums``."""
    return range(len(args)) if argnums is None else chosen(args, argnums)


def _watched(args: Sequence[Any], argnums: Any) -> tuple[list[Any], list[Tensor]]:
    """Return the arguments with own tensors in those places, and the own tensors."""
    given, own = [normal(arg) for arg in args], []
    for at in _places(args, argnums):
        need_inputs(args[at])
        leaves = [_own(x) for x in flat(given[at])]
        given[at] = like(args[at], leaves)
        own += leaves
    return given, own


def _filled(grads: Sequence[Any], own: Sequence[Tensor]) -> list[Tensor]:
    return [zeros_like(x) if g is None else _without(g, own) for g, x in zip(grads, own, strict=True)]


def _shaped(values: Sequence[Any], args: Sequence[Any], argnums: Any) -> Any:
    """Return one value for each own tensor in the shape of the arguments."""
    rest, shaped = list(values), []
    for at in _places(args, argnums):
        count = len(flat(args[at]))
        shaped.append(like(args[at], rest[:count]))
        rest = rest[count:]
    return shaped[0] if isinstance(argnums, int) else tuple(shaped)


def grad_and_value(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Return a function that gives the gradient of ``func`` and its value."""

    @out_of_inference
    @_without_hooks
    @wraps(func)
    def both(*args: Any, **kwargs: Any) -> Any:
        with enable_grad(), transforming(Transformation()):
            given, own = _watched(args, argnums)
            out = func(*given, **kwargs)
            out, aux = without_aux("grad_and_value(f)(*args)", out, has_aux)
            if not isinstance(out, Tensor):
                raise RuntimeError(
                    f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(out)}"
                )
            if out.dim() != 0:
                raise RuntimeError(
                    "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with "
                    f"{out.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
                )
            grads = _grads((out,), own)
        result = _shaped(_filled(grads, own), args, argnums)
        value = _without(out, own)
        return (result, (value, _kept(aux, own))) if has_aux else (result, value)

    return both


def _kept(tree: Any, own: Sequence[Tensor]) -> Any:
    leaves = flat(tree)
    return like(tree, [_without(x, own) for x in leaves]) if leaves else tree


def _recorded(
    api: str, func: Callable[..., Any], primals: Any, argnums: Any, has_aux: bool
) -> tuple[list[Tensor], Any, Any]:
    """Return the own tensors by which ``func`` can be differentiated, its result and what comes beside."""
    given, own = _watched(primals, argnums)
    out, aux = without_aux(api, func(*given), has_aux)
    need_outputs(api, out)
    return own, out, aux


def _grads(
    outs: Sequence[Tensor],
    own: Sequence[Tensor],
    vectors: Sequence[Any] | None = None,
    retain_graph: bool | None = None,
) -> Any:
    pairs = [
        (x, None if vectors is None else v)
        for x, v in zip(outs, vectors or outs, strict=True)
        if x.requires_grad
    ]
    if not pairs:
        return [None] * len(own)
    return autograd.grad(
        [x for x, _ in pairs],
        own,
        [v for _, v in pairs],
        retain_graph=retain_graph,
        create_graph=True,
        allow_unused=True,
    )


def grad(func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Return a function that gives the gradient of a scalar ``func`` by the arguments in ``argnums``."""
    both = grad_and_value(func, argnums, has_aux)

    @wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        result, value = both(*args, **kwargs)
        return (result, value[1]) if has_aux else result

    return gradient


@out_of_inference
@_without_hooks
def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Return what ``func`` gives, and a function that multiplies by its Jacobian from the left."""
    with enable_grad(), transforming(Transformation()):
        own, out, aux = _recorded(VJP, func, primals, None, has_aux)
    outs = flat(out)

    @out_of_inference
    def pulled(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        need_cotangents(cotangents, out)
        # NB: the history is recorded in any case, and dropped where nothing outside has one.
        grads = _grads(outs, own, leaves(cotangents), retain_graph)
        return _shaped(_filled(grads, own), primals, None)

    value = _kept(out, own)
    return (value, pulled, _kept(aux, own)) if has_aux else (value, pulled)


@out_of_inference
def jvp(
    func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> Any:
    """Return what ``func`` gives, and the product of its Jacobian with ``tangents``, by double backward."""
    need_tangents(primals, tangents)
    with enable_grad():
        with transforming(Transformation(forward=True)):
            own, out, aux = _recorded(JVP, func, primals, None, has_aux)
        outs = flat(out)
        # some formulas take logarithms of the seeds
        seeds = [ones_like(x, requires_grad=x.is_floating_point() or x.is_complex()) for x in outs]
        grads = _grads(outs, own, seeds)
        pairs = [
            (g, t) for g, t in zip(grads, flat(tangents), strict=True) if g is not None and g.requires_grad
        ]
        free = [seed for seed in seeds if seed.requires_grad]
        found: Any = ()
        if pairs and free:
            found = autograd.grad(
                [g for g, _ in pairs], free, [t for _, t in pairs], create_graph=True, allow_unused=True
            )
    products = dict(zip(map(id, free), found, strict=False))
    if strict and any(products.get(id(seed)) is None for seed in seeds):
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is "
            "not allowed with strict=True."
        )
    own = [*own, *seeds]
    pushed = [
        zeros_like(x) if products.get(id(seed)) is None else _without(products[id(seed)], own)
        for seed, x in zip(seeds, outs, strict=True)
    ]
    value, tangent = _kept(out, own), like(out, pushed)
    return (value, tangent, _kept(aux, own)) if has_aux else (value, tangent)


def linearize(func: Callable[..., Any], *primals: Any) -> Any:
    """Return what ``func`` gives, and the function that multiplies tangents by its Jacobian."""

    def pushed(*tangents: Any) -> Any:
        need_like(primals, tangents)
        return jvp(func, primals, tangents)[1]

    return func(*primals), pushed


def jacrev(
    func: Callable[..., Any], argnums: Any = 0, *, has_aux: bool = False, chunk_size: int | None = None
) -> Callable[..., Any]:
    """Return a function that gives the Jacobian of ``func``, row by row."""
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @wraps(func)
    @_without_hooks
    def jacobian(*args: Any) -> Any:
        return _jacobian("jacrev", func, args, argnums, has_aux)

    return jacobian


@out_of_inference
def _jacobian(name: str, func: Callable[..., Any], args: Any, argnums: Any, has_aux: bool) -> Any:
    need_real(name, args, "inputs")
    with enable_grad(), transforming(Transformation()):
        own, out, aux = _recorded(VJP if name == "jacrev" else JVP, func, args, argnums, has_aux)
        need_real(name, out, "outputs")
        blocks = [_rows(x, own) for x in flat(out)]
    if name == "jacfwd":  # PyTorch computes columns, of the dtype of the outputs
        blocks = [[x.to(y.dtype) for x in block] for block, y in zip(blocks, flat(out), strict=True)]
    blocks = [[_without(x, own) for x in block] for block in blocks]
    shaped = like(out, [_shaped(block, args, argnums) for block in blocks])
    return (shaped, _kept(aux, own)) if has_aux else shaped


def _rows(out: Tensor, own: Sequence[Tensor]) -> list[Tensor]:
    """Return the Jacobian of one output by each own tensor, of shape ``(*out.shape, *own.shape)``."""
    if not (out.numel() and out.is_floating_point()):
        # NB: forward mode gives zeros of its dtype for what has no derivative.
        return [(x if out.is_floating_point() else out).new_zeros((*out.shape, *x.shape)) for x in own]
    flat_out = out.reshape((-1,))
    columns: list[list[Tensor]] = [[] for _ in own]
    for at in range(out.numel()):
        vector = zeros_like(flat_out)
        vector[at] = 1
        grads = _grads((out,), own, (vector.detach().reshape(tuple(out.shape)),))
        for column, g in zip(columns, _filled(grads, own), strict=True):
            column.append(g)
    return [
        composite.stack(column).reshape((*out.shape, *x.shape))
        for column, x in zip(columns, own, strict=True)
    ]


def jacfwd(
    func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """Return a function that gives the Jacobian of ``func``; NB: by rows, as `jacrev`.

    PyTorch maps over the directions, so what the function draws needs a ``randomness``.
    """

    def mapped(*args: Any) -> Any:
        with transforming(Mapping(randomness=randomness)), transforming(Transformation(forward=True)):
            return func(*args)

    @wraps(func)
    def jacobian(*args: Any) -> Any:
        need_real("jacfwd", args, "inputs")
        for at in chosen(args, argnums):
            for x in flat(args[at]):
                need_dual(x)
        need_randomness(randomness)
        return _jacobian("jacfwd", mapped, args, argnums, has_aux)

    return jacobian


def hessian(func: Callable[..., Any], argnums: Any = 0) -> Callable[..., Any]:
    """Return a function that gives the second derivatives of ``func``."""
    return jacfwd(jacrev(func, argnums), argnums)


__getattr__ = loading(__name__)
__all__ = [
    "functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize",
    "ones_like", "stack_module_state", "vjp", "vmap",
]  # fmt: skip
