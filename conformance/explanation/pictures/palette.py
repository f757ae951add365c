"""The colours of pictures and pages, light and dark. Text on every ground keeps a contrast of 4.5 to 1."""

from __future__ import annotations

from typing import NamedTuple


class Tint(NamedTuple):
    """A colour on a light ground, and the one that stands for it on a dark one."""

    light: str
    dark: str


PALETTE = {
    "ink": Tint("#1f2328", "#e6edf3"),
    "paper": Tint("#ffffff", "#161b22"),
    "ground": Tint("#f6f8fa", "#0d1117"),
    "faint": Tint("#57606a", "#9aa5b1"),
    "rim": Tint("#d0d7de", "#30363d"),
    "leaf": Tint("#bfe6c4", "#1c5230"),
    "result": Tint("#f0cfa8", "#6a4215"),
    "outside": Tint("#fbeeb0", "#57491a"),
    "node": Tint("#d9e8fb", "#1b3553"),
    "refused": Tint("#c2160f", "#ff8f87"),
    "warned": Tint("#8a5a00", "#e8b339"),
    "way": Tint("#7b2fc9", "#c59bf5"),
    "new": Tint("#fff3c4", "#4a3d10"),
    "here": Tint("#0a58ca", "#6cb2ff"),
    "string": Tint("#116329", "#7ee787"),
    "cure": Tint("#116329", "#7ee787"),
}
"""The colours by what they are for: ``leaf``, ``result`` and ``outside`` are tensors, ``way`` is the
gradient's, ``new`` a fact that the line changed, ``here`` the current line.
"""

LIGHT = {role: tint.light for role, tint in PALETTE.items()}


def variables(dark: bool) -> str:
    """Return the colours as CSS custom properties."""
    return "".join(f"--{role}:{tint.dark if dark else tint.light};" for role, tint in PALETTE.items())


def recoloured() -> str:
    """Return the CSS by which the fixed colours of a picture follow the custom properties."""
    parts = ["text{fill:var(--ink)}"]
    for role, tint in PALETTE.items():
        parts.append(
            f'[fill="{tint.light}"]{{fill:var(--{role})}}[stroke="{tint.light}"]{{stroke:var(--{role})}}'
        )
    return "".join(f"svg.graph {part}" for part in "".join(parts).replace("}", "}\n").splitlines())
