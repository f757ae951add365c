"""A picture as SVG, laid out by Graphviz: by ``dot`` if it is installed, else by its build in JavaScript."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from html import escape
from importlib.resources import as_file, files
from xml.etree import ElementTree

from conformance.explanation.pictures.dot import as_dot, heading_of
from conformance.explanation.pictures.moments import Moment
from conformance.explanation.pictures.palette import recoloured, variables
from conformance.explanation.value import Story

SECONDS = 60
"""The time that a layout may take."""

ENGINE = "viz-global.js"
"""The build of Graphviz in JavaScript, beside this file: see ``viz-js.txt``."""

FONT = 'ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace'

_NODE = """
const {instance} = require(process.argv[1]);
const text = require("fs").readFileSync(0, "utf8");
instance().then(viz => process.stdout.write(viz.renderString(text, {format: "svg"})));
"""


class NoLayout(Exception):
    """Nothing here can lay out a picture, or what can failed."""


def as_svg(found: Story, moment: Moment, headed: bool = True) -> str:
    """Return the picture of a moment as SVG; raises NoLayout where Graphviz is missing or fails."""
    told = "; ".join(heading_of(found, moment))
    return styled(layout(as_dot(found, moment, headed)), told)


def layout(dot: str) -> str:
    """Return a picture in DOT as the SVG that Graphviz makes of it."""
    if program := shutil.which("dot"):
        return _ran([program, "-Tsvg"], dot)
    if program := shutil.which("node"):
        with as_file(files(__package__) / ENGINE) as engine:
            return _ran([program, "-e", _NODE, str(engine)], dot)
    raise NoLayout("Graphviz is not installed")


def _ran(command: Sequence[str], text: str) -> str:
    try:
        done = subprocess.run(command, input=text.encode(), capture_output=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoLayout(f"{command[0]} failed: {error}") from error
    out = done.stdout.decode("utf-8", "replace")
    if done.returncode or "</svg>" not in out:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise NoLayout(f"{command[0]} failed: {said[0] if said else f'exit code {done.returncode}'}")
    return out


def styled(svg: str, told: str) -> str:
    """Return Graphviz's SVG with colours that follow a dark ground, and a title that tells what it shows."""
    svg = re.sub(r"<!--.*?-->\s*", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = re.sub(r"<title>.*?</title>\s*", "", svg, flags=re.DOTALL)
    style = (
        f"svg.graph{{{variables(False)}background:var(--paper)}}"
        f"svg.graph text{{font-family:{FONT}}}{recoloured()}"
        f"@media(prefers-color-scheme:dark){{svg.graph{{{variables(True)}}}}}"
    )
    head = f"<title>{escape(told, quote=False)}</title><style>{escape(style, quote=False)}</style>"
    svg = re.sub(r"<svg ", '<svg class="graph" role="img" ', svg, count=1)
    svg = re.sub(r"(<svg [^>]*>)", lambda found: found[1] + head, svg, count=1)
    ElementTree.fromstring(svg)
    return svg
