"""Implementations in other languages that answer, err, flood, lie and die: each has a clear result."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from shutil import which

import jsonschema
import pytest

from conformance.adapters import capabilities, load
from conformance.adapters.errors import AdapterError
from conformance.adapters.serve import serve as answer_about
from conformance.adapters.stdio import Stdio
from conformance.comparison.compare import Agree, compare
from conformance.comparison.refusals import as_claimed
from conformance.execution.json_form import message_of, schema, to_json
from conformance.execution.run import run
from conformance.execution.trace import DONE, Crashed
from conformance.execution.wire import WireError
from conformance.generate.guide.guide import Drawn
from conformance.grading.sources import programs_from
from conformance.program import Program
from conformance.program.parsing import parse

TEMPLATES = Path(__file__).parents[2] / "conformance" / "adapters" / "templates"
PROGRAM = parse("""
x = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
y = x.mul(x)
y.backward()
z = y.add(x)
""")
SERVER = """
import json, os, sys, time
for line in sys.stdin:
    asked = json.loads(line)
    if asked["type"] == "start":
        print(json.dumps({{"type": "started", "protocol": 1, "name": "mine", "version": "1"}}), flush=True)
        continue
    steps, id = asked["program"]["steps"], asked["id"]
    seen = [{{"outcome": {{"done": True}}, "facts": {{"x": {{"value": 3.0}}}}}} for _ in steps]
    def say(held): print(held if type(held) is str else json.dumps(held), flush=True)
    answer = {{"type": "observations", "id": id, "observations": seen}}
    {then}
