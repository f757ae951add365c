"""Measure what an explanation costs: ``python -m benchmarks.explain [SCRIPT.py ...]``.

Without scripts, two of its own are taken: a hundred lines, each run once, and a training loop. For each, the
processor time of the whole command, and of tracing against the plain run on the reference.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

MOST_SECONDS, MOST_TIMES = 2.0, 10.0
"""The bars: processor time of a command, and tracing against a plain run."""
RUNS = 3

STRAIGHT = "import torch\nx0 = torch.ones(4, requires_grad=True)\n" + "".join(
    f"x{i} = x{i - 1} * {i} + 1\n" if i % 10 else f"x{i} = x{i - 1}.detach().requires_grad_()\n"
    for i in range(1, 97)
)
TRAINING = """import torch
from torch import nn
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
x, y = torch.randn(64, 8), torch.randn(64, 1)
for epoch in range(50):
    opt.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    opt.step()
"""


def of_children(run: Callable[[], object]) -> float:
    """Return the processor time that a call spends in processes which it waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def in_a_fork(run: Callable[[], object]) -> float:
    """Return the processor time of a call, made in a fork of this process."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  open until the process ends
        began = time.process_time()
        run()
        os.write(writer, str(time.process_time() - began).encode())
        os._exit(0)
    os.close(writer)
    os.wait()
    return float(os.read(reader, 100))


def plain(source: str) -> None:
    """Run a script on the reference, and look at nothing."""
    from conformance.adapters.reference_state import stand_in_as_torch

    stand_in_as_torch()
    exec(compile(source, "-c", "exec"), {"__name__": "__main__"})


def traced(source: str) -> None:
    """Run a script as `explain` does."""
    from conformance.explanation.child import play

    with tempfile.NamedTemporaryFile() as records:
        play(Path(records.name), source.encode(), "-c", ())


def measure(name: str, source: str) -> bool:
    """Print the figures of a script; return True if they are within the bars."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "script.py")
        script.write_text(source, encoding="utf-8")
        command = [sys.executable, "-m", "conformance", "explain", str(script)]
        whole = min(
            of_children(lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=False))
            for _ in range(RUNS)
        )
    once = min(in_a_fork(lambda: plain(source)) for _ in range(RUNS))
    looked = min(in_a_fork(lambda: traced(source)) for _ in range(RUNS))
    lines = len(source.splitlines())
    print(f"{name:24} {lines:4} lines  command {whole:5.2f} s  plain {once * 1e3:7.1f} ms  "
          f"traced {looked * 1e3:7.1f} ms  {looked / once:5.1f} times")  # fmt: skip
    return whole < MOST_SECONDS and looked / once < MOST_TIMES


def main() -> None:
    """Measure the scripts that are named, or those that come with this; exit with 1 beyond the bars."""
    import conformance.adapters.reference_draws
    import conformance.adapters.reference_watch  # noqa: F401  imported before the forks

    scripts = {Path(path).name: Path(path).read_text("utf-8") for path in sys.argv[1:]}
    chosen = scripts or {"a hundred lines": STRAIGHT, "a training loop": TRAINING}
    held = [measure(name, source) for name, source in chosen.items()]
    print(
        f"bars: command < {MOST_SECONDS:g} s of processor time, tracing < {MOST_TIMES:g} times the plain run"
    )
    sys.exit(0 if all(held) else 1)


if __name__ == "__main__":
    main()
