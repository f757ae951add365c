"""What a rule is, and the rules themselves, read from ``specs/rules/*.toml`` (one file a chapter).

An error kind is a rule with ``refuses``; a warning kind one with ``warns``. PyTorch's wordings, by version,
lie beside it as patterns: they serve only to tell which kind an exception is, never as something compared.
Which rules hold for a release is said here; which release is being modelled lives in ``force``.

A rule's ``level`` says who meets it: ``core`` everybody, ``extended`` who looks closer. ``library`` is what
stands around the tensors: modules, context objects, Python's own protocols (float, copy, pickle), calls
that no program makes, and what shows only to who does not look. No step of a program can hold such a
thing, so these rules are witnessed by cases alone, and only where a namespace is shaped like torch;
generated programs are not asked to reach them.
"""

from __future__ import annotations

import operator
import re
import tomllib
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

RULES_DIR = Path(__file__).parent / "rules"

NEWEST = "2.15"
"""The newest torch release that the rules were measured on."""

_RELATIONS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "==": operator.eq}


@dataclass(frozen=True)
class Wording:
    """How one range of torch releases words a refusal or a warning; ``error`` where its class is not the
    rule's.
    """

    pattern: str
    torch: str = ">=2.11"
    error: str | None = None

    @cached_property
    def regex(self) -> re.Pattern[str]:
        return re.compile(self.pattern, re.DOTALL)


@dataclass(frozen=True)
class Departure:
    """Where torch itself does otherwise: ``what`` it does, in which releases, and where that is reported."""

    what: str
    issue: str
    torch: str = ">=2.11"


@dataclass(frozen=True)
class Rule:
    """A named statement about autograd's behaviour that a program can witness.

    ``id`` is ``chapter/what-is-so`` and permanent; ``says`` is the reference's own text of a
    refusal, with ``{fields}``.
    """

    id: str
    statement: str
    catches: str
    cites: tuple[str, ...]
    level: str = "core"
    since: str = "2.11"
    until: str | None = None
    depends: tuple[str, ...] = ()
    refuses: bool = False
    warns: bool = False
    error: str = "RuntimeError"
    says: str = ""
    wordings: tuple[Wording, ...] = field(default=())
    departs: Departure | None = None

    @property
    def chapter(self) -> str:
        return self.id.partition("/")[0]

    @property
    def in_programs(self) -> bool:
        """Whether programs can obey it or not: whether it speaks of tensors, not of what is built around
        them.
        """
        return self.level != "library"

    def holds_for(self, torch_version: str) -> bool:
        """Whether the rule speaks of that torch release."""
        release = version_key(torch_version)
        return version_key(self.since) <= release and (
            self.until is None or release < version_key(self.until)
        )

    def departed_by(self, torch_version: str) -> bool:
        """Whether that torch release is on record as doing otherwise; it does what the rule's mutant does."""
        return self.departs is not None and within(torch_version, self.departs.torch)

    def error_in(self, torch_version: str) -> str:
        """The Python class with which that torch release refuses."""
        said = (w.error for w in self.wordings if w.error and within(torch_version, w.torch))
        return next(said, self.error)


def version_key(text: str) -> tuple[int, ...]:
    """``"2.13.0+cpu"`` -> ``(2, 13, 0)``."""
    return tuple(int(part) for part in re.findall(r"\d+", text.partition("+")[0])[:3])


def within(version: str, bounds: str) -> bool:
    """Whether ``version`` keeps to bounds such as ``>=2.13,<2.15``."""
    return all(_keeps_to(version, bound) for bound in bounds.split(","))


def _keeps_to(version: str, bound: str) -> bool:
    found = re.fullmatch(r"\s*(>=|<=|==|>|<)\s*([\d.]+)\s*", bound)
    if found is None:
        raise ValueError(f"{bound!r} is no version bound")
    return _RELATIONS[found[1]](version_key(version), version_key(found[2]))


def _read(entry: dict) -> Rule:
    entry = dict(entry)
    entry["cites"] = tuple(entry.get("cites", ()))
    entry["depends"] = tuple(entry.get("depends", ()))
    entry["wordings"] = tuple(Wording(**wording) for wording in entry.get("wordings", ()))
    if "departs" in entry:
        entry["departs"] = Departure(**entry["departs"])
    return Rule(**entry)


def load(folder: Path = RULES_DIR) -> dict[str, Rule]:
    """Every rule below ``folder`` by id, in the order of the chapters' files; a repeated id is an error."""
    rules: dict[str, Rule] = {}
    for path in sorted(folder.glob("*.toml")):
        for entry in tomllib.loads(path.read_text(encoding="utf-8")).get("rule", ()):
            rule = _read(entry)
            if rule.id in rules:
                raise ValueError(f"{path.name}: rule {rule.id} is declared twice")
            rules[rule.id] = rule
    return rules


RULES = load()

TURNS = sorted(
    {since for rule in RULES.values() for since in (rule.since, rule.until) if since}, key=version_key
)
"""The releases from which on some rule begins or ceases to hold."""


@cache
def _kinds(warns: bool) -> tuple[tuple[str, str, re.Pattern[str]], ...]:
    return tuple(
        (rule.id, wording.error or rule.error, wording.regex)
        for rule in RULES.values()
        if (rule.warns if warns else rule.refuses)
        for wording in rule.wordings
    )


@cache
def classify(error: str, message: str) -> str | None:
    """The refusal that an exception of class name ``error`` with that ``message`` is, or None if no rule
    words it so.
    """
    return next((rule for rule, cls, regex in _kinds(False) if cls == error and regex.search(message)), None)


@cache
def classify_warning(message: str) -> str | None:
    """The warning rule that words ``message`` so, or None."""
    return next((rule for rule, _, regex in _kinds(True) if regex.search(message)), None)
