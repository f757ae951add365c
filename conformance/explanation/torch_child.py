"""The process of a script on real torch: ``python -m conformance.explanation.torch_child RECORDS SCRIPT NAME
SECONDS MEGABYTES DRAWS ARGUMENTS``, where DRAWS is the file of the random numbers to give.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import CodeType
from typing import Any

from conformance.explanation.child import Told, emitter, limit, prepare, seed_all
from conformance.explanation.lines import Emit, LineTracer, words_of_exception
from conformance.explanation.reach import reached

ALONE = "alone"
"""The name of the file of draws for a run that is compared with none."""


class TorchTracer(LineTracer):
    """Tells, line by line, the facts of the tensors that names reach."""

    def __init__(self, filename: str, names: dict[str, Any], emit: Emit) -> None:
        from conformance.adapters import torch_lines

        super().__init__(filename, names, emit)
        self.look, self.numbers = torch_lines, torch_lines.Numbered()
        self.step, self.looking, self.lost_at = 0, False, 0
        self.seen: dict[int, Any] = {}
        self.names: dict[str, int] = {}
        self.printed: list[str] = []

    def printed_by(self, text: str) -> None:
        """Take what the script prints."""
        if text and sum(map(len, self.printed)) < 10_000:
            self.printed.append(text)

    def run(self, code: CodeType) -> None:
        """Run the script; its exception is told and not raised."""
        warnings.showwarning = self._warned  # type: ignore[assignment]
        try:
            self.execute(code)
            self.line_done()
        except SystemExit as exit:
            self.line_done()
            self.emit({"exit": exit.code if isinstance(exit.code, int | None) else str(exit.code)})
        except BaseException as error:
            self.line_done()
            self.emit({
                "error": words_of_exception(error), "kind": type(error).__name__,
                "line": self.line_of(error.__traceback__), "step": self.step, "rule": None, "tensor": None,
                "not_modelled": None,
            })  # fmt: skip

    def line_done(self) -> None:
        if self.at is None:
            return
        tensors = dict(reached(self.roots(), self.look.KIND, self.look.names_here))
        tensors = {name: x for name, x in tensors.items() if not isinstance(x, self.look.SHAPELESS)}
        names = {name: self.numbers.of(x, self.step) for name, x in tensors.items()}
        states = {names[name]: self.look.state_of(x, self.numbers, self.step) for name, x in tensors.items()}
        changed = [state for number, state in states.items() if self.seen.get(number) != state]
        if changed or names != self.names or self.printed or self.passes[self.at] == 1:
            line, function = self.at
            self.emit({
                "step": self.step, "line": line, "function": function, "passes": self.passes[self.at],
                "marks": [], "printed": "".join(self.printed), "names": names,
                "tensors": changed, "nodes": [], "gone": sorted(self.seen.keys() - states.keys()), "ran": [],
                "flows": [], "subjects": {},
            })  # fmt: skip
            self.step += 1
            self.printed = []
        self.seen, self.names = states, names

    def _warned(self, message: Any, category: Any, filename: str, lineno: int, *_: Any) -> None:
        self.emit({
            "warning": str(message), "kind": category.__name__, "line": self.at[0] if self.at else lineno,
            "rule": None, "step": self.step, "tensor": None,
        })  # fmt: skip


def main() -> None:
    """Run the script under the tracer, within limits of time: torch reserves more memory than it uses."""
    records, script, name, seconds, _, draws, *arguments = sys.argv[1:]
    os.environ["TORCHDYNAMO_DISABLE"] = "1"  # as the reference does it
    if Path(draws).name != ALONE:
        os.environ["PYTORCH_JIT"] = "0"
    try:
        import conformance.adapters.torch_lines  # noqa: F401  before the limits: only the script's time counts
    except ImportError as error:
        emitter(Path(records))({"absent": str(error)})
        return
    limit(2 * int(seconds) + 20, 0)
    emitter(Path(records))({"begun": True})
    play(Path(records), Path(script).read_bytes(), name, arguments, Path(draws))


def play(records: Path, source: bytes, name: str, arguments: Sequence[str], draws: Path) -> None:
    """Run a script on torch in this process, with the random numbers in the file ``draws``, and write the
    records.
    """
    from conformance.adapters.torch_lines import GivenNumbers

    emit = emitter(records)
    given = GivenNumbers(json.loads(draws.read_text("utf-8")))
    seed_all()
    prepared = prepare(source, name, arguments, emit)
    if prepared is not None:
        code, names = prepared
        tracer = TorchTracer(name, names, emit)
        given.losing = lambda: setattr(tracer, "lost_at", tracer.step)
        sys.stdout = Told(tracer.printed_by)
        tracer.run(code)
        cuda = tracer.look.has_cuda()
        emit({"end": True, "lost": given.lost, "lost_at": tracer.lost_at, "cuda": cuda})


if __name__ == "__main__":
    main()
