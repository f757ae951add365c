"""Explaining scripts with torch beside, cheaply: the sides run in forks of processes that imported them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from conformance.explanation.on_torch import Beside, explain_on_torch
from conformance.explanation.run import read_records

ROOT = Path(__file__).parents[2]
FORKING = """
import gc, json, os, sys, traceback
gc.disable()
from pathlib import Path
from conformance.explanation import child, torch_child
if sys.argv[1] == "child":
    import conformance.adapters.reference_draws, conformance.explanation.trace
    import reference_impl.distributions, reference_impl.linalg, reference_impl.optim.swa_utils
else:
    import conformance.adapters.torch_lines, torch
    import torch._dynamo  # or each script that makes an optimizer imports it
    torch.set_num_threads(1)
gc.freeze()
gc.enable()
for line in sys.stdin:
    records, script, name, draws, arguments = json.loads(line)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            source = Path(script).read_bytes()
            if sys.argv[1] == "child":
                child.play(Path(records), source, name, arguments, draws)
            else:
                torch_child.play(Path(records), source, name, arguments, Path(draws))
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


def beside(source: str, name: str = "-c", *arguments: str) -> Beside:
    """Explain a script on the reference and on torch, without the limits that processes of its own have."""
    return explain_on_torch(source.encode(), name, arguments, 60, 0, _run)


@cache
def _process(module: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", FORKING, module],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTORCH_JIT": "0"},
    )  # fmt: skip


def _run(
    module: str, records: Path, script: Path, name: str, arguments: Sequence[str], seconds: int,
    megabytes: int, draws: str,
) -> tuple[list[Any], int | None, str]:  # fmt: skip
    process = _process(module)
    assert process.stdin is not None
    assert process.stdout is not None
    records.touch()
    process.stdin.write(json.dumps([str(records), str(script), name, draws, arguments]) + "\n")
    process.stdin.flush()
    code = int(process.stdout.readline())
    return read_records(records), code, ""
