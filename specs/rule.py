"""Rules, read from ``specs/rules/*.toml`` (one file a chapter).

A kind of error is a rule with ``refuses``, a kind of warning one with ``warns``. PyTorch's wordings, by
version, are patterns beside it: they classify exceptions and are never compared. A rule knows the releases
for which it holds; the release that is modelled lives in ``active_rules``.

The ``level`` of a rule: ``core`` rules are met by every user, ``extended`` ones by users of rarer features.
``library`` rules are about things around the tensors: modules, context objects, Python's protocols (float,
copy, pickle), calls that programs do not make, and effects that observing would hide. No step of a program
can show those, so cases alone witness them, in torch-shaped namespaces only.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path

from specs.fact import FACTS, TOPOLOGY
from specs.tables import table

RULES_DIR = Path(__file__).parent / "rules"
DECIDES_FILE = Path(__file__).parent / "decides.toml"
"""The facts that each rule decides, as ``python -m benchmarks.kills --decides`` measured them."""

TORCH_SAYS_FILE = Path(__file__).parent / "torch_says.toml"
"""The texts of torch's refusals and warnings, as ``python -m benchmarks.torch_words`` heard them."""

DECIDABLE = (*FACTS, *TOPOLOGY, "outcome", "warnings", "calls")
"""The kinds of what is compared; ``grad`` stands for every fact of a grad."""

NEWEST = "2.15"
"""The newest torch release that the rules were measured on."""

_RELATIONS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "==": operator.eq}


@dataclass(frozen=True)
class Wording:
    """The text of a refusal or a warning in some torch releases; ``error`` if its class is not the rule's."""

    pattern: str
    torch: str = ">=2.11"
    error: str | None = None

    @cached_property
    def regex(self) -> re.Pattern[str]:
        return re.compile(self.pattern, re.DOTALL)


@dataclass(frozen=True)
class Departure:
    """A known divergence of torch from a rule: ``what`` it does instead, the report, and the releases."""

    what: str
    issue: str
    torch: str = ">=2.11"


@dataclass(frozen=True)
class Rule:
    """A named statement about autograd's behaviour that a program can witness.

    ``id`` is ``chapter/statement`` and permanent; ``says`` is the reference's own text of a refusal, with
    ``{fields}``, and ``torch_says`` is torch's, with ``...`` for what the reference does not know. ``cure``
    says what to do about it, with ``{tensor}`` for the name of the tensor to act on. ``decides`` are the
    kinds of facts that are different without it, of DECIDABLE.
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
    decides: tuple[str, ...] = ()
    cure: str | None = None
    torch_says: str = ""

    @property
    def chapter(self) -> str:
        return self.id.partition("/")[0]

    @property
    def in_programs(self) -> bool:
        """True if a program can witness it: it is about tensors, not about the library around them."""
        return self.level != "library"

    def holds_for(self, torch_version: str) -> bool:
        """True if the rule holds for that torch release."""
        release = version_key(torch_version)
        return version_key(self.since) <= release and (
            self.until is None or release < version_key(self.until)
        )

    def departed_by(self, torch_version: str) -> bool:
        """True if that torch release is known to diverge; it then behaves as the rule's mutant does."""
        return self.departs is not None and within(torch_version, self.departs.torch)

    def error_in(self, torch_version: str) -> str:
        """Return the name of the exception class with which that torch release refuses: that of its first
        wording.
        """
        said = next((w for w in self.wordings if within(torch_version, w.torch)), None)
        return (said and said.error) or self.error


@cache
def version_key(text: str) -> tuple[int, ...]:
    """``"2.13.0+cpu"`` -> ``(2, 13, 0)``."""
    return tuple(int(part) for part in re.findall(r"\d+", text.partition("+")[0])[:3])


def within(version: str, bounds: str) -> bool:
    """True if ``version`` is within bounds such as ``>=2.13,<2.15``."""
    return all(_satisfies(version, bound) for bound in bounds.split(","))


def _satisfies(version: str, bound: str) -> bool:
    found = re.fullmatch(r"\s*(>=|<=|==|>|<)\s*([\d.]+)\s*", bound)
    if found is None:
        raise ValueError(f"{bound!r} is no version bound")
    return _RELATIONS[found[1]](version_key(version), version_key(found[2]))


def _read(entry: dict, decides: Mapping[str, Sequence[str]]) -> Rule:
    entry = dict(entry)
    entry["decides"] = tuple(decides.get(entry["id"], ()))
    entry["cites"] = tuple(entry.get("cites", ()))
    entry["depends"] = tuple(entry.get("depends", ()))
    entry["wordings"] = tuple(Wording(**wording) for wording in entry.get("wordings", ()))
    if "departs" in entry:
        entry["departs"] = Departure(**entry["departs"])
    return Rule(**entry)


def load_decides(file: Path = DECIDES_FILE) -> dict[str, tuple[str, ...]]:
    """Read the facts that each rule decides; raises ValueError for a fact that there is not."""
    found = table(file)
    for rule, facts in found.items():
        if unknown := set(facts) - set(DECIDABLE):
            raise ValueError(f"{file.name}: {rule} decides {', '.join(sorted(unknown))}, which is no fact")
    return {rule: tuple(facts) for rule, facts in found.items()}


def load(folder: Path = RULES_DIR) -> dict[str, Rule]:
    """Read all rules below ``folder``, by id, in the order of the files; a repeated id is an error."""
    decides = load_decides()
    texts = table(TORCH_SAYS_FILE) if TORCH_SAYS_FILE.exists() else {}
    rules: dict[str, Rule] = {}
    for path in sorted(folder.glob("*.toml")):
        for entry in table(path).get("rule", ()):
            rule = replace(_read(entry, decides), torch_says=texts.get(entry["id"], ""))
            if rule.id in rules:
                raise ValueError(f"{path.name}: rule {rule.id} is declared twice")
            rules[rule.id] = rule
    return rules


RULES = load()

CHANGING_RELEASES = sorted(
    {since for rule in RULES.values() for since in (rule.since, rule.until) if since}, key=version_key
)
"""Releases at which some rule begins or ceases to hold."""


@cache
def _kinds(warns: bool) -> tuple[tuple[str, str, re.Pattern[str]], ...]:
    return tuple(
        (rule.id, wording.error or rule.error, wording.regex)
        for rule in RULES.values()
        if (rule.warns if warns else rule.refuses)
        for wording in rule.wordings
    )


RAISED_AS = {"AcceleratorError": "RuntimeError"}
"""Subclasses in which torch raises what a device itself refuses, and the classes that rules name."""


@cache
def classify(error: str, message: str, release: str = NEWEST) -> str | None:
    """Return the rule of a refusal, given its class name and message: the first of those that hold for the
    release of torch, else of all; None if no rule has that wording.
    """
    error = RAISED_AS.get(error, error)
    first = None
    for rule, kind, regex in _kinds(False):
        if kind == error and regex.search(message):
            if RULES[rule].holds_for(release):
                return rule
            first = first or rule
    return first


@cache
def classify_warning(message: str) -> str | None:
    """Return the rule of a warning with that message; None if no rule has that wording."""
    return next((rule for rule, _, regex in _kinds(True) if regex.search(message)), None)
