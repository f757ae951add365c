"""Anything given to ``run`` as a program runs, or one line says what is wrong with it, and where."""

from __future__ import annotations

import string
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.adapters import load
from conformance.cli.loading import known_to_somebody, load_program
from conformance.cli.trouble import Trouble
from conformance.execution.claims import known_ops
from conformance.program import Program
from conformance.program.checked import parse_checked
from conformance.program.parsing import ProgramError
from conformance.program.printing import to_text
from conformance.recordings.format import Stale, trace_of

X = "import torch\nx = torch.ones(2)\n"

BAD = {
    "another name of torch": ("import torch as t\nw = t.ones(3)\n", "line 1: torch is called t"),
    "another package": ("import numpy as np\nx = np.ones(2)\n", "line 1: numpy has no place"),
    "a name that nothing binds": ("import torch\ny = x + 1\n", "line 2: the name x is bound to nothing"),
    "a name that was deleted": (X + "del x\ny = x + 1\n", "line 4: the name x is bound to nothing"),
    "a tower of powers": ("import torch\nx = 9**9**9**9\n", "line 2: 9 ** 9 ** 9 is no number"),
    "a large power": (X + "y = x + 2**10000000\n", "line 3: 2 ** 10000000 is no number"),
    "a large product": (X + f"y = x + {2**62} * {2**62}\n", "it is too large"),
    "a division by zero": (X + "y = x + 1 / 0\n", "line 3: 1 / 0 is no number"),
    "a long list": ("import torch\nx = torch.tensor([1] * 10**12)\n", "is no number of a program"),
    "20,000 signs": (f"import torch\nx = {'-' * 20_000}1\n", "nested too deeply"),
    "5,000 brackets": (f"import torch\nx = {'(' * 5_000}1{')' * 5_000}\n", ""),
    "a class": (X + "y = x.__class__\n", "line 3: .__class__ is no operation"),
    "a private attribute": (X + "y = x._array\n", "._array is no operation"),
    "a file written": (X + "x.tofile('f')\n", "tofile is no operation"),
    "a file read": (X + "y = torch.load('f')\n", "torch.load is no operation"),
    "a file saved": (X + "torch.save(x, 'f')\n", "torch.save is no operation"),
    "the end of the process": ("import torch\ntorch.sys.exit(0)\n", "torch.sys.exit is no operation"),
    "a function of Python": (X + "exec('1')\n", "line 3: "),
    "an attribute of a module": (X + "y = torch.nn.sys.exit(0)\n", "is no operation"),
    "random numbers": ("import torch\nx = torch.rand(2)\n", "draws no numbers"),
    "a loop": (X + "for i in range(9): x = x * 2\n", "line 3: a program is a straight line"),
    "nothing": ("", "there is no step in it"),
    "no Python": ("import torch\nx = = 1\n", "line 2: not Python"),
    "bytes": (X + "y = x.view(b'a')\n", "line 3: bytes such as b'a' have no place in a program"),
    "a null byte": (X + "\0", "not Python"),
    "a lone surrogate": (X + "y = '\ud800'\n", ""),
}


@pytest.mark.parametrize(("text", "problem"), BAD.values(), ids=BAD)
def test_a_bad_program_is_one_line_with_its_place(text, problem):
    """Nothing of it runs."""
    with pytest.raises(ProgramError) as raised:
        parse_checked(text, known_to_somebody)
    assert problem in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1


def test_a_byte_order_mark_is_passed_over(tmp_path):
    """Editors on some systems write one."""
    file = tmp_path / "program.py"
    file.write_text(X, encoding="utf-8-sig")
    assert len(load_program(file)) == 1


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"\x80", b""])
def test_a_file_that_is_no_text_is_one_line(tmp_path, data):
    """A picture that is given by mistake is told so."""
    file = tmp_path / "program.py"
    file.write_bytes(data)
    with pytest.raises(Trouble):
        load_program(file)


def test_what_people_write_runs():
    """Operations that are not drawn but that the reference has are accepted."""
    text = X + "y = torch.nn.functional.softmax(x, 0)\nn = y.numel()\ns = y.shape\nz = torch.arange(3)\n"
    assert len(parse_checked(text, known_to_somebody)) == 5


def test_a_recording_runs_only_what_programs_are_drawn_of():
    """A script on record that names anything else is not run."""
    form = {"script": X + "x.tofile('f')\n", "steps": [{}, {}], "density": "each"}
    with pytest.raises(Stale):
        trace_of(form)


def test_the_operations_accepted_are_known():
    """Nothing that reaches outside tensors is among them."""
    knows = load("reference").knows
    for op in ("torch.load", "torch.os", "torch.mutants.core", "torch.core.tensor", "__reduce__", "torch"):
        assert not knows(op), op
    assert all(known_to_somebody(op) for op in known_ops())


WORDS = st.sampled_from(
    [*".=()[],:1-\n\0'\\xb", "torch", "**", "with ", "del ", "lambda ", "import torch\n", "\n    "]
)


@given(st.one_of(st.text(), st.text(string.printable), st.lists(WORDS, max_size=30).map("".join)))
def test_any_text_is_a_program_or_an_error(text):
    """No text ends the parser in any other way, and what is a program can be written."""
    with suppress(ProgramError):
        parsed = parse_checked(text, known_to_somebody)
        assert isinstance(parsed, Program)
        assert to_text(parsed)
