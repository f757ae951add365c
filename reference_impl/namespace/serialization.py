"""``copy.deepcopy``, pickle, ``save`` and ``load``."""

from __future__ import annotations

import copy
import io
import pickle
import warnings
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from reference_impl.base.device import CPU, find_device, making_on, on, place_of
from reference_impl.base.grad_dtype import attributes_of
from reference_impl.base.rules import by, refuse_by
from reference_impl.core import extension_points
from reference_impl.core.access import (
    array_of,
    grad_of,
    hooks_of,
    is_inference,
    set_flag,
    set_memory,
    share_hooks,
    storage_of,
)
from reference_impl.core.inplace import bump
from reference_impl.core.tensor import Tensor, wrap
from specs.memory import span


def _deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """Copy a leaf with its flag and grad; tensors that share memory share it among the copies too."""
    if self.grad_fn is not None:
        refuse_by("copy/deepcopy-of-a-result-refused")
    if id(self) not in memo:
        extension_points.on_read(self, "deepcopy")
        own = storage_of(self)
        storage = memo.get(id(own))
        if storage is None:
            storage = memo[id(own)] = span(own).copy(order="K")
        window = _taken_on(storage, _window_of(self))
        copied = wrap(window)
        set_memory(copied, window, storage)
        memo[id(self)] = copied
        if not is_inference(copied) and by("copy/deepcopy-counts-one"):
            bump(copied)
        set_flag(copied, self.requires_grad)
        if by("copy/deepcopy-takes-the-grad-along"):
            grad = copy.deepcopy(grad_of(self), memo)
            if grad is not None:
                copied.grad = grad  # what the copy's own `grad_dtype` would refuse is refused
        attributes = attributes_of(self)
        if not by("copy/deepcopy-drops-hooks"):
            share_hooks(copied, self)
            attributes = self.__dict__
        copied.__dict__.update(copy.deepcopy(attributes, memo))
    return memo[id(self)]


_Window = tuple[np.dtype, tuple[int, ...], int, tuple[int, ...]]
"""The part of a memory that a tensor shows: dtype, shape, offset and strides, the last two in bytes."""


def _window_of(x: Tensor) -> _Window:
    array, own = array_of(x), storage_of(x)
    # Numpy may let an empty array begin anywhere.
    offset = np.lib.array_utils.byte_bounds(array)[0] - np.lib.array_utils.byte_bounds(own)[0]
    return array.dtype, array.shape, offset if array.size else 0, array.strides


def _taken_on(memory: np.ndarray, window: _Window) -> np.ndarray:
    dtype, shape, offset, strides = window
    if 0 in shape:
        return as_strided(memory if memory.dtype == dtype else np.empty(1, dtype), shape, strides)
    return np.ndarray(shape, dtype, memory, offset, strides)


def _reduced(self: Tensor, protocol: Any) -> Any:
    """Pickle elements, flag, device and attributes; ``copy.copy`` comes this way too, as in PyTorch."""
    _about_to_pickle(self)
    memory = on(CPU, span(storage_of(self))).view()  # another for each: no two share what is unpickled
    made = memory, _window_of(self), self.requires_grad, str(place_of(self))
    return _rebuilt, made, attributes_of(self) or None


def _about_to_pickle(x: Tensor) -> None:
    extension_points.on_read(x, "pickle")
    warn_of_hooks(x)


def warn_of_hooks(x: Tensor) -> None:
    """Warn of each hook that is not pickled, unless it is marked."""
    for hook in (hooks_of(x) or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can "
                "decorate the function with @torch.utils.hooks.unserializable_hook to suppress this warning",
                stacklevel=3,
            )


def _rebuilt(memory: np.ndarray, window: _Window, requires_grad: bool, place: str) -> Tensor:
    array, place_ = _taken_on(memory, window), find_device(place)
    with making_on(place_):
        out = wrap(array)
    set_memory(out, array, on(place_, memory))
    if not is_inference(out) and by("copy/pickle-counts-one"):
        bump(out)
    if by("copy/pickle-keeps-the-flag"):
        set_flag(out, requires_grad)
    return out


