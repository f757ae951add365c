"""Fresh stacks: a deep recursion goes on in a thread of its own, since Python's stack is small."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from typing import TypeVar

from reference_impl.base.threads import Continuation, adopt, attributes_shared

T = TypeVar("T")


def call_on_fresh_stack(function: Callable[[T], object], argument: T) -> None:
    """Call the function in a thread whose stack is empty, and wait for it; raises what it raises."""
    raised: list[BaseException] = []
    shared = attributes_shared()

    def call() -> None:
        nonlocal shared
        if shared is not None:
            adopt(shared)
        try:
            function(argument)
        except BaseException as error:
            raised.append(error)
        shared = attributes_shared()

    thread = Continuation(target=copy_context().run, args=(call,))
    thread.start()
    thread.join()
    if shared is not None:  # a thread of the user's may have been started meanwhile
        adopt(shared)
    if raised:
        raise raised.pop()
