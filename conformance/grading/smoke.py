"""A first look at an adapter: a handful of programs, what came of each, and what is lacking."""

from __future__ import annotations

from dataclasses import dataclass, replace

from conformance import adapters
from conformance.adapters.capabilities import FEATURES, MEANINGS, MOVING
from conformance.comparison.compare import Diverge, Divergence, Incomparable, compare
from conformance.comparison.refusals import as_claimed
from conformance.execution.run import run
from conformance.grading.cases import lacks
from conformance.grading.participants import REFERENCE
from conformance.program.parsing import parse
from conformance.program.printing import statement
from conformance.report import words
from specs.fact import FACTS, GRAD_FACTS

LEAF = "x = torch.tensor(3.0, dtype={d}, requires_grad=True)\n"
LIST = "x = torch.tensor([1.0, 2.0], dtype={d}, requires_grad=True)\n"
PROGRAMS = {
    "a leaf": LEAF,
    "a product of scalars": LEAF + "y = x.mul(x)",
    "a gradient": LEAF + "y = x.mul(x)\ny.backward()",
    "a gradient by two paths": LEAF + "y = x.mul(x)\nz = y.add(x)\nz.backward()",
    "a gradient that adds up": LEAF + "y = x.mul(x)\ny.backward()\nz = x.mul(x)\nz.backward()",
    "operators": LEAF + "y = x * x\nz = y + x",
    "a list": LIST + "y = x.mul(x)",
    "a gradient of a list": LIST + "y = x.mul(x)\nz = y.sum()\nz.backward()",
    "a write": LIST + "y = x.mul(x)\ny.mul_(2.0)\nz = y.sum()\nz.backward()",
    "a view that is written": LIST + "y = x.mul(x)\nv = y[0]\nv.mul_(2.0)\nz = y.sum()\nz.backward()",
    "torch.autograd.grad": LEAF + "y = x.mul(x)\ng, = torch.autograd.grad(y, x)",
    "a gradient by two paths, asked for": LEAF + "y = x.mul(x)\nz = y.add(x)\ng, = torch.autograd.grad(z, x)",
    "a second derivative": LEAF
    + "y = x.mul(x)\nz = y.mul(x)\ng, = torch.autograd.grad(z, x, create_graph=True)\n"
    + "h, = torch.autograd.grad(g, x)",
    "no_grad": LEAF + "with torch.no_grad():\n    y = x.mul(x)",
    "a hook": LEAF + "y = x.mul(x)\nh = y.register_hook(lambda g: g * 2)\ny.backward()",
}
"""The programs, from the plainest to what few implementations have."""


EMPTY = " (where grads begin at 0, nobody can tell if a gradient has come: leave `grad` out while it is 0)"

PLAIN = " (numbers, text and lists of Python are no tensors: give objects of your own)"


@dataclass(frozen=True, slots=True)
class Tried:
    """A program that was tried: ok, differs, broken, or not claimed, and why."""

    verdict: str
    what: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Smoke:
    """The programs that were tried, and what the adapter does not claim or show."""

    lines: tuple[Tried, ...]
    gaps: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        verdicts = {line.verdict for line in self.lines}
        if "broken" in verdicts or "ok" not in verdicts | ({"ok"} if "differs" in verdicts else set()):
            return 3
        return int("differs" in verdicts)

    @property
    def said(self) -> str:
        ok = sum(line.verdict == "ok" for line in self.lines)
        differs = "it works, and differs from PyTorch" if ok else "it runs, and differs from PyTorch in all"
        ends = {0: "it works", 1: differs, 3: "the adapter is broken"}
        told = ends[self.exit_code] if ok or self.exit_code == 1 else "nothing of it could be compared"
        return f"{ok} of {len(self.lines)} programs agree: {told}"


def smoke(spec: str) -> Smoke:
    """Try an implementation on a handful of programs, against the reference."""
    subject = adapters.load(spec)
    claimed = adapters.capabilities(subject)
    dtype = next(d for d in ("float64", "float32", "bfloat16", "float16") if d in claimed.dtypes)
    tried: list[Tried] = []
    for what, text in PROGRAMS.items():
        line = _tried(spec, what, text.format(d=f"torch.{dtype}"))
        again = line.verdict == "differs" and line.why in {each.why for each in tried}
        tried.append(replace(line, why="as above") if again else line)
        if line.verdict == "broken":
            break
    hidden = [fact for fact in FACTS if fact not in claimed.facts]
    without = sorted(FEATURES - MOVING - claimed.features)
    gaps = [f"feature {feature}: {MEANINGS[feature]}" for feature in without]
    gaps += [f"facts {', '.join(hidden)}"] if hidden else []
    gaps += ["errors: refusals='some' or 'rules' has them judged"] if claimed.refusals == "none" else []
    return Smoke(tuple(tried), tuple(gaps))


def _tried(spec: str, what: str, text: str) -> Tried:
    subject, program = adapters.load(spec), parse(text)
    claimed = adapters.capabilities(subject)
    if lacking := lacks(claimed, program):
        return Tried("not claimed", what, lacking)
    expected = run(program, adapters.load(REFERENCE))
    try:
        found = compare(expected, as_claimed(run(program, subject), expected, claimed.refusals))
    except Exception as error:
        return Tried("broken", what, f"{type(error).__name__}: {error}")
    if isinstance(found, Incomparable):
        return Tried("unsupported", what, f"{statement(program[found.step])}: {found.why}")
    if isinstance(found, Diverge):
        first = found.first
        name = f"{first.name}.{first.fact}" if first.name else first.fact
        values = f"PyTorch {words.value(first.expected)}, here {words.value(first.actual)}"
        step = statement(program[first.step])
        return Tried("differs", what, f"after {step}: {name}: {values}{_hint(first)}")
    return Tried("ok", what, f"{found.compared} facts compared, {found.unseen} unseen")


def _hint(first: Divergence) -> str:
    """Return what a difference comes from that new adapters often show, if it is one."""
    if first.fact == "bound" and first.expected == "tensor" and first.actual not in ("None", "unbound"):
        return PLAIN
    return EMPTY if (first.fact, first.expected) == ("grad", None) and _is_zero(first.actual) else ""


def _is_zero(grad: object) -> bool:
    """Tell whether a grad that is shown holds the number 0."""
    return isinstance(grad, tuple) and 0 in grad[GRAD_FACTS.index("value") :][:1]
