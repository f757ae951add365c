"""A worker keeps what it needs for the next program, and no more."""

from __future__ import annotations

import subprocess
import sys

from sources import ROOT

COUNTS = """
import gc
from conformance.grading.campaign import Chunk, judge_chunk
from conformance.grading.sources import import_all

import_all()
for first in range(0, 6000, 100):
    judge_chunk(Chunk("reference", "reference", "prng", 0, first, 100))
    if first in (1900, 3900, 5900):
        gc.collect()
        print(len(gc.get_objects()))
"""


def test_live_objects_stay_as_many_however_many_programs_ran():
    """Tables of calls once were kept for good: 18 objects a program."""
    done = subprocess.run(
        [sys.executable, "-c", COUNTS], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    early, later, late = map(int, done.stdout.split())
    assert late - later < 2 * 2_000, (early, later, late)
    assert late < 1.5 * early