"""


@pytest.fixture
def serve(tmp_path):
    """Return a function that starts a server of that behaviour."""
    started = []

    def start(then: str, text: str = SERVER, seconds: float = 60.0) -> Stdio:
        file = tmp_path / "server.py"
        file.write_text(text.format(then=then))
        started.append(Stdio(f"{sys.executable} {file}"))
        started[-1].timeout = seconds
        return started[-1]

    yield start
    for each in started:
        each.close()


def test_what_is_left_out_is_unseen(serve):
    trace = serve("say(answer)").run_program(PROGRAM, "each")
    expected = run(PROGRAM, load("reference"))
    found = compare(expected, as_claimed(trace, expected, "none"))
    assert isinstance(found, Agree)
    assert 4 < found.unseen


NONE = {
    "garbage": ("say('hello')", "no JSON"),
    "another message": ("say({'type': 'started'})", "no 'observations'"),
    "a list": ("say([1])", "no message"),
    "another program": ("say(answer | {'id': 99})", "an answer to program 99"),
    "too few": ("say(answer | {'observations': seen[1:]})", "3 observations of a program of 4"),
    "too many": ("say(answer | {'observations': seen * 2})", "8 observations of a program of 4"),
    "no list": ("say(answer | {'observations': 4})", "no list of observations"),
    "no outcome": ("say(answer | {'observations': [{}] * 4})", "observation 0 is none"),
    "an unknown outcome": ("say(answer | {'observations': [{'outcome': {'ok': 1}}] * 4})", "is no outcome"),
    "an unknown fact": (
        "seen[1]['facts'] = {'x': {'is_leave': True}}; say(answer)",
        "observation 1: 'is_leave' is no fact, did you mean 'is_leaf'",
    ),
    "a fact of a wrong type": ("seen[2]['facts'] = {'x': {'is_leaf': 1}}; say(answer)", "not True or False"),
    "a value that is text": ("seen[2]['facts'] = {'x': {'value': 'a'}}; say(answer)", "'value' is str"),
    "ten million numbers": ("seen[0]['facts'] = {'x': {'value': [1] * 4_000_000}}; say(answer)", "too large"),
    "an unknown rule": (
        "seen[1]['outcome'] = {'refused': 'save/freed-refuse'}; say(answer)",
        "is no rule, did you mean 'save/freed-refused'",
    ),
    "calls of no step": ("seen[0]['calls'] = [{'of': 4, 'given': []}]; say(answer)", "no number of a step"),
    "the number as text": ("say(answer | {'id': True})", "an answer to program True"),
    "warnings that are none": ("seen[0]['warnings'] = [1]; say(answer)", "no list of rules"),
    "calls that are none": (
        "seen[0]['calls'] = [{'of': 'x', 'given': []}]; say(answer)",
        "no number of a step",
    ),
    "a call of nothing": ("seen[0]['calls'] = [{'of': 0, 'given': [4]}]; say(answer)", "given to a function"),
    "wiring that is none": ("say(answer | {'wiring': {'x': {'age': {}}}})", "the wiring is none"),
    "an unknown wiring": ("say(answer | {'wiring': {'x': {'size': 1}}})", "'size' is no fact"),
    "regions outside": ("say(answer | {'regions': [[3, 9]]})", "of a program of 4 steps"),
    "it says so itself": ("say({'type': 'broken', 'id': id, 'reason': 'no idea'})", "it is broken: no idea"),
    "two answers": ("say(answer); say(answer); say(answer | {'id': 9})", None),
    "no end of it": ("sys.stdout.write('1' * (1 << 25)); sys.stdout.flush(); time.sleep(60)", "more than"),
}


@pytest.mark.parametrize(("then", "told"), NONE.values(), ids=NONE)
def test_an_answer_that_is_none_is_told(serve, then, told):
    """It breaks the adapter and convicts nobody; the next program has a fresh start."""
    server = serve(then)
    if told is None:  # nobody looks at what was not asked for until something is
        server.run_program(PROGRAM, "each")
        told = "an answer to program 1, and 2 was asked"
    with pytest.raises(WireError, match=told):
        server.run_program(PROGRAM, "each")


DEADLY = {
    "silence": ("time.sleep(60)", "no answer for 3 s"),
    "an end": ("sys.exit(3)", "exit code 3"),
    "an abort": ("os.abort()", "SIGABRT"),
    "an output that is closed": ("os.close(1); time.sleep(60)", "it closed its standard output and went on"),
    "half an answer": ("sys.stdout.write('{'); sys.stdout.flush(); time.sleep(60)", "no answer for 3 s"),
}


@pytest.mark.parametrize(("then", "how"), DEADLY.values(), ids=DEADLY)
def test_a_death_costs_the_program_alone(serve, then, how):
    """The steps before are as they are without the last, and the command is started again."""
    server = serve(f"if len(steps) == 4: {then}\n    say(answer)", seconds=3.0)
    trace = server.run_program(PROGRAM, "each")
    assert isinstance(trace[3].outcome, Crashed)
    assert how == trace[3].crash
    assert 3.0 == trace[2].facts["x"][0]


def test_half_a_character_is_escaped(serve):
    """No report could be written with it."""
    trace = serve("seen[1]['outcome'] = {'crashed': '\\ud800'}; say(answer)").run_program(PROGRAM, "each")
    assert "\\ud800" == trace[1].crash


@pytest.mark.parametrize("at", range(4))
def test_a_death_is_one_of_the_step_that_it_comes_of(serve, at):
    """The shortest beginning that kills says which; nothing is seen after it."""
    trace = serve(f"if len(steps) > {at}: os.abort()\n    say(answer)").run_program(PROGRAM, "each")
    assert [DONE] * at == [seen.outcome for seen in trace.observations[:at]]
    assert ["SIGABRT", *[None] * (3 - at)] == [seen.crash for seen in trace.observations[at:]]


def test_programs_are_under_way_together(serve, tmp_path):
    """The command has the next before it is asked about the first, and each gets its own answer."""
    log = tmp_path / "log"
    server = serve(f"open({str(log)!r}, 'a').write(f'{{len(steps)}} ')\n    say(answer)")
    programs = [Program(PROGRAM.steps[:count]) for count in (1, 2, 3, 4)]
    for program in programs:
        server.announce(program, "each")
    assert [4, 1, 2, 3] == [len(server.run_program(programs[at], "each")) for at in (3, 0, 1, 2)]
    assert "1 2 3 4 " == log.read_text()


def test_a_death_convicts_none_of_those_under_way(serve):
    """The first without an answer is the one that killed; the others are asked again."""
    server = serve("if len(steps) == 2: os.abort()\n    say(answer)")
    programs = [Program(PROGRAM.steps[:count]) for count in (1, 2, 3, 4)]
    for program in programs:
        server.announce(program, "each")
    crashed = [[seen.crash for seen in server.run_program(each, "each").observations] for each in programs]
    assert [[None], [None, "SIGABRT"], [None] * 3, [None] * 4] == crashed


def test_a_command_that_reads_nothing_holds_nobody_up(serve):
    """Questions wait on this side, however many; silence ends it."""
    server = serve("time.sleep(60)", seconds=3.0)
    large = Program((PROGRAM.steps[0], *[PROGRAM.steps[1]] * 20_000))
    server.announce(large, "end")
    assert "no answer for 3 s" == server.run_program(PROGRAM, "each")[0].crash


def test_what_is_shown_beside_the_reference_is_kept(serve):
    """Torch may have bound what the reference has not, and is the judge then."""
    trace = serve("say(answer)").run_program(PROGRAM, "each")
    bare = replace(trace, observations=tuple(seen._replace(facts={}) for seen in trace.observations))
    assert trace.observations == as_claimed(trace, bare, "rules").observations


def bridge(spec: str) -> str:
    return f"stdio:{sys.executable} -m conformance.adapters.serve {spec}"


@pytest.mark.parametrize("spec", ["reference", "micrograd", "torch"])
def test_an_adapter_shows_over_stdio_what_it_shows_here(spec):
    """Outcomes, facts, warnings, calls, topology: all but what the reference alone has, its marks."""
    if spec != "reference":
        pytest.importorskip(spec)
    here, there = load(spec), load(bridge(spec))
    drawn: list[Drawn] = []
    limits = capabilities(here)
    programs_from("prng", 5, 0, 60, limits, lambda number, each: drawn.append(each))
    try:
        for each in drawn:
            there.announce(each.program, each.density)
        for each in drawn:
            expected = run(each.program, here, each.density)
            actual = as_claimed(there.run_program(each.program, each.density), expected, limits.refusals)
            expected = as_claimed(expected, expected, limits.refusals)
            plain = tuple(seen._replace(fired=()) for seen in expected.observations)
            shown = message_of(replace(expected, observations=plain))
            assert json.loads(shown) == json.loads(message_of(actual))
    finally:
        there.close()


BRIDGED = {
    "none such": ("nothing", 2, "there is no adapter"),
    "broken": ("broken.py", 3, "cannot be imported"),
    "a bridge": ("stdio:node", 2, "a process of its own already"),
}


@pytest.mark.parametrize(("spec", "code", "told"), BRIDGED.values(), ids=BRIDGED)
def test_what_cannot_be_served_is_told(spec, code, told, tmp_path):
    """The bridge says why, and whoever grades over it has that line."""
    (tmp_path / "broken.py").write_text("raise OSError('no such thing')")
    spec = str(tmp_path / spec) if spec.endswith(".py") else spec
    with pytest.raises(AdapterError, match=told):
        Stdio(bridge(spec).removeprefix("stdio:"))
    said: list[str] = []
    assert code == answer_about(spec, BytesIO(), said.append)
    assert told in json.loads(said[0])["reason"]


def test_an_adapter_that_breaks_its_contract_there_is_broken(tmp_path):
    """The reason crosses the pipe; what it prints does not disturb the answers."""
    file = tmp_path / "mine.py"
    template = (TEMPLATES / "adapter.py").read_text()
    file.write_text(template.replace("    seen = {", '    print("hello")\n    seen = {"valeu": 1, '))
    server = Stdio(bridge(str(file)).removeprefix("stdio:"))
    with pytest.raises(WireError, match="'valeu' is no fact, did you mean 'value'"):
        server.run_program(PROGRAM, "each")


NESTED = {"type": "started", "protocol": 1, "name": "a", "version": "1", "capabilities": {"ops": [[]]}}
STARTS = {
    "no command": ("", "cannot be started"),
    "none such": ("no-such-command", "cannot be started"),
    "an end": (f"{sys.executable} -c 'raise SystemExit(4)'", "exit code 4"),
    "its last words": (f"{sys.executable} -c 'import nothing_like_it'", "No module named"),
    "capabilities that are none": (
        f"{sys.executable} -c {shlex.quote(f'print({json.dumps(json.dumps(NESTED))})')}",
        "capabilities that are none",
    ),
    "another protocol": (
        f"""{sys.executable} -c 'print("{{\\"type\\": \\"started\\", \\"protocol\\": 9}}")'""",
        "protocol 9",
    ),
}


@pytest.mark.parametrize(("command", "told"), STARTS.values(), ids=STARTS)
def test_what_does_not_start_is_an_adapter_error_in_a_line(command, told):
    with pytest.raises(AdapterError, match=told):
        Stdio(command)


def servers():
    commands = {"python": f"{sys.executable} {TEMPLATES / 'server.py'}"}
    return commands | ({"node": f"node {TEMPLATES / 'server.js'}"} if which("node") else {})


@pytest.mark.parametrize("command", servers().values(), ids=servers())
def test_the_templates_do_as_torch_does(command):
    """All that they show of a program agrees."""
    server = Stdio(command)
    try:
        expected = run(PROGRAM, load("reference"))
        found = compare(expected, as_claimed(server.run_program(PROGRAM, "each"), expected, "none"))
        assert isinstance(found, Agree)
        assert 15 < found.compared
    finally:
        server.close()


def test_messages_are_as_the_schema_says():
    messages = schema("stdio")
    jsonschema.Draft202012Validator.check_schema(messages)
    for message in (
        {"type": "start", "protocol": 1},
        {"type": "program", "id": 1, "density": "each", "program": to_json(PROGRAM)},
        {"type": "observations", "id": 1, "observations": [{"outcome": {"done": True}, "facts": {}}]},
        {"type": "broken", "reason": "why"},
        {"type": "stop"},
    ):
        jsonschema.validate(json.loads(json.dumps(message)), messages)
