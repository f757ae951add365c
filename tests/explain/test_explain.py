"""Scripts explained: the facts of each line, the rules behind them, causes of errors, and endings."""

from __future__ import annotations

import json
import sys
import threading
from typing import Any

import jsonschema
import pytest

from conformance import explain
from conformance.execution.json_form import schema
from conformance.explanation.as_json import as_json
from conformance.explanation.lines import LineTracer
from conformance.explanation.run import put_together
from explained import explained

DROPPED = """import torch
a = torch.ones(2, requires_grad=True).cuda()
a.sum().backward()
"""


def test_the_gradient_that_went_to_a_dropped_leaf_is_found():
    """Nobody names the leaf, and the graph is what keeps it."""
    told = explained(DROPPED).why("a.grad")
    assert "a.grad is None because a is no leaf: it is the result of ToCopyBackward0 at line 2" in told
    assert "it holds grad [1., 1.], and nothing names it. Cure: a.retain_grad()" in told


ERRORS = {
    "save/modified-refused": ("y = w.exp()\ny.add_(1)\ny.sum().backward()", 5, ("y",), (4,)),
    "save/freed-refused": ("y = w.exp().sum()\ny.backward()\ny.backward()", 5, None, (4,)),
    "backward/root-needs-grad": ("y = w.detach().sum()\ny.backward()", 4, ("y",), (3,)),
    "write/leaf-refused": ("w.add_(1)", 3, ("w",), (2,)),
}


@pytest.mark.parametrize("rule", ERRORS)
def test_an_error_knows_its_rule_its_tensor_and_the_line_that_caused_it(rule):
    """The cause is the write, the first backward, the line where the flag was lost, or that made the leaf."""
    text, line, names, causes = ERRORS[rule]
    error = explained(f"import torch\nw = torch.ones(2, requires_grad=True)\n{text}\n").error
    assert (rule, line, causes) == (error.rule, error.line, error.causes[:1])
    assert names is None or names == error.tensors


HELD = {
    "an attribute in a slot": ("class P:\n    __slots__ = ('w',)\np = P()\np.w = {}\n", "p.w"),
    "a slot of a base class": (
        "class B: __slots__ = 'w'\nclass P(B): __slots__ = ()\np = P()\np.w = {}\n", "p.w"
    ),
    "a deque": ("from collections import deque\np = deque([{}], maxlen=3)\n", "p[0]"),
    "beside what refuses to be looked at": (
        "class E:\n    @property\n    def __class__(self): raise RuntimeError('no')\ne = E()\np = {}\n", "p"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "name"), HELD.values(), ids=HELD)
def test_a_tensor_is_found_wherever_it_is_held(text, name):
    found = explained(
        "import torch\n" + text.format("torch.ones(1, requires_grad=True)") + f"{name}.backward()\n"
    )
    assert f"{name}.grad is [1.]" in found.why(f"{name}.grad")


def test_looking_does_not_change_the_story():
    """A stale view that nobody read is still refused as a leaf, although every line was looked at."""
    found = explained(
        "import torch\nx = torch.tensor([1.0], requires_grad=True)\nb = torch.tensor([1.0, 1.0])\n"
        "v = b[:1]\nb.mul_(x)\nv.mul_(2.0)\n"
    )
    assert "write/leaf-refused" == found.error.rule
    assert found.at(5).tensors[found.at(5).names["v"]].stale


def test_the_json_form_obeys_its_schema():
    """Classes, loops and modules are in the JSON form as the schema has it."""
    found = explained(
        "import torch\nfrom torch import nn\nclass Net(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.l = nn.Linear(2, 1)\n    def forward(self, x):\n"
        "        return self.l(x)\nnet = Net()\nfor i in range(3):\n"
        "    net(torch.ones(1, 2)).sum().backward()\n"
    )
    assert "finished" == found.ending
    assert "net.l.weight" in found.steps[-1].names
    form = json.loads(json.dumps(as_json(found)))
    jsonschema.validate(form, schema("explanation"))


