"""The ways out of a graph: the calls that lose a history, in words, and what to do instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from conformance.explanation.value import ExecutedLine, Flow, Story
from conformance.explanation.words import at, beginning, names
from specs.ops import overloads

WAYS_OUT = {
    "detach": "detach() cut the history",
    "detach_": "detach_() cut the history",
    ".data": ".data cut the history",
    "nn.Parameter": "nn.Parameter() made a new leaf, which takes no history",
    "torch.tensor": "torch.tensor() copied the values without the history",
    "torch.Tensor": "torch.Tensor() copied the values without the history",
    "numpy": "numpy() left torch, and with it the graph",
    "array": "the conversion to a numpy array left the graph",
    "item": "item() made a plain number of it",
    "tolist": "tolist() made plain numbers of it",
    "float": "float() made a plain number of it",
    "int": "int() made a plain number of it",
    "deepcopy": "deepcopy() made a leaf of its own",
}
"""The ways out of the graph, and how each lost the history."""
POSITIONS = frozenset({
    "argmax", "argmin", "argsort", "bucketize", "count_nonzero", "nonzero", "searchsorted",
})  # fmt: skip
"""Ops that give places or counts."""
COMPARISONS = frozenset({
    "eq", "ge", "gt", "isclose", "isfinite", "isinf", "isnan", "le", "logical_and", "logical_not",
    "logical_or", "lt", "ne", "signbit",
})  # fmt: skip
TO_INTEGERS = frozenset({"bool", "byte", "char", "int", "long", "short", "to", "type", "type_as"})
COPIES = frozenset({"torch.tensor", "torch.as_tensor", "torch.Tensor"})
NO_GRAD, INFERENCE = "mode/no-grad-records-nothing", "inference/records-nothing"
NO_INTEGERS, SAMPLES = "requires_grad/integer-results-never", "functional/samples-have-no-history"


QUIET = ("format", "tolist", "item", "float", "int")
"""Ways out that often serve printing alone: they count if nothing else does."""


@dataclass(frozen=True)
class Cut:
    """A place where a history was lost: the step, and the call that lost it."""

    step: ExecutedLine
    flow: Flow


def cure_of(found: Story, cut: Cut) -> str:
    """Return what to do where a call lost the history, as a sentence without its end."""
    since = _switched_off(found, cut.step).removeprefix(" since ")
    how, line = cut.flow.how, cut.step.line
    if rule_of(cut) == SAMPLES:
        other = "where there is none, use the score function, log_prob(sample) * reward"
        return f"call rsample() at line {line}, which is a function of the parameters; {other}"
    if (rule := rule_of(cut)) in (NO_GRAD, INFERENCE):
        if "set_grad_enabled(" in since:
            return f"run line {line} with grad mode on: {since.split(' `')[0]} switched it off"
        if own := re.match(r"([\w.]+)\s*=\s*\1\s*([-+])(.*\.grad\b.*)", found.text_of(line)):
            return f"change the leaf in place at line {line}: {own[1]} {own[2]}={own[3]}"
        block = "no_grad()" if rule == NO_GRAD else "inference_mode()"
        return f"run line {line} with grad mode on, outside {block}"
    if how in ("int", "float") and not cut.flow.gives:
        how = "item"
    if how in POSITIONS:
        return (
            f"for a loss use the scores themselves at line {line} (cross_entropy of the logits, softmax(), "
            f"or max() for the value); {how}() gives positions, which have no gradient"
        )
    if how in COMPARISONS:
        return (
            f"for a loss take something smooth at line {line}, for instance "
            "torch.sigmoid(k * (x - threshold)) for x > threshold; a comparison has no gradient"
        )
    if how == "multinomial":
        return f"use the score function: the log-probability of what line {line} drew, times the reward"
    if how in TO_INTEGERS:
        return f"keep floats at line {line}: integers and bools have no gradient, they serve as indices alone"
    instead = "compute with torch's ops"
    if how in COPIES:
        several = len(cut.flow.takes) > 1
        instead = "join tensors with torch.stack() or torch.cat()" if several else "take the tensor itself"
    call = how if how.startswith(".") else f"{how}()"
    if how != "nn.Parameter" and any(flow.how == "nn.Parameter" for flow in cut.step.flows):
        call += " and nn.Parameter()"
    return f"stay in the graph at line {line}: {instead}, without {call}"


def rule_of(cut: Cut) -> str:
    """Return the rule by which a call lost the history, or nothing."""
    how, marks = cut.flow.how, cut.step.marks
    wanted = {
        "detach": "detach/cuts", "detach_": "detach/in-place-makes-a-leaf", ".data": "data/cuts",
        "nn.Parameter": "nn/parameter-cuts", "torch.tensor": "copy/tensor-copies",
        "torch.Tensor": "copy/tensor-copies",
        "numpy": "copy/numpy-shares",
    }.get(how)  # fmt: skip
    if wanted:
        return wanted
    found = next((rule for rule in (SAMPLES, NO_GRAD, INFERENCE, NO_INTEGERS) if rule in marks), "")
    return found or ("" if how in ("item", "tolist", "float", "int", "array") else NO_INTEGERS)


def way_out(found: Story, cut: Cut) -> str:
    """Return how a history was lost, in a sentence."""
    flow, place = cut.flow, beginning(at(found, cut.step.line))
    how = _as_written(flow.how, found.text_of(cut.step.line))
    made_integers = bool(flow.gives) and flow.how in TO_INTEGERS
    takes = flow.takes if how == flow.how else flow.takes[::-1]
    of_layer = _of_a_layer(cut, found.text_of(cut.step.line))
    how, takes = ("linear", takes[-2:] + takes[:-2]) if of_layer else (_public(how), takes)
    taken = names([n for t in takes for n in _named(cut.step, t)])
    of = f" of {taken}" if taken else ""
    if flow.how.endswith(".apply") or flow.how not in WAYS_OUT or made_integers:
        if SAMPLES in cut.step.marks:
            return f"{place} drew by sample(){of}, which records nothing."
        if NO_GRAD in cut.step.marks:
            since = _switched_off(found, cut.step)
            return f"{place} ran {how}(){of} while grad mode was off{since}, so nothing was recorded."
        if INFERENCE in cut.step.marks:
            return f"{place} ran {how}(){of} in inference mode, so nothing was recorded."
        states = [cut.step.tensors.get(number) for number in flow.gives]
        if any(state is not None and state.dtype.startswith(("float", "complex")) for state in states):
            return f"{place}: {how}(){of} has no derivative, so its result has no history."
        return f"{place}: {how}(){of} gives a tensor that cannot carry a gradient (integers, bools)."
    told = WAYS_OUT[flow.how]
    return f"{place}: {told.removesuffix(' of it') if of else told}{of}."


def _named(step: ExecutedLine, tensor: int) -> Sequence[str]:
    """Return a name of a tensor, or that of the one of which the same line made it."""
    if known := step.named(tensor)[:1]:
        return known
    made = next((f.takes for f in step.flows if tensor in f.gives and len(f.takes) == 1), ())
    return [n for t in made for n in step.named(t)[:1]]


def _of_a_layer(cut: Cut, text: str) -> bool:
    """Tell whether a product was that of a linear layer, whose weight is transposed first."""
    products = cut.flow.how in ("addmm", "mm", "matmul") and not re.search(r"mm\(|matmul\(|@", text)
    return products and any(f.how == "t" and set(f.gives) & set(cut.flow.takes) for f in cut.step.flows)


def _public(how: str) -> str:
    """Return PyTorch's name of an op that has none in public: that of its node."""
    if not how.startswith("_"):
        return how
    node = overloads(how).ops[0].node or how
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", re.sub(r"Backward\d*$", "", node)).lower()


