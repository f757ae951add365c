"""The command: run PyTorch's own tests on the reference, and say which fail and why."""

from __future__ import annotations

import argparse
import sys
import tomllib
from pathlib import Path

from benchmarks.pytorch_own.run import FILES, load, outcomes

HERE = Path(__file__).parent
HINT = """\
{missing} is missing. The tests are PyTorch's and not part of this repository; fetch them from its sources:
  git clone --depth 1 --branch v2.6.0 https://github.com/pytorch/pytorch
and give --tests pytorch/test (needed: test/test_autograd.py and test/autograd/)."""


def main(argv: list[str] | None = None) -> int:
    """0 if exactly the tests on record fail, 1 if others do or one of them passes, 2 on bad usage."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pytorch_own", description=__doc__)
    parser.add_argument("--tests", type=Path, help="the test folder of PyTorch's sources, release 2.6")
    parser.add_argument("--module", default="reference_impl", help="what to run them on instead of torch")
    parser.add_argument("--tier", choices=("core", "plus", "all"), help="only the tests of this tier")
    parser.add_argument("--list", type=Path, default=HERE / "tests.toml", help="the tests, by tier")
    parser.add_argument("--failures", type=Path, default=HERE / "failures.toml", help="failures on record")
    asked = parser.parse_args(argv)
    folder: Path = asked.tests or Path("pytorch/test")
    for file in FILES:
        if not (folder / file).is_file():
            print(HINT.format(missing=folder / file), file=sys.stderr)
            return 2
    tiers = {
        tier: [f"{case}.{name}" for case, names in cases.items() for name in names]
        for tier, cases in tomllib.loads(asked.list.read_text()).items()
        if asked.tier in (None, tier)
    }
    record = tomllib.loads(asked.failures.read_text())
    changes, failing = record.get("changed", {}), record.get("failing", {})
    loaded = load(folder.resolve(), asked.module)
    bad = False
    for tier, names in tiers.items():
        changed = [name for name in names if name in changes]
        found = outcomes(loaded, [name for name in names if name not in changes])
        passed = sum(why is None for why in found.values())
        print(f"{tier}: {passed} of {len(found)} pass; {len(changed)} not run, PyTorch has changed since")
        for name, why in found.items():
            known = failing.get(name)
            bad = bad or (why is None) == (known is not None)
            if why is None and known is not None:
                print(f"  STALE  {name} passes; on record: {known['cause']}")
            elif why is not None and known is None:
                print(f"  NEW    {name}\n         {why}")
            elif known is not None:
                print(f"  listed {name}\n         {known['cause']}; needs {known['needs']}")
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
