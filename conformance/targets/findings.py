"""The findings of `docs/findings`, each run twice: ``python -m conformance.targets.findings``.

A finding is a Markdown file: a table with the library and its version, a script of at most ten lines, what is
expected and what comes. The script runs in fresh processes where its library is installed in that version;
another outcome than the one on record fails.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from conformance.targets.environments import Absent, environment

FOLDER = Path(__file__).parents[2] / "docs" / "findings"
LONGEST = 10
"""Lines that a script may have."""
PATIENCE = 20
"""Seconds after which a script hangs, where the finding is no hang of its own."""

_ROW = re.compile(r"^\| (\w+) \| (.+?) \|$", re.MULTILINE)
_SCRIPT = re.compile(r"^```(?:python|js)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ACTUAL = re.compile(r"^## Actual\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: where it was seen, its script, and what came."""

    path: Path
    library: str
    version: str
    script: str
    actual: str

    @classmethod
    def read(cls, path: Path) -> Finding:
        """Read a finding; raises ValueError for one that lacks something."""
        text = path.read_text()
        rows, script, actual = dict(_ROW.findall(text)), _SCRIPT.search(text), _ACTUAL.search(text)
        if script is None or actual is None or not {"library", "version"} <= rows.keys():
            raise ValueError(f"{path.name} lacks its table, its script or what came")
        if len(script[1].splitlines()) > LONGEST:
            raise ValueError(f"the script of {path.name} has more than {LONGEST} lines")
        return cls(path, rows["library"], rows["version"], script[1], actual[1])

    def run(self, folder: str) -> str:
        """Run the script and tell what came: its output, and how it ended unless well. Raises Absent."""
        there = environment(self.library, folder)
        if there.version != self.version:
            raise Absent(f"{self.library} {there.version} is installed, the finding is of {self.version}")
        with tempfile.TemporaryDirectory() as scratch:
            script = Path(scratch) / ("script.py" if "python" in there.command[0] else "script.cjs")
            script.write_text(self.script)
            quiet = {"OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": ""}
            try:
                ended = subprocess.run(
                    [*there.command, script.name], cwd=scratch, timeout=self._patience(), check=False,
                    env=os.environ | quiet | there.variables, text=True, capture_output=True,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                return "(it does not end)\n"
        if ended.returncode < 0:
            return f"(it is killed by {signal.Signals(-ended.returncode).name})\n"
        last = (ended.stderr.strip().splitlines() or ["(it fails)"])[-1]
        return ended.stdout + (f"{last}\n" if ended.returncode else "")

    def _patience(self) -> float:
        return PATIENCE if "does not end" in self.actual else 6 * PATIENCE


def main(arguments: list[str] | None = None) -> int:
    """Run the findings and tell of each; 1 if one is no longer what it says."""
    parser = argparse.ArgumentParser(prog="python -m conformance.targets.findings", description=__doc__)
    parser.add_argument("name", nargs="*", help="a finding by the name of its file; all if none is named")
    parser.add_argument("--environments", default=".tox", metavar="DIR", help="a folder of environments")
    parser.add_argument("--record", action="store_true", help="write down what comes instead of comparing it")
    options = parser.parse_args(arguments)
    paths = [FOLDER / f"{Path(name).stem}.md" for name in options.name] or sorted(FOLDER.glob("*.md"))
    for path in paths:
        if not path.is_file():
            near = get_close_matches(path.stem, [each.stem for each in FOLDER.glob("*.md")])
            parser.error(f"there is no finding {path.stem}" + (f"; did you mean {near[0]}?" if near else ""))
    counts = {"as recorded": 0, "differs": 0, "skipped": 0}
    for path in paths:
        if path.name == "README.md":
            continue
        status, why = _verdict(Finding.read(path), options.environments, options.record)
        counts[status] += 1
        print(f"{status:<12} {path.stem}{why and ': ' + why}", flush=True)
    print(", ".join(f"{count} {status}" for status, count in counts.items()))
    return 1 if counts["differs"] else 0


def _verdict(finding: Finding, folder: str, record: bool) -> tuple[str, str]:
    try:
        came = [finding.run(folder) for _ in range(2)]
    except Absent as absent:
        return "skipped", str(absent)
    if came[0] != came[1]:
        return "differs", f"two runs differ: {came[0]!r}, {came[1]!r}"
    if record:
        text, block = finding.path.read_text(), "## Actual\n\n```text\n"
        finding.path.write_text(text.replace(block + finding.actual, block + came[0]))
        return "as recorded", "written"
    return ("as recorded", "") if came[0] == finding.actual else ("differs", f"now {came[0]!r}")


if __name__ == "__main__":
    sys.exit(main())
