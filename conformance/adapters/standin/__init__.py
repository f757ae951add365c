"""A stand-in accelerator for a PyTorch without one, so that its own engine answers what `.cuda()` does.

``device.h`` and ``kernels.cpp`` register a second kind of device through PyTorch's extension point
PrivateUse1, built on first use where there is a compiler and kept in PyTorch's cache of extensions. It is
never called CUDA: LIMITS says what it cannot show.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import sys
import types
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from conformance.adapters.errors import AdapterError

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

SOURCE_FILES = tuple(Path(__file__).parent / name for name in ("device.h", "kernels.cpp"))
_PROBLEM = "the stand-in device cannot be built"


@cache
def load() -> Any:
    """The device's module, ``torch.standin``, registered with the torch that is installed; the extension
    behind it is built if need be.

    Raises AdapterError where it cannot be built.
    """
    import torch

    # A device that has a name must be there: PyTorch's checkpoints ask it how many of it there are.
    built = _built()
    torch.utils.rename_privateuse1_backend(NAME)
    # CUDA checks the operands of these as it iterates over elements, after their shapes; all others before.
    built.iterate(_declared("device_check: NoCheck"))
    built.take_over(_declared("structured_delegate:"))
    module: Any = types.ModuleType(f"torch.{NAME}")
    module.device_count = built.device_count
    module.current_device = built.current_device
    module.set_device = built.set_device
    module.is_available = lambda: True
    module.is_initialized = lambda: True
    module._is_in_bad_fork = lambda: False
    module.manual_seed_all = lambda seed: None
    module.synchronize = lambda *device: None
    module.get_amp_supported_dtype = lambda: [torch.float16, torch.bfloat16]
    module.copies, module.count_on = built.copies, built.count_on
    torch._register_device_module(NAME, module)
    torch.utils.generate_methods_for_privateuse1_backend(for_tensor=True, for_module=True, for_storage=True)
    return module


def _built() -> Any:
    """The extension, from where one of this source and this torch was built before, or built now."""
    import torch
    from torch.utils import cpp_extension

    told = " ".join([torch.__version__, *(source.read_text(encoding="utf-8") for source in SOURCE_FILES)])
    name = f"autograd_conformance_standin_{hashlib.sha256(told.encode()).hexdigest()[:12]}"
    folder = Path(cpp_extension._get_build_directory(name, verbose=False))
    found = folder / f"{name}.so"
    # What is being built there is not finished as long as there is a lock.
    if found.exists() and not (folder / "lock").exists():
        spec = importlib.util.spec_from_file_location(name, found)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])  # ninja's place
    compiler = cpp_extension.get_cxx_compiler()
    for tool, remedy in (("ninja", "pip install ninja"), (compiler, "install g++ or clang++")):
        if shutil.which(tool, path=tools) is None:
            raise AdapterError(f"{_PROBLEM}: there is no {tool}", remedy)
    before = os.environ.get("PATH", "")
    os.environ["PATH"] = tools
    print(
        "building the stand-in device, once for this torch (about a minute) ...", file=sys.stderr, flush=True
    )
    try:
        return cpp_extension.load(name=name, sources=[str(SOURCE_FILES[-1])], extra_cflags=["-O1"])
    except (RuntimeError, OSError, ImportError) as error:
        said = str(error).splitlines()
        problem = next((line for line in said if "error:" in line), said[0] if said else type(error).__name__)
        raise AdapterError(f"{_PROBLEM}: {problem}", "install what the compiler lacks") from None
    finally:
        os.environ["PATH"] = before


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


def _declared(word: str) -> list[str]:
    """The ops of whose declaration in PyTorch that word is part."""
    import torchgen

    file = Path(torchgen.__file__).parent / "packaged/ATen/native/native_functions.yaml"
    blocks = file.read_text(encoding="utf-8").split("\n- func: ")[1:]
    return [f"aten::{block.partition('(')[0]}" for block in blocks if word in block]
