"""The format of recordings: torch's traces of cases and drawn programs on one device, one JSON value a line.

The first line says where they come from, the last how many lines there are and their SHA-256, each other what
became of one case or program; ``recorded.schema.json`` beside the specs describes all three. Here lives the
form; how a recording is made lives in ``record``, how an implementation is held against one in ``replay``.

A trace is kept short by writing only what is news: of a name that was seen before the facts that changed, of
a new one those in which it is not what `_new` says. Words of refusals are not kept, since they are not
compared.
"""

from __future__ import annotations

import ast
import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import specs
from conformance.execution.claims import known_ops
from conformance.execution.json_form import FORMAT as TRACE_FORMAT
from conformance.execution.json_form import to_json, trace_from_json, trace_to_json
from conformance.execution.trace import Trace
from conformance.input_files import DATA, read_file
from conformance.program.checked import parse_checked
from conformance.program.parsing import ProgramError
from conformance.program.printing import to_text
from conformance.recordings.seal import FORMAT, RecordingError, sealed, to_line, unsealed
from specs.case import Case
from specs.fact import FACTS, GRAD_FACTS, TOPOLOGY

FOLDER = Path(specs.__file__).parent / "recorded"
"""The folder of the recordings that come with the project."""

TORCH = "torch"
Entry = dict[str, Any]


class Stale(ValueError):
    """The error of a record whose text is not the case's any more, or no program's."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a recording: its first line.

    `device` is what stood for `cuda` (cuda, standin or cpu), `device_name`, `driver` and `cuda` (the version
    of the CUDA runtime) are None where there is nothing to say; `left_out` names what was not recorded, by
    why.
    """

    torch: str
    device: str
    device_name: str | None
    driver: str | None
    cuda: str | None
    machine: str
    versions: Mapping[str, str]
    source: str
    seed: int
    drawn: int
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def release(self) -> str:
        """The torch release that a reference must model to be compared."""
        return self.torch.partition("+")[0]


@dataclass(frozen=True, slots=True)
class Recording:
    """The origin of a recording and its lines: by case id, and by the number of the drawn program."""

    name: str
    origin: Origin
    cases: Mapping[str, Entry]
    programs: Mapping[int, Entry]

    def trace(self, form: Entry) -> Trace:
        """The trace of one of its lines; raises as `trace_of` does, and says which it is."""
        try:
            return trace_of(form)
        except RecordingError as error:
            which = f"case {form['case']}" if "case" in form else f"program {form['program']}"
            raise RecordingError(f"{self.name}, {which}: {error.problem}") from None


# files


def to_lines(origin: Origin, entries: Iterable[Entry]) -> Iterator[str]:
    """Yield the lines of a recording, each with its end; the last one counts and seals the others."""
    return sealed(map(to_line, itertools.chain([{"format": FORMAT, **asdict(origin)}], entries)))


def parse_recording(name: str, data: bytes) -> tuple[Entry, ...]:
    """Return the JSON values of a recording's lines, but for the last; raises RecordingError."""
    forms = []
    for number, line in enumerate(unsealed(name, data), 1):
        try:
            forms.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise RecordingError(f"{name} is no JSON there: {error}", number) from None
    return tuple(forms)


def recording(name: str, forms: Iterable[Entry]) -> Recording:
    """The recording that these lines make, if they keep to the schema; raises RecordingError where one is
    there twice.
    """
    head, *entries = forms
    fields = {key: value for key, value in head.items() if key != "format"}
    left_out = {why: tuple(names) for why, names in fields.pop("left_out").items()}
    cases: dict[str, Entry] = {}
    programs: dict[int, Entry] = {}
    for number, form in enumerate(entries, 2):
        key, held = ("case", cases) if "case" in form else ("program", programs)
        if form[key] in held:
            raise RecordingError(f"{name}: {key} {form[key]} is there twice", number)
        held[form[key]] = form
    return Recording(name, Origin(**fields, left_out=left_out), cases, programs)


