"""A stand-in accelerator for a PyTorch without one, so that its own engine answers what `.cuda()` does.

``device.h`` and ``kernels.cpp`` register a second kind of device through PyTorch's extension point
PrivateUse1, built on first use where there is a compiler and kept in PyTorch's cache of extensions. It is
never called CUDA: LIMITS says what it cannot show.
"""

from __future__ import annotations

import ctypes
import os
import types
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from conformance.adapters.errors import AdapterError
from conformance.adapters.standin.build import PROBLEM, library
from conformance.execution.flight_recorder import isolated

NAME = "standin"
"""The device's name."""

LIMITS = {
    "streams": "work is done when it is asked for: no streams, no pinned memory, no random generator",
    "numbers": "kernels are the CPU's: what rounds, rounds as there",
    "positions": "positions out of range are refused, where CUDA asserts on the device and loses it",
    "wording": "refusals name this device, and are the CPU kernel's where CUDA has words of its own",
    "age": "nodes are numbered in one row, where CUDA's threads count each for itself",
}
"""Limits of a run on it, by a word each."""

_WHY_NOT = "AUTOGRAD_CONFORMANCE_STANDIN_LACKING"
"""The environment variable that tells isolated processes why it could not be built."""


@cache
def load(name: str = NAME) -> Any:
    """The device's module, ``torch.standin``, registered with the torch that is installed; the extension
    behind it is built if need be. By another ``name`` it is a device like any that nobody knows.

    Raises AdapterError where it cannot be built.
    """
    import torch

    # A device that has a name must be there: PyTorch's checkpoints ask it how many of it there are.
    built = _library()
    torch.utils.rename_privateuse1_backend(name)
    # CUDA checks the operands of these as it iterates over elements, after their shapes; all others before.
    built.iterate(_declared("device_check: NoCheck"))
    # Has a kernel on the CPU and on CUDA, and is made of other ops for a device that PyTorch does not know.
    built.take_over(_declared("structured_delegate:") + b"\naten::native_layer_norm")
    module: Any = types.ModuleType(f"torch.{name}")
    module.device_count = built.device_count
    module.current_device = built.current_device
    module.set_device = built.set_device
    module.is_available = lambda: True
    module.is_initialized = lambda: True
    module._is_in_bad_fork = lambda: False
    module.manual_seed_all = lambda seed: None
    module.synchronize = lambda *device: None
    module.get_amp_supported_dtype = lambda: [torch.float16, torch.bfloat16]
    module.copies, module.count_on = built.copies_made, built.count_nodes_on
    torch._register_device_module(name, module)
    torch.utils.generate_methods_for_privateuse1_backend(for_tensor=True, for_module=True, for_storage=True)
    return module


def _library() -> Any:
    """Load the library behind the device, which registers it with torch; isolated processes don't build
    it.
    """
    try:
        path = library(may_build=not isolated())
    except AdapterError as error:
        if isolated():
            raise AdapterError(os.environ.get(_WHY_NOT, error.problem), error.hint) from None
        os.environ[_WHY_NOT] = error.problem
        raise
    try:
        found = ctypes.PyDLL(str(path))
    except OSError as error:
        raise AdapterError(f"{PROBLEM}: {error}", f"delete {path.parent}") from None
    found.copies_made.restype = ctypes.c_longlong
    for name in ("set_device", "count_nodes_on", "iterate", "take_over"):
        getattr(found, name).restype = None
    return found


def in_one_row(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, before and after which this thread numbers nodes where the others are."""
    count_on = load().count_on

    def called(*args: Any, **kwargs: Any) -> Any:
        count_on()
        try:
            return function(*args, **kwargs)
        finally:
            count_on()

    return called


def _declared(word: str) -> bytes:
    """The ops of whose declaration in PyTorch that word is part, one a line."""
    import torchgen

    file = Path(torchgen.__file__).parent / "packaged/ATen/native/native_functions.yaml"
    blocks = file.read_text(encoding="utf-8").split("\n- func: ")[1:]
    return "\n".join(f"aten::{block.partition('(')[0]}" for block in blocks if word in block).encode()
