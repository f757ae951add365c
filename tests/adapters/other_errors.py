"""PyTorch whose errors have types and words of their own."""

from typing import Any

from plain_torch import PlainTorch

from conformance.adapters.capabilities import Capabilities
from conformance.program import Step


class OtherErrors(PlainTorch):
    """Refuses where PyTorch refuses, with one error for everything."""

    name = "other errors"
    capabilities = Capabilities(refusals="some")

    def perform(self, session: None, step: Step, operands: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
        try:
            return super().perform(session, step, operands)
        except Exception:
            raise OSError("no") from None

    def refusal(self, error: BaseException) -> None:
        """None of the errors names a rule."""


adapter = OtherErrors()
