"""PyTorch without in-place operations, which says so."""

from typing import Any

from plain_torch import PlainTorch

from conformance.adapters.capabilities import FEATURES, MOVING, Capabilities
from conformance.program import Step

KEPT = {"requires_grad_"}


class WithoutInPlace(PlainTorch):
    """Lacks all that writes: methods with an underscore, operators, assignments, optimizers, `out=`."""

    name = "without in-place"
    capabilities = Capabilities(features=FEATURES - MOVING - {"inplace"}, refusals="rules")

    def perform(self, session: None, step: Step, operands: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
        op = step.op
        writes = op.endswith("_") and not op.endswith("__") and op not in KEPT
        if writes or op.startswith(("__i", "__setitem__")) or op == "step" or "out" in operands[1]:
            raise NotImplementedError(f"there is no {op}")
        return super().perform(session, step, operands)


adapter = WithoutInPlace()
