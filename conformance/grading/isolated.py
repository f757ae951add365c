"""Runs one program on a named adapter in a process of its own.

How processes are kept and die lives in `conformance.execution.isolate`.
"""

from __future__ import annotations

from conformance import adapters
from conformance.execution.flight_recorder import isolated, note
from conformance.execution.isolate import FOR_ONE, TIMEOUT, Died, survive
from conformance.execution.run import Runner
from conformance.execution.trace import UNBOUND, Crashed, Observation, Trace
from conformance.program import Program


def _traced(job: tuple[Program, str, str]) -> Trace:
    program, spec, density = job
    runner = Runner(adapters.load(spec), density)
    try:
        for number, step in enumerate(program.steps):
            note(step=number)
            runner.step(step)
        return runner.finish()
    finally:
        runner.close()


def run_isolated(program: Program, spec: str, density: str = "each", timeout: float = TIMEOUT) -> Trace:
    """Run one program on the adapter that `spec` names, in a process of its own.

    If it dies, the trace has a crash at the step it died in; the steps before are as they are without it,
    those after were not run.
    """
    adapter = adapters.load(spec)
    if isinstance(adapter, adapters.ELSEWHERE):
        adapter.timeout = timeout
        try:
            return adapter.run_program(program, density)
        finally:
            if not isolated():
                adapter.close()
    (result,) = survive(_traced, [(program, spec, density)], timeout=timeout, preload=FOR_ONE)
    if not isinstance(result, Died):
        return result
    at = result.step or 0
    before: tuple[Observation, ...] = ()
    if at:
        cut = Program(program.steps[:at])
        (prefix,) = survive(_traced, [(cut, spec, density)], timeout=timeout, preload=FOR_ONE)
        if isinstance(prefix, Trace):
            before = prefix.observations
    before = (*before, *(Observation(UNBOUND, {}, None) for _ in range(at - len(before))))
    crash = Observation(Crashed(result.how), {}, None)
    after = tuple(Observation(UNBOUND, {}, None) for _ in range(len(program) - at - 1))
    return Trace(program, spec, density, (*before, crash, *after))
