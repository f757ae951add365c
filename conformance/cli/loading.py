"""Load the adapters and files that a command names, with one clear line where that fails."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated, Any

import typer

from conformance import adapters
from conformance.adapters.capabilities import DEVICE_VARIABLE, IMPORT_VARIABLE
from conformance.adapters.errors import AdapterError
from conformance.cli.trouble import Trouble
from conformance.execution.claims import known_ops
from conformance.grading.arguments import LIMITS
from conformance.grading.participants import TORCH, meet_torch
from conformance.input_files import DATA, TEXT, read_file, read_lines
from conformance.program import Program
from conformance.program.checked import parse_checked
from conformance.program.parsing import ProgramError
from conformance.recordings.format import FOLDER, in_place, parse_recording, read_recording
from conformance.recordings.seal import RecordingError
from conformance.report import Verdict
from conformance.report.exit_codes import SUITE_FAILED
from conformance.report.files import is_special_file, write_file

MADE_BY = "a recording is what `autograd-conformance record` writes"
CONTRACT = "the adapter contract stands at the top of conformance/adapters/__init__.py"


AUTO = "auto"
"""The first device that there is."""

DeviceOption = Annotated[
    str,
    typer.Option(
        "--device",
        envvar=DEVICE_VARIABLE,
        show_envvar=False,  # too long for its column on 80
        metavar="KIND",
        help="What `cuda` in programs is under torch: a real device, a stand-in built for this torch by the "
        "C++ compiler that is there, or nothing: cuda, standin or cpu. auto takes the first that there is. "
        "Any other type of device that torch knows stands for it, too: mps, xpu.",
    ),
]


ImportOption = Annotated[
    list[str] | None,
    typer.Option(
        "--import",
        metavar="MODULE",
        help="Import it beside torch, everywhere: a backend from outside of torch, whose --device it is.",
    ),
]


def number_option(name: str, help: str) -> Any:
    """Return the option of a whole number within the limits of ``LIMITS``."""
    least, most = LIMITS[name]
    return typer.Option(min=least, max=most, help=help)


def use(device: str, modules: Iterable[str] | None = None) -> None:
    """Have torch, here and in processes that are started, take that for `cuda`, and import these modules."""
    if re.fullmatch(r"\w+(:\w+)?", device) is None:
        raise Trouble(f"{device!r:.60} is no name of a device", "give cuda, standin, cpu or a type as mps")
    os.environ[DEVICE_VARIABLE] = device
    if modules:
        for name in modules:
            if not all(map(str.isidentifier, name.split("."))):
                raise Trouble(f"{name!r:.60} is no name of a module", "give what `import` takes")
        os.environ[IMPORT_VARIABLE] = ",".join(modules)


def load_adapter(spec: str) -> Any:
    """The adapter that ``spec`` names; one that is found and then raises is broken, not misnamed."""
    with _troubles():
        return adapters.load(spec)


def load_for_grading(*specs: str) -> None:
    """Load adapters as `load_adapter` does; torch, which takes long to import, where programs are run."""
    with _troubles():
        for spec in specs:
            if spec == TORCH:
                meet_torch()
            adapters.load(spec)


@contextmanager
def _troubles() -> Iterator[None]:
    """Tell of an adapter that cannot be loaded as of any trouble."""
    try:
        yield
    except AdapterError as exc:
        raise Trouble(exc.problem, exc.hint or CONTRACT, Verdict(exc.code)) from exc


def known_to_somebody(op: str) -> bool:
    """Tell whether an operation is one that programs are drawn of, or that the reference has."""
    return op in known_ops() or adapters.load("reference").knows(op)


def load_program(path: Path) -> Program:
    """The program that a file holds in PyTorch text."""
    hint = "run takes one operation a line; `autograd-conformance explain` takes any script"
    try:
        program = parse_checked(read_lines(path, TEXT, "utf-8-sig"), known_to_somebody)
    except OSError as exc:
        raise Trouble(f"cannot read {path}: {exc.strerror}", "give the path of a PyTorch script") from exc
    except ProgramError as exc:
        where = f", line {exc.line}" if exc.line else ""
        raise Trouble(f"{path}{where}: {exc.problem}", exc.hint or hint) from exc
    except UnicodeDecodeError as exc:
        raise Trouble(f"{path} is not text", hint) from exc
    except SyntaxError as exc:
        raise Trouble(f"{path}, line {exc.lineno}: {exc.msg}", hint) from exc
    if not program.steps:
        raise Trouble(f"{path} holds no step", hint)
    return program


def load_recordings(paths: list[Path] | None) -> list[Path]:
    """The files given, or those that come with the project, each checked to be a recording."""
    found = list(in_place()) if paths is None else paths
    if not found:
        raise Trouble(f"there is no recording in {FOLDER}", "`autograd-conformance record` makes one")
    for path in found:
        with readable():
            _check_recording(path)
    return found


def _check_recording(path: Path) -> None:
    from conformance.cli.validating import first_error, validator  # it imports for long

    try:
        forms = parse_recording(path.name, read_file(path, DATA))
    except OSError as exc:
        raise Trouble(f"cannot read {path}: {exc.strerror}", MADE_BY) from exc
    line = validator("recorded")
    for number, form in enumerate(forms, 1):
        wrong = first_error(line, form)
        if wrong is not None:
            at = wrong.json_path.removeprefix("$.")
            raise RecordingError(f"{path.name}: {at}: {wrong.message:.200}", number)
    read_recording(path)


@contextmanager
def readable() -> Iterator[None]:
    """Have what is wrong with a recording told in a line."""
    try:
        yield
    except RecordingError as exc:
        where = f"line {exc.line}: " if exc.line else ""
        raise Trouble(f"{where}{exc.problem}", MADE_BY) from exc


def write_reports(texts: Mapping[Path, str]) -> None:
    """Write files; one that cannot be written keeps none of the others from it."""
    lost: dict[str, list[str]] = {}
    for file, text in texts.items():
        try:
            write_file(file, text)
        except OSError as exc:
            lost.setdefault(exc.strerror or type(exc).__name__, []).append(str(file))
    if lost:
        problem = "; ".join(f"{', '.join(files)} cannot be written: {why}" for why, files in lost.items())
        raise Trouble(problem, "nothing else is lost", SUITE_FAILED)


def check_writable(*, reads: Iterable[Path] = (), **files: Path | None) -> None:
    """See to it that each file can be written before there is anything to write, and that nothing is written
    over another, nor over what the command ``reads``; files go by their options.
    """
    taken = {os.path.realpath(path): f"{path} is read by this command" for path in reads}
    for option, file in files.items():
        if file is None:
            continue
        hint = f"give another --{option}"
        _check_place(file, hint)
        place = os.path.realpath(file)
        if place in taken and not is_special_file(file):  # which takes any number
            raise Trouble(taken[place], hint)
        taken[place] = f"--{option} {file} is given twice"


def _check_place(file: Path, hint: str) -> None:
    """Refuse a file that cannot be written."""
    if file == Path("-"):
        raise Trouble("- is no name of a file", "standard output is /dev/stdout")
    try:
        found = os.path.lexists(os.path.realpath(file)) and bool(file.stat())
        if file.is_dir():
            raise Trouble(f"{file} is a folder", hint)
        folder = Path(os.path.realpath(file)).parent
        if not folder.is_dir():
            problem = f"there is no folder {file.parent} to write {file.name} to"
            raise Trouble(problem, f"create it, or {hint}")
        if not (found or is_special_file(file)):
            TemporaryFile(dir=folder).close()
    except (OSError, ValueError) as exc:  # no permission, too long a name, a circle of links
        raise Trouble(f"{file} cannot be written: {getattr(exc, 'strerror', exc)}", hint) from exc
    if found and not os.access(file, os.W_OK):
        raise Trouble(f"{file} cannot be written", hint)
