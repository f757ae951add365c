"""Fresh stacks: a deep recursion goes on in a thread of its own, since Python's stack is small."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


def call_on_fresh_stack(function: Callable[[T], object], argument: T) -> None:
    """Call the function in a thread whose stack is empty, and wait for it; raises what it raises."""
    raised: list[BaseException] = []

    def call() -> None:
        try:
            function(argument)
        except BaseException as error:
            raised.append(error)

    thread = Thread(target=copy_context().run, args=(call,))
    thread.start()
    thread.join()
    if raised:
        raise raised.pop()
