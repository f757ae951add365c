"""Implementations in other languages that answer, err, flood, lie and die: each has a clear result."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from shutil import which

import jsonschema
import pytest

from conformance.adapters import load
from conformance.adapters.errors import AdapterError
from conformance.adapters.stdio import Stdio
from conformance.comparison.compare import Agree, compare
from conformance.comparison.refusals import as_claimed
from conformance.execution.json_form import schema, to_json
from conformance.execution.run import run
from conformance.execution.trace import Crashed
from conformance.execution.wire import WireError
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

    def start(then: str, text: str = SERVER) -> Stdio:
        file = tmp_path / "server.py"
        file.write_text(text.format(then=then))
        started.append(Stdio(f"{sys.executable} {file}"))
        started[-1].limit = 2.0
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
    "a list": ("say([1])", "no 'observations'"),
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
    "no end of it": ("sys.stdout.write('1' * (1 << 25)); sys.stdout.flush(); time.sleep(60)", "more than"),
}


@pytest.mark.parametrize(("then", "told"), NONE.values(), ids=NONE)
def test_an_answer_that_is_none_is_told(serve, then, told):
    """It breaks the adapter and convicts nobody; the next program has a fresh start."""
    with pytest.raises(WireError, match=told):
        serve(then).run_program(PROGRAM, "each")


DEADLY = {
    "silence": ("time.sleep(60)", "no answer for 2 s"),
    "an end": ("sys.exit(3)", "exit code 3"),
    "an abort": ("os.abort()", "SIGABRT"),
    "half an answer": ("sys.stdout.write('{'); sys.stdout.flush(); time.sleep(60)", "no answer for 2 s"),
}


@pytest.mark.parametrize(("then", "how"), DEADLY.values(), ids=DEADLY)
def test_a_death_costs_the_program_alone(serve, then, how):
    """The steps before are as they are without the last, and the command is started again."""
    server = serve(f"if len(steps) == 4: {then}\n    say(answer)")
    trace = server.run_program(PROGRAM, "each")
    assert isinstance(trace[3].outcome, Crashed)
    assert how == trace[3].crash
    assert 3.0 == trace[2].facts["x"][0]


STARTS = {
    "no command": ("", "cannot be started"),
    "none such": ("no-such-command", "cannot be started"),
    "an end": (f"{sys.executable} -c 'raise SystemExit(4)'", "exit code 4"),
    "its last words": (f"{sys.executable} -c 'import nothing_like_it'", "No module named"),
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
        {"type": "stop"},
    ):
        jsonschema.validate(json.loads(json.dumps(message)), messages)
