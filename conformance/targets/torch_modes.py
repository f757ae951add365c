"""Modes of torch that change nothing a program may see, each switched on for its whole process.

Eager torch is the truth for them. The modes that need a region of a program at once are in `torch_regions`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from conformance.adapters.capabilities import Capabilities
from conformance.adapters.torch import Torch
from specs.fact import FACTS

MAKERS = ("tensor", "ones", "zeros", "full", "as_tensor", "from_numpy")
"""The functions that make leaves."""


class Namespace:
    """The namespace of torch, but for some functions that make leaves."""

    def __init__(self, made: Callable[[Any], Any], **others: Any) -> None:
        self._made, self._others = made, others

    def __getattr__(self, name: str) -> Any:
        if name in self._others:
            return self._others[name]
        found = getattr(torch, name)
        return self._making(found) if name in MAKERS else found

    def _making(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def make(*args: Any, requires_grad: bool = False, **kwargs: Any) -> Any:
            return self._made(function(*args, **kwargs)).requires_grad_(requires_grad)

        return make


class Mode(Torch):
    """Torch on the CPU in a mode."""

    def __init__(self, name: str, namespace: Any = torch) -> None:
        super().__init__(namespace, "cpu", f"{name} is graded on the CPU")
        self.name = f"torch {name}"
        self.manager: Any = None


def _entered(manager: Any, mode: Mode) -> Mode:
    """The mode, with its context manager entered for as long as it lives."""
    manager.__enter__()
    mode.manager = manager
    return mode


def compiled_autograd() -> Mode:
    """Each backward captured as a graph, which runs as it is."""
    from torch._dynamo import compiled_autograd

    capturing = compiled_autograd._enable(lambda graph: graph, dynamic=False)
    return _entered(capturing, Mode("compiled autograd"))


def dispatch_mode() -> Mode:
    """A mode for `__torch_dispatch__` that calls what it is given."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Same(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    return _entered(Same(), Mode("dispatch mode"))


def function_mode() -> Mode:
    """A mode for `__torch_function__` that calls what it is given."""
    from torch.overrides import TorchFunctionMode

    class Same(TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    return _entered(Same(), Mode("function mode"))


class _OnLazy(Mode):
    def where(self, x: Any) -> str:
        return "cpu" if x.device.type == "lazy" else str(x.device)

    def __init__(self) -> None:
        super().__init__("lazy device", Namespace(lambda x: x.to("lazy")))
        dtypes = frozenset(["float64", "float32", "int64", "bool"])
        self.capabilities = replace(self.capabilities, dtypes=dtypes)


def lazy() -> Mode:
    """The lazy device, which computes when a value is read."""
    import torch._lazy
    import torch._lazy.ts_backend

    torch._lazy.ts_backend.init()
    return _OnLazy()


class _Fake(Mode):
    whole = False

    def __init__(self) -> None:
        super().__init__("fake tensors")
        self.capabilities = Capabilities(facts=tuple(fact for fact in FACTS if fact != "value"))
        self.unsupported = (NotImplementedError,)  # type: ignore[assignment]  # of values alone
        self.listed = _no_values

    def start(self) -> None:
        super().start()
        self.listed = _no_values


def _no_values(x: Any) -> Any:
    raise NotImplementedError("a fake tensor has no values")


def fake() -> Mode:
    """Fake tensors: all but the values."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    return _entered(FakeTensorMode(), _Fake())
