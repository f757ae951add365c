"""An op is one place: its declaration brings it to generator, reference, adapters and tests."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from op_calls import calls_of
from specs.kind import Scale, Tensor
from specs.op import Op, op

ROOT = Path(__file__).parents[2]
DRAWN = """
import gc
import json
import os
from collections import Counter

from added_ops import NAMES
from conformance.adapters import load
from conformance.comparison.judge import Decision
from conformance.comparison.tolerance.op_effects import base
from conformance.generate.guide.guide import draw
from conformance.generate.state.choices import Prng
from conformance.grading.participants import Participants

reference, both = load("reference"), Participants("reference", "torch")
load("torch")  # here, lest each fork does
__import__("torch._dynamo")  # so for programs with optimizers
agreed, differed, index = Counter(), [], 0
while index < 500 and min(agreed[name] for name in NAMES) < ENOUGH:
    index += 1
    drawn = draw(Prng(3, index), reference)
    met = {base(step.op) for step in drawn.program}.intersection(NAMES)
    if not met:
        continue
    gc.freeze()
    child = os.fork()  # some programs kill torch, whatever was added
    if not child:
        found = both.judged(drawn.program, drawn.density, drawn.trace).found
        os._exit(found.decision not in (Decision.AGREE, Decision.KNOWN))
    status = os.waitpid(child, 0)[1]
    if not os.WIFSIGNALED(status):
        agreed.update(met if not status else ())
        differed += [index] if status else []
print(json.dumps([agreed, differed]))
"""
ENOUGH = 3
"""Programs that agree, of each op; no more are drawn, and 500 at most."""


def python(*args: str) -> str:
    """The output of a Python of its own, which reads the op table anew."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests" / "support")])
    env = {**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, *args], capture_output=True, text=True, cwd=ROOT, env=env, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_an_added_op_is_drawn_and_agrees_with_torch():
    """Programs call a unary and a binary op that were only declared, and torch agrees in each."""
    agreed, differed = json.loads(python("-c", DRAWN.replace("ENOUGH", str(ENOUGH))))
    assert [] == differed
    assert agreed["rad2deg"] >= ENOUGH
    assert agreed["fmax"] >= ENOUGH


def test_an_added_op_is_tested():
    """The exhaustive tests take an op up by its declaration, and it passes them."""
    files = ("tests/torch/test_ops_declarations.py", "tests/torch/test_op_dtypes.py")
    told = python("-m", "pytest", "-q", "-rp", "-p", "added_ops", "-k", "rad2deg or fmax", *files)
    for file in files:
        assert len(re.findall(f"PASSED {file}::", told)) >= 2, told


def test_an_op_that_needs_calls_of_its_own_says_so():
    """Calls are derived from the operands; where they cannot be, the error names the op and the file."""

    @op()
    def scaled(x: Tensor, factor: Scale) -> None: ...

    @op()
    def joined(x: Tensor, y: Tensor, z: Tensor) -> None: ...

    for made in (scaled, joined):
        assert isinstance(made, Op)
        with pytest.raises(LookupError, match=f"{made.name} has no calls in tests/support/op_calls.py"):
            calls_of(made)