@cache
def read_recording(path: Path) -> Recording:
    """The recording in a file; raises RecordingError or OSError."""
    return recording(path.stem, parse_recording(path.name, read_file(path, DATA)))


def in_place(folder: Path = FOLDER) -> tuple[Path, ...]:
    """The files of the recordings that come with the project."""
    return tuple(sorted(folder.glob("*.jsonl")))


# traces


def trace_form(trace: Trace) -> Entry:
    """A trace in short: its density, its program as a script, and what was news at each step."""
    whole = trace_to_json(trace)
    known: dict[str, Entry] = {}
    form: Entry = {"density": trace.density, "script": to_text(trace.program), "steps": []}
    for seen in whole["observations"]:
        step: Entry = {}
        if "done" not in seen["outcome"]:
            step["outcome"] = {key: value for key, value in seen["outcome"].items() if key != "message"}
        if seen.get("warnings", True):
            step["warnings"] = seen.get("warnings")
        if seen.get("calls"):
            step["calls"] = [call | {"given": _each(_short, call["given"])} for call in seen["calls"]]
        if seen["facts"]:
            step["seen"] = {name: _news(known.get(name), facts) for name, facts in seen["facts"].items()}
            known.update(seen["facts"])
        form["steps"].append(step)
    if "wiring" in whole:
        form["wiring"] = {
            name: _news(_alone(name, known[name]), facts) for name, facts in whole["wiring"].items()
        }
    return form


def trace_of(form: Entry) -> Trace:
    """The trace of its short form; raises Stale where its script is no longer read as the same program,
    RecordingError where what was seen cannot be of that program.
    """
    try:
        program = parse_checked(form["script"], known_ops().__contains__)
    except ProgramError as error:
        raise Stale(str(error)) from error
    if to_text(program) != form["script"]:
        raise Stale("the script is no longer read as it is written")
    if len(program) != len(form["steps"]):
        raise RecordingError(f"{len(form['steps'])} steps are on record of a program of {len(program)}")
    known: dict[str, Entry] = {}
    observations = [_observation(step, known) for step in form["steps"]]
    whole = {
        "format": TRACE_FORMAT,
        "adapter": TORCH,
        "density": form["density"],
        "program": to_json(program),
        "observations": observations,
    }
    if "wiring" in form:
        last = observations[-1]["facts"]
        if set(form["wiring"]) != {name for name, facts in last.items() if "plain" not in facts}:
            raise RecordingError("the wiring on record is not that of the tensors live in the end")
        whole["wiring"] = {
            name: _after(_alone(name, last[name]), news) for name, news in form["wiring"].items()
        }
    return replace(trace_from_json(whole), program=program, complete=True)


def _observation(step: Entry, known: dict[str, Entry]) -> Entry:
    """Return an observation in full, from what is `known` of the names so far; bring that up to date."""
    facts = {name: _after(known.get(name), news) for name, news in step.get("seen", {}).items()}
    known.update(facts)
    whole: Entry = {"outcome": step.get("outcome", {"done": True}), "facts": facts}
    if step.get("warnings", True) is not None:
        whole["warnings"] = step.get("warnings", [])
    if "calls" in step:
        whole["calls"] = [call | {"given": _each(_long, call["given"])} for call in step["calls"]]
    return whole


@cache
def digest(case: Case) -> str:
    """Return a digest of the text of a case that is no program, and of what it calls of its chapter, without
    their layout and its docstring. It is the same on every Python.
    """
    (function,) = ast.parse(case.text).body
    assert isinstance(function, ast.FunctionDef)
    parts = [*function.body[1:], *map(ast.parse, case.helpers)]
    return hashlib.sha256("\n".join(map(_structure, parts)).encode()).hexdigest()[:12]


def _structure(node: Any) -> str:
    """Spell a syntax tree without what is empty: fields that a later release of Python adds are so."""
    if isinstance(node, list):
        return f"[{', '.join(map(_structure, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    filled = [(name, value) for name, value in ast.iter_fields(node) if value not in (None, [])]
    return f"{type(node).__name__}({', '.join(f'{name}={_structure(value)}' for name, value in filled)})"