NONES = {
    "w = torch.ones(2, requires_grad=True)\nw.grad.zero_()": ("w", "no backward() ran", "call backward()"),
    "w = torch.ones(2, requires_grad=True).double()\n(w * 2).sum().backward()\n"
    "with torch.no_grad():\n    for p in [w]:\n        p -= 0.1 * p.grad": (
        "w",
        "w is no leaf: it is the result of ToCopyBackward0 at line 2",
        "w.retain_grad() before backward()",
    ),
    "x = torch.ones(2)\ny = torch.ones(2, requires_grad=True)\n(x * y).sum().backward()\nx.grad + 1": (
        "x",
        "x does not require grad since line 2",
        "x.requires_grad_()",
    ),
    "net = torch.nn.Linear(1, 1)\nmore = torch.nn.Linear(1, 1, bias=False)\n"
    "net(torch.ones(1, 1)).sum().backward()\ndef step(ps):\n    for p in ps:\n"
    "        p.data.sub_(p.grad)\nstep([*net.parameters(), *more.parameters()])": (
        "more.weight",
        "more.weight.grad is None because no path leads back",
        "call more",
    ),
}


@pytest.mark.parametrize("text", NONES)
def test_an_error_about_none_says_why_the_grad_is_none(text):
    """Python's own words name neither the tensor nor the reason."""
    name, sentence, cure = NONES[text]
    error = explained(f"import torch\n{text}\n").error
    assert "NoneType" in error.message
    assert name in error.tensors
    assert sentence in error.sentence
    assert cure in error.cure


def test_a_reentrant_checkpoint_that_recorded_nothing_is_the_cause():
    """Its parameters require grad, so it would be wrong to say that nothing does."""
    error = explained(
        "import torch\nfrom torch.utils.checkpoint import checkpoint\nlin = torch.nn.Linear(2, 2)\n"
        "y = checkpoint(lin, torch.ones(1, 2), use_reentrant=True)\ny.sum().backward()\n"
    ).error
    assert "backward/root-needs-grad" == error.rule
    assert 4 == error.causes[0]
    assert "recorded nothing, since no input of it requires grad" in error.sentence
    assert "Pass use_reentrant=False at line 4" in error.cure


ENDINGS = {
    "x = 1\nwhile True: pass\n": "timeout",
    "import os\nos._exit(3)\n": "killed",
    "def f(): return f()\nf()\n": "error",
    "import torch\nx = torch.zeros(10**10)\n": "memory",
    "x = = 1\n": "syntax error",
    "import torch\ny = torch.ones(2)\ny.to_sparse()\n": "not modelled",
}


@pytest.mark.parametrize("text", ENDINGS)
def test_a_hostile_script_ends_in_words(text):
    """An endless loop, os._exit, deep recursion, too much memory, no Python, and what is not modelled."""
    found = explain(text, seconds=1 if ENDINGS[text] == "timeout" else 2, megabytes=2048)
    assert ENDINGS[text] == found.ending
    assert found.note or found.error


LEFT_BEHIND = {
    "a process": ("import subprocess\nsubprocess.Popen(['sleep', '600'])\n", "finished"),
    "a thread": (
        "import threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()\n",
        "finished",
    ),
    "no open file": ("import os, torch\nos.closerange(0, 300)\nx = torch.ones(2)\n", "finished"),
    "a killed group": ("import os, signal\nos.killpg(0, signal.SIGKILL)\n", "killed"),
    "an error without text": (
        "class E(Exception):\n    def __str__(self):\n        raise ValueError\nraise E\n",
        "error",
    ),
    "much on standard error": ("import sys\nwhile True:\n    sys.stderr.write('x' * 10**6)\n", "timeout"),
    "ignored signals": (
        "import signal\nfor s in (signal.SIGXCPU, signal.SIGTERM):\n    signal.signal(s, signal.SIG_IGN)\n"
        "while True:\n    pass\n",
        "timeout",
    ),
}


@pytest.mark.parametrize("what", LEFT_BEHIND)
def test_nothing_that_a_script_leaves_behind_is_waited_for(what):
    """Its process group ends with it; it can neither fill memory by what it writes nor hide its end."""
    text, ending = LEFT_BEHIND[what]
    found = explain(text, seconds=1 if ending == "timeout" or what == "a thread" else 2)
    assert ending == found.ending


