"""Running programs on CUDA, whose kernels do some things otherwise than those of the CPU.

The reference models the CPU's. Rules are the same on both, but for four things:

- Kernels assert what the CPU checks, such as the range of an index. After an assertion nothing runs on the
  device any more, so that a step which the reference refuses for that is not run, and ends the comparison.
- Which dtypes have a kernel is the device's own. A step for which one of the two has none ends it, too.
- It does at once what the CPU does in an order that shows.
  In these cases the program is judged again without the step (`left_to_kernels`).
- A few refusals come from another check, and have another rule's words. They count as the refusal they are.
  A warning that a copy gives a second time counts once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from conformance.comparison.compare import Comparison, Incomparable
from conformance.comparison.tolerance.facts_after import FactsAfter
from conformance.execution.op_reach import speaks_of_gradients
from conformance.execution.run import Runner, run
from conformance.execution.trace import DONE, UNBOUND, Observation, Refused, Trace, Unsupported
from conformance.program import Program
from conformance.program.on_device import speaks_of_devices
from conformance.program.value import reads
from specs.errors import AT_ONCE
from specs.fact import POSITION

ASSERTED = frozenset(["op/index-range", "op/index-select-range", "op/gather-range", "nn/target-is-a-class"])
"""Refusals of the CPU that are assertions in kernels of CUDA."""

ASSERTED_BACKWARD = "view/window-outside-base"
"""One that is an assertion in the gradient of `as_strided`, and a refusal in the op itself."""

IN_OTHER_WORDS = {
    ("op/expand-size", "write/broadcast-shape"): "(torch\\.)?masked_fill_",
    ("op/expand-size", "op/shapes-broadcast"): "(torch\\.)?masked_fill_",
    ("device/one-for-all", "write/result-dtype"): ".*",
}
"""The rule whose words CUDA uses and the rule that refuses on the CPU, with the operations where it does so.

CUDA's ``masked_fill_`` expands the mask itself (aten/src/ATen/native/cuda/Indexing.cu, seen with 2.11), and
the CPU leaves that to what loops over the elements. That one looks at an operand's device before its dtype
(aten/src/ATen/TensorIterator.cpp), which a device that has its kernels from the CPU does not come to.
"""

GIVEN_TWICE = "data/complex-to-real-warns"
"""A warning that PyTorch gives once a process. Where it is told always, as here, a copy from the CPU to CUDA
gives it twice: it converts by another copy first (aten/src/ATen/native/cuda/Copy.cu, seen with 2.11).
"""

NO_KERNEL = "op/no-kernel"

ASSERTS = "a kernel of CUDA asserts what the CPU refuses"
KERNELS_DIFFER = "the CPU and CUDA do not have the same kernels"

OWN_CHECKS = frozenset(["write/partial-overlap-refused", "op/index-put-dtype"])
"""Refusals by CUDA where the CPU does what is asked.

