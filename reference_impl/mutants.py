"""Mutants: what the machine does while a rule is knocked out, where leaving out a line does not tell it.

Most rules stand in the machine as ``if by(rule):`` before an action. Where the absence of a rule needs code
of its own, that code is here, and replaces a function of the machine while the rule is not in force. The
mark ``by(rule)`` stays in the machine, on the line that embodies the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any, NamedTuple, TypeVar

from reference_impl.core import engine
from reference_impl.core.graph import AccumulateGrad
from specs.active_rules import on_change

F = TypeVar("F", bound=Callable[..., Any])


class _Mutant(NamedTuple):
    """A function that replaces ``name`` of ``owner``, a module or a class."""

    owner: Any
    name: str
    function: Callable[..., Any]


_mutants: dict[str, list[_Mutant]] = {}
"""The mutants by the rule that they do without."""
_replaced: list[_Mutant] = []
"""The functions that mutants stand in for now, in the order of their replacement."""


def without(rule: str, owner: Any, name: str) -> Callable[[F], F]:
    """Have the decorated function replace ``owner.name`` while ``rule`` is not in force.

    Where ``owner`` is a module, others must call the function through it, not import it by name.
    """
    assert callable(getattr(owner, name))

    def register(function: F) -> F:
        _mutants.setdefault(rule, []).append(_Mutant(owner, name, function))
        return function

    return register


_in_place: Set[str] = frozenset()


def _replace(off: Set[str]) -> None:
    """Put the mutants of the rules in ``off`` in their places, and take all others away."""
    global _in_place
    wanted = off & _mutants.keys()
    if wanted == _in_place:
        return
    while _replaced:
        owner, name, function = _replaced.pop()
        setattr(owner, name, function)
    for rule in sorted(wanted):
        for owner, name, function in _mutants[rule]:
            _replaced.append(_Mutant(owner, name, vars(owner)[name]))
            setattr(owner, name, function)
    _in_place = wanted


# -- backward --------------------------------------------------------------------------------------


@without("backward/failure-leaves-what-was-done", engine, "_give_up")
def _give_up(task: engine.GraphTask) -> None:
    """Undo what a failed backward did to the leaves."""
    for node in task.dependencies:
        if isinstance(node, AccumulateGrad):
            node.variable._grad = None


on_change(_replace)
