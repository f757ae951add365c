"""The device that stands for `cuda` under torch, of any kind: found by its name, and asked what it lacks.

The kinds that every torch is asked for (CUDA's, the stand-in, none) are chosen in ``torch``.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import Any

from conformance.adapters.capabilities import IMPORT_VARIABLE
from conformance.adapters.errors import AdapterError
from conformance.execution.claims import DTYPES

KINDS = ("auto", "cuda", "standin", "cpu")
"""A real device, the stand-in, none; or the first of these that there is."""

LACKING_WORDS = re.compile(
    r"Could not run '|not implemented|not currently implemented|not (currently )?supported (for|on|by)|"
    r"doesn't support|does not support",
    re.IGNORECASE,
)
"""The words of an error by which a device lacks something."""


def import_backends() -> None:
    """Import the modules that register devices with torch, once; raises AdapterError."""
    for name in filter(None, os.environ.get(IMPORT_VARIABLE, "").split(",")):
        try:
            importlib.import_module(name)
        except AdapterError:
            raise
        except Exception as error:
            problem = f"{name} cannot be imported: {type(error).__name__}: {_line(error)}"
            hint = "install it beside this torch, and give the name of its module to --import"
            raise AdapterError(problem, hint) from None


def find(torch: Any, kind: str) -> int:
    """Return how many devices there are of a kind that torch knows by name; raises AdapterError."""
    try:
        found = torch.device(kind)
    except (RuntimeError, AttributeError) as error:
        raise AdapterError(f"this torch has no device {kind!r:.60}", _near(kind, str(error))) from None
    if found.index is not None:
        raise AdapterError(f"{kind} is one device of its kind", f"give the kind: {found.type}")
    if found.type == "meta":
        raise AdapterError("tensors on meta have no values to compare", "choose a device that computes")
    try:
        if torch.ones(2, device=kind).add(1).cpu().tolist() != [2.0, 2.0]:
            raise AdapterError(f"1 + 1 is not 2 on {kind}", "the device computes nothing yet")
    except AdapterError:
        raise
    except Exception as error:
        hint = "is it there? --import MODULE loads a backend from outside of torch, as --import torch_npu"
        raise AdapterError(f"torch finds no {kind} device ({_line(error):.120})", hint) from None
    count = _answer(lambda: torch.get_device_module(kind).device_count()) or 1
    return 2 if count > 1 and _can(lambda: torch.ones(2, device=f"{kind}:1").to(f"{kind}:0").cpu()) else 1


def absences(torch: Any, kind: str) -> Iterator[str]:
    """Ask a device, and give what it lacks by name: the dtypes, which are not drawn then, and operations, of
    which programs are compared up to there.
    """
    for name in sorted(DTYPES):
        dtype = getattr(torch, name)
        here = torch.ones(2, dtype=dtype)

        def comes_back(here: Any = here, dtype: Any = dtype) -> bool:
            there = here.to(kind)
            computed = there.logical_and(there) if dtype == torch.bool else there * there
            made = torch.ones(2, dtype=dtype, device=kind)
            same = computed.cpu().tolist() == here.tolist() == made.cpu().tolist()
            return same and computed.dtype == dtype

        if not _can(comes_back):
            yield name
    x, w = torch.ones(1, 1, 3), torch.ones(1, 1, 2)
    if not _can(lambda: torch.nn.functional.conv1d(x.to(kind), w.to(kind)).cpu()):
        yield "convolution"


def says_it_lacks(error: BaseException) -> bool:
    """Tell whether an error says that a device lacks something, rather than that a call is wrong."""
    return isinstance(error, (NotImplementedError, TypeError, RuntimeError)) and bool(
        LACKING_WORDS.search(str(error))
    )


def mover(kind: str) -> Callable[..., Any]:
    """Return what `cuda` is for tensors and modules: a move to that kind of device."""

    def moved(x: Any, device: Any = None, **kwargs: Any) -> Any:
        if device is None:
            device = kind
        return x.to(f"{kind}:{device}" if type(device) is int else device, **kwargs)

    return moved


def device_name(torch: Any, kind: str) -> str:
    """Return what the device calls itself, or its kind."""
    named = _answer(lambda: torch.get_device_module(kind).get_device_name(0))
    return named if isinstance(named, str) else kind


def _near(kind: str, said: str) -> str:
    """The names of device types that torch's error lists, by nearness."""
    listed = re.search(r"Expected one of (.*?) device type", said)
    known = [*KINDS, *(listed[1].split(", ") if listed else ())]
    near = get_close_matches(kind.lower(), known, 1, 0.6)
    if near:
        return f"did you mean {near[0]}?"
    return "give cuda, standin, cpu, or a type as mps; --import MODULE loads a backend from outside of torch"


def _line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _can(does: Callable[[], Any]) -> bool:
    answer = _answer(does)
    return answer is not None and answer is not False


def _answer(asked: Callable[[], Any]) -> Any:
    """The answer to a question; None where it fails."""
    try:
        return asked()
    except Exception:
        return None
