"""The reference's raw state, for explanations: facts of tensors and nodes, read without changing anything.

Nothing here fires a rule, warns, or brings a stale view up to date.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType, TracebackType
from typing import Any

import reference_impl
from reference_impl.autograd.function_node import FunctionNode, saved_for_backward
from reference_impl.base import dtypes, rules
from reference_impl.base.device import place_of
from reference_impl.base.session import STATE
from reference_impl.base.version_counter import UNTRACKED
from reference_impl.core import access
from reference_impl.core.access import memory_of, observed_state, raw_state
from reference_impl.core.graph import Node
from reference_impl.core.saved import SavedVariable
from reference_impl.namespace import missing

TENSOR, DTYPE = reference_impl.Tensor, reference_impl.dtype
NOT_MODELLED = (dtypes.NoSuchDtype, rules.Unspecified)
lacking_name = missing.name_not_modelled
history_of = access.node_of
WITHOUT_CUDA = "without CUDA"
"""Said behind the release of a torch that has no CUDA."""
FEW = 24
"""Elements up to which values are told."""


def stand_in_as_torch(cuda: bool = True) -> None:
    """Have ``import torch`` and its submodules give the reference; without ``cuda`` it says that it has none,
    though the devices are there.
    """
    if not cuda:
        reference_impl.cuda.is_available = lambda: False
        reference_impl.cuda.device_count = lambda: 0
    for name, module in list(sys.modules.items()):
        if is_ours(name):
            sys.modules["torch" + name.removeprefix("reference_impl")] = module
    sys.meta_path.insert(0, _Finder())
    missing.name_as_pytorch()
    STATE.begin()


def has_cast() -> bool:
    """Tell whether autocast was enabled in this process."""
    return STATE.casts


def in_anomaly_mode() -> bool:
    """Tell whether anomaly mode is on."""
    return STATE.anomaly is not None


def has_compiled() -> bool:
    """Tell whether code was to be compiled in this process."""
    return STATE.compiles


class _Finder(MetaPathFinder, Loader):
    """Finds in the reference the submodules of ``torch`` that are not loaded yet."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        ours = "reference_impl" + fullname.removeprefix("torch")
        if not fullname.startswith("torch."):
            return None
        import_module(ours.rpartition(".")[0])  # which may make it
        if find_spec(ours) is None:
            return None
        return ModuleSpec(fullname, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module("reference_impl" + spec.name.removeprefix("torch"))
        missing.name_as_pytorch()
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: it was executed under its own name."""


def elements(x: Any) -> Any:
    """The elements as nested lists, or None beyond a few."""
    array = observed_state(x)[0]
    return array.tolist() if array.size <= FEW and type(x).__name__ != "ZeroTensor" else None


def in_full(x: Any) -> Any:
    """The elements as bytes, and only the memory's identity beyond a few: cheap to compare."""
    array = observed_state(x)[0]
    return (array.dtype.char, array.tobytes()) if array.size <= FEW else id(array)


class RawFacts:
    """The raw state of a tensor, read once."""

    __slots__ = ("array", "base", "counter", "grad", "is_leaf", "needs", "node", "nr", "retains", "stale",
                 "storage", "version")  # fmt: skip

    def __init__(self, x: Any) -> None:
        self.array, view, self.retains, self.node, _, self.grad, self.nr, self.counter = observed_state(x)
        _, _, self.needs, self.is_leaf = raw_state(x)
        self.storage = memory_of(x)[1]
        self.base = None if view is None else view.base
        self.version = None if self.counter is UNTRACKED else self.counter[0]
        self.stale = (
            view is not None
            and (self.node is not None or self.needs)
            and self.version is not None
            and view.attr_version != self.version
        )

    @property
    def dtype(self) -> str:
        return dtypes.NAME_BY_NUMPY[self.array.dtype]


def device_of(x: Any) -> str:
    """The device, in torch's words."""
    return "cpu" if not STATE.devices else str(place_of(x))


def saved_by(node: Any) -> Iterator[tuple[str, Any, int]]:
    """Give what a node saved and did not free: the name of the slot, the tensor, its version then."""
    if hasattr(type(node), "write"):
        node = node.write or node  # the write to a view, within the history of its base
    slots = node.kernel.op.slots if hasattr(type(node), "kernel") else ()
    for at, value in enumerate(_kept_by(node)[0]):
        if isinstance(value, SavedVariable) and not value.freed and isinstance(value.tensor, TENSOR):
            yield (slots[at].name if at < len(slots) else ""), value.tensor, value.version


def has_freed(node: Any) -> bool:
    """Tell whether a node released what it saved."""
    if hasattr(type(node), "write"):  # asking the node itself would look for a saved value of that name
        return node.write is None
    values, freed = _kept_by(node)
    return freed or any(isinstance(v, SavedVariable) and v.freed for v in values)


def _kept_by(node: Any) -> tuple[Sequence[Any], bool]:
    """Return what a node keeps for backward, and whether it was freed."""
    if isinstance(node, FunctionNode):
        return saved_for_backward(node)
    return (node.values if hasattr(type(node), "values") else None) or (), False


def variable_of(node: Any) -> Any:
    """Return the leaf that an AccumulateGrad fills, or None."""
    variable = node.variable if hasattr(type(node), "variable") else None
    return variable if isinstance(variable, TENSOR) else None


def subject_of(trace: TracebackType | None) -> tuple[Any, Any, Any, list[Any]]:
    """Return the tensor, node and saved tensor that an exception is about, as far as they can be told, and
    the operands of the op that raised it.
    """
    frames = []
    while trace is not None:
        if is_ours(trace.tb_frame.f_globals.get("__name__", "")):
            frames.append(trace.tb_frame.f_locals)
        trace = trace.tb_next
    operands = next((names["operands"] for names in reversed(frames) if "operands" in names), ())
    tensors = [x for x in operands if isinstance(x, TENSOR)] if isinstance(operands, tuple) else []
    return (*_subject(reversed(frames)), tensors)


def subject_of_warning() -> Any:
    """Return the tensor that a warning which is being given is about."""
    frame, found = inspect.currentframe(), []
    while frame is not None:
        if is_ours(frame.f_globals.get("__name__", "")):
            found.append(frame.f_locals)
        frame = frame.f_back
    return _subject(found)[0]


SUBJECTS = (
    "target",
    "tensor",
    "leaf",
    "root",
    "self",
    "x",
    "variable",
    "param",
    "parameter",
    "data",
    "output",
)
"""The names by which the reference's functions call the tensor that they are about."""


def _subject(frames: Any) -> tuple[Any, Any, Any]:
    tensor = node = saved = None
    for names in frames:
        mine = names.get("self")
        if saved is None and tensor is None and isinstance(mine, SavedVariable):
            whole = hasattr(mine, "tensor")  # or its own making was refused
            saved, tensor = (mine, mine.tensor) if whole else (None, names.get("tensor"))
        if node is None:
            node = next((names[n] for n in ("self", "node") if isinstance(names.get(n), Node)), None)
        if tensor is None:
            for name in SUBJECTS:
                if isinstance(names.get(name), TENSOR):
                    tensor = names[name]
                    break
    return tensor, node, saved


def is_ours(module: str) -> bool:
    """Tell whether a module is the reference's, which the script sees as torch's."""
    return module == "reference_impl" or module.startswith("reference_impl.")


def stands_for_torch(module: str) -> bool:
    """Tell whether a class of that module is the reference's, under its own name or that of PyTorch's."""
    return is_ours(module) or module.partition(".")[0] == "torch"


def lists(module: str, name: str) -> bool:
    """Tell whether torch has a public name in a module, given its address in torch."""
    return name in missing.torch_names().get(module.removeprefix("torch").removeprefix("."), ())


def knows(name: str) -> bool:
    """Tell whether the reference has a class or function of that name in a namespace that scripts use."""
    spaces = (reference_impl, reference_impl.nn, reference_impl.nn.functional, reference_impl.optim, TENSOR)
    return any(hasattr(space, name) for space in spaces)
