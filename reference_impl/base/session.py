"""The session: all state that is neither a tensor's nor a node's.

There is one, `STATE`. The part of it that is a thread's own in PyTorch is so here as soon as there are
threads that may compute, see `threads`. A deep backward continues on the stack of another, which shares it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary


@dataclass(slots=True)
class PrintOptions:
    """Settings of how tensors are printed; the defaults are PyTorch's."""

    precision: int = 4
    threshold: int = 1000
    edgeitems: int = 3
    """The number of elements shown at either end of a dimension of a tensor of more than ``threshold``."""
    linewidth: int = 80
    sci_mode: bool | None = None


@dataclass(slots=True)
class Autocast:
    """The dtypes to which ops are cast, by the kind of their device."""

    dtypes: dict[str, Any] = field(default_factory=dict)
    caches: bool = True
    depth: int = 0
    """The number of open blocks."""
    casts: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    """The leaves that were cast, by id, each with its cast."""

    def resumption(self) -> Callable[[], AbstractContextManager[None]]:
        """Return a function that makes blocks in which ops are cast as they are now."""
        settings = dict(self.dtypes), self.caches

        @contextmanager
        def resumed() -> Iterator[None]:
            before = self.dtypes, self.caches
            self.dtypes, self.caches = settings
            self.depth += 1
            try:
                yield
            finally:
                self.dtypes, self.caches = before
                self.depth -= 1
                if not self.depth:
                    self.casts.clear()

        return resumed


@dataclass(slots=True, eq=False)
class Session:
    """Modes, open calls and settings, by the wing of the reference that owns them."""

    # grad modes
    enabled: bool = True
    """Grad mode."""
    inference: bool = False
    """Inference mode."""
    multithreading: bool = True

    # saved tensors
    saved_tensors_hooks: list[tuple[Callable[[Any], Any], Callable[[Any], Any]]] = field(default_factory=list)
    """Pairs of pack and unpack hooks, innermost last."""
    saved_tensors_hooks_disabled: list[str] = field(default_factory=list)
    """The messages of the open blocks that forbid such hooks."""
    write_watchers: list[Callable[[Any], None]] = field(default_factory=list)
    """Called with the tensor before each in-place write."""

    # backward
    graph_tasks: list[Any] = field(default_factory=list)
    """The backwards that run now; each was begun by a hook or a function of the one before it."""
    unordered_sums: WeakSet[Any] = field(default_factory=WeakSet)
    """The nodes of recorded sums whose operands PyTorch may add in another order."""
    unordered_hooks: list[str] = field(default_factory=list)
    """The names of nodes whose hooks PyTorch may call before others that were called before them, of the last
    backward that no other began.
    """

    strands: WeakKeyDictionary[Any, Any] = field(default_factory=WeakKeyDictionary)
    """The strands of each backward on several devices, see ``fidelity.device_races``."""

    # anomaly mode
    anomaly: Any = None
    """The watch that anomaly mode keeps, or None."""
    evaluating: list[Any] = field(default_factory=list)
    """The nodes that run now under that watch, innermost last."""
    made_at: WeakKeyDictionary[Any, str] = field(default_factory=WeakKeyDictionary)
    """The stack trace of each node that was made under it."""
    made_by: WeakKeyDictionary[Any, Any] = field(default_factory=WeakKeyDictionary)
    """The node whose backward made a node."""

    # forward mode
    level: Any = None
    """The dual level, or None."""
    paused: int = 0
    """Counts the open blocks in which tensors are treated as without tangents."""

    transforms: list[Any] = field(default_factory=list)
    """The transforms of functions that run now, innermost last, see ``base.transforms``."""

    parametrizations_cached: int = 0
    """The number of open blocks in which a parametrized tensor is computed once."""
    parametrized: dict[tuple[int, str], Any] = field(default_factory=dict)
    """The tensors that were computed in such a block, by the id of their module and their name."""
    module_hooks: dict[str, dict[int, Any]] = field(default_factory=dict)
    """The hooks common to all modules, by their kind, see ``nn.global_hooks``."""
    autocast: Autocast = field(default_factory=Autocast)
    casts: bool = False
    """True once any op was to be cast in this process."""

    # checkpoint
    checkpoint_debug: list[bool | None] = field(default_factory=list)
    early_stop: list[bool] = field(default_factory=list)

    # warnings
    held_warnings: list[list[Callable[[], None]] | None] = field(default_factory=list)
    """The warnings held back by the calls that run now, innermost last; None where they are not held back."""
    warn_always: bool = False
    warned: set[str] = field(default_factory=set)
    """The rules that have warned, of those that warn once a process."""

    silent: bool = False
    """True while whoever runs the reference keeps numpy from warning of inf and nan: ops need not."""

    printing: PrintOptions = field(default_factory=PrintOptions)

    # dtypes and devices
    default_dtype: Any = None
    """The dtype of Python floats; ``base.dtypes`` sets it."""
    grad_dtypes: bool = False
    """True once any tensor was given a ``grad_dtype``."""
    devices: int = 0
    """The number of live arrays and metadata on devices: at 0 ops skip all questions about devices."""
    place: Any = None
    """The device of new memory; None stands for the CPU."""
    default_devices: list[Any] = field(default_factory=list)
    """The devices of factories that are not told one, innermost last; without any it is the CPU."""
    current_cuda: int = 0
    """The number of the device that "cuda" stands for."""
    compiles: bool = False
    """True once a script has asked for compiled code."""
    streams: list[Any] = field(default_factory=list)
    """The streams of devices that blocks have chosen, innermost last."""
    shared_with_numpy: WeakValueDictionary[int, Any] = field(default_factory=WeakValueDictionary)
    """The storages that numpy shares, by id: they cannot grow."""

    shown_apart: dict[int, Any] = field(default_factory=dict)
    """Pairs of arrays that show one memory, by the id of the second, see ``fidelity.shown_apart``."""

    # observation
    perturb: Callable[[Any, Any, Any], Any] | None = None
    """Replaces the result of each op, given its operands: it shows how sensitive a program is to rounding."""

    def begin(self) -> None:
        """Start clean: default modes, and nothing open that an earlier program left behind.

        The rest belongs to the process, as in PyTorch: settings, past warnings, and accounts of live memory.
        """
        self.enabled, self.inference, self.place = True, False, None
        self.anomaly = self.level = None
        self.paused = 0
        self.unordered_sums.clear()
        self.parametrizations_cached, self.parametrized = 0, {}
        self.module_hooks = {}
        self.autocast = Autocast()
        for open_calls in (
            self.saved_tensors_hooks, self.saved_tensors_hooks_disabled, self.write_watchers,
            self.graph_tasks, self.unordered_hooks, self.evaluating, self.checkpoint_debug, self.early_stop,
            self.held_warnings, self.shown_apart, self.default_devices, self.transforms,
        ):  # fmt: skip
            open_calls.clear()


STATE = Session()
"""The one session."""
