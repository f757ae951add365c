"""Errors that the script itself catches are explained like one that ends it."""

from __future__ import annotations

from explained import explained

CAUGHT = """\
import torch

w = torch.ones(3, requires_grad=True)
loss = w.exp().sum()
loss.backward()
for _ in range(3):
    try:
        loss.backward()
    except RuntimeError as error:
        print(error)
print(w.grad)
"""

PASSING = """\
import torch

x = torch.ones(2)
try:
    with torch.no_grad():
        x.backward()
finally:
    y = x + 1
"""

IN_ORDER = """\
import torch

x = torch.ones(2, requires_grad=True)
try:
    x.add_(1)
except RuntimeError:
    print((x * 2).grad)
try:
    x.mul(2).backward()
except RuntimeError:
    pass
"""


def test_it_has_its_rule_cause_and_cure():
    """Once for all passes of the line; the script goes on."""
    found = explained(CAUGHT)
    assert ("finished", None) == (found.ending, found.error)
    (caught,) = found.caught
    assert ("save/freed-refused", 8, (5, 4)) == (caught.rule, caught.line, caught.causes)
    assert caught.cure.startswith("Pass retain_graph=True")
    assert "   8  loss.backward()\n      fails, which the script catches: see below" in str(found)
    assert "error caught at line 8 `loss.backward()`" in str(found)
    assert "line 8 `loss.backward()`" in found.why("error")
    assert "save/freed-refused" in found.why("line 8")


def test_later_passes_are_counted():
    """An error that is caught once more in each pass is told once, with their number."""
    found = explained(CAUGHT)
    assert 2 == found.caught[0].again
    assert "again    in 2 more passes of this line" in found.why("error")


def test_it_is_told_in_a_picture_and_a_page():
    """The moment of its line shows it."""
    found = explained(IN_ORDER)
    assert "rule write/leaf-refused" in found.dot(line=5)
    assert "write/leaf-refused" in found.html()


def test_an_error_that_ends_the_script_was_not_caught():
    """A finally block and the block of a mode see it pass, no more."""
    found = explained(PASSING)
    assert () == found.caught
    assert found.error is not None
    assert (6, "backward/root-needs-grad") == (found.error.line, found.error.rule)


def test_it_comes_in_order_with_the_warnings():
    """The first to come is told first."""
    assert [5, 7, 9] == [mishap.line for mishap in explained(IN_ORDER).mishaps]
