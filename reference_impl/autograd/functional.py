"""``torch.autograd.functional``: Jacobians and Hessians, and products with them.

NB: ``vectorize`` has no effect: rows are computed one by one, where PyTorch uses vmap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from reference_impl.autograd import grad
from reference_impl.autograd.leads_beyond import leads_beyond
from reference_impl.base.modes import enable_grad
from reference_impl.base.not_modelled import NotModelled
from reference_impl.base.rules import by, refuse_by
from reference_impl.core.tensor import Tensor
from reference_impl.namespace import composite
from reference_impl.namespace.factories import ones_like, zeros_like

Tensors = tuple[Tensor, ...]


def _tuple_of(given: Any, what: str, function: str) -> tuple[bool, Tensors]:
    """Return True if ``given`` is a tuple, and its tensors; refuse anything but tensors."""
    several = isinstance(given, tuple)
    tensors = given if several else (given,)
    for at, x in enumerate(tensors):
        if not isinstance(x, Tensor):
            what = "outputs of the user-provided function" if what == "outputs" else what
            refuse_by(
                "functional/tensors-only",
                what=what,
                at=at,
                function=function,
                type=type(x).__name__,
                case="tuple" if several else "",
            )
    return several, tensors


def _own(inputs: Tensors, create_graph: bool) -> Tensors:
    """The inputs to differentiate by: views with history for ``create_graph``, else leaves."""
    return tuple(
        x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in inputs
    )


def _vector(v: Any, like: Tensors, several: bool, function: str, owner: str, create_graph: bool) -> Tensors:
    """The vector to multiply by, of the shapes in ``like``; 1 by default for a single element."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            refuse_by("functional/vector-needed", owner=owner)
        return (ones_like(like[0]),)
    _, given = _tuple_of(v, "v", function)
    vector = tuple(x.view_as(x) if create_graph and x.requires_grad else x.detach() for x in given)
    if len(vector) != len(like):
        hint = "" if several else ". The given v should contain a single Tensor."
        case = "several" if several else "one"
        refuse_by("functional/vector-count", wanted=len(like), given=len(vector), hint=hint, case=case)
    for at, (mine, x) in enumerate(zip(vector, like, strict=True)):
        if mine.size() != x.size():
            entry = f"Entry {at} in " if several else ""
            refuse_by("functional/vector-size", entry=entry, wanted=x.size(), given=mine.size())
    return vector


def _results(results: Sequence[Any], several: bool, create_graph: bool) -> Any:
    """One result or a tuple, without history unless ``create_graph`` is set."""
    kept = tuple(_kept(x, create_graph) for x in results)
    return kept if several else kept[0]


def _kept(x: Tensor, create_graph: bool) -> Tensor:
    return x if create_graph or not by("functional/no-history-unless-asked-for") else x.detach()


