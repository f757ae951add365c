"""Views: the base of a view, and how a stale view gets a new history.

The ops that make views are in the op table; `inplace` writes through views.
"""

from __future__ import annotations

from enum import Enum

from reference_impl.base.device import geometry, place_of
from reference_impl.base.grad_dtype import OwnDtype, cast_to, grad_dtype_of
from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.base.version_counter import UNTRACKED
from reference_impl.core import extension_points
from reference_impl.core.as_strided import StridedGeometry, as_strided_backward
from reference_impl.core.graph import Node, RunningTask, gradient_edge
from reference_impl.core.tensor import Tensor, wrap
from specs.layout import empty_strided


class CreationMeta(Enum):
    """The making of a view, which may forbid tracked writes through it."""

    DEFAULT = 0
    NO_GRAD = 1
    MULTI_OUTPUT = 2
    FUNCTION = 3
    INFERENCE = 4


def base_requires_grad(base: Tensor) -> bool:
    """Tell whether a tensor requires grad. NB: its property takes several times as long."""
    return base._requires_grad or base._node is not None or (base._view is not None and base.requires_grad)


class ViewOf:
    """The relation of a differentiable view to its base.

    ``base``: the root of the chain of views; ``attr_version``: the version at which the view's history was
    last up to date; ``replay``: the steps that make the view from its base where the dtype changes on the
    way; ``kept``: the tensors whose dtype was changed, which PyTorch keeps alive for that.
    """

    __slots__ = ("attr_version", "base", "creation_meta", "kept", "replay")

    def __init__(self, base: Tensor, creation_meta: CreationMeta, attr_version: int) -> None:
        self.base = base
        self.creation_meta = creation_meta
        self.attr_version = attr_version
        self.replay: Replay = ()
        self.kept: tuple[Tensor, ...] = ()

    def history(self, view: Tensor) -> Node | None:
        """The view's node, regenerated if the storage was written since it was made."""
        node = view._node
        if node is None and not base_requires_grad(self.base):
            return None
        version = view._version_counter[0]
        if self.attr_version != version and by("view/stale-regenerates"):
            if self.creation_meta is not CreationMeta.DEFAULT:
                case = self.creation_meta.name.lower()
                refuse_by("view/stale-tag-refused", which=described(view, self), case=case)
            fresh = self.replayed() if self.replay else AsStridedBackward0(self.base, view)
            self.attr_version = version
            view._node = fresh
            if fresh is not None:
                change_history(view, node, fresh)
        return view._node

    def replayed(self) -> Node | None:
        """The node of the view made again by its steps, recorded whatever the mode."""
        was, STATE.enabled = STATE.enabled, True
        try:
            return replayed(self.base, self.replay)._node
        finally:
            STATE.enabled = was


def replayed(base: Tensor, replay: Replay) -> Tensor:
    """The view of ``base`` that these steps make."""
    for step in replay:
        base = getattr(base, step)() if isinstance(step, str) else base.as_strided(*step)
    return base


def described(tensor: Tensor, view: ViewOf) -> str:
    """The words for a view of that creation in PyTorch's refusals."""
    in_inference = view.creation_meta is CreationMeta.INFERENCE
    mode = f"created in {'inference' if in_inference else 'no_grad'} mode"
    if tensor._node is None:
        return f"A view was {mode}"
    name = tensor._node.name().rstrip("0123456789").removesuffix("Backward")
    which = f"Output {tensor._output_nr} of {name} is a view"
    by_mode = in_inference or view.creation_meta is CreationMeta.NO_GRAD
    return f"{which} of a view which was {mode}" if by_mode else which


def as_view(source: Tensor, view: Tensor, multi: bool) -> None:
    """Make ``view`` a differentiable view of ``source``'s root."""
    if source._inference and by("inference/views-are-none"):
        view._version_counter = UNTRACKED
        return
    creation_meta = CreationMeta.DEFAULT
    if STATE.inference and by("inference/view-tag"):
        creation_meta = CreationMeta.INFERENCE
    elif not STATE.enabled:
        if by("view/no-grad-tag"):
            creation_meta = CreationMeta.NO_GRAD
    elif multi and by("view/multi-output-tag"):
        creation_meta = CreationMeta.MULTI_OUTPUT
    parent = source._view
    base = source
    if parent is not None and by("view/base-is-the-root"):
        base = parent.base
        inherits = creation_meta is CreationMeta.DEFAULT and by("view/tag-is-inherited")
        if inherits or (parent.creation_meta is CreationMeta.INFERENCE and by("inference/tag-prevails")):
            creation_meta = parent.creation_meta
    by("version/shared-by-views")
    view._view = made = ViewOf(base, creation_meta, view._version_counter[0])
    changes = view._array.dtype is not source._array.dtype
    if changes or (parent is not None and parent.replay):
        before = () if parent is None else parent.replay or (geometry_of(source),)
        step = "view_as_complex" if view._array.dtype.kind == "c" else "view_as_real"
        made.replay = (*before, step if changes else geometry_of(view))
        made.kept = (*(() if parent is None else parent.kept), *((source,) if changes else ()))


