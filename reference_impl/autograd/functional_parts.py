"""The steps that the functions of ``torch.autograd.functional`` share, from checked inputs to results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reference_impl.autograd import grad
from reference_impl.base.rules import by, refuse_by
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.factories import zeros_like

TensorTuple = tuple[Tensor, ...]
Vector = Sequence[Tensor | None]
"""A vector to multiply by; None stands for a single 1."""


def tuple_of(given: Any, what: str, function: str) -> tuple[bool, TensorTuple]:
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


def own_inputs(inputs: TensorTuple, create_graph: bool) -> TensorTuple:
    """The inputs to differentiate by: views with history for ``create_graph``, else leaves."""
    return tuple(
        x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in inputs
    )


def vector_of(
    v: Any, like: TensorTuple, several: bool, function: str, owner: str, create_graph: bool
) -> Vector:
    """The vector to multiply by, of the shapes in ``like``; it may be left out for a single element."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            refuse_by("functional/vector-needed", owner=owner)
        return (None,)
    _, given = tuple_of(v, "v", function)
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


def results_of(results: Sequence[Any], several: bool, create_graph: bool) -> Any:
    """One result or a tuple, without history unless ``create_graph`` is set."""
    kept = tuple(history_if_asked_for(x, create_graph) for x in results)
    need_some(kept)
    return kept if several else kept[0]


def need_some(results: Sequence[Any]) -> None:
    """Refuse to give no results: PyTorch looks at the first, whether there is one or not."""
    if not results:
        raise IndexError("tuple index out of range")


def history_if_asked_for(x: Tensor, create_graph: bool) -> Tensor:
    """Return a result with its history, or without where no graph was to be created."""
    return x if create_graph or not by("functional/no-history-unless-asked-for") else x.detach()


def gradients_of(
    outputs: Sequence[Tensor | None],
    inputs: TensorTuple,
    v: Vector | None,
    create_graph: bool,
    retain_graph: bool | None = None,
    batched: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of ``outputs``, None for inputs that they do not depend on."""
    vectors: Vector = [None] * len(outputs) if v is None else v
    pairs = [(x, g) for x, g in zip(outputs, vectors, strict=True) if x is not None and x.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    return grad(
        [x for x, _ in pairs],
        inputs,
        [g for _, g in pairs],
        retain_graph=retain_graph,
        create_graph=create_graph,
        allow_unused=True,
        is_grads_batched=batched,
    )


OF_FUNCTION = "of the user-provided function"


def need_history(tensors: Sequence[Tensor | None], what: str, strict: bool) -> None:
    """Refuse, if strict, tensors that do not depend on the inputs."""
    for at, x in enumerate(tensors) if strict else ():
        if x is None:
            refuse_by(
                "functional/strict-needs-dependence", what=f"The output {OF_FUNCTION}", at=f"input {at}"
            )
        elif x.requires_grad:
            continue
        elif what == "outputs":
            refuse_by("functional/strict-needs-a-history", at=at)
        else:
            subject = f"The {what} {OF_FUNCTION} with respect to input {at}"
            refuse_by(
                "functional/strict-needs-dependence", what=subject, at="the inputs", case=what, number=at
            )


def zeros_filled_in(
    grads: Sequence[Tensor | None],
    like: TensorTuple,
    strict: bool,
    create_graph: bool,
    missing: str,
    what: str,
) -> list[Tensor]:
    """Replace missing gradients by zeros; if strict, refuse them, with ``missing`` as the subject."""
    filled = []
    for at, (g, x) in enumerate(zip(grads, like, strict=True)):
        if g is None and strict:
            refuse_by("functional/strict-needs-dependence", what=missing, at=f"input {at}")
        if g is not None and strict and create_graph and not g.requires_grad:
            refuse_by(
                "functional/strict-needs-dependence",
                what=f"The {what} {OF_FUNCTION}",
                at=f"input {at}",
                case="create_graph",
            )
        filled.append(zeros_like(x) if g is None else g)
    return filled
