"""Files of expectations: reading one, with an error for each entry that names nothing, and writing one.

What an expectation is lives in ``conformance.report.expectation``, whether it is met in ``by_design``.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from conformance.execution.claims import known_ops
from conformance.grading.arguments import LIMITS
from conformance.input_files import TEXT, read_lines
from conformance.program.parsing import ProgramError, parse
from conformance.report.expectation import ANY, NO_RULE, Example, Expectation
from specs.case import cases
from specs.fact import DENSITIES
from specs.rule import RULES, within

KEYS = ("rule", "cause", "case", "needs", "program", "density", "reason", "link", "flaky", "when")
WHEN = ("version", "device")
_CAUSE = re.compile(r"(\S+) by (\S+) after (\S+)")
FORM = "`grade IMPL --write-expect FILE` writes the form; docs/expectations.md explains it"


class ExpectationError(ValueError):
    """A file of expectations that cannot be used: the problem, and a hint."""

    def __init__(self, problem: str, hint: str = FORM) -> None:
        self.problem, self.hint = problem, hint
        super().__init__(f"{problem} (hint: {hint})")


@dataclass(frozen=True, slots=True)
class Expectations:
    """Entries of a file, its examples, and the number of ``programs`` that it was written for, if it says
    so.
    """

    entries: tuple[Expectation, ...] = ()
    examples: tuple[Example, ...] = ()
    programs: int | None = None


def read_expectations(path: Path, *, reasons: bool = True) -> Expectations:
    """Read a file; each entry needs a reason, unless ``reasons`` is false.

    Raises ExpectationError for what is no entry, or names nothing that there is.
    """
    try:
        found = tomllib.loads(read_lines(path, TEXT))
    except OSError as error:
        raise ExpectationError(
            f"cannot read {path}: {error.strerror}", "give the path of a TOML file"
        ) from None
    except ValueError as error:
        raise ExpectationError(f"{path} is no TOML: {error}") from None
    _known(f"{path} has the unknown key", found, ("expect", "example", "programs"))
    programs = found.get("programs")
    least, most = LIMITS["programs"]
    if programs is not None and (type(programs) is not int or not least <= programs <= most):
        raise ExpectationError(f"{path}: programs is {programs!r:.60}", f"a number from {least} to {most:,}")
    entries = [
        _entry(f"{path}, entry {number}", each, reasons)
        for number, each in enumerate(_tables(path, found, "expect"), 1)
    ]
    examples = [
        _example(f"{path}, example {number}", each)
        for number, each in enumerate(_tables(path, found, "example"), 1)
    ]
    if len(set(entries)) < len(entries):
        twice = next(entry for entry in entries if entries.count(entry) > 1)
        raise ExpectationError(f"{path} has two entries alike: {twice.label}", "take one out")
    return Expectations(tuple(entries), tuple(dict.fromkeys(examples)), programs)


def _tables(path: Path, found: dict[str, Any], name: str) -> list[dict[str, Any]]:
    listed = found.get(name, [])
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise ExpectationError(f"{path}: {name} is no list of tables", f"write each under [[{name}]]")
    return listed


def _example(where: str, held: dict[str, Any]) -> Example:
    _known(f"{where} has the unknown key", held, ("program", "density"))
    if not held.get("program") or not all(isinstance(value, str) for value in held.values()):
        raise ExpectationError(f"{where} has no program", "an example is a program, as text")
    example = Example(**{key: value.strip() for key, value in held.items()})
    _check_program(where, example)
    return example


def _entry(where: str, held: dict[str, Any], reasons: bool) -> Expectation:
    _known(f"{where} has the unknown key", held, KEYS)
    when = held.get("when", {})
    if not isinstance(when, dict):
        raise ExpectationError(
            f"{where}: when is no table", 'write when = { version = ">=1.0", device = "cpu" }'
        )
    _known(f"{where}: when has the unknown key", when, WHEN)
    fields = {key: value for key, value in (held | when).items() if key != "when"}
    for key, value in fields.items():
        if not isinstance(value, bool if key == "flaky" else str):
            raise ExpectationError(
                f"{where}: {key} is {value!r:.60}", "flaky is true or false, all else is text"
            )
    stripped: dict[str, Any] = {key: v.strip() if isinstance(v, str) else v for key, v in fields.items()}
    entry = Expectation(**stripped)
    if reasons and not entry.reason:
        raise ExpectationError(
            f"{where} ({entry.label}) has no reason", "say why this is by design, in its reason"
        )
    _check(where, entry)
    return entry


def _check(where: str, entry: Expectation) -> None:
    """Refuse an entry that names nothing."""
    if not (entry.rule or entry.cause or entry.case) or (entry.rule and entry.cause):
        raise ExpectationError(f"{where} says not what it expects", "give it a rule, a cause or a case")
    if entry.needs and not (entry.rule or entry.cause):
        raise ExpectationError(f"{where} needs operations, and speaks of a case", "take them out")
    ids = [case.id for case in cases()]
    for what, name, there in (("rule", entry.rule, RULES), ("case", entry.case, ids)):
        if name:
            _known(f"{where} names the unknown {what}", [name], there)
    if entry.cause:
        parts = _CAUSE.fullmatch(entry.cause)
        if parts is None:
            raise ExpectationError(f"{where}: no cause is {entry.cause!r}", "FACT by RULE after OPERATION")
        _known(f"{where} names the unknown rule", [parts[2]], (*RULES, NO_RULE, ANY))
        if ANY in (parts[2], parts[3]) and not entry.needs:
            raise ExpectationError(f"{where}: {ANY} is wide", "say which operations it needs")
    _known(f"{where} needs the unknown operation", entry.operations, known_ops())
    try:
        within("1", entry.version or ">=0")
    except ValueError as error:
        raise ExpectationError(f"{where}: {error}", 'bounds are such as ">=1.0,<2"') from None
    _check_program(where, entry)


def _check_program(where: str, shown: Expectation | Example) -> None:
    _known(f"{where} names the unknown density", [shown.density], DENSITIES)
    try:
        _ = shown.program and parse(shown.program)
    except ProgramError as error:
        line = f"line {error.line}: " if error.line and not error.problem.startswith("line ") else ""
        hint = error.hint or "a program is straight-line PyTorch"
        raise ExpectationError(f"{where}: its program: {line}{error.problem}", hint) from None


def _known(problem: str, names: Iterable[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, 1, 0.5)
            raise ExpectationError(f"{problem} {name!r}", f"did you mean {near[0]!r}?" if near else FORM)


def text_of(expectations: Expectations) -> str:
    """Return the text of a file; reading it gives the same again."""
    listed: list[Expectation | Example] = [*expectations.examples, *expectations.entries]
    programs = "" if expectations.programs is None else f"\nprograms = {expectations.programs}\n"
    return HEAD + programs + "".join(map(_table, listed))


HEAD = """# Differences that are by design: with `grade IMPL --expect FILE` they fail nothing, unless they are
# gone. Examples are run whatever the seed draws. Every entry needs a reason.
"""


def _table(entry: Expectation | Example) -> str:
    if isinstance(entry, Example):
        return "\n".join(["", "[[example]]", *_observed(entry)]) + "\n"
    lines = ["", "[[expect]]"]
    for key in ("rule", "cause", "case", "needs"):
        if value := getattr(entry, key):
            lines.append(f"{key} = {_quoted(value)}")
    lines.append(f"reason = {_quoted(entry.reason)}")
    if entry.link:
        lines.append(f"link = {_quoted(entry.link)}")
    when: Mapping[str, str] = {key: value for key in WHEN if (value := getattr(entry, key))}
    if when:
        lines.append(f"when = {{ {', '.join(f'{key} = {_quoted(value)}' for key, value in when.items())} }}")
    if entry.flaky:
        lines.append("flaky = true")
    return "\n".join([*lines, *_observed(entry)]) + "\n"


def _observed(shown: Expectation | Example) -> Iterator[str]:
    if shown.density != "each":
        yield f"density = {_quoted(shown.density)}"
    if shown.program:
        yield f"program = {_block(shown.program)}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _block(text: str) -> str:
    plain = "'''" not in text and not text.endswith("'")
    if not plain or any(not c.isprintable() and c != "\n" for c in text):
        return _quoted(text)
    return f"'''\n{text}\n'''"
