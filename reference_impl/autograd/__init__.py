"""``torch.autograd``: ``backward`` and ``grad``, with the checks and defaults around the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from reference_impl.autograd import _functions, anomaly_mode, forward_ad, function, graph
from reference_impl.autograd.anomaly_mode import (
    detect_anomaly,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_detect_anomaly,
)
from reference_impl.autograd.function import Function
from reference_impl.autograd.graph import GradientEdge, SavedTensor
from reference_impl.base import modes as grad_mode
from reference_impl.base.device import making_on, place_in, place_of
from reference_impl.base.dtypes import REAL
from reference_impl.base.modes import (
    STATE,
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_multithreading_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from reference_impl.base.rules import by, enter_engine, leave_engine, refuse_by, warn
from reference_impl.core.access import array_of, node_of, set_flag, version_counter
from reference_impl.core.engine import execute
from reference_impl.core.graph import Edge, Grads, Node, accumulator_of, gradient_edge
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.fidelity.batched import levels_of, marked
from reference_impl.namespace.composite import stack
from reference_impl.namespace.missing import loading
from specs.layout import laid_out_like

__all__ = [
    "Function", "SavedTensor", "_functions", "anomaly_mode", "backward", "detect_anomaly", "enable_grad",
    "forward_ad",
    "function", "grad", "grad_mode", "graph", "inference_mode", "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled", "is_grad_enabled", "is_multithreading_enabled", "no_grad", "set_detect_anomaly",
    "set_grad_enabled", "set_multithreading_enabled",
]  # fmt: skip


def _is_checkpoint_valid() -> bool:
    """Return True if no running backward was given ``inputs``."""
    return all(task.exec_info is None for task in STATE.graph_tasks)


class _unsafe_preserve_version_counter:
    """Restore the versions of tensors at the end of the block."""

    def __init__(self, tensors: Any) -> None:
        self._versions = [(x, x._version) for x in ((tensors,) if isinstance(tensors, Tensor) else tensors)]

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None:
        for tensor, version in self._versions:
            version_counter(tensor)[0] = version


class Identity(Node):
    """The node of an input that no graph reaches."""

    __slots__ = ()


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Accumulate the gradients of ``tensors`` into the leaves, or into ``inputs`` only.

    ``grad_tensors`` holds the incoming gradients, of the shapes of ``tensors``; a real tensor of one element
    may have None, which stands for 1."""
    if STATE.transforms:
        refuse_by("functional/transforms-run-no-backward")
    if grad_variables is not None:
        warn("backward/grad-variables-deprecated")
        if grad_tensors is not None:
            refuse_by("backward/grad-variables-twice")
        grad_tensors = grad_variables
    targets = _targets(inputs) if inputs is not None else ()
    if inputs is not None and not targets:
        refuse_by("backward/inputs-empty")
    roots = _tuple(tensors)
    seeds = _seeds(roots, _seed_tuple(grad_tensors, len(roots)), create_graph)
    _run(roots, seeds, _keeps(retain_graph, create_graph), create_graph, targets, accumulate=True)