A value of one element that is on the CPU is taken out before elements are chosen by a mask, and so may be one
of them, and of any dtype (aten/src/ATen/native/TensorAdvancedIndexing.cpp); one on CUDA stays where it is.
"""

CHECKED_IN_LOOPS = "op/index-dtype"
"""A refusal that CUDA leaves to the loop over the elements, and so does without where there are none
(``index_select`` in aten/src/ATen/native/cuda/Indexing.cu, seen with 2.11).
"""


def run_beside(reference: Trace, program: Program, adapter: Any, density: str) -> Trace:
    """Run a program on an implementation, whose device may be CUDA, beside the trace of the reference."""
    if getattr(adapter, "device", "cpu") != "cuda" or not speaks_of_devices(program):
        return run(program, adapter, density)
    end = next((at for at in reference.refused if _is_asserted(reference, at)), None)
    if end is None:
        return as_the_cpu_says(run(program, adapter, density), reference)
    seen, loose = _first_steps(Program(program.steps[:end]), adapter, density)
    ended = Observation(Unsupported(ASSERTS), {})
    rest = (Observation(UNBOUND, {}),) * (len(program) - end - 1)
    cut = Trace(program, adapter.name, density, (*seen, ended, *rest), complete=not loose, loose=loose)
    return as_the_cpu_says(cut, reference)


def left_to_kernels(found: Comparison) -> int | None:
    """Return the step at which a comparison ended for what kernels of a device do, if that ended it."""
    if isinstance(found, Incomparable) and found.why.startswith((ASSERTS, KERNELS_DIFFER, AT_ONCE)):
        return found.step
    return None


def _first_steps(program: Program, adapter: Any, density: str) -> tuple[tuple[Observation, ...], bool]:
    """Run the beginning of a program; its observations, and whether the last may be of all that is live."""
    if hasattr(adapter, "run_program") or callable(getattr(adapter, "run", None)):
        return (run(program, adapter, density).observations if len(program) else ()), True
    with Runner(adapter, density) as runner:
        for step in program:
            runner.step(step)
        return tuple(runner.observations), False


def _is_asserted(reference: Trace, at: int) -> bool:
    rule = _rule(reference[at])
    in_backward = rule == ASSERTED_BACKWARD and speaks_of_gradients(reference.program[at].op)
    return (rule in ASSERTED or in_backward) and _is_there(reference, at)


def as_the_cpu_says(trace: Trace, reference: Trace) -> Trace:
    """Return torch's trace with refusals that are CUDA's own as what they are on the CPU, or unsupported."""
    observations = list(trace.observations)
    for at, (seen, wanted) in enumerate(zip(trace.observations, reference.observations, strict=True)):
        if _warns_again(seen, wanted) and (_is_there(reference, at) or _any_there(wanted.facts.values())):
            seen = observations[at] = seen._replace(warnings=wanted.warnings)
        ours, theirs = _rule(wanted), _rule(seen)
        if ours == theirs or not _is_there(reference, at):
            continue
        unchecked = ours == CHECKED_IN_LOOPS and seen.outcome == DONE and _is_empty(reference, at)
        own = wanted.outcome == DONE and theirs in OWN_CHECKS
        if unchecked or own or NO_KERNEL in (ours, theirs):
            observations[at] = seen._replace(outcome=Unsupported(KERNELS_DIFFER))
            break
        said = IN_OTHER_WORDS.get((theirs, ours))
        if said is not None and re.fullmatch(said, trace.program[at].op):
            observations[at] = seen._replace(outcome=wanted.outcome)
    return replace(trace, observations=tuple(observations))


def _warns_again(seen: Observation, wanted: Observation) -> bool:
    """Tell whether a step warns as the reference does, but for what CUDA's copies give twice."""
    if not seen.warnings or not wanted.warnings or len(seen.warnings) <= len(wanted.warnings):
        return False
    return _given_once(seen.warnings) == _given_once(wanted.warnings)


def _given_once(warnings: tuple[str, ...]) -> tuple[str, ...]:
    pairs = zip(("", *warnings), warnings, strict=False)
    return tuple(warning for before, warning in pairs if not before == warning == GIVEN_TWICE)


def _rule(seen: Observation) -> str:
    return seen.outcome.rule if isinstance(seen.outcome, Refused) else ""


def _is_there(reference: Trace, at: int) -> bool:
    """Tell whether a step has an operand on a device; one that was not seen may be there."""
    return _any_there(_operands(reference, at))


def _any_there(seen: Iterable[tuple[Any, ...] | None]) -> bool:
    """Tell whether one of these facts is of a tensor on a device, or was not seen."""
    device = POSITION["device"]
    return any(facts is None or (len(facts) > device and facts[device] != "cpu") for facts in seen)


def _is_empty(reference: Trace, at: int) -> bool:
    """Tell whether a step has an operand without elements; one that was not seen may have none."""
    return any(facts is None or 0 in facts[POSITION["shape"]] for facts in _operands(reference, at))


def _operands(reference: Trace, at: int) -> list[tuple[Any, ...] | None]:
    """Return the facts of what a step reads, as far as they were seen."""
    known = FactsAfter(reference)
    return [known(at - 1, name) if at else None for name in reads(reference.program[at])]
