"""The warnings that count are those of the program's own steps."""

from __future__ import annotations

import warnings

from conformance.adapters.caught_warnings import CaughtWarnings


def test_what_the_garbage_collector_finds_is_no_warning_of_a_program():
    """It may come during any step, of whatever ran before."""
    caught = CaughtWarnings()
    caught.install()
    try:
        warnings.warn("subprocess 7 is still running", ResourceWarning, stacklevel=1)
        warnings.warn("a warning of a step", stacklevel=1)
        assert caught.caught == ["a warning of a step"]
    finally:
        caught.restore()
