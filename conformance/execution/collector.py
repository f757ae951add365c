"""The garbage collector: it finds nothing in what is imported, and little in what programs leave.

To search what is imported, again and again while more comes, takes up to a third of the time of the imports.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def importing() -> Iterator[None]:
    """Have the collector wait within the block, which imports much."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def spare_collector() -> None:
    """Have the collector leave alone what is imported, and come once in some tens of programs."""
    gc.freeze()
    gc.set_threshold(20_000)
    gc.enable()
