"""A recording that was cut, changed or mixed up is refused, wherever that happened."""

from __future__ import annotations

import random

import pytest

from conformance.cli import main
from conformance.recordings.format import (
    in_place,
    parse_recording,
    read_recording,
    to_lines,
)
from conformance.recordings.record import drop_cases
from conformance.recordings.seal import RecordingError
from conformance.report.files import write_file


@pytest.fixture(scope="module")
def data() -> bytes:
    """A small recording: the shortest lines of one that comes with the project."""
    held = read_recording(in_place()[0])
    short = sorted(held.cases.values(), key=lambda form: len(str(form)))[:4]
    drawn = sorted(held.programs.values(), key=lambda form: len(str(form)))[:2]
    return "".join(to_lines(held.origin, (*short, *drawn))).encode()


@pytest.fixture
def command(monkeypatch, capsys):
    """Return a function that runs the command line: its exit code, and what it printed."""

    def call(*arguments: object) -> tuple[int, str]:
        monkeypatch.setattr("sys.argv", ["autograd-conformance", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), "".join(capsys.readouterr())

    return call


def assert_refused(damaged: bytes) -> None:
    with pytest.raises(RecordingError):
        parse_recording("damaged", damaged)


def test_as_written_it_is_read(data):
    assert len(parse_recording("whole", data)) == 1 + 4 + 2


def test_every_truncation_is_refused(data):
    for length in range(len(data)):
        assert_refused(data[:length])


def test_every_flipped_bit_of_a_line_or_more_is_refused(data):
    """Each bit of the first and the last line, and a sample of the others."""
    first, last = data.index(b"\n") + 1, data.rindex(b"\n", 0, -1)
    chosen = {*range(first), *range(last, len(data)), *random.Random(0).sample(range(len(data)), 300)}
    for at in sorted(chosen):
        for bit in range(8):
            assert_refused(data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])


def test_lines_that_are_gone_twice_there_or_in_another_order_are_refused(data):
    lines = data.splitlines(keepends=True)
    for at in range(1, len(lines)):
        assert_refused(b"".join(lines[:at] + lines[at + 1 :]))
        assert_refused(b"".join(lines[: at + 1] + lines[at:]))
    assert_refused(b"".join([lines[0], *reversed(lines[1:-1]), lines[-1]]))
    assert_refused(data + data)


def test_a_recording_of_an_older_format_says_record_again(data):
    with pytest.raises(RecordingError, match="another format than 2: record again"):
        parse_recording("old", data.replace(b'{"format":2,', b'{"format":1,'))


@pytest.mark.parametrize("damage", [b"", b"\xff\xfe", b"[" * 100_000, b'{"format":2,\n1\n', b"null\n"])
def test_no_recording_at_all_is_refused(damage):
    assert_refused(damage)
    assert_refused(b'{"format":2,' + damage)


def test_the_command_line_says_so_in_a_line(data, tmp_path, command):
    file = tmp_path / "cut.jsonl"
    file.write_bytes(b"".join(data.splitlines(keepends=True)[:-2]))
    code, out = command("grade", "reference", "--recording", file)
    assert (2, 1) == (code, len(out.splitlines()))
    assert "cut.jsonl is damaged" in out


def test_a_changed_case_is_dropped_by_a_command(data, tmp_path, command):
    """``record --drop`` takes the line out, and the recording is whole again."""
    file = tmp_path / "one.jsonl"
    file.write_bytes(data)
    first, *others = read_recording(file).cases
    assert (0, f"{file}: {first} taken out\n") == command("record", "--drop", first, "--out", file)
    read_recording.cache_clear()
    assert others == list(read_recording(file).cases)
    code, out = command("record", "--drop", first, "--out", file)
    assert code == 2
    assert f"no recording holds the case '{first}'" in out
    assert drop_cases(file, [first]) == ()


def half_way(path, data):
    """Write half of the data, as on a disk that is full then."""
    with path.open("wb") as file:
        file.write(data[: len(data) // 2])
    raise OSError("full")


def test_a_recording_is_written_in_one_go(tmp_path, monkeypatch):
    """A write that stops half-way leaves what was there, and nothing beside it."""
    file = tmp_path / "one.jsonl"
    write_file(file, "before")
    monkeypatch.setattr("pathlib.Path.write_bytes", half_way)
    with pytest.raises(OSError, match="full"):
        write_file(file, "after")
    assert ["one.jsonl"] == [path.name for path in tmp_path.iterdir()]
    assert file.read_text() == "before"
