"""Results of mutations, kept line by line so that a run can go on; and the reasons why some survive."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.mutations.trial import Result

SURVIVORS = Path(__file__).with_name("survivors.toml")
KINDS = {
    "equivalent": "nothing that it computes is another",
    "unseen": "what is another is no fact of autograd: a message's words, memory, speed",
    "gap": "a case or a program should notice it",
}
"""The kinds of reasons in survivors.toml; the first two do not count as survivors."""


@dataclass
class Record:
    """Results of mutations by their names, in a file if there is one."""

    path: Path | None = None
    results: dict[str, Result] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.read()

    def read(self) -> None:
        """Read what is in the file by now: several runs may share it."""
        if self.path is not None and self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                self.results[entry["id"]] = Result(entry["kind"], entry["what"])

    def keep(self, id: str, result: Result) -> None:
        """Add what came of a mutation."""
        self.results[id] = result
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"id": id, "kind": result.kind, "what": result.what}) + "\n")


@dataclass(frozen=True)
class Score:
    """The count of mutations that somebody can notice, and of those that were: by cases, and in all."""

    tried: int
    noticeable: int
    by_cases: int
    noticed: int
    unlisted: tuple[str, ...]

    @staticmethod
    def of(ids: Iterable[str], record: Record, reasons: dict[str, dict[str, str]]) -> Score:
        """The score of the mutations that were tried."""
        excused = {id for kind in ("equivalent", "unseen") for id in reasons[kind]}
        tried = [id for id in ids if id in record.results]
        alive = [id for id in tried if record.results[id].alive]
        counted = [id for id in tried if id not in alive or id not in excused]
        cases = sum(record.results[id].kind in ("case", "import") for id in counted)
        listed = excused | reasons["gap"].keys()
        return Score(
            len(tried),
            len(counted),
            cases,
            len(counted) - len(set(counted) & set(alive)),
            tuple(id for id in alive if id not in listed),
        )


def survivors_on_record() -> dict[str, dict[str, str]]:
    """The mutations that survive, by the kind of reason, each with its reason."""
    read = tomllib.loads(SURVIVORS.read_text(encoding="utf-8"))
    return {kind: dict(read.get(kind, {})) for kind in KINDS}