# what is news


def _news(before: Entry | None, now: Entry) -> Entry:
    """The facts that are not as before, and under `unseen` those that were seen before only."""
    if "plain" in now:
        return {} if before is not None and _same(before, now) else now
    if before is None or "plain" in before:
        before = _new(now.get("value"), now.get("grad_fn"))
    news = {fact: held for fact, held in now.items() if fact not in before or not _same(before[fact], held)}
    if isinstance(news.get("grad"), dict):
        news["grad"] = _short(news["grad"], now)
    gone = [fact for fact in before if fact not in now]
    return news | {"unseen": gone} if gone else news


def _after(before: Entry | None, news: Entry) -> Entry:
    """The facts that such news leaves; the inverse of `_news`."""
    if "plain" in news or (not news and before is not None):
        return before if before is not None and not news else news
    if before is None or "plain" in before:
        before = _new(news.get("value"), news.get("grad_fn"))
    gone = news.get("unseen", ())
    now = {fact: held for fact, held in (before | news).items() if fact not in gone and fact != "unseen"}
    if isinstance(news.get("grad"), dict):
        now["grad"] = _long(news["grad"], now)
    return {fact: now[fact] for fact in (*FACTS, *TOPOLOGY) if fact in now}


def _new(value: Any, node: Any) -> Entry:
    """Return the facts that a name's first tensor is taken to have, by its value and the node that
    made it.
    """
    leaf = node is None
    return {
        "dtype": "float32",
        "shape": _sizes(value),
        "device": "cpu",
        "is_leaf": leaf,
        "requires_grad": not leaf,
        "retains_grad": False,
        "grad_fn": None,
        "output_nr": 0,
        "is_view": False,
        "version": 0,
    } | ({"grad": None} if leaf else {})


def _grad(value: Any, of: Entry) -> Entry:
    """Return the facts that a gradient is taken to have, by its value and the tensor that it is of."""
    return {
        "dtype": of.get("dtype"),
        "shape": _sizes(value),
        "device": of.get("device"),
        "requires_grad": False,
        "is_leaf": True,
        "grad_fn": None,
    }


_GIVEN = {"dtype": "float32", "device": "cpu"}
"""Of what a function's argument is taken to be a gradient."""


def _short(grad: Entry, of: Entry = _GIVEN) -> Entry:
    """A gradient's facts but for those that go without saying."""
    if "value" not in grad:  # its reading failed
        return grad
    taken = _grad(grad["value"], of)
    return {fact: held for fact, held in grad.items() if fact not in taken or not _same(taken[fact], held)}


def _long(grad: Entry, of: Entry = _GIVEN) -> Entry:
    """All of a gradient's facts; the inverse of `_short`."""
    if "value" not in grad:
        return grad
    taken = _grad(grad["value"], of) | grad
    return {fact: taken[fact] for fact in GRAD_FACTS}


def _each(change: Any, given: Any) -> Any:
    """Return what a function was given, with each gradient in it changed."""
    if isinstance(given, list):
        return [_each(change, item) for item in given]
    return change(given) if isinstance(given, dict) else given


def _alone(name: str, facts: Entry) -> Entry:
    """Return the topology that a tensor is taken to have: it shares nothing."""
    strides: list[int] = []
    size = 1
    shape = facts.get("shape")
    for extent in reversed(shape if isinstance(shape, list) else []):
        if extent != 1:
            strides.insert(0, size)
        size *= extent
    return {"history": None, "age": [], "memory": [name, 0, strides] if size else [name], "grad_memory": None}


def _sizes(value: Any) -> list[int]:
    """The sizes of nested lists."""
    sizes = []
    while isinstance(value, list):
        sizes.append(len(value))
        value = value[0] if value else None
    return sizes


def _same(x: Any, y: Any) -> bool:
    """Tell whether two JSON values are the same to the letter: 1 is not 1.0 here, nor 0.0 minus zero."""
    return x is y or repr(x) == repr(y)