def _gradients(
    outputs: Sequence[Tensor | None],
    inputs: Tensors,
    v: Sequence[Tensor] | None,
    create_graph: bool,
) -> tuple[Tensor | None, ...]:
    """The gradients of ``outputs``, None for inputs that they do not depend on."""
    vectors: Sequence[Tensor | None] = [None] * len(outputs) if v is None else v
    pairs = [(x, g) for x, g in zip(outputs, vectors, strict=True) if x is not None and x.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    return grad(
        [x for x, _ in pairs],
        inputs,
        [g for _, g in pairs],
        retain_graph=True,
        create_graph=create_graph,
        allow_unused=True,
    )


OURS = "of the user-provided function"


def _need_history(tensors: Sequence[Tensor | None], what: str, strict: bool) -> None:
    """Refuse, if strict, tensors that do not depend on the inputs."""
    for at, x in enumerate(tensors) if strict else ():
        if x is None:
            refuse_by("functional/strict-needs-dependence", what=f"The output {OURS}", at=f"input {at}")
        elif x.requires_grad:
            continue
        elif what == "outputs":
            refuse_by("functional/strict-needs-a-history", at=at)
        else:
            subject = f"The {what} {OURS} with respect to input {at}"
            refuse_by(
                "functional/strict-needs-dependence", what=subject, at="the inputs", case=what, number=at
            )


def _filled(
    grads: Sequence[Tensor | None], like: Tensors, strict: bool, create_graph: bool, missing: str, what: str
) -> list[Tensor]:
    """Replace missing gradients by zeros; if strict, refuse them, with ``missing`` as the subject."""
    filled = []
    for at, (g, x) in enumerate(zip(grads, like, strict=True)):
        if g is None and strict:
            refuse_by("functional/strict-needs-dependence", what=missing, at=f"input {at}")
        if g is not None and strict and create_graph and not g.requires_grad:
            refuse_by(
                "functional/strict-needs-dependence",
                what=f"The {what} {OURS}",
                at=f"input {at}",
                case="create_graph",
            )
        filled.append(zeros_like(x) if g is None else g)
    return filled


def vjp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return the outputs of ``func`` and the product of ``v`` with its Jacobian.

    ``v`` has the shapes of the outputs and may be left out for a single element.
    """
    with enable_grad():
        several, given = _tuple_of(inputs, "inputs", "vjp")
        own = _own(given, create_graph)
        outputs_several, outputs = _tuple_of(func(*own), "outputs", "vjp")
        _need_history(outputs, "outputs", strict)
        vector = _vector(
            v, outputs, outputs_several, "vjp", "the user-provided function returns", create_graph
        )
        grads = _gradients(outputs, own, vector, create_graph)
        filled = _filled(grads, own, strict, create_graph, f"The output {OURS}", "jacobian")
    return _results(outputs, outputs_several, create_graph), _results(filled, several, create_graph)


def jvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return the outputs of ``func`` and the product of its Jacobian with ``v``, by double backward.

    ``v`` has the shapes of the inputs and may be left out for a single element.
    """
    with enable_grad():
        several, given = _tuple_of(inputs, "inputs", "jvp")
        own = _own(given, create_graph)
        vector = _vector(v, own, several, "jvp", "the input to the user-provided function is", create_graph)
        outputs_several, outputs = _tuple_of(func(*own), "outputs", "jvp")
        _need_history(outputs, "outputs", strict)
        seeds = tuple(zeros_like(x, requires_grad=True) for x in outputs)
        products = _gradients(outputs, own, seeds, True)
        _need_history(products, "gradient", strict)
        grads = _gradients(products, seeds, vector, create_graph)
        missing = "The gradient with respect to the input"
        filled = _filled(grads, outputs, strict, create_graph, missing, "jacobian")
    result = _results(filled, outputs_several, create_graph)
    return _results(outputs, outputs_several, create_graph), result


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
    if strategy == "forward-mode" and create_graph:
        raise NotModelled("torch.autograd.functional.jacobian(create_graph=True, strategy='forward-mode')")
    if strict and (vectorize or strategy == "forward-mode"):
        beside = 'strategy="forward-mode"' if strategy == "forward-mode" else "vectorize=True"
        refuse_by("functional/strict-one-by-one", function="jacobian", beside=beside, case=strategy)
    if strategy == "forward-mode" and not vectorize:
        refuse_by("functional/forward-mode-at-once-only")
    with enable_grad():
        several, given = _tuple_of(inputs, "inputs", "jacobian")
        forward = strategy == "forward-mode"
        own = _own(given, create_graph or forward)
        outputs_several, outputs = _tuple_of(func(*own), "outputs", "jacobian")
        _need_history(outputs, "outputs", strict)
        rows = [_rows(at, out, own, create_graph or forward, strict) for at, out in enumerate(outputs)]
    if forward:  # tangents keep the history that they have
        rows = [
            [_inputs_first(x if leads_beyond(x, own) else x.detach(), out.ndim) for x in row]
            for row, out in zip(rows, outputs, strict=True)
        ]
    blocks = [tuple(_kept(x, create_graph or forward) for x in row) for row in rows]
    shaped = tuple(row if several else row[0] for row in blocks)
    return shaped if outputs_several else shaped[0]


def _rows(at: int, out: Tensor, inputs: Tensors, create_graph: bool, strict: bool) -> list[Tensor]:
    """The Jacobians of one output by each input."""
    columns: list[list[Tensor]] = [[] for _ in inputs]
    missing = f"Output {at} {OURS}"
    for place in range(out.numel()):
        element = out.reshape((-1,))[place]  # two nodes for each
        grads = _gradients((element,), inputs, None, create_graph)
        for column, g in zip(
            columns, _filled(grads, inputs, strict, create_graph, missing, "jacobian"), strict=True
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
    several, outputs = _tuple_of(out, "outputs", function)
    _need_history(outputs, "outputs", strict)
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
    several, given = _tuple_of(inputs, "inputs", "hessian")
    if vectorize and strict:
        refuse_by(
            "functional/strict-one-by-one", function="hessian", beside="vectorize=True", case="reverse-mode"
        )

    def number(*args: Tensor) -> Tensor:
        return _single(func(*args), "hessian", strict).squeeze()

    def gradient(*args: Tensor) -> Tensors:
        first = jacobian(number, args, create_graph=True)
        _need_history(first, "jacobian", strict)
        return first

    result = jacobian(gradient, given, create_graph, strict, vectorize, outer_jacobian_strategy)
    return result if several else result[0][0]


def vhp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return the output of ``func`` and the product of ``v`` with its Hessian."""
    with enable_grad():
        several, given = _tuple_of(inputs, "inputs", "vhp")
        own = _own(given, create_graph)
        vector = _vector(v, own, several, "vhp", "the input to the user-provided function is", create_graph)
        out = _single(func(*own), "vhp", strict)
        first = _gradients((out,), own, None, True)
        _need_history(first, "jacobian", strict)
        grads = _gradients(first, own, vector, create_graph)
        filled = _filled(grads, own, strict, create_graph, f"The jacobian {OURS}", "hessian")
    return _results((out,), False, create_graph), _results(filled, several, create_graph)


def hvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return the output of ``func`` and the product of its Hessian with ``v``, by triple backward."""
    with enable_grad():
        several, given = _tuple_of(inputs, "inputs", "hvp")
        own = _own(given, create_graph)
        vector = _vector(v, own, several, "hvp", "the input to the user-provided function is", create_graph)
        out = _single(func(*own), "hvp", strict)
        first = _gradients((out,), own, None, True)
        _need_history(first, "jacobian", strict)
        seeds = tuple(zeros_like(x, requires_grad=True) for x in own)
        second = _gradients(first, own, seeds, True)
        _need_history(second, "hessian", strict)
        grads = _gradients(second, seeds, vector, create_graph)
        filled = _filled(grads, own, strict, create_graph, f"The hessian {OURS}", "hessian")
    return _results((out,), False, create_graph), _results(filled, several, create_graph)