def change_history(tensor: Tensor, old: Node | None, new: Node, was: int | None = None) -> None:
    """A tensor that retains its grad goes on doing so under its new history; its hooks stay with the old
    one, of which it was the output number ``was`` (that of now, if None).
    """
    if tensor._hooks is not None and by("hook/stays-with-old-history"):
        tensor._hooks = None
    if not tensor._retains or old is None or old.retained is None:
        return
    nr = tensor._output_nr
    if was is None or (was != nr and not by("retain/moves-by-its-own-number")):
        was = nr
    moving = [holder for holder in old.retained if holder[0] == was]
    if moving and by("retain/moves-with-write"):
        old.retained = [holder for holder in old.retained if holder[0] != was]
        new.retained = [*(new.retained or ()), *((nr, reference) for _, reference in moving)]


class AsStridedBackward0(Node):
    """The history of a view whose storage was written: a strided window on its base."""

    __slots__ = ("base_geometry", "geometry")

    def __init__(self, base: Tensor, view: Tensor) -> None:
        super().__init__((gradient_edge(base),))
        self.base_geometry = geometry_of(base)
        self.geometry = geometry_of(view)
        # NB: a view whose data was assigned belongs where its base is, and is complex or not as that is.
        dtype, of = grad_dtype_of(view), base._array.dtype
        if of is not view._array.dtype:
            dtype = OwnDtype(of, cast_to(dtype))
        self.input_metadata.append(geometry(view._array.shape, dtype, place_of(base)))

    def apply(self, grads: list[Tensor | None], task: RunningTask) -> list[Tensor | None]:
        g = grads[0]
        if g is None or not task.should_compute_output(self, 0):
            return [None]
        return [as_strided_backward(g, self.base_geometry, self.geometry)]


Replay = tuple[str | StridedGeometry, ...]


def geometry_of(tensor: Tensor) -> StridedGeometry:
    """Shape, strides and offset, in elements."""
    return tensor._array.shape, tensor.stride(), tensor.storage_offset()


class CopySlices(Node):
    """The history of a base written through a view: the write's node for the window, the old history for
    the rest.
    """

    __module__ = "builtins"  # as PyTorch's
    __slots__ = ("base_geometry", "geometry", "replay", "write")

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def __init__(self, base: Tensor, view: Tensor, write: Node) -> None:
        super().__init__((gradient_edge(base), *write.edges[1:]))
        self.base_geometry = geometry_of(base)
        self.geometry = geometry_of(view)
        self.replay: Replay = () if view._view is None else view._view.replay
        self.write: Node | None = write
        self.add_output(base)

    def apply(self, grads: list[Tensor | None], task: RunningTask) -> list[Tensor | None]:
        g = grads[0]
        if g is None:
            return [None] * len(self.edges)
        if self.write is None:
            refuse_by("save/freed-refused")
            return [g] + [None] * (len(self.edges) - 1)
        whole = self._copy(g)
        window = self._window(whole, task)
        if task.should_compute_output(self, 0):
            # The write's own first edge leads to the view's old history, which is wanted where ours is.
            task.require(self.write.edges[0][0])
        results = self.write.apply([window.clone_contiguous()], task)
        out: list[Tensor | None] = [None] * len(self.edges)
        for i, result in enumerate(results):
            if result is None or not task.should_compute_output(self, i):
                continue
            if i == 0:
                window.copy_(result)
                out[0] = whole
            else:
                out[i] = result
        return out

    def _copy(self, g: Tensor) -> Tensor:
        """A copy of the base's gradient, with the base's strides."""
        shape, strides, _ = self.base_geometry
        size = g._array.itemsize
        whole = wrap(empty_strided(shape, tuple(s * size for s in strides), g._array.dtype))
        return whole.copy_(g)

    def _window(self, whole: Tensor, task: RunningTask) -> Tensor:
        """The view of the base's gradient that the write's gradient is."""
        if self.replay:
            return replayed(whole, self.replay)
        shape, strides, offset = self.geometry
        assert self.write is not None
        # What the write makes of each element by itself stays where the base does not show it.
        read = range(0 if self.write.mixes_elements else 1, len(self.edges))
        if not whole._array.flags.forc and any(task.should_compute_output(self, i) for i in read):
            extension_points.check_covered(self.geometry, self.base_geometry)
        return whole.as_strided(shape, strides, offset - self.base_geometry[2])

    def release_variables(self) -> None:
        self.write = None