class _Saver(pickle.Pickler):
    """Puts memory apart, once for all tensors that show it: loaded ones share it too."""

    def __init__(self, file: Any) -> None:
        super().__init__(file, protocol=2, fix_imports=False)  # as PyTorch, which refuses frozensets
        self.apart: list[Any] = []
        self._numbers: dict[int, int] = {}
        self._memories: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def persistent_id(self, obj: Any) -> int | None:
        return self._numbers.get(id(obj))

    def reducer_override(self, obj: Any) -> Any:
        if not (isinstance(obj, Tensor) and type(obj).__reduce_ex__ is Tensor.__reduce_ex__):
            return NotImplemented
        _about_to_pickle(obj)
        own, (dtype, *rest) = storage_of(obj), _window_of(obj)
        if id(own) not in self._memories:
            self._memories[id(own)] = own, self._put_apart(on(CPU, span(own)))
        memory, window = self._memories[id(own)][1], (self._put_apart(dtype), *rest)
        return _rebuilt, (memory, window, obj.requires_grad, str(place_of(obj))), attributes_of(obj) or None

    def _put_apart(self, part: Any) -> Any:
        if id(part) not in self._numbers:
            self._numbers[id(part)] = len(self.apart)
            self.apart.append(part)
        return part


_SAFE = {
    "collections": "OrderedDict Counter", "_codecs": "encode",
    "builtins": "set bytearray complex getattr", __name__: "_rebuilt",
    "reference_impl.nn.parameter": "_rebuilt Parameter",
}  # fmt: skip
"""The names that a file of weights may ask for, beside those of the folder ``base``."""


class _Memory(pickle.Unpickler):
    """Unpickles what a saver has put apart: memory and its dtypes."""

    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] not in ("numpy", "ml_dtypes", "_codecs"):
            raise pickle.UnpicklingError(f"{module}.{name} is no memory")
        return super().find_class(module, name)


class _Loader(pickle.Unpickler):
    """Unpickles what was saved; with ``safe`` only tensors and plain values, which run no other code."""

    def __init__(self, file: Any, apart: list[Any], safe: bool) -> None:
        super().__init__(file)
        self._apart, self._safe = apart, safe

    def persistent_load(self, pid: Any) -> Any:
        return self._apart[pid]

    def find_class(self, module: str, name: str) -> Any:
        known = module.startswith("reference_impl.base.") or name in _SAFE.get(module, "").split()
        if self._safe and not known:
            place = module.replace("reference_impl", "torch")
            raise pickle.UnpicklingError(_refusal(name if module == "builtins" else f"{place}.{name}"))
        return super().find_class(module, name)


def _refusal(name: str) -> str:
    """The words of PyTorch for a name that a file of weights may not ask for."""
    return (
        "Weights only load failed. This file can still be loaded, to do so you have two options, "
        "\x1b[1mdo those steps only if you trust the source of the checkpoint\x1b[0m. \n"
        "\t(1) In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` "
        "from `False` to `True`. Re-running `torch.load` with `weights_only` set to `False` will likely "
        "succeed, but it can result in arbitrary code execution. Do it only if you got the file from a "
        "trusted source.\n\t(2) Alternatively, to load with `weights_only=True` please check the "
        "recommended steps in the following error message.\n\tWeightsUnpickler error: Unsupported global: "
        f"GLOBAL {name} was not an allowed global by default. Please use "
        f"`torch.serialization.add_safe_globals([{name}])` or the "
        f"`torch.serialization.safe_globals([{name}])` context manager to allowlist this global if you trust "
        "this class/function.\n\nCheck the documentation of torch.load to learn more about types accepted by "
        "default with weights_only "
        "https://pytorch.org/docs/stable/generated/torch.load.html."
    )


def save(obj: Any, f: Any) -> None:
    """Pickle ``obj`` to a path or an open file.

    NB: the format is pickle's, not PyTorch's.
    """
    if isinstance(f, (str, Path)) and not Path(f).parent.is_dir():
        raise RuntimeError(f"Parent directory {Path(f).parent} does not exist.")
    saved = io.BytesIO()
    saver = _Saver(saved)
    saver.dump(obj)
    with _opened(f, "wb") as file:
        pickle.dump((saved.getvalue(), saver.apart), file)


def load(f: Any, map_location: Any = None, *, weights_only: bool = True, **_: Any) -> Any:
    """Load what `save` wrote; unless ``weights_only`` this may run code that the file names."""
    with _opened(f, "rb") as file:
        saved, apart = _Memory(file).load()
    return _Loader(io.BytesIO(saved), apart, weights_only).load()


def _opened(f: Any, mode: str) -> AbstractContextManager[Any]:
    return Path(f).open(mode) if isinstance(f, (str, Path)) else nullcontext(f)


METHODS: dict[str, Any] = {"__deepcopy__": _deepcopy, "__reduce_ex__": _reduced}
"""Methods by name."""
