"""A script explained: what can be printed and asked."""

from __future__ import annotations

from typing import Any

from conformance.explanation.pictures.dot import as_dot
from conformance.explanation.pictures.moments import Moment, moment_at
from conformance.explanation.pictures.page import as_page
from conformance.explanation.pictures.summary import as_summary
from conformance.explanation.pictures.svg import as_svg
from conformance.explanation.text import told
from conformance.explanation.value import Story
from conformance.explanation.why import why


class Explanation(Story):
    """The story of a script with the rules behind it; printing it tells all."""

    def why(self, question: str) -> str:
        """Answer ``a.grad``, ``w.is_leaf``, ``line 10`` or ``error`` in sentences.

        Raises KeyError for a name that no tensor goes by.
        """
        return why(self, question)

    def dot(self, line: int | None = None) -> str:
        """Return the graph after the last pass of a line, or at the end, in Graphviz's language.

        Raises KeyError for a line that did not run.
        """
        return as_dot(self, self._moment(line))

    def svg(self, line: int | None = None) -> str:
        """Return that graph as a picture; raises `NoLayout` where there is neither Graphviz nor Node.js."""
        return as_svg(self, self._moment(line))

    def html(self, line: int | None = None) -> str:
        """Return a page to step through the script, which opens at a line."""
        return as_page(self, line)

    def _moment(self, line: int | None) -> Moment:
        moment = moment_at(self, line)
        if moment is None:
            raise KeyError(line)
        return moment

    def __str__(self) -> str:
        return told(self)

    def _repr_html_(self) -> str:
        return as_summary(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))
