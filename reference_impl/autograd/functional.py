"""``torch.autograd.functional``: Jacobians and Hessians, and products with them.

NB: ``vectorize`` computes the rows one by one, each of all outputs together, where PyTorch uses vmap.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_impl.autograd.functional_parts import (
    OF_FUNCTION,
    TensorTuple,
    gradients_of,
    history_if_asked_for,
    need_history,
    need_some,
    own_inputs,
    results_of,
    tuple_of,
    vector_of,
    zeros_filled_in,
)
from reference_impl.autograd.leads_beyond import leads_beyond
from reference_impl.base.modes import enable_grad
from reference_impl.base.not_modelled import NotModelled
from reference_impl.base.rules import refuse_by
from reference_impl.core.tensor import Tensor
from reference_impl.namespace import composite
from reference_impl.namespace.factories import zeros_like


def vjp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return the outputs of ``func`` and the product of ``v`` with its Jacobian.

    ``v`` has the shapes of the outputs and may be left out for a single element.
    """
    with enable_grad():
        several, given = tuple_of(inputs, "inputs", "vjp")
        own = own_inputs(given, create_graph)
        outputs_several, outputs = tuple_of(func(*own), "outputs", "vjp")
        need_history(outputs, "outputs", strict)
        vector = vector_of(
            v, outputs, outputs_several, "vjp", "the user-provided function returns", create_graph
        )
        grads = gradients_of(outputs, own, vector, create_graph)
        filled = zeros_filled_in(grads, own, strict, create_graph, f"The output {OF_FUNCTION}", "jacobian")
    return results_of(outputs, outputs_several, create_graph), results_of(filled, several, create_graph)


def jvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return the outputs of ``func`` and the product of its Jacobian with ``v``, by double backward.

    ``v`` has the shapes of the inputs and may be left out for a single element.
    """
    with enable_grad():
        several, given = tuple_of(inputs, "inputs", "jvp")
        own = own_inputs(given, create_graph)
        vector = vector_of(v, own, several, "jvp", "the input to the user-provided function is", create_graph)
        outputs_several, outputs = tuple_of(func(*own), "outputs", "jvp")
        need_history(outputs, "outputs", strict)
        seeds = tuple(zeros_like(x, requires_grad=True) for x in outputs)
        products = gradients_of(outputs, own, seeds, True)
        need_history(products, "gradient", strict)
        grads = gradients_of(products, seeds, vector, create_graph)
        missing = "The gradient with respect to the input"
        filled = zeros_filled_in(grads, outputs, strict, create_graph, missing, "jacobian")
    result = results_of(filled, outputs_several, create_graph)
    return results_of(outputs, outputs_several, create_graph), result


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Return the Jacobian of each output by each input, of shape ``(*out.shape, *input.shape)``."""
    if strategy not in ("reverse-mode", "forward-mode"):
        refuse_by("functional/strategy", given=strategy)
    if strategy == "forward-mode":
        return _forward(func, inputs, create_graph, strict, vectorize)
    with enable_grad():
        several, given = tuple_of(inputs, "inputs", "jacobian")
        own = own_inputs(given, create_graph)
        outputs_several, outputs = tuple_of(func(*own), "outputs", "jacobian")
        need_history(outputs, "outputs", strict)
        if vectorize:
            if strict:
                refuse_by(
                    "functional/strict-one-by-one",
                    function="jacobian",
                    beside="vectorize=True",
                    case="reverse-mode",
                )
            rows = _rows_at_once(outputs, own, create_graph)
        else:
            rows = [_rows(at, out, own, create_graph, strict) for at, out in enumerate(outputs)]
    blocks = [tuple(history_if_asked_for(x, create_graph) for x in row) for row in rows]
    for block in [blocks, *blocks]:
        need_some(block)
    shaped = tuple(row if several else row[0] for row in blocks)
    return shaped if outputs_several else shaped[0]


def _forward(func: Callable[..., Any], inputs: Any, create_graph: bool, strict: bool, vectorize: bool) -> Any:
    """The Jacobian in forward mode; several are in lists, and keep the history that they have."""
    if create_graph:
        raise NotModelled("torch.autograd.functional.jacobian(create_graph=True, strategy='forward-mode')")
    if strict:
        beside = 'strategy="forward-mode"'
        refuse_by("functional/strict-one-by-one", function="jacobian", beside=beside, case="forward-mode")
    several, given = tuple_of(inputs, "inputs", "jacobian")
    if not vectorize:
        refuse_by("functional/forward-mode-at-once-only")
    _need_tensors(given)
    with enable_grad():
        own = own_inputs(given, create_graph=True)
        outputs_several, outputs = tuple_of(func(*own), "outputs", "jacobian")
        if any(x.is_complex() for x in (*own, *outputs)):
            raise NotModelled(
                "torch.autograd.functional.jacobian(strategy='forward-mode') of complex numbers"
            )
        rows = [_rows(at, out, own, create_graph=True, strict=False) for at, out in enumerate(outputs)]
    blocks = [
        [_inputs_first((x if leads_beyond(x, own) else x.detach()).to(out.dtype), out.ndim) for x in row]
        for row, out in zip(rows, outputs, strict=True)
    ]
    shaped: Any = blocks if several else tuple(row[0] for row in blocks)
    return shaped if outputs_several else shaped[0]


