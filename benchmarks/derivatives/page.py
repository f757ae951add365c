"""The page ``docs/derivatives.md``: counts by op and dtype, and why a cell is empty."""

from __future__ import annotations

import importlib
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from benchmarks.derivatives.counting import Cell
from benchmarks.derivatives.torch_has import HAS, UNKNOWN, why_empty
from benchmarks.formulas.inputs import every_op

PAGE = Path(__file__).parents[2] / "docs" / "derivatives.md"
DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
ORDERS = (1, 2)

HEAD = """\
# Which derivatives programs compute

Made by `python -m benchmarks.derivatives --write` from {programs:,} programs (seed {seed}), run on the
reference. Before the slash: how often the op's node ran in a backward and gave an operand of that dtype a
gradient. After it: how often a later backward differentiated what the node recorded then, under
`create_graph`. What formulas record counts for the op whose formula it is. Ops are called as their
declarations in `specs/ops` are, in-place forms end in `_`, and composites count as what they are composed
of. "-" is never, and the second table says why.

{filled:,} of {cells:,} cells are filled.
"""
MIDDLE = """\
## Why a cell is empty

Torch {release} was asked, on inputs that compute the derivative in another dtype.
"""
END = """\
## What no program calls

Programs differentiate no call of these, which users and formulas make: {names}.
"""


def rows(counts: Counter[Cell]) -> list[str]:
    """The keys of the ops that the table has a row for: those that programs call, or reach by composites."""
    reached = {key for key, _, _ in counts}
    return sorted({op.key for op in every_op() if op.key in reached or not op.internal})


def page(counts: Counter[Cell], programs: int, seed: int) -> str:
    """The text of the page; torch is asked about each cell that is empty."""
    torch = importlib.import_module("torch")
    keys = rows(counts)
    cells = [(key, dtype, order) for key in keys for dtype in DTYPES for order in ORDERS]
    empty = [cell for cell in cells if not counts[cell]]
    others = sorted({op.key for op in every_op()} - set(keys))
    parts = [
        HEAD.format(programs=programs, seed=seed, filled=len(cells) - len(empty), cells=len(cells)),
        _table(counts, keys),
        MIDDLE.format(release=torch.__version__.partition("+")[0]),
        _reasons((cell, why_empty(torch, cell)) for cell in empty),
        END.format(names=", ".join(f"`{key}`" for key in others)),
    ]
    return "\n".join(parts)


def _table(counts: Counter[Cell], keys: list[str]) -> str:
    lines = [f"| op | {' | '.join(DTYPES)} |", "|---" * (len(DTYPES) + 1) + "|"]
    for key in keys:
        shown = (tuple(counts[key, dtype, order] for order in ORDERS) for dtype in DTYPES)
        cells = (" / ".join(f"{number:,}" for number in pair) if any(pair) else "-" for pair in shown)
        lines.append(f"| `{key}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _reasons(given: Iterable[tuple[Cell, str]]) -> str:
    """A line for each reason, with the ops and dtypes that it is the reason for."""
    orders: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for (key, dtype, order), why in given:
        orders[why, key, dtype].append({1: "first", 2: "second"}[order])
    lines: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for (why, key, dtype), which in orders.items():
        lines[why, " and ".join(which)][key].append(dtype)
    told = ["| torch says | derivative | of |", "|---|---|---|"]
    for (why, which), ops in sorted(lines.items(), key=lambda item: (item[0][0] in (HAS, UNKNOWN), item[0])):
        alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for key, dtypes in ops.items():
            alike[tuple(dtypes)].append(f"`{key}`")
        of = "; ".join(f"{', '.join(dtypes)}: {', '.join(keys)}" for dtypes, keys in alike.items())
        told.append(f"| {why.replace('|', '/')} | {which} | {of} |")
    return "\n".join(told) + "\n"
