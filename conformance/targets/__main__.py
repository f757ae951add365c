"""Make the scorecards of all targets that can be graded here: ``python -m conformance.targets``.

Each target is graded in its own environment, with what is by design in it (`docs/expect`), and its report is
written to `docs/scorecards`. A target whose library is not there is skipped, and its scorecard stays.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from conformance.targets.environments import NODE, Absent, environment

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
REGIONS = "conformance.targets.torch_regions"
TARGETS = {
    "micrograd": ("micrograd", "micrograd"),
    "mygrad": ("conformance.targets.mygrad:adapter", "mygrad"),
    "paddle": ("conformance.targets.paddle:adapter", "paddle"),
    "autograd": ("conformance.targets.autograd:adapter", "autograd"),
    "jax": ("conformance.targets.jax:adapter", "jax"),
    "mlx": ("conformance.targets.mlx:adapter", "mlx"),
    "tensorflow": ("conformance.targets.tensorflow:adapter", "tensorflow"),
    "tinygrad": ("conformance.targets.tinygrad:adapter", "tinygrad"),
    "minitorch": ("conformance.targets.minitorch:adapter", "minitorch"),
    "js-pytorch": (f"stdio:node {Path(__file__).parent.relative_to(ROOT)}/js_pytorch.cjs", NODE),
    "torch-function-mode": ("conformance.targets.torch_modes:function_mode", "torch"),
    "torch-dispatch-mode": ("conformance.targets.torch_modes:dispatch_mode", "torch"),
    "torch-checkpoint": (f"{REGIONS}:checkpoint", "torch"),
    "torch-functionalize": (f"{REGIONS}:functionalize", "torch"),
    "torch-make-fx": (f"{REGIONS}:make_fx", "torch"),
    "torch-jit-trace": (f"{REGIONS}:jit_trace", "torch"),
    "torch-compile-eager": (f"{REGIONS}:compile_eager", "torch"),
    "torch-compile-aot-eager": (f"{REGIONS}:compile_aot_eager", "torch"),
    "torch-func-vjp": ("conformance.targets.torch_func:vjp", "torch"),
}
"""Each target by name: its adapter, and the library that it needs."""
NO_VERDICT = (2, 3, 5, 6)
"""Exit codes after which there is nothing to show."""


def main(arguments: list[str] | None = None) -> int:
    """Grade the targets and tell of each; 1 if one differs in what is not by design."""
    parser = argparse.ArgumentParser(prog="python -m conformance.targets", description=__doc__)
    parser.add_argument("name", nargs="*", help=f"targets, of {', '.join(TARGETS)}; all if none is named")
    parser.add_argument("--environments", default=".tox", metavar="DIR", help="a folder of environments")
    parser.add_argument("--programs", type=int, metavar="N", help="so many programs for each")
    parser.add_argument("--write-expect", action="store_true", help="bring docs/expect up to date first")
    options = parser.parse_args(arguments)
    if unknown := set(options.name) - set(TARGETS):
        parser.error(f"there is no target {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    worst = 0
    for name in options.name or TARGETS:
        began = time.monotonic()
        print(f"{name}: ", end="", flush=True)
        try:
            code, told = grade(name, options.environments, options.programs, options.write_expect)
        except Absent as absent:
            print(f"skipped, {absent}", flush=True)
            continue
        worst = max(worst, code)
        print(f"{told} ({time.monotonic() - began:.0f} s)", flush=True)
    write_index(DOCS / "scorecards")
    return 1 if worst else 0


def grade(name: str, environments: str, programs: int | None, write_expect: bool) -> tuple[int, str]:
    """Grade a target and write its scorecard: the exit code, and its last line. Raises Absent."""
    spec, library = TARGETS[name]
    there = environment(library, environments)
    expect, cards = DOCS / "expect" / f"{name}.toml", DOCS / "scorecards"
    cards.mkdir(exist_ok=True)
    expect.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        report, summary = Path(scratch) / "report.json", Path(scratch) / "summary.md"
        command = [sys.executable, "-m", "conformance", "grade", spec, "--device", "cpu", "--findings", "0"]
        command += ["--json", str(report), "--markdown", str(summary)]
        if programs is not None:
            command += ["--programs", str(programs)]
        if spec != name and library != NODE:
            command += ["--python", there.command[0]]
        if write_expect or expect.exists():
            command += ["--write-expect" if write_expect else "--expect", str(expect)]
        ended = subprocess.run(
            command, cwd=ROOT, env=os.environ | there.variables, capture_output=True, text=True, check=False
        )
        lines = (ended.stdout.strip() or ended.stderr.strip()).splitlines() or ["it said nothing"]
        if expect.exists() and 'reason = ""' in expect.read_text():
            return max(ended.returncode, 1), f"no scorecard before each entry of {expect} has its reason"
        if ended.returncode not in NO_VERDICT and report.exists():
            (cards / f"{name}.json").write_text(report.read_text())
            (cards / f"{name}.md").write_text(summary.read_text())
    return ended.returncode, f"exit {ended.returncode}, {lines[-1]}"


def write_index(cards: Path) -> None:
    """Write the list of the scorecards that there are."""
    rows = [_row(path.stem, json.loads(path.read_text())) for path in sorted(cards.glob("*.json"))]
    head = ["target", "version", "rules held", "of claimed", "by design", "programs", "agree", "findings"]
    table = ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)]
    text = [
        "Made by `python -m conformance.targets`; see [how to read a scorecard](../scorecard.md). A target",
        "that was not graded anew keeps its last scorecard, also where seeds draw other programs since.",
    ]
    (cards / "README.md").write_text("\n".join(["# Scorecards", "", *text, "", *table, ""]))


def _row(name: str, report: dict[str, Any]) -> list[str]:
    return [f"[{name}]({name}.md)", *_figures(report)]


def _figures(report: dict[str, Any]) -> list[str]:
    scores, totals = report["scores"].values(), report["totals"]
    counts = [sum(score[key] for score in scores) for key in ("held", "claimed")]
    counts += [len(report["expected"]), totals["programs"], totals["agree"], len(report["findings"])]
    return [report["subject"]["version"], *map(str, counts)]


if __name__ == "__main__":
    sys.exit(main())