def _need_tensors(tensors: TensorTuple) -> None:
    if not tensors:
        raise AssertionError("Expected at least one tensor")


def _rows_at_once(outputs: TensorTuple, inputs: TensorTuple, create_graph: bool) -> list[list[Tensor]]:
    """The Jacobians of each output by each input, from rows of all outputs: all have a history or none."""
    _need_tensors(outputs)
    lengths = [out.numel() for out in outputs]
    basis, start = [], 0
    for out, length in zip(outputs, lengths, strict=True):
        basis.append(out.new_zeros((sum(lengths), length)))
        basis[-1].diagonal(-start).fill_(1)
        start += length
    flat = [out.reshape((-1,)) for out in outputs]
    grads = gradients_of(flat, inputs, basis, create_graph, batched=True)
    columns = []
    for g, x in zip(grads, inputs, strict=True):
        column = zeros_like(x).expand((sum(lengths), *x.shape)) if g is None else g
        parts = zip(column.split(lengths), outputs, strict=True)
        columns.append([part.view((*out.shape, *x.shape)) for part, out in parts])
    return [list(row) for row in zip(*columns, strict=True)]


def _rows(at: int, out: Tensor, inputs: TensorTuple, create_graph: bool, strict: bool) -> list[Tensor]:
    """The Jacobians of one output by each input."""
    columns: list[list[Tensor]] = [[] for _ in inputs]
    missing = f"Output {at} {OF_FUNCTION}"
    for place in range(out.numel()):
        element = out.reshape((-1,))[place]  # two nodes for each
        grads = gradients_of((element,), inputs, None, create_graph, retain_graph=True)
        for column, g in zip(
            columns, zeros_filled_in(grads, inputs, strict, create_graph, missing, "jacobian"), strict=True
        ):
            column.append(g)
    shapes = [(*out.shape, *x.shape) for x in inputs]
    return [
        composite.stack(column).view(shape) for column, shape, x in zip(columns, shapes, inputs, strict=True)
    ]


def _inputs_first(jacobian: Tensor, ndim: int) -> Tensor:
    """The Jacobian of an output of ``ndim`` dimensions, laid out column by column, as it is computed."""
    order = (*range(ndim, jacobian.ndim), *range(ndim))
    back = sorted(range(jacobian.ndim), key=order.__getitem__)
    return jacobian.permute(order).contiguous().permute(back)


def _single(out: Any, function: str, strict: bool) -> Tensor:
    """The single output of one element; refuse any other, and first, if strict, one without a history."""
    several, outputs = tuple_of(out, "outputs", function)
    need_history(outputs, "outputs", strict)
    if several:
        refuse_by("functional/one-output", function=function)
    if outputs[0].numel() != 1:
        refuse_by("functional/one-element", function=function)
    return outputs[0]


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Return the Hessian of a function of one element, of shape ``(*input.shape, *input.shape)`` per pair."""
    several, given = tuple_of(inputs, "inputs", "hessian")

    def number(*args: Tensor) -> Tensor:
        return _single(func(*args), "hessian", strict).squeeze()

    def gradient(*args: Tensor) -> TensorTuple:
        first = jacobian(number, args, create_graph=True)
        need_history(first, "jacobian", strict)
        return first

    result = jacobian(gradient, given, create_graph, strict, vectorize, outer_jacobian_strategy)
    return result if several else result[0][0]


def vhp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return the output of ``func`` and the product of ``v`` with its Hessian."""
    with enable_grad():
        several, given = tuple_of(inputs, "inputs", "vhp")
        own = own_inputs(given, create_graph)
        vector = vector_of(v, own, several, "vhp", "the input to the user-provided function is", create_graph)
        out = _single(func(*own), "vhp", strict)
        first = gradients_of((out,), own, None, True)
        need_history(first, "jacobian", strict)
        grads = gradients_of(first, own, vector, create_graph)
        filled = zeros_filled_in(grads, own, strict, create_graph, f"The jacobian {OF_FUNCTION}", "hessian")
    return results_of((out,), False, create_graph), results_of(filled, several, create_graph)


def hvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return the output of ``func`` and the product of its Hessian with ``v``, by triple backward."""
    with enable_grad():
        several, given = tuple_of(inputs, "inputs", "hvp")
        own = own_inputs(given, create_graph)
        vector = vector_of(v, own, several, "hvp", "the input to the user-provided function is", create_graph)
        out = _single(func(*own), "hvp", strict)
        first = gradients_of((out,), own, None, True)
        need_history(first, "jacobian", strict)
        seeds = tuple(zeros_like(x, requires_grad=True) for x in own)
        second = gradients_of(first, own, seeds, True)
        need_history(second, "hessian", strict)
        grads = gradients_of(second, seeds, vector, create_graph)
        filled = zeros_filled_in(grads, own, strict, create_graph, f"The hessian {OF_FUNCTION}", "hessian")
    return results_of((out,), False, create_graph), results_of(filled, several, create_graph)
