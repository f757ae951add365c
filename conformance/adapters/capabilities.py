"""The capabilities that an implementation declares before anything is drawn for it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache

from conformance.adapters.errors import BROKEN, MISNAMED, AdapterError
from conformance.execution.claims import DTYPES, known_ops
from specs.fact import FACTS

MOVING = frozenset(["devices", "two_devices"])
"""Features of implementations with devices: something that `cuda` stands for, and a `cuda:1` too."""

DEVICE_VARIABLE = "AUTOGRAD_CONFORMANCE_DEVICE"
"""The environment variable that says what `cuda` in a program stands for: a word of KINDS in
`conformance.adapters.torch_device`, or any type of device that torch knows. Set once, before torch is loaded;
processes that are started inherit it.
"""

IMPORT_VARIABLE = "AUTOGRAD_CONFORMANCE_IMPORT"
"""The environment variable that names the modules, with commas, that register devices with torch."""

MEANINGS = {
    "modes": "grad modes: no_grad, enable_grad, set_grad_enabled",
    "inference": "inference mode",
    "views": "views, whose writes show in their base, and the geometry of memory",
    "inplace": "operations that write to their operand, optimizers' steps too",
    "detach": "detach and detach_",
    "data": "reading and assigning .data",
    "retain": "retain_grad",
    "double": "create_graph=True",
    "grad_call": "torch.autograd.grad and gradient edges",
    "hooks": "hooks on tensors, nodes and saved tensors",
    "functions": "torch.autograd.Function",
    "modules": "torch.nn.Module: calls, hooks, flags, parameters, buffers and state",
    "checkpoint": "torch.utils.checkpoint",
    "functional": "torch.autograd.functional",
    "forward_mode": "forward mode: dual tensors",
    "anomaly": "anomaly mode",
    "devices": "a device besides the CPU",
    "two_devices": "another such device",
}
"""The features, in words."""

FEATURES = frozenset(MEANINGS)
"""Groups of behaviour that a program may touch; an implementation names those it has."""

REFUSALS = {
    "rules": "each error names its rule, by `refusal`",
    "some": "any exception counts where PyTorch refuses",
    "outside": "as rules, but none is drawn or judged where `run` does steps at once",
    "none": "errors are neither drawn nor judged",
}
"""Ways to judge errors. Programs go on after an error, and what it leaves behind is compared in each."""

SHAPES = ("any", "scalar")
ALL_DTYPES = DTYPES | {"int32", "int16", "int8", "uint8"}
"""The dtypes there are; the smaller integers are in cases alone."""
_FLOATS = {"float64", "float32", "float16", "bfloat16"}


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The features that may be drawn for an implementation, and the facts it shows; the defaults mean
    everything on the CPU.

    `ops` are operations as steps spell them (None: all), and `"sum(dim)"` is one that takes no keyword but
    those in the brackets, by position or by name; `autograd-conformance ops` lists them. `shapes` is "any" or
    "scalar". `refusals` says how errors are judged, see REFUSALS; left out, it is "rules" for whoever has all
    features of the CPU, and "none" for others. Raises AdapterError for names that do not exist, and for a
    claim of nothing.
    """

    ops: frozenset[str] | None = None
    shapes: str = "any"
    dtypes: frozenset[str] = DTYPES
    features: frozenset[str] = FEATURES - MOVING
    facts: tuple[str, ...] = FACTS
    refusals: str = ""

    def __post_init__(self) -> None:
        if self.ops is not None:
            self._set("ops", frozenset(_names("ops", self.ops)))
            _check("operation", (op.partition("(")[0] for op in self.ops), known_ops())
            for op in self.ops:
                name, narrowed, keywords = op.partition("(")
                if narrowed:
                    _check(f"keyword of {name}", keywords.rstrip(")").split(","), (*known_ops()[name], ""))
        for field, known in (("dtypes", ALL_DTYPES), ("features", FEATURES), ("facts", FACTS)):
            given = _names(field, getattr(self, field))
            _check(field.rstrip("s"), given, known)
            self._set(field, tuple(given) if field == "facts" else frozenset(given))
        _check("shapes", [self.shapes], SHAPES)
        if not self.refusals:
            self._set("refusals", "rules" if self.features >= FEATURES - MOVING else "none")
        _check("refusals", [self.refusals], REFUSALS)
        if not self.dtypes & _FLOATS:
            raise AdapterError(
                "the capabilities claim no floating dtype", "nothing could need a grad", BROKEN
            )

    def _set(self, field: str, value: object) -> None:
        object.__setattr__(self, field, value)

    @property
    def limited(self) -> bool:
        """Tell whether it lacks anything that can be done on the CPU."""
        return _limited(self)


@cache
def _limited(claimed: Capabilities) -> bool:
    return replace(claimed, features=claimed.features - MOVING) != Capabilities()


def on_device_asked_for(claimed: Capabilities) -> Capabilities:
    """The capabilities without those of devices, where none was asked for."""
    if not claimed.features & MOVING or os.environ.get(DEVICE_VARIABLE) != "cpu":
        return claimed
    return replace(claimed, features=claimed.features - MOVING)


def _names(field: str, given: object) -> Collection[str]:
    """The names given for a field; none at all is no claim."""
    if isinstance(given, str) or not isinstance(given, (set, frozenset, list, tuple)):
        raise AdapterError(f"{field} of the capabilities is {given!r}", "give a set of names")
    if not given and field != "features":
        raise AdapterError(f"the capabilities claim no {field}", "nothing could be graded", BROKEN)
    return given


def _check(what: str, given: Iterable[object], known: Collection[str]) -> None:
    """Raise AdapterError for the first name that does not exist, with the nearest that does."""
    for name in given:
        name = name.strip() if isinstance(name, str) else name
        if name in known:
            continue
        if what == "feature" and name == "errors":
            raise AdapterError(
                "there is no feature 'errors' any more", "say refusals='rules', 'some' or 'none'"
            )
        near = _nearest(str(name), known)
        hint = f"did you mean {near!r}?" if near else "`autograd-conformance ops` lists what there is"
        raise AdapterError(f"the capabilities name the unknown {what} {name!r}", hint, MISNAMED)


def _nearest(name: str, known: Collection[str]) -> str:
    """The known name that is most like another, or that it begins with; nothing where none is."""
    begun = [one for one in known if one and name.startswith(one)]
    close = get_close_matches(name, known, 1, 0.7) or [max(begun, key=len, default="")]
    return close[0] or next(iter(get_close_matches(name, known, 1, 0.5)), "")
