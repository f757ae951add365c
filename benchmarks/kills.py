"""Count the generated programs needed to notice that a rule is gone: ``python -m benchmarks.kills``.

Each rule is knocked out of the reference in turn and the mutant is compared with the reference itself, on the
same drawn programs, until one tells them apart. A mutant is only run on programs in which its rule fired:
elsewhere it is the reference.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from conformance.adapters import load
from conformance.comparison.compare import Agree, compare
from conformance.execution.run import run
from conformance.generate.guide.guide import draw
from conformance.generate.state.choices import Prng
from reference_impl.base.rules import knocked_out
from specs.rule import RULES


@dataclass(frozen=True)
class Kills:
    """Per rule the number of programs until its mutant was told apart; what was not, in ``alive``."""

    programs: int
    seed: int
    after: dict[str, int]
    alive: tuple[str, ...]

    @property
    def geometric_mean(self) -> float:
        """Over the killed."""
        return math.exp(sum(map(math.log, self.after.values())) / max(len(self.after), 1))


def kills(programs: int = 5000, seed: int = 1, console: Console | None = None) -> Kills:
    """Draw programs until every rule's mutant is dead, at most ``programs``."""
    reference = load("reference")
    alive = {rule.id for rule in RULES.values() if rule.in_programs and rule.holds_for(reference.torch)}
    after: dict[str, int] = {}
    for index in track(range(programs), "programs", console=console, disable=console is None):
        if not alive:
            break
        drawn = draw(Prng(seed, index), reference)
        assert drawn.trace is not None
        reached = {
            rule for seen in drawn.trace.observations for rule in (*seen.fired, *(seen.warnings or ()))
        }
        for rule in sorted(alive & reached):
            with knocked_out(rule):
                mutant = run(drawn.program, reference, drawn.density)
            if not isinstance(compare(drawn.trace, mutant), Agree):
                after[rule] = index + 1
                alive.discard(rule)
    return Kills(programs, seed, dict(sorted(after.items(), key=lambda item: -item[1])), tuple(sorted(alive)))


def main(
    programs: Annotated[int, typer.Option(min=1, help="Give up on a mutant after so many programs.")] = 5000,
    seed: Annotated[int, typer.Option(min=0)] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Report the programs to a kill, rule by rule, and their geometric mean."""
    out = Console(stderr=as_json)
    found = kills(programs, seed, out)
    if as_json:
        print(json.dumps(asdict(found) | {"geometric_mean": found.geometric_mean}, indent=2))
        return
    for rule, count in found.after.items():
        out.print(f"{count:6d}  {rule}")
    for rule in found.alive:
        out.print(f" alive  {rule}")
    dead = len(found.after)
    out.print(f"{dead} of {dead + len(found.alive)} mutants killed")
    out.print(f"geometric mean {found.geometric_mean:.1f} programs to a kill")


if __name__ == "__main__":
    typer.run(main)
