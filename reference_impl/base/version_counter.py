"""Version counters: lists of one int, each shared by the tensors that count their writes together."""

from __future__ import annotations

from typing import Any

from reference_impl.base.rules import refuse_by
from reference_impl.base.session import STATE


class _Untracked(list[int]):
    """The version counter of inference tensors: reading it is refused, writing does nothing."""

    def __getitem__(self, index: Any) -> Any:
        refuse_by("inference/has-no-version")
        return 0

    def __setitem__(self, index: Any, value: Any) -> None:
        """Count nothing."""


UNTRACKED: list[int] = _Untracked()


def alias_counter(inference: bool) -> list[int]:
    """A new version counter for an alias that does not share its source's; ``inference``: the source is an
    inference tensor.
    """
    return UNTRACKED if inference and STATE.inference else [0]
