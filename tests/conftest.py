"""Settings for every test: Hypothesis profiles, one thread for torch, the release modelled, reasons of skips.

Profiles are chosen with ``HYPOTHESIS_PROFILE`` (default ``ci``); fixtures of a single test file live in that
file.
"""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Generator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from conformance.adapters import load
from conformance.adapters.errors import AdapterError
from conformance.adapters.torch import DEVICE_VARIABLE
from conformance.execution.collector import spare_collector
from conformance.execution.isolate import PRELOAD
from conformance.grading import participants
from specs.active_rules import set_torch_release

# Two runs of one commit must say the same: no clock, no database, no fresh entropy. `soak` alone looks
# further each time.
settings.register_profile(
    "ci",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=100,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
settings.register_profile("dev", settings.get_profile("ci"), max_examples=25)
settings.register_profile(
    "soak",
    settings.get_profile("ci"),
    derandomize=False,
    max_examples=5_000,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


LONG = frozenset({"slow", "quality"})
"""Folders of tests that take long."""


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """One worker more than there are processors: some tests wait, and each worker imports all anew."""
    processors = yield
    return processors if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else processors + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have each process begin with its share of the files that take long, so that none ends with them.

    xdist gives each as many tests, in their order, and moves what is left at the end.
    """
    if (count := int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))) == 1:
        return
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    long = [file for file in files if LONG & set(file.parts)]
    rest = [item for file, tests in files.items() if file not in long for item in tests]
    share = -(-len(items) // count)
    ordered: list[pytest.Item] = []
    for at in range(count):
        own = [item for file in long[at::count] for item in files[file]]
        more = max(share - len(own), 0)
        ordered += [*own, *rest[:more]]
        rest = rest[more:]
    items[:] = [*ordered, *rest]


def pytest_configure(config: pytest.Config) -> None:
    """Tiny tensors gain nothing from threads, and xdist already fills the cores.

    Rules are held against the torch that is installed, on the device that is asked for; where that is not
    there, this is said once and no test runs. It is loaded before any test runs, since torch counts the
    devices there are when the first backward of a process runs. Without torch `tests/explain` runs all the
    same, with the rules of the release modelled. Where other processes run the tests, only these load it.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    participants.WITHOUT_TORCH = PRELOAD  # one server starts the processes of all tests, and most want torch
    with suppress(PackageNotFoundError):
        set_torch_release(version("torch"))
    if DEVICE_VARIABLE not in os.environ and config.getoption("numprocesses", None):
        return
    try:
        load("torch")
    except AdapterError as error:
        if DEVICE_VARIABLE in os.environ:
            raise pytest.UsageError(str(error)) from None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector from what is collected, which stays, and have it come as in grading."""
    gc.disable()
    try:
        return (yield)
    finally:
        spare_collector()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say why anything was skipped: a skipped test is a claim that nobody checked."""
    reasons = Counter(
        report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        for report in terminalreporter.stats.get("skipped", ())
    )
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"skipped {count}: {reason}")