def _as_written(how: str, line: str) -> str:
    """Return a comparison as the line has it: Python turns ``x > p`` into ``p < x`` for a parameter."""
    sign, turned = _SIGNS.get(how, ("", ""))
    return turned if sign and sign not in line and _SIGNS[turned][0] in line else how


_SIGNS = {"lt": ("<", "gt"), "gt": (">", "lt"), "le": ("<=", "ge"), "ge": (">=", "le")}
"""The sign of each comparison, and the comparison from the other side."""


def _decorated(found: Story, line: int) -> int:
    """Return the line of the decorator that switches grad mode off in the function of a line, or 0."""
    inside = _indent(found, line)
    for above in range(line - 1, 1, -1):
        if found.text_of(above).startswith(("def ", "async def ")) and _indent(found, above) < inside:
            decorator = found.text_of(above - 1)
            return above - 1 if re.match(r"@[\w.]*(no_grad|inference_mode)\b", decorator) else 0
    return 0


def _indent(found: Story, line: int) -> int:
    text = found.source[line - 1]
    return len(text) - len(text.lstrip())


def _switched_off(found: Story, step: ExecutedLine) -> str:
    """Return since which line grad mode is off, in words, if a line before did it."""
    if decorator := _decorated(found, step.line):
        return f" by the decorator of {at(found, decorator)}"
    rules = {"mode/set-grad-enabled", NO_GRAD, "mode/decorator"}
    before = [s for s in found.steps if s.number < step.number and rules & set(s.marks)]
    lines = [s.line for s in before if not any(flow.lost for flow in s.flows)]
    return f" since {at(found, lines[-1])}" if lines else ""