QUESTIONS = {
    "an intermediate result": (
        "x = torch.ones(2, requires_grad=True)\ny = x * 2\ny.sum().backward()",
        "y.grad",
        ["y is no leaf", "MulBackward0 at line 3", "computed from x", "went to x", "y.retain_grad()"],
    ),
    "a tensor that requires no grad": (
        "x = torch.ones(2)\ny = torch.ones(2, requires_grad=True)\n(x * y).sum().backward()",
        "x.grad",
        ["x does not require grad since line 2", "x.requires_grad_()"],
    ),
    "no backward": ("x = torch.ones(2, requires_grad=True)", "x.grad", ["no backward() ran"]),
    "grads add up": (
        "x = torch.ones(2, requires_grad=True)\nfor _ in range(2):\n    (x * 3).sum().backward()",
        "x.grad",
        ["set it to [3., 3.]", "added [3., 3.], which makes [6., 6.]", "adds to .grad"],
    ),
    "backward twice": (
        "x = torch.ones(2, requires_grad=True)\ny = (x * x).sum()\ny.backward()\ny.backward()",
        "error",
        [
            "line 5 `y.backward()` RuntimeError",
            "second time",
            "save/freed-refused",
            "line 4",
            "retain_graph=True",
        ],
    ),
    "a leaf is written": (
        "w = torch.ones(2, requires_grad=True)\nw.add_(1)",
        "error",
        ["line 3 `w.add_(1)`", "tensor w", "write/leaf-refused", "torch.no_grad()", "w.clone()"],
    ),
    "a root that is no scalar": (
        "x = torch.ones(2, requires_grad=True)\n(x * 2).backward()",
        "error",
        ["backward/implicit-needs-scalar", "sum()"],
    ),
    "within a function": (
        "def make():\n    return torch.ones(2, requires_grad=True) * 1\n\na = make()",
        "a.is_leaf",
        ["a.is_leaf is False", "line 5 `a = make()`", "is not a leaf"],
    ),
    "an error of the script's own": ("[][1]", "error", ["line 2 `[][1]` IndexError"]),
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_is_answered_by_rule_and_line(name):
    """The answer names the rule, the line that causes it, the tensors and the cure."""
    script, question, expected = QUESTIONS[name]
    answer = " ".join(explained("import torch\n" + script).why(question).split())
    assert [] == [part for part in expected if part not in answer], answer


def test_the_way_of_the_gradient_is_told_even_through_a_graph_that_nothing_keeps():
    """Each node that backward reached is told in order, with the gradients that arrived."""
    script = "import torch\nx = torch.ones(2, requires_grad=True)\n(x * 3).sum().backward()\n"
    step = explained(script).steps[-1]
    assert [
        ("SumBackward0", (1.0,)),
        ("MulBackward0", ([1.0, 1.0],)),
        ("torch::autograd::AccumulateGrad", ([3.0, 3.0],)),
    ] == [(step.nodes[run.node].name, run.grads) for run in step.ran]


def test_a_warning_in_a_loop_is_told_at_its_own_step():
    """The tensor is the one that the name held then, not what it holds at the end."""
    found = explained(
        "import torch, warnings\nwarnings.simplefilter('always')\nw = torch.ones(2, requires_grad=True)\n"
        "for i in range(2):\n    y = w * i\n    y.grad\ny = None\n"
    )
    assert [("y",), ("y",)] == [warning.tensors for warning in found.warnings]
    passes = [next(s.passes for s in found.steps if s.number == w.step) for w in found.warnings]
    assert [1, 2] == passes


def test_a_failure_to_look_is_not_the_scripts(monkeypatch):
    """The script goes on, and the record tells the line after which nothing was seen."""
    for module in (sys, threading):  # a script may not take the trace function away
        monkeypatch.setattr(module, "settrace", module.settrace)
    records: list[dict[str, Any]] = []

    class Failing(LineTracer):
        def line_done(self) -> None:
            if self.at == (2, "<module>"):
                raise NotImplementedError("x")

    names: dict[str, Any] = {}
    Failing("s.py", names, records.append).execute(compile("a = 1\nb = 2\nc = 3\n", "s.py", "exec"))
    assert names["c"] == 3
    assert [{"failed": "NotImplementedError: x", "line": 2}] == records
    found = put_together("s.py", b"a = 1", [*records, {"end": True}], 0, "", 1)
    assert ("killed", "line 2: explain itself failed, and not the script (NotImplementedError: x)") == (
        found.ending,
        found.note,
    )
