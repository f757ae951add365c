"""Running a script under a trace function that looks at its tensors after each line."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Sequence
from itertools import chain
from types import CodeType
from typing import Any

from conformance.adapters.call_names import SILENT, STEP
from conformance.adapters.reference_state import (
    TENSOR,
    RawFacts,
    subject_of,
    subject_of_warning,
)
from conformance.adapters.reference_watch import Watcher, base_of, mode_rule, raw_needs_grad
from conformance.adapters.torch_words import (
    as_torch_names_things,
    said_by_torch,
    subject_told,
    warned_by_torch,
)
from conformance.explanation.lacking import imported_wholly, not_modelled
from conformance.explanation.lines import Emit, LineTracer, words_of_exception
from conformance.explanation.peek import Peek
from conformance.explanation.value import TensorState
from specs.active_rules import recording
from specs.errors import Refusal
from specs.rule import RULES

QUIET_CHAPTERS = frozenset({"leaf", "save", "op", "mode", "function"})
QUIET = frozenset({
    "requires_grad/any-input", "requires_grad/flag-at-creation", "requires_grad/integer-results-never",
    "grad/only-leaves-are-filled", "grad/plain-leaves-get-none", "view/shares-storage",
    "version/shared-by-views", "backward/accumulate-first", "detach/cuts", "detach/shares-storage",
    "detach/is-no-view", "version/shared-by-detach", "nn/linear-is-one-node", "nn/loss-is-the-mean",
    "device/copy-is-an-op", "device/made-there-is-a-leaf", "device/like-its-model",
})  # fmt: skip
"""Rules of calls that change no tensor that was there before."""
FLOWS = 2000
"""The most ops of one line that are told."""


MAKES_LEAVES = ("nn.Parameter", "torch.tensor", "torch.Tensor")
"""Calls whose result takes no history, though it may require grad."""


class Tracer(LineTracer):
    """Tells, line by line, which rules were marked and what changed, on the reference."""

    def __init__(self, filename: str, names: dict[str, Any], emit: Emit) -> None:
        super().__init__(filename, names, emit)
        self.peek = Peek()
        self.watcher = Watcher(self._op_begins, self._op_ends)
        self.marks: list[str] = []
        """The rules marked since marks were last handed to the lines that run."""
        self.within: list[list[str]] = []
        """The marks of the line at which each frame stands, with those of the functions that it called."""
        self.step = 0
        self.seen: dict[int, TensorState] = {}
        self.names: dict[str, int] = {}
        self.printed: list[str] = []
        self.looking = False
        self.ran: list[tuple[int, list[Any]]] = []
        """The nodes that backward has reached during the line, with the gradients that arrived."""
        self.open: list[list[str]] = []
        """The marks of each op that runs."""
        self.flows: list[tuple[str, list[int], list[int], bool]] = []
        self.warned = False
        """The line has warned, or was refused."""
        self.refused: set[tuple[int, str, int]] = set()
        """The lines that were refused, each with the rule."""
        self.shared = False
        """Memory was shared with numpy, which may write to it unseen."""
        self.threads = threading.active_count()
        self.subjects: dict[int, list[str]] = {}
        """The marks of the ops that gave or wrote each tensor during the line."""
        self.stars: list[str] = []
        """The modules all of whose names the script imports."""

    def run(self, code: CodeType) -> None:
        """Run the script; its exception is told and not raised."""
        self.stars = imported_wholly(code)
        warnings.showwarning = self._warned  # type: ignore[assignment]
        warnings.simplefilter("default")
        for quiet in (ResourceWarning, ImportWarning, PendingDeprecationWarning):
            warnings.simplefilter("ignore", quiet)
        self.watcher.start()
        self.watcher.watch_engine(self._reached)
        try:
            with recording(self._mark):
                self.execute(code)
            self.line_done()
        except SystemExit as exit:
            self.line_done()
            self.emit({"exit": exit.code if isinstance(exit.code, int | None) else str(exit.code)})
        except BaseException as error:
            self.line_done()
            self._failed(error)

    def _mark(self, rule: str) -> None:
        if self.looking:
            return
        if not self.marks or self.marks[-1] != rule:
            self.marks.append(rule)
        for marks in self.open:
            marks.append(rule)

    def _op_begins(self) -> None:
        self.open.append([])

    def _op_ends(self, how: str, gives: list[Any], takes: list[Any]) -> None:
        marks = self.open.pop()
        if self.looking:
            return
        number = self.peek.numbers.of
        lost = (
            not self.open
            and how not in ("setitem", STEP)
            and any(map(raw_needs_grad, takes))
            and (how in MAKES_LEAVES or not any(map(raw_needs_grad, gives)))
        )
        off = mode_rule() if lost and not any(map(raw_needs_grad, gives)) else ""
        if off:
            marks.append(off)
            self.marks.append(off)
        for x in gives:
            self.peek.note_birth(x, self.step)
            base = base_of(x) if any(x is y for y in takes) else None
            for subject in (x,) if base is None else (x, base):
                self.subjects.setdefault(number(subject), []).extend(marks)
        if len(self.flows) < FLOWS:
            self.flows.append((how, list(map(number, gives)), list(map(number, takes)), lost))

    def _reached(self, node: Any, grads: list[Any]) -> None:
        self.ran.append((self.peek.meet(node, self.step), grads))

    def printed_by(self, text: str) -> None:
        """Take what the script prints."""
        if text and sum(map(len, self.printed)) < 10_000:
            self.printed.append(text)

    def entered(self) -> None:
        self._hand_on_marks()
        self.within.append([])

    def left(self, index: int) -> None:
        del self.within[index]

    def begun(self) -> None:
        self.within[-1].clear()

    def _hand_on_marks(self) -> None:
        for marks in self.within:
            marks += self.marks
        self.marks = []

    def line_done(self) -> None:
        """Tell what the line that ran until now did."""
        if self.at is None:
            return
        if len(self.within) <= self.depth:  # else they were handed on at the call
            self._hand_on_marks()
        calls = len(self.frames) > self.depth
        marks = list(dict.fromkeys(self.within[self.depth - 1]))
        self.looking = True
        try:
            self.peek.begin(self.step)
            names, states, new = self.peek.look(self.roots(), self._is_quiet(marks))
            changed = [_form(s) for n, s in states.items() if self.seen.get(n) is not s]
            line, function = self.at
            if (
                changed
                or new
                or names != self.names
                or self.printed
                or self.ran
                or self.flows
                or self.warned
                or (self.passes[self.at] == 1 and not calls)
            ):
                self.emit({
                    "step": self.step, "line": line, "function": function, "passes": self.passes[self.at],
                    "marks": marks, "printed": "".join(self.printed), "names": names,
                    "tensors": changed, "nodes": [_form(self.peek.nodes[n]) for n in sorted(new)],
                    "gone": sorted(self.seen.keys() - states.keys()), "ran": self.ran, "flows": self.flows,
                    "subjects": {n: list(dict.fromkeys(m)) for n, m in self.subjects.items() if n in states},
                })  # fmt: skip
                self.step += 1
                self.printed, self.ran, self.flows, self.subjects, self.warned = [], [], [], {}, False
            self.seen, self.names = states, names
        finally:
            self.looking = False

    def _is_quiet(self, marks: Sequence[str]) -> bool:
        """Tell whether the line can have changed no tensor that was there before it."""
        self.shared = self.shared or any("numpy" in mark for mark in marks)
        if any(how == SILENT for how, *_ in self.flows):
            return False
        if self.ran or self.shared or self.threads != threading.active_count():
            return False
        return all(mark.partition("/")[0] in QUIET_CHAPTERS or mark in QUIET for mark in marks)

    def _number(self, x: Any) -> int | None:
        return self.peek.numbers.of(x) if isinstance(x, TENSOR) else None

    def _warned(self, message: Any, category: Any, filename: str, lineno: int, *_: Any) -> None:
        rule = next((m for m in reversed([*chain(*self.within), *self.marks]) if RULES[m].warns), None)
        line = self.at[0] if self.at else lineno
        self.warned = True
        self.emit({
            "warning": warned_by_torch(message), "kind": category.__name__, "line": line, "rule": rule,
            "step": self.step, "tensor": self._number(subject_of_warning()) if rule else None,
        })  # fmt: skip

    def raised(self, error: BaseException, trace: Any) -> None:
        """Tell a refusal; one that is not caught is told again at the end."""
        if self.looking or not isinstance(error, Refusal) or not hasattr(error, "rule"):
            return
        refused = self.line_of(trace), error.rule
        key = (*refused, self.passes[self.at] if self.at else 0)
        if key in self.refused:
            return
        self.refused.add(key)
        if any(one[:2] == refused for one in self.refused - {key}):
            self.emit({"caught_again": refused})
        else:
            self.warned = True
            record = self._told(error, trace)
            self.emit({"caught": record.pop("error"), **record})

    def _failed(self, error: BaseException) -> None:
        self.emit(self._told(error, error.__traceback__))

    def _told(self, error: BaseException, trace: Any) -> dict[str, Any]:
        line = self.line_of(trace)
        tensor, node, saved, operands = (
            subject_of(trace) if isinstance(error, Refusal) else (None, None, None, [])
        )
        tensor = self._named_or_base(tensor)
        return {
            "error": self._said(error, tensor, node, saved), "kind": _kind(error), "line": line,
            "step": self.step,
            "rule": getattr(error, "rule", None) if isinstance(error, Refusal) else None,
            "tensor": self._number(tensor),
            "operands": [self.peek.numbers.of(self._named_or_base(x)) for x in operands],
            "node": self.peek.node_numbers.of(node) if node is not None else None,
            "calls": self.calls_of(trace),
            "saved_version": saved.version if saved is not None else None,
            "not_modelled": not_modelled(error, self.filename, self.stars),
        }  # fmt: skip

    def _named_or_base(self, tensor: Any) -> Any:
        """Return a tensor, or that of which it is a view if it has no name."""
        base = base_of(tensor) if isinstance(tensor, TENSOR) else None
        return tensor if base is None or self._number(tensor) in self.names.values() else base

    def _said(self, error: BaseException, tensor: Any, node: Any, saved: Any) -> str:
        """Return the text of an error: torch's, for what the reference refuses."""
        if not isinstance(error, Refusal) or not hasattr(error, "rule"):
            return as_torch_names_things(words_of_exception(error))
        subject = subject_told(tensor, node, saved)
        if subject is not None and not subject[2]:
            counter = self.peek.counters.of(RawFacts(tensor).counter)
            sharing = [s for s in self.seen.values() if s.counter == counter and s.grad_fn]
            node = str(sharing[0].grad_fn) if sharing else ""
            subject = (*subject[:2], node, subject[3])
        return said_by_torch(error, subject)


def _form(value: Any) -> dict[str, Any]:
    """Return the fields of a flat dataclass by name, those of the dataclasses in its tuples too."""
    form = {name: getattr(value, name) for name in value.__slots__}
    if saved := form.get("saved"):
        form["saved"] = [_form(operand) for operand in saved]
    return form


def _kind(error: BaseException) -> str:
    return next(c.__name__ for c in type(error).__mro__ if not c.__name__.startswith("Refus"))
