"""List PyTorch's public names, so that the reference can say by name what it does not model; and the modules
that define its classes, as they are printed.

``python -m benchmarks.torch_names`` writes ``specs/torch_names.json`` with the installed torch.
"""

from __future__ import annotations

import argparse
import json
import warnings
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

PLACES = (
    "", "Tensor", "Generator", "autograd", "autograd.forward_ad", "autograd.functional", "autograd.graph",
    "backends", "cuda", "distributions", "fft", "func", "jit", "linalg", "nn", "nn.Module", "nn.functional",
    "nn.init", "nn.parameter", "nn.utils", "nn.utils.parametrizations", "nn.utils.parametrize",
    "nn.utils.rnn", "optim", "optim.Optimizer", "optim.lr_scheduler", "optim.swa_utils", "random",
    "special", "testing", "utils", "utils.checkpoint", "utils.data",
)  # fmt: skip
"""Modules and classes of torch whose names are listed; the root is the empty name."""

FILE = Path(__file__).parents[1] / "specs/torch_names.json"


def listed() -> dict[str, Any]:
    """Return the release, the names of each place, in order, and the homes of classes."""
    import torch

    names, homes = {}, {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for place in PLACES:
            owner = _at(torch, place)
            found = {*dir(owner), *getattr(owner, "_lazy_modules", ())}
            names[place] = [n for n in sorted(found) if not n.startswith("_") and _own(owner, n)]
            homes |= {f"{place}.{n}".lstrip("."): home for n in names[place] if (home := _home(owner, n))}
    return {"torch": torch.__version__.partition("+")[0], "names": names, "homes": homes}


def _home(owner: Any, name: str) -> str | None:
    """Return the module of torch that defines a class; None for what is no class."""
    value = getattr(owner, name, None)
    if not isinstance(value, type) or value.__name__ != name or isinstance(owner, type):
        return None
    return value.__module__ if value.__module__.partition(".")[0] == "torch" else None


def _own(owner: Any, name: str) -> bool:
    """Tell a name of torch's own from what its modules import from elsewhere."""
    value = getattr(owner, name, None)
    home = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return not isinstance(home, str) or home.partition(".")[0] == "torch" or home == "builtins"


def _at(torch: Any, place: str) -> Any:
    if not place:
        return torch
    try:
        return import_module(f"torch.{place}")
    except ImportError:  # a class
        module, _, name = f"torch.{place}".rpartition(".")
        return getattr(import_module(module), name)


def text() -> str:
    """Return the file as it should be."""
    return json.dumps(listed(), indent=0) + "\n"


def main() -> None:
    """Write the file."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    FILE.write_text(text(), encoding="utf-8")
    print(f"wrote {FILE.relative_to(FILE.parents[1])}")


if __name__ == "__main__":
    main()
