"""Threads against torch: each has its own modes, and a backward has those of the thread that it runs in."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import reference_impl

torch = pytest.importorskip("torch")

SIDES: dict[str, Any] = {"torch": torch, "reference": reference_impl}


def in_thread(call: Callable[[], Any]) -> Any:
    """Return what the call gives in a thread of its own."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()


def modes(t: Any) -> tuple[bool, ...]:
    """The modes that a thread sees."""
    casts = t.is_autocast_enabled("cpu")
    return t.is_grad_enabled(), t.is_inference_mode_enabled(), t.is_anomaly_enabled(), casts


BLOCKS = {
    "no_grad": lambda t: t.no_grad(),
    "inference_mode": lambda t: t.inference_mode(),
    "set_grad_enabled": lambda t: t.set_grad_enabled(False),
    "anomaly mode, which is the process's": lambda t: t.autograd.detect_anomaly(check_nan=False),
    "autocast": lambda t: t.autocast("cpu"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("block", BLOCKS)
def test_a_thread_begins_with_the_defaults(block):
    """In each block that it is started in; and what it sets is its own."""
    found = {}
    for name, t in SIDES.items():
        with BLOCKS[block](t):
            inside = in_thread(lambda t=t: modes(t))
        in_thread(lambda t=t: t.set_grad_enabled(False))
        found[name] = inside, modes(t)
    assert found["reference"] == found["torch"]


def test_threads_do_not_share_saved_tensors_hooks():
    """Neither hooks nor the message that forbids them."""
    found = {}
    for name, t in SIDES.items():
        packed: list[Any] = []

        def multiply(t: Any = t) -> Any:
            x = t.ones(2, requires_grad=True)
            (x * x).sum().backward()
            return x.grad.tolist()

        def kept(x: Any, packed: list[Any] = packed) -> Any:
            packed.append(x)
            return x

        with t.autograd.graph.saved_tensors_hooks(kept, lambda x: x):
            given = in_thread(multiply)
        with t.autograd.graph.disable_saved_tensors_hooks("no hooks here"):
            in_thread(lambda t=t: t.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x).__enter__())
        found[name] = given, len(packed)
    assert found["reference"] == found["torch"] == ([2.0, 2.0], 0)


def test_hooks_of_a_backward_run_in_its_thread():
    """In the grad mode of the backward, which is gone after it; a thread that a hook starts has its own."""
    found = {}
    for name, t in SIDES.items():
        seen: list[Any] = []
        x = t.ones(2, requires_grad=True)
        y = x * 2

        def look(g: Any, t: Any = t, seen: list[Any] = seen) -> None:
            seen.append((t.is_grad_enabled(), in_thread(t.is_grad_enabled), threading.current_thread().name))

        y.register_hook(look)
        z = y.sum()

        def backward(t: Any = t, z: Any = z) -> bool:
            z.backward(retain_graph=True)
            return t.is_grad_enabled()

        with t.no_grad():
            after = in_thread(backward), backward()
        found[name] = after, [seen[0][:2], seen[1]], x.grad.tolist()
    assert found["reference"] == found["torch"]


def test_threads_at_once():
    """Two blocks in two threads, each open while the other is entered."""
    for t in SIDES.values():
        entered, done = threading.Event(), threading.Event()

        def held(t: Any = t, entered: Any = entered, done: Any = done) -> bool:
            with t.no_grad():
                entered.set()
                done.wait()
                return t.is_grad_enabled()

        with ThreadPoolExecutor(1) as pool:
            other = pool.submit(held)
            entered.wait()
            assert t.is_grad_enabled()
            done.set()
            assert not other.result()
        assert t.is_grad_enabled()


def test_a_deep_backward_within_another_has_the_modes_of_its_caller():
    """It goes on with a fresh stack, which is a thread here."""
    for t in SIDES.values():
        seen: list[bool] = []

        def again(depth: int, t: Any = t, seen: list[bool] = seen) -> None:
            x = t.ones(1, requires_grad=True)
            with t.enable_grad():
                y = x * 2
            y.register_hook(lambda g: again(depth - 1) if depth else seen.append(t.is_grad_enabled()))
            y.backward()

        with t.no_grad(), t.enable_grad():
            again(60)
            assert t.is_grad_enabled()
        assert seen == [False]
        assert in_thread(t.is_grad_enabled)
