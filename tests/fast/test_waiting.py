"""A process may be silent for some seconds: of those in which it waits for its turn, none count."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from conformance.execution.waiting import AT_MOST, Doing, Patience, doing_of, doing_of_process


def glances(doing: list[Doing], seconds: float = 10.0) -> list[float]:
    """Return the seconds that are left after each second in which a process did so."""
    clock, does = itertools.count(), iter(doing)
    patience = Patience(seconds, 1, lambda group: next(does), lambda: float(next(clock)))
    return [patience.left() for _ in doing]


def test_sleeping_counts_by_the_clock() -> None:
    assert [9.0, 8.0, 7.0] == glances([(False, 0.0)] * 3)


def test_computing_counts_as_far_as_it_got() -> None:
    """The first look tells where it stands."""
    assert [10.0, 9.0, 8.75, 8.5] == glances([(True, 5.0), (True, 6.0), (True, 6.25), (True, 6.5)])


def test_many_that_compute_take_no_more_than_the_clock() -> None:
    assert [10.0, 9.0, 8.0] == glances([(True, 5.0), (True, 25.0), (True, 45.0)])


def test_one_that_never_gets_its_turn_ends_too() -> None:
    left = glances([(True, 5.0)] * int(AT_MOST * 10))
    assert left[-1] <= 0 < left[-2]


SPINNING = "while True: pass"
SLEEPING = "import time; time.sleep(60)"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells of processes in /proc")
@pytest.mark.parametrize("tell", [doing_of, doing_of_process])
@pytest.mark.parametrize(("text", "wants"), [(SPINNING, True), (SLEEPING, False)])
def test_the_system_tells_what_processes_do(text: str, wants: bool, tell: Callable[[int], Doing]) -> None:
    """One that computes gets on, however slowly; one that sleeps does not."""
    process = subprocess.Popen([sys.executable, "-S", "-c", text], process_group=0)
    try:
        while tell(process.pid)[0] is not wants:
            assert process.poll() is None
        assert tell(process.pid)[1] >= 0.0
    finally:
        process.kill()
        process.wait()
    assert (False, 0.0) == tell(process.pid)
    assert doing_of(os.getpgrp())[0]
