"""A script explained: what can be printed and asked."""

from __future__ import annotations

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

    def __str__(self) -> str:
        return told(self)
