"""One adapter for everything that is shaped like torch: real torch and the reference alike.

The adapter contract is written down in `conformance.adapters`; which namespaces exist lives beside this
module. Everything here is on the hot path, hence the flat reading loop and the functions resolved once per
operation.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

from conformance.adapters.capabilities import MOVING, Capabilities, on_device_asked_for
from conformance.adapters.caught_warnings import IGNORED, RECORDED, WARNINGS, rule_of_warning
from conformance.adapters.operations import function_of
from conformance.adapters.topology import memory_place, topology
from conformance.program import SAVING_MODES
from specs.active_rules import torch_release
from specs.callbacks import compiled
from specs.case import Case
from specs.fact import FACTS, GRAD_FACTS, TOPOLOGY, UNSEEN, refused
from specs.rule import classify


class FunctionTable(dict[str, Callable[..., Any] | None]):
    """The function of each operation that was asked for; None where there is none."""

    def __init__(self, find: Callable[[str], Any]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, op: str) -> Callable[..., Any] | None:
        function = self._find(op)
        self[op] = function = function if callable(function) else None
        return function


class TorchShaped:
    """Serves one torch-shaped namespace; a session is nothing but the time between `start` and `stop`."""

    whole = False
    """True of a namespace that has everything, where a missing name is a mistake."""

    asks_once = False
    """True where a tensor is known to be a leaf if and only if it has no node, and to require grad if it has
    one: the node tells all three.
    """

    cpu_alone = False
    """True where there is no device besides the CPU."""

    unsupported: tuple[type[BaseException], ...] = (NotImplementedError,)

    def __init__(
        self, namespace: Any, name: str, version: str, capabilities: Capabilities | None = None
    ) -> None:
        self.namespace, self.name, self.version = namespace, name, version
        self.capabilities = capabilities or Capabilities()
        # NB: as a function of the class, which is called sooner than a method found by its name.
        self.listed: Callable[[Any], Any] = getattr(namespace.Tensor, "tolist", _no_elements)
        self._use(FunctionTable(self._find))
        self._dtype_names = _dtype_names(namespace)
        self.count = len(on_device_asked_for(self.capabilities).features & MOVING)
        getattr(namespace, "set_warn_always", bool)(True)
        getattr(namespace, "set_num_threads", bool)(1)
        for shortcut in ("observe", "gradient", "counter", "wiring"):
            if _level(self, "facts") < _level(self, shortcut):
                setattr(self, shortcut, None)  # a subclass shows by its own `facts` all that is seen
        if _level(self, "perform") < _level(self, "resolve"):
            self.resolve = None  # type: ignore[assignment,method-assign]  # and does by its own all that is done

    # sessions

    def start(self) -> None:
        WARNINGS.install()
        self._record()

    def stop(self, session: None) -> None:
        self._record()
        WARNINGS.restore()

    def _record(self) -> None:
        """Turn grad mode on (checking first is cheaper than setting it)."""
        if not getattr(self.namespace, "is_grad_enabled", bool)():
            getattr(self.namespace, "set_grad_enabled", bool)(True)

    def warned(self, session: None) -> tuple[str, ...]:
        """The warnings since the last call, as rules."""
        if not WARNINGS.caught:
            return ()
        kinds = tuple(map(rule_of_warning, WARNINGS.caught))
        WARNINGS.caught.clear()
        return kinds

    # doing

    def resolve(self, op: str) -> Callable[..., Any] | None:
        """The function of an operation, or None where the namespace has none."""
        return self._functions[op]

    def _use(self, functions: FunctionTable) -> None:
        """Have operations resolved by this table: by itself, unless a subclass has more to do."""
        self._functions = functions
        if type(self).resolve is TorchShaped.resolve:
            self.resolve = functions.__getitem__  # type: ignore[assignment,method-assign]

    def _find(self, op: str) -> Callable[..., Any] | None:
        return function_of(op, self.namespace)

    def perform(self, session: None, step: Any, operands: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
        """The general form of what a runner does through `resolve`."""
        function = type(self).resolve(self, step.op)
        if function is None:
            raise NotImplementedError(f"{self.name} has no {step.op}")
        args, kwargs = operands
        return function(*args, **kwargs)

    def dtype(self, name: str) -> Any:
        try:
            return getattr(self.namespace, name)
        except AttributeError as error:
            raise NotImplementedError(f"{self.name} has no {name}") from error

    def lacks(self, error: BaseException) -> bool:
        """Tell whether the error says that the namespace, or its tensors, have no such attribute."""
        if self.whole or not isinstance(error, AttributeError) or error.name is None:
            return not self.whole and isinstance(error, self.unsupported)
        owner = type(error.obj)
        return error.obj is self.namespace or (
            (issubclass(owner, (self.namespace.Tensor, ModuleType))) and not hasattr(owner, error.name)
        )

    def refusal(self, error: BaseException) -> str | None:
        rule = getattr(error, "rule", None)
        return rule if rule is not None else classify(type(error).__name__, str(error), torch_release())

    def mode(self, session: None, name: str) -> Any:
        """The namespace's own context manager of a mode."""
        word, _, flag = name.partition("(")
        try:
            manager = operator.attrgetter(word)(self.namespace)
        except AttributeError as error:
            raise NotImplementedError(f"{self.name} has no {word}") from error
        if name in SAVING_MODES:  # for who asks this adapter alone for modes: the calls are not seen
            return manager(*map(compiled, SAVING_MODES[name]))
        return manager(flag == "True)") if flag else manager()

    def saving(self, session: None, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> Any:
        """The namespace's own context manager of hooks on saved tensors."""
        try:
            return self.namespace.autograd.graph.saved_tensors_hooks(pack, unpack)
        except AttributeError as error:
            raise NotImplementedError(f"{self.name} has no saved_tensors_hooks") from error

    def decorate(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, decorated by a grad mode as `torch.no_grad()(function)` is."""
        return lambda *args, **kwargs: self.mode(None, name)(lambda: function(*args, **kwargs))()

    stands_for_cuda = "cuda"
    """The kind of device that `cuda` is in the namespace."""

    def beyond(self, case: Case) -> str:
        """Return why a case cannot run on what stands for `cuda` here, or nothing."""
        if case.devices <= self.count:
            return ""
        return "needs a second CUDA device" if self.count else "needs a device besides the CPU"

    def place(self, name: str) -> str:
        """A program's device by the namespace's own name."""
        return name.replace("cuda", self.stands_for_cuda)

    # observing

    def where(self, x: Any) -> str:
        """A tensor's device by a program's name."""
        return "cpu" if x.is_cpu else str(x.device).replace(self.stands_for_cuda, "cuda")

    counter = operator.attrgetter("_version")

    def facts(self, session: None, value: Any) -> dict[str, Any]:
        """Everything seen of one tensor, by name; `version` is the raw counter."""
        seen = type(self).observe(self, session, {"": value}, {"": 0}, True)
        return dict(zip(FACTS, seen[""], strict=True))

    def observe(
        self, session: None, tensors: dict[str, Any], since: dict[str, Any], grads: bool
    ) -> dict[str, tuple[Any, ...]]:
        """The facts of each tensor in reading order; the grad of a non-leaf that retains none is asked for
        only with `grads`.
        """
        warnings.filters = IGNORED
        names, listed, once, here = self._dtype_names, self.listed, self.asks_once, self.cpu_alone
        seen: dict[str, tuple[Any, ...]] = {}
        for name, x in tensors.items():
            try:
                # What may well fail is read once, since another reading may come out otherwise.
                try:
                    value = listed(x)
                except RuntimeError as error:
                    value = self._shown(error)
                dtype = names[x.dtype]
                shape = x.shape
                device = "cpu" if here or x.is_cpu else self.where(x)
                try:
                    if once:
                        node = x.grad_fn
                        leaf = node is None
                    else:
                        leaf = x.is_leaf
                except RuntimeError as error:
                    leaf = node = self._shown(error)
                needs = (once and leaf is False) or x.requires_grad
                retains = x.retains_grad
                try:
                    if not once:
                        node = x.grad_fn
                        node = node if node is None else node.name()
                    elif leaf is False:
                        node = node.name()
                except RuntimeError as error:
                    node = self._shown(error)
                number = x.output_nr
                view = x._is_view()
                version = since[name]
                if type(version) is int:
                    version = x._version - version
                grad: Any = UNSEEN
                if leaf or grads or retains:
                    grad = x.grad if leaf or retains else _grad_of(x)
                    if grad is not None:
                        grad = self.gradient(grad)
                seen[name] = (
                    value, dtype, shape, device, leaf, needs, retains, node, number, view, version, grad
                )  # fmt: skip
            except Exception as error:
                seen[name] = self._guarded(x, since[name], error)
        warnings.filters = RECORDED
        return seen

    def wiring(
        self, session: None, tensors: dict[str, Any], facts: dict[str, tuple[Any, ...]]
    ) -> dict[str, tuple[Any, ...]]:
        """Return the topology of the tensors of these facts and their grads; see `specs.fact.TOPOLOGY`."""
        warnings.filters = IGNORED
        try:
            return topology(tensors, facts, self.memory_place)
        except Exception:
            if self.whole:
                raise
            return dict.fromkeys(tensors, (UNSEEN,) * len(TOPOLOGY))
        finally:
            warnings.filters = RECORDED

    memory_place = staticmethod(memory_place)

    def gradient(self, grad: Any) -> tuple[Any, ...]:
        """Return the facts of a gradient, in the order of GRAD_FACTS."""
        try:
            node = grad.grad_fn
            return (
                self._dtype_names[grad.dtype],
                grad.shape,
                "cpu" if self.cpu_alone or grad.is_cpu else self.where(grad),
                self.listed(grad),
                grad.requires_grad,
                grad.is_leaf,
                node if node is None else node.name(),
            )
        except Exception as error:
            if not self.lacks(error):
                raise
            readings = self._readings(grad, 0)
            return tuple(self._read(readings[fact]) for fact in GRAD_FACTS)

    def _guarded(self, x: Any, since: int, error: Exception) -> tuple[Any, ...]:
        """The facts of a tensor some reading of which failed: each reading stands for itself. If none fails
        again, it is the value that shows the failure.
        """
        seen, failed = [], False
        for reading in self._readings(x, since).values():
            try:
                seen.append(reading())
            except Exception as again:
                seen.append(self._shown(again))
                failed = True
        return tuple(seen) if failed else (self._shown(error), *seen[1:])

    def _readings(self, x: Any, since: Any) -> dict[str, Callable[[], Any]]:
        """The readings of a tensor's facts, in their order."""
        return {
            "value": lambda: self.listed(x),
            "dtype": lambda: self._dtype_names[x.dtype],
            "shape": lambda: tuple(x.shape),
            "device": lambda: self.where(x),
            "is_leaf": lambda: x.is_leaf,
            "requires_grad": lambda: x.requires_grad,
            "retains_grad": lambda: x.retains_grad,
            "grad_fn": lambda: None if x.grad_fn is None else x.grad_fn.name(),
            "output_nr": lambda: x.output_nr,
            "is_view": lambda: x._is_view(),
            "version": lambda: x._version - since if type(since) is int else since,
            "grad": lambda: None if x.grad is None else self.gradient(x.grad),
        }

    def _read(self, reading: Callable[[], Any]) -> Any:
        try:
            return reading()
        except Exception as error:
            return self._shown(error)

    def _shown(self, error: Exception) -> Any:
        """Return the fact that a failed reading shows; what the namespace lacks is unseen."""
        if self.lacks(error):
            return UNSEEN
        rule = self.refusal(error)
        return refused(rule) if rule is not None else ("crashed", f"{type(error).__name__}: {error}")


__warningregistry__ = None
"""NB: Python would look each warning of this module up in it, to give it but once."""


def _level(adapter: TorchShaped, name: str) -> int:
    """Return how far above an adapter's class the one that defines a name is."""
    return next(level for level, owner in enumerate(type(adapter).__mro__) if name in vars(owner))


def _grad_of(x: Any) -> Any:
    """Read the grad of a tensor that warns when it is read.

    NB: a warning looks for its line in the code of its function, which takes long in a long one.
    """
    return x.grad


def _no_elements(x: Any) -> Any:
    raise NotImplementedError("tensors have no tolist")


_DTYPES = ("float64", "float32", "float16", "bfloat16", "complex128", "complex64",
           "int64", "int32", "int16", "int8", "uint8", "bool")  # fmt: skip


def _dtype_names(namespace: Any) -> dict[Any, str]:
    return {getattr(namespace, name): name for name in _DTYPES if hasattr(namespace, name)}