def backward_from(
    self: Tensor,
    gradient: Any = None,
    retain_graph: Any = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Accumulate this tensor's gradients into the leaves of its graph: ``Tensor.backward``."""
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """Return the gradients of ``outputs`` by ``inputs``, in a tuple or under the keys of a dict of these, and
    leave ``grad`` alone.

    An unused input is refused, unless ``allow_unused`` (None) or ``materialize_grads`` (zeros) is set.

    NB: batched gradients run one by one, where PyTorch uses vmap; hooks are called for each.
    """
    if materialize_grads and allow_unused is False:
        refuse_by("grad_call/materialize-conflict")
    if allow_unused is None:
        allow_unused = materialize_grads
    roots, targets = _tuple(outputs), _targets(inputs)
    if not targets and by("grad_call/inputs-counted-first"):
        refuse_by("grad_call/inputs-empty")
    if not only_inputs:
        warn("grad_call/only-inputs-deprecated")
    given = _seed_tuple(grad_outputs, len(roots))
    if is_grads_batched and by("grad_call/batches-go-back-one-by-one"):
        keep = _keeps(retain_graph, create_graph)
        how: dict[str, Any] = {"create_graph": create_graph, "allow_unused": True}
        *rows, last = _rows(roots, given)
        batches = [grad(roots, targets, row, retain_graph=True, **how) for row in rows]
        batches.append(grad(roots, targets, last, retain_graph=keep, **how))
        result = [None if column[0] is None else stack(column) for column in zip(*batches, strict=True)]
        return _under(inputs, _complete(result, targets, allow_unused, materialize_grads, create_graph))
    seeds = _seeds(roots, given, create_graph)
    by("grad_call/leaves-grad-alone")
    keep = _keeps(retain_graph, create_graph)
    result = _run(roots, seeds, keep, create_graph, targets, accumulate=False)
    return _under(inputs, _complete(result, targets, allow_unused, materialize_grads, create_graph))


def _under(inputs: Any, grads: tuple[Tensor | None, ...]) -> Any:
    """Put gradients under the keys of a dict of inputs."""
    named = type(inputs) is dict and by("grad_call/named-inputs-name-the-result")
    return dict(zip(inputs, grads, strict=True)) if named else grads


def _complete(
    result: Grads, targets: tuple[Any, ...], allow_unused: bool, materialize_grads: bool, create_graph: bool
) -> tuple[Tensor | None, ...]:
    """Replace missing gradients by zeros if ``materialize_grads`` is set; refuse them unless allowed."""
    for index, (g, target) in enumerate(zip(result, targets, strict=True)):
        if g is not None:
            continue
        if not allow_unused:
            refuse_by("grad_call/unused-refused", index=index)
        if materialize_grads and isinstance(target, GradientEdge):
            refuse_by("edge/no-zeros-for-edges")
        elif materialize_grads and by("grad_call/materialize-gives-zeros"):
            result[index] = _filled(target, 0).requires_grad_(create_graph)
        else:
            by("grad_call/allow-unused-gives-none")
    return tuple(result)


def _keeps(retain_graph: bool | None, create_graph: bool) -> bool:
    if retain_graph is None:
        return create_graph if by("backward/retain-follows-create-graph") else False
    if not isinstance(retain_graph, int):
        raise TypeError(f"'{type(retain_graph).__name__}' object cannot be interpreted as an integer")
    return retain_graph and by("backward/retain-graph-keeps")


def _tuple(tensors: Any) -> tuple[Any, ...]:
    if isinstance(tensors, (Tensor, GradientEdge)):
        return (tensors,)
    if not hasattr(tensors, "__iter__"):
        refuse_by("backward/not-iterable", type=type(tensors).__name__)
        return ()
    return tuple(tensors)


def _targets(inputs: Any) -> tuple[Any, ...]:
    return tuple(inputs.values()) if type(inputs) is dict else _tuple(inputs)


def _seed_tuple(seeds: Any, length: int) -> tuple[Any, ...]:
    return (None,) * length if seeds is None else _tuple(seeds)


def _rows(roots: Sequence[Any], given: Sequence[Any]) -> list[tuple[Tensor, ...]]:
    """Split batched incoming gradients along their first dimension."""
    if not roots:
        raise IndexError("list index out of range")  # PyTorch looks at the first batch
    batches: list[Any] = []
    for at, (root, batch) in enumerate(zip(roots, given, strict=False)):
        if isinstance(batch, Tensor):
            _need_rows_like(at, _shown(root).shape, batch)
            batches.append(batch)
        else:
            batches += _seeds((root,), (batch,), create_graph=False)
    if any(batch is None or batch.dim() == 0 for batch in batches):
        refuse_by("grad_call/batches-alike", sizes=[None], case="none")
    sizes = [batch.shape[0] for batch in batches]
    if len(set(sizes)) > 1:
        refuse_by("grad_call/batches-alike", sizes=sizes)
    return list(zip(*[batch.unbind() for batch in batches], strict=True))


def _need_rows_like(at: int, shape: tuple[int, ...], batch: Any) -> None:
    if batch[0].shape != shape:
        # NB: PyTorch's text leaves out the first dimension twice.
        refuse_by("grad_call/batch-shape", at=at, got=list(batch[0].shape[1:]), expected=list(shape))


def _seeds(roots: Sequence[Any], seeds: Sequence[Any], create_graph: bool) -> Grads:
    """Return the gradients to start with: as given, or 1 for a root of one real element."""
    filled: Grads = []
    for given, seed in zip(roots, seeds, strict=False):
        root = _shown(given)
        if not isinstance(root, Tensor):
            refuse_by("backward/root-type", type=type(root).__name__)
        if isinstance(seed, Tensor):
            # PyTorch looks their numbers up with ==, which on tensors may itself refuse.
            if array_of(seed).shape != array_of(root).shape:
                at, of = list(seeds).index(seed), list(roots).index(given)
                shapes = {"got": seed.shape, "expected": root.shape}
                refuse_by("backward/gradient-shape", index=at, root=of, **shapes)
            if seed.is_complex() != root.is_complex():
                at, of = list(seeds).index(seed), list(roots).index(given)
                types = {"got": seed.dtype, "expected": root.dtype}
                refuse_by("backward/gradient-complex-dtype", index=at, root=of, **types)
            filled.append(seed if by("backward/gradient-is-upstream") else _filled(root, 1))
        elif seed is not None:
            refuse_by("backward/gradient-type", type=type(seed).__name__)
        elif node_of(root) is None and not root.requires_grad:
            filled.append(None)
        else:
            filled.append(_implicit_seed(root, create_graph))
    if len(filled) != len(roots):
        # Surplus gradients go unnoticed, as in PyTorch.
        refuse_by("backward/gradients-count", roots=len(roots), gradients=len(filled))
    return filled


def _implicit_seed(root: Tensor, create_graph: bool) -> Tensor:
    """Return a gradient of 1 for a root of one real element."""
    if array_of(root).size != 1:
        refuse_by("backward/implicit-needs-scalar", shape=list(root.shape))
    if array_of(root).dtype.kind not in REAL:
        refuse_by("backward/implicit-needs-real", dtype=root.dtype)
    if create_graph:
        by("double/constant-root-grad")
    return _filled(root, 1 if by("backward/implicit-one") else 0)


def _shown(root: Any) -> Any:
    """A root, or a tensor of an edge's shape, dtype and device in its place."""
    if not isinstance(root, GradientEdge):
        return root
    metadata = root.node.input_metadata[root.output_nr]
    shape, dtype = metadata
    with making_on(place_in(metadata)):
        shown = wrap(np.empty(shape, getattr(dtype, "of", dtype)))
    set_flag(shown, True)
    return shown


def _filled(like: Tensor, value: int) -> Tensor:
    """A tensor of one repeated value, in the layout and on the device of ``like``."""
    array = np.empty_like(array_of(like))
    array.fill(value)
    array = laid_out_like(array, array_of(like))
    if STATE.transforms:
        return marked(wrap(array), levels_of(like))
    if not STATE.devices:
        return wrap(array)
    with making_on(place_of(like)):
        return wrap(array)


def _run(
    roots: Sequence[Any], seeds: Grads, keep: bool, create: bool, targets: Sequence[Any], accumulate: bool
) -> Grads:
    """Check roots and targets, and run the engine."""
    if len(roots) > 1 and not (
        by("backward/several-roots") if accumulate else by("grad_call/outputs-are-summed")
    ):
        roots, seeds = roots[:1], seeds[:1]
    if not STATE.enabled:
        by("mode/backward-under-no-grad")
    edges = [_root_edge(index, root) for index, root in enumerate(roots)]
    wanted = [_target_edge(index, target, accumulate) for index, target in enumerate(targets)]
    if accumulate and wanted:
        by("backward/inputs-only")
    enter_engine()
    try:
        return execute(edges, seeds, keep, create, accumulate, wanted)
    finally:
        leave_engine()


def _root_edge(index: int, root: Any) -> Edge:
    """Return where the gradient of a root goes; refuse a root that has no history and needs none."""
    if isinstance(root, GradientEdge):
        edge: Edge = root[:2] if by("edge/is-a-root") else (None, 0)
    else:
        edge = gradient_edge(root)
    if edge[0] is None:
        refuse_by("backward/root-needs-grad", index=index)
    elif not edge[0].edges:
        by("backward/leaf-root")
    return edge


def _target_edge(index: int, target: Any, accumulate: bool) -> Edge:
    """Return where the gradient of a target arrives."""
    if isinstance(target, GradientEdge):
        return target[:2] if by("edge/stands-for-the-tensor") else (Identity(()), 0)
    if not isinstance(target, Tensor):
        refuse_by("backward/inputs-type", index=index, type=type(target).__name__)
    nr, node = target.output_nr, target.grad_fn
    if accumulate and by("backward/inputs-retain-non-leaf"):
        target.retain_grad()
    if not target.requires_grad:
        refuse_by("grad_call/input-needs-grad", index=index)
    if node is None:
        node = accumulator_of(target)
    elif not accumulate:
        by("grad_call/non-leaf-input")
    return (Identity(()), 0) if node is None else (node, nr)


__getattr__ = loading(__name__, "profiler")
