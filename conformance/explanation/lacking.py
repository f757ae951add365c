"""Names and arguments of PyTorch that a script asks for and the reference lacks."""

from __future__ import annotations

import dis
import re
from collections.abc import Sequence
from types import CodeType

from conformance.adapters.reference_state import (
    NOT_MODELLED,
    TENSOR,
    is_ours,
    knows,
    lacking_name,
    lists,
    stands_for_torch,
)
from conformance.explanation.lines import NO_TEXT, words_of_exception


def imported_wholly(code: CodeType) -> list[str]:
    """Return the modules of torch that a script imports as ``from torch.nn import *``."""
    found, names = [], None
    for step in dis.get_instructions(code):
        if step.opname == "LOAD_CONST":
            names = step.argval
        elif step.opname == "IMPORT_NAME" and names == ("*",):
            found.append(str(step.argval))
    return [module for module in found if module.partition(".")[0] == "torch"]


def not_modelled(error: BaseException, script: str, stars: Sequence[str] = ()) -> str | None:
    """Return what the script, or a package that it imports, asked for that the reference does not have;
    ``stars`` are the modules all of whose names it imports.
    """
    if isinstance(error, NameError) and error.name:
        return next((f"{module}.{error.name}" for module in stars if lists(module, error.name)), None)
    lacking = _lacking(error) if words_of_exception(error) != NO_TEXT else None
    trace, package = error.__traceback__, ""
    while trace is not None:
        name = str(trace.tb_frame.f_globals.get("__name__", "")).partition(".")[0]
        inside = trace.tb_frame.f_code.co_filename != script and not is_ours(name)
        if inside and "site-packages" in trace.tb_frame.f_code.co_filename:
            package = package or name
        trace = trace.tb_next
    return f"{package} needs the real torch: {lacking}" if lacking and package else lacking


def _lacking(error: BaseException) -> str | None:
    """Return the name in torch of what the reference does not have."""
    if isinstance(error, NOT_MODELLED):
        return str(error) or type(error).__name__
    if (name := lacking_name(error)) is not None:
        return name
    if isinstance(error, AttributeError) and error.name and stands_for_torch(type(error.obj).__module__):
        return None if isinstance(error.obj, TENSOR) else f"{type(error.obj).__name__}.{error.name}"
    if type(error) is TypeError and (
        found := re.match(r"(\w+)(?:\.__init__)?\(\) got an unexpected keyword argument '(\w+)'", str(error))
    ):
        return f"{found[1]}({found[2]}=...)" if knows(found[1]) else None
    return None
