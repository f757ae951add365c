"""The tensor: an array, the storage it looks at, and the autograd state beside it.

The attributes users see are here; what ops do lives in ``apply``, histories in ``graph``, views in ``views``,
backward in ``engine``. The op methods themselves are installed from the op table
(``reference_impl.namespace.install``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.base.device import on, place_of
from reference_impl.base.grad_dtype import cast_to, grad_dtype_of
from reference_impl.base.not_modelled import NotModelled
from reference_impl.base.rules import by, refuse_by, warn
from reference_impl.base.session import STATE
from reference_impl.base.version_counter import UNTRACKED, alias_counter
from reference_impl.core import extension_points
from specs.layout import means_its_strides, without_elements

_blank: Any = object.__new__


class Tensor:
    """A numpy array with autograd state.

    Raw state, which reading never changes:
    ``_array``: the elements; ``_storage``: the array that owns their memory;
    ``_version_counter``: a list of one int, shared by views and detached aliases;
    ``_requires_grad``: the flag as set by hand (only meaningful on leaves);
    ``_node``, ``_output_nr``: the history, which may be stale if the tensor is a view;
    ``_view``: the `ViewOf` of a differentiable view, or None;
    ``_inference``: made in inference mode;
    ``_grad``, ``_retains``: the accumulated gradient, and whether `retain_grad` took effect;
    ``_hooks``: the hooks of the present history; ``_post_hooks``: those called after accumulation;
    ``_accumulator``: a weak reference to the node that fills ``_grad`` (only meaningful on leaves).
    `wrap` makes tensors.
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_accumulator",
        "_array",
        "_grad",
        "_hooks",
        "_inference",
        "_node",
        "_output_nr",
        "_post_hooks",
        "_requires_grad",
        "_retains",
        "_storage",
        "_version_counter",
        "_view",
    )
    __hash__ = object.__hash__
    __array_priority__ = 1000

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        own = vars(cls).keys() & {"__torch_function__", "__torch_dispatch__", "__new__"}
        if own and not cls.__module__.startswith("reference_impl"):
            raise NotModelled(f"a subclass of torch.Tensor with its own {min(own)}()")

    _fills_itself = False  # True of what is made by its own __init__
    _plain: type[Tensor]  # what an alias is an instance of
    _array: np.ndarray
    _storage: np.ndarray
    _version_counter: list[int]
    _requires_grad: bool
    _inference: bool
    _node: Any  # a `graph.Node`: as in C++, the class is only declared here
    _output_nr: int
    _view: Any  # a `views.ViewOf`
    _grad: Tensor | None
    _hooks: dict[int, Any] | None
    _post_hooks: dict[int, Any] | None
    _retains: bool
    _accumulator: Any

    def __new__(cls, *given: Any, **named: Any) -> Any:
        """Make what a subclass fills, or, called as ``Tensor(...)``, what PyTorch's old constructor makes."""
        if cls is Tensor:
            return extension_points.construct(*given, **named)
        if given and not cls._fills_itself:
            raise NotModelled(f"a tensor of {cls.__name__}, a subclass of torch.Tensor")
        return _blank(cls)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """The op methods, which are installed from the op table."""

    @property
    def grad_fn(self) -> Any:
        """The node that made this tensor; brings a stale view up to date, and may refuse to."""
        return self._node if self._view is None else self._view.history(self)

    @property
    def is_leaf(self) -> bool:
        """True if no node made this tensor."""
        plain = self.grad_fn is None
        return plain if self._view is None or by("view/leaf-without-a-history") else not plain

    @property
    def requires_grad(self) -> bool:
        """Set by hand, inherited from an operand, or from the base that this is a view of."""
        if self._requires_grad or self._node is not None:
            return True
        view = self._view
        return view is not None and view.base.requires_grad and by("view/requires-grad-follows-base")

    @requires_grad.setter
    def requires_grad(self, flag: bool) -> None:
        if not isinstance(flag, bool):
            refuse_by("requires_grad/must-be-bool", type=type(flag).__name__)
        if self._node is not None and flag:
            refuse_by("requires_grad/only-leaf-flags-assigned")
        elif self._node is not None:
            refuse_by("requires_grad/non-leaf-cannot-drop")
        self._set_flag(bool(flag))

    @requires_grad.deleter
    def requires_grad(self) -> None:
        refuse_by("requires_grad/must-be-bool", type="nothing")

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set the flag and return the tensor itself."""
        if not isinstance(requires_grad, bool):
            refuse_by("requires_grad/argument-must-be-bool", type=type(requires_grad).__name__)
        if STATE.transforms:
            refuse_by("functional/transforms-set-no-flag", case="requires_grad_")
        if self._node is not None and not requires_grad:
            refuse_by("requires_grad/non-leaf-cannot-drop")
        self._set_flag(requires_grad, "requires_grad_")
        return self

    def _set_flag(self, flag: bool, how: str = "attribute") -> None:
        if flag and not dtypes.differentiable(self._array.dtype):
            refuse_by("requires_grad/float-or-complex-only", dtype=self.dtype, case=how)
        if flag and self._inference and not STATE.inference:
            refuse_by("inference/flag-outside-refused")
        if by("requires_grad/flag-is-set-in-place") and (STATE.enabled or by("mode/flag-setting-unaffected")):
            self._requires_grad = flag

    @property
    def output_nr(self) -> int:
        """The index of this tensor among the outputs of its node."""
        return self._output_nr

    @property
    def retains_grad(self) -> bool:
        """True if ``retain_grad`` took effect."""
        return self._retains

    @property
    def _version(self) -> int:
        return self._version_counter[0]

    @property
    def _base(self) -> Tensor | None:
        return None if self._view is None else self._view.base

    def _is_view(self) -> bool:
        return self._view is not None

    @property
    def grad(self) -> Tensor | None:
        """The accumulated gradient; warns where none will ever come."""
        if self._view is not None and not by("view/has-its-own-grad"):
            return self._view.base._grad
        if self._grad is None and self._node is not None and not self._retains:
            warn("grad/non-leaf-read-warns")
        return self._grad

    @grad.setter
    def grad(self, grad: Tensor | None) -> None:
        if grad is None:
            if by("grad/assign-none-clears"):
                self._grad = None
            return
        if not isinstance(grad, Tensor):
            refuse_by("grad/assign-type", type=type(grad).__name__)
        if grad is self:
            refuse_by("grad/assign-self")
        want = grad_dtype_of(self)
        if by("grad/assign-asks-history"):
            node = self.grad_fn
            want = want if node is None else node.input_metadata[self._output_nr][1]
        want = cast_to(want)
        if want is not None and grad._array.dtype != want:
            refuse_by("grad/assign-dtype", got=grad.dtype, want=dtypes.of(want))
        if STATE.devices and place_of(grad) is not place_of(self):
            refuse_by("device/grad-is-beside-its-leaf", got=place_of(grad), want=place_of(self))
        if grad._array.shape != self._array.shape:
            refuse_by("grad/assign-size", got=list(grad.shape), want=list(self.shape))
        if self._node is None or by("grad/accepted-on-non-leaf"):
            self._grad = grad if by("grad/assigned-as-is") else grad.detach().clone()

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    @property
    def data(self) -> Tensor:
        """The same elements without history, under a version counter of its own."""
        return variable_data(self)

    @data.setter
    def data(self, new: Tensor) -> None:
        if not isinstance(new, Tensor):
            refuse_by("data/assign-type", type=type(new).__name__)
        if STATE.transforms:
            extension_points.on_data(self, new)
        if self.requires_grad and not dtypes.differentiable(new._array.dtype):
            refuse_by("data/assign-dtype", dtype=new.dtype)
        moves = STATE.devices and place_of(self) is not place_of(new) and by("device/data-moves-the-end")
        if moves or self._array.dtype != new._array.dtype:
            self._accumulator = None
        if by("data/assign-swaps"):
            self._array, self._storage = new._array, new._storage
            self.__class__ = new._plain  # zeros without memory stay so, and parameters do not
            if by("inference/assigned-data-decides"):
                self._inference = new._inference
        if not by("version/set-data-keeps") and self._version_counter is not UNTRACKED:
            self._version_counter[0] += 1

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("data of a tensor cannot be deleted, the tensor can")


Tensor._plain = Tensor


def wrap_beside(tensor: Tensor, array: np.ndarray) -> Tensor:
    """A tensor without history in memory of its own, on the device of another."""
    made = wrap(array)
    if STATE.devices:
        made._storage = on(place_of(tensor), made._array)
    return made


def _as_torch_lays_it(empty: np.ndarray) -> np.ndarray:
    """An array without elements, with PyTorch's strides in place of numpy's."""
    return empty if any(empty.strides) or means_its_strides(empty) else without_elements(empty)


def hold(tensor: Tensor, array: np.ndarray) -> None:
    """Give a tensor that array for its own memory, on the device on which memory is made."""
    if not array.size:
        array = _as_torch_lays_it(array)
    tensor._array = array
    tensor._storage = array if STATE.place is None else on(STATE.place, array)


def wrap(array: np.ndarray, source: Tensor | None = None, kind: type[Tensor] = Tensor) -> Tensor:
    """A tensor without history: on memory of its own, or on that of ``source`` and with its version.

    NB: written as a function because Python takes much longer to call an ``__init__``.
    """
    made = _blank(kind)
    made._array = array
    if source is None:
        if not array.size:
            made._array = array = _as_torch_lays_it(array)
        made._storage = array if STATE.place is None else on(STATE.place, array)
        made._inference = inference = STATE.inference and by("inference/makes-inference-tensors")
        made._version_counter = UNTRACKED if inference else [0]
    else:
        made._inference = source._inference
        made._storage = source._storage
        made._version_counter = source._version_counter
    made._requires_grad = made._retains = False
    made._output_nr = 0
    made._node = made._view = made._grad = made._accumulator = made._hooks = made._post_hooks = None
    return made


def alias(tensor: Tensor) -> Tensor:
    """The same elements under the same version counter, without history."""
    return wrap(tensor._array, tensor, tensor._plain)


def variable_data(tensor: Tensor) -> Tensor:
    """The same elements without history, under a version counter of its own."""
    out = alias(tensor)
    by("data/cuts")
    if by("version/data-has-its-own"):
        out._version_counter = alias_counter(tensor._inference)
    return out
