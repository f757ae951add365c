"""Answers to questions: why a fact of a tensor is what it is, in sentences."""

from __future__ import annotations

import difflib
import re

from conformance.explanation.history import last_with
from conformance.explanation.text import mishap_told
from conformance.explanation.value import ExecutedLine, Story
from conformance.explanation.why_fact import ASKED, fact_told
from conformance.explanation.why_grad import grad_answer
from conformance.explanation.words import at, beginning, fact_in_words, in_print, stated_by

SYNONYMS = {"_version": "version", "_base": "base", "_is_view": "base", "is_view": "base",
            "leaf": "is_leaf",
            "requires_grad_": "requires_grad", "retain_grad": "retains_grad",
            "is_cuda": "device"}  # fmt: skip
EXAMPLES = "a.grad, 'w.is_leaf', 'line 10', error or warning"


class Unknown(KeyError):
    """A question about something that the script does not have: what is wrong, and a hint."""

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what)
        self.what, self.hint = what, hint

    def __str__(self) -> str:
        return f"{self.what} ({self.hint})"


def why(found: Story, question: str) -> str:
    """Answer ``a.grad``, ``w.is_leaf``, ``line 10``, ``error`` or ``warning``, also within a sentence.

    Raises Unknown, a KeyError, where no tensor goes by the name.
    """
    asked = question.strip().rstrip("?").strip()
    if re.fullmatch(r"(the )?(error|exception)s?", asked, re.IGNORECASE):
        ended = () if found.error is None or found.ending == "not modelled" else (found.error,)
        told = "\n\n".join(mishap_told(found, error) for error in (*found.caught, *ended))
        ending = "" if found.ending == "finished" else found.note
        return told or ending or "No error ended the script."
    if warned := re.fullmatch(r"(?:the )?warnings?(?: (\d+))?", asked, re.IGNORECASE):
        chosen = found.warnings[int(warned[1]) - 1 :][:1] if warned[1] else found.warnings
        return "\n\n".join(mishap_told(found, w) for w in chosen) or "The script did not warn."
    if line := re.fullmatch(r"line (\d+)", asked, re.IGNORECASE):
        return _line(found, int(line[1]))
    name, asked_fact = _subject(found, asked)
    step = last_with(found, name)
    assert step is not None  # _subject found the name
    state = step.tensors[step.names[name]]
    if asked_fact == "grad":
        return grad_answer(found, name, state, step)
    if asked_fact:
        return fact_told(found, name, asked_fact, state, step)
    return "\n".join(
        [fact_told(found, name, f, state, step) for f in ("is_leaf", "requires_grad")]
        + [grad_answer(found, name, state, step)]
    )


def known_names(found: Story) -> list[str]:
    """Return all names by which a tensor went."""
    return sorted({name for step in found.steps for name in step.names})


def _subject(found: Story, question: str) -> tuple[str, str]:
    """Return the name and the fact that a question is about; no fact if it names a tensor alone."""
    known = {_plain(name): name for name in known_names(found)}
    words = [question, *question.split()]
    for word in words:
        text = _plain(word.strip("`'\",;:!") if word.count("[") == 0 else word.strip("`,;:!"))
        text = text.rstrip("()")
        name, _, last = text.rpartition(".")
        wanted = SYNONYMS.get(last, last)
        if wanted in ASKED and name in known:
            return known[name], wanted
        if text in known and (word == question or len(text) > 1):
            return known[text], ""
    for word in words:
        name, _, last = _plain(word).rpartition(".")
        if name in known:
            raise Unknown(f"{name} has no fact {last!r} to explain", f"one of {', '.join(ASKED)}")
    raise _unknown(found, words[-1] if len(words) > 2 else question, list(known))


def _unknown(found: Story, question: str, known: list[str]) -> Unknown:
    name = question
    for ending in (*ASKED, *SYNONYMS):
        name = name.removesuffix(f".{ending}")
    what = f"no tensor goes by {name!r}"
    if not known:
        return Unknown(what, "no name of the script holds a tensor")
    near = difflib.get_close_matches(name, known, n=4, cutoff=0.5)
    if re.search(rf"\b{re.escape(name.split('.')[0])}\b", "\n".join(found.source)) and not near:
        what += ", or the script ended before it did"
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known[:12])}"
    return Unknown(what, f"{hint}; ask for instance {EXAMPLES}" if len(name.split()) > 1 else hint)


def _plain(name: str) -> str:
    name = name.replace('"', "'").replace(" ", "")
    return re.sub(r"\.(\d+)(?=\.|$)", r"[\1]", name)  # model.0.weight, as state_dict() says


def _line(found: Story, line: int) -> str:
    steps = [step for step in found.steps if step.line == line]
    mishaps = [m for m in found.mishaps if m.line == line]
    if not steps and not mishaps:
        if not 0 < line <= len(found.source):
            raise Unknown(f"there is no line {line}", f"the script has lines 1 to {len(found.source)}")
        return f"{beginning(at(found, line))} did not run, or changed nothing that a name reaches."
    told = [f"{beginning(at(found, line))}:"]
    for step in (steps[0], steps[-1]) if len(steps) > 1 else steps:
        text = _did(step)
        if text:
            told.append(f"in pass {step.passes}, {text}" if len(steps) > 1 else text)
    if len(told) == 1 and not mishaps:
        told.append("it changed nothing that a name reaches.")
    rules = dict.fromkeys(rule for step in steps for rule in step.because)
    told += [f"{stated_by(rule)} ({rule})" for rule in list(rules)[:3]]
    return "\n".join([" ".join(told), *(mishap_told(found, m) for m in mishaps)])


def _did(step: ExecutedLine) -> str:
    by_name: dict[str, list[str]] = {}
    for change in step.changes:
        by_name.setdefault(change.name, []).append(fact_in_words(change, step))
    parts = [f"{name}: {', '.join(facts)}" for name, facts in by_name.items()]
    if step.printed.strip():
        parts.append(f"it printed {in_print(step.printed.strip().splitlines()[0])}")
    return f"{'; '.join(parts)}." if parts else ""
