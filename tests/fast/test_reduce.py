"""Reducing keeps a failure, drops the rest, and takes few checks."""

from __future__ import annotations

from conformance.program import Program
from conformance.program.parsing import parse
from conformance.program.printing import to_text
from conformance.program.shrink import CHECKS, shrink_program

LONG = """
a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
b = torch.tensor([3.0, -1.0], requires_grad=True)
c = a.mul(b)
d = c.sum()
with torch.no_grad():
    e = a.neg()
    with torch.enable_grad():
        f = e.mul(b)
g = b.mul(2.0)
d.backward(retain_graph=True)
h = g.detach()
i = h.add(1.0)
with torch.no_grad():
    g.mul_(2.0)
j = g.view(-1)
k = j.sum()
"""


def fails(program: Program) -> bool:
    """Stands for a divergence that needs a detach and, after it, an in-place write to what was detached."""
    detached = None
    for step in program:
        if step.op == "detach":
            detached = step.args[0]
        elif step.op == "mul_" and step.args[0] == detached:
            return any(detached.name in earlier.out for earlier in program)
    return False


def test_only_what_fails_is_left() -> None:
    """Unneeded steps, modes and values go; what the failure needs stays."""
    reduced = shrink_program(parse(LONG), fails)
    assert fails(reduced.program)
    assert 3 == len(reduced.program), to_text(reduced.program)
    assert all(not step.mode for step in reduced.program)
    assert reduced.checks <= CHECKS


def test_the_same_input_gives_the_same_result() -> None:
    """Reducing is deterministic."""
    assert shrink_program(parse(LONG), fails) == shrink_program(parse(LONG), fails)


def test_the_number_of_checks_is_bounded() -> None:
    """The number of checks is bounded, however long the program."""
    asked = 0

    def never(program: Program) -> bool:
        nonlocal asked
        asked += 1
        return False

    long = Program(tuple(parse(LONG).steps) * 20)
    assert long == shrink_program(long, never).program
    assert asked <= CHECKS


def test_literals_are_simplified() -> None:
    """A value that does not matter becomes a short one."""
    reduced = shrink_program(parse(LONG), lambda program: any(step.op == "torch.tensor" for step in program))
    assert "import torch\n\na = torch.tensor(2.0)\n" == to_text(reduced.program)
