"""Makes a failing program small: fewer steps, flatter modes, simpler numbers.

It knows nothing of why a program fails; `still_fails` does. The same program and the same answers give the
same result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from conformance.program.value import Program, Ref, Step, binds, decoration, reads

CHECKS = 100
"""The most calls of `still_fails`."""


@dataclass(frozen=True, slots=True)
class Reduced:
    """The smallest failing program found, and how many checks it took."""

    program: Program
    checks: int


class _Budget(Exception):
    """No checks are left."""


def shrink_program(program: Program, still_fails: Callable[[Program], bool], checks: int = CHECKS) -> Reduced:
    """Reduce a program that fails, until nothing more can go or the checks are used up."""
    current, used, tried = program, 0, {repr(program)}

    def attempt(steps: tuple[Step, ...]) -> bool:
        nonlocal current, used
        candidate = Program(steps)
        key = repr(candidate)
        if key in tried or not steps:
            return False
        if used >= checks:
            raise _Budget
        used += 1
        tried.add(key)
        if still_fails(candidate):
            current = candidate
            return True
        return False

    try:
        _halves(lambda: current.steps, attempt)
        changed = True
        while changed:
            changed = _drop(lambda: current.steps, attempt)
            changed |= _rewrite(lambda: current.steps, attempt, _flatter)
        _rewrite(lambda: current.steps, attempt, _simpler)
        _drop(lambda: current.steps, attempt)
    except _Budget:
        pass
    return Reduced(current, used)


Steps = Callable[[], tuple[Step, ...]]
Attempt = Callable[[tuple[Step, ...]], bool]


def without_steps(steps: tuple[Step, ...], gone: set[int]) -> tuple[Step, ...]:
    """The steps without some, and without those that name only what these bound."""
    lost: set[str] = set()
    kept: list[Step] = []
    for index, step in enumerate(steps):
        if index in gone or any(name in lost for name in reads(step)):
            lost.update(binds(step))
        else:
            lost.difference_update(binds(step))
            kept.append(step)
    return tuple(kept)


def _halves(steps: Steps, attempt: Attempt) -> None:
    """Cut tails: what follows the first failure is not needed."""
    size = len(steps()) // 2
    while size >= 1:
        now = steps()
        if len(now) <= size or not attempt(now[: len(now) - size]):
            size //= 2


def _drop(steps: Steps, attempt: Attempt) -> bool:
    """Drop steps one by one from the back, with all that depends on them or with their operand in place."""
    changed = False
    index = len(steps()) - 1
    while index >= 0:
        now = steps()
        if index < len(now):
            step = now[index]
            changed |= attempt(without_steps(now, {index})) or (
                bool(step.out) and _bypass(now, index, attempt)
            )
        index -= 1
    return changed


def _bypass(steps: tuple[Step, ...], index: int, attempt: Attempt) -> bool:
    """Drop one step and let its users take its own first operand instead."""
    step = steps[index]
    sources = reads(step)
    if not sources or len(step.out) != 1 or step.out[0] in sources:
        return False
    old, new = step.out[0], Ref(sources[0])
    rest = []
    for later in steps[index + 1 :]:
        args = tuple(_renamed(value, old, new) for value in later.args)
        kwargs = tuple((key, _renamed(value, old, new)) for key, value in later.kwargs)
        out = tuple(new.name if name == old else name for name in later.out)
        rest.append(later._replace(args=args, kwargs=kwargs, out=out))
    return attempt((*steps[:index], *rest))


def _renamed(value: Any, old: str, new: Ref) -> Any:
    if type(value) is Ref:
        return new if value.name == old else value
    if type(value) in (tuple, list):
        return type(value)(_renamed(item, old, new) for item in value)
    return value


def _rewrite(steps: Steps, attempt: Attempt, variants: Callable[[Step], Iterator[Step]]) -> bool:
    """Replace single steps by simpler ones."""
    changed = False
    for index in range(len(steps())):
        while any(attempt(_with(steps(), index, simpler)) for simpler in variants(steps()[index])):
            changed = True
    return changed


def _with(steps: tuple[Step, ...], index: int, step: Step) -> tuple[Step, ...]:
    return (*steps[:index], step, *steps[index + 1 :])


def _flatter(step: Step) -> Iterator[Step]:
    if step.mode:
        yield step._replace(mode=())
        blocks, decorated = decoration(step.mode)
        if decorated is not None:
            yield step._replace(mode=(*blocks, decorated))
        if len(step.mode) > 1:
            yield step._replace(mode=step.mode[-1:])


def _simpler(step: Step) -> Iterator[Step]:
    """Fewer keyword arguments; short literals of ones and twos instead of long ones."""
    for index in range(len(step.kwargs)):
        yield step._replace(kwargs=step.kwargs[:index] + step.kwargs[index + 1 :])
    if step.op == "torch.tensor" and step.args and type(step.args[0]) is list:
        flat = _flat(step.args[0])
        if flat and all(type(value) in (int, float) for value in flat):
            number = type(flat[0])
            for literal in (number(2), [number(2)], [number(1), number(2)]):
                if literal != step.args[0]:
                    yield step._replace(args=(literal, *step.args[1:]))


def _flat(value: Any) -> list[Any]:
    if type(value) is list:
        return [leaf for item in value for leaf in _flat(item)]
    return [value]
