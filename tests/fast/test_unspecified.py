"""Results that depend on uninitialized memory: the reference marks these as unspecified, and no others."""

from __future__ import annotations

import pytest

import reference_impl
from conformance.comparison.judge import Decision
from conformance.grading.participants import Participants
from conformance.program import Program
from conformance.program.parsing import parse
from specs.errors import Unspecified

GAPS = """import torch
b = torch.tensor(2.0, requires_grad=True)
c = torch.tensor([[-2.0, 0.0, 2.0], [3.0, 3.0, -2.0]])
d = c[:, 0].detach()
"""


@pytest.mark.parametrize(
    ("step", "decision"),
    [
        ("e = d.as_strided((4,), (1,))\ne.add_(b)", Decision.INCOMPARABLE),
        ("e = d.as_strided((2,), (3,))\ne.add_(b)", Decision.AGREE),
        ("e = d.as_strided((2,), (3,))\ne.mul_(b)", Decision.AGREE),
        ("d.mul_(b)\ne = d.as_strided((4,), (1,))\ne.cumsum_(0)", Decision.INCOMPARABLE),
        ("d.mul_(b)\ne = d.as_strided((4,), (1,))\ne.mul_(3)", Decision.AGREE),
        ("d.mul_(b)\ne = d.as_strided((2,), (3,))\ne.cumsum_(0)", Decision.AGREE),
    ],
)
def test_the_gradient_of_what_lies_between_a_base_s_elements(step: str, decision: Decision) -> None:
    """Nobody wrote it, and what the write added is given the sum of it."""
    judged = Participants("reference", "torch").judged(parse(f"{GAPS}{step}\ne.backward(e)\n"), "each")
    assert judged.found.decision is decision


def test_the_gradient_of_a_convolution_whose_input_has_another_shape_by_now() -> None:
    """Each of PyTorch's kernels for it has its own words, or none."""
    text = """import torch
a = torch.ones(1, 2, 3, requires_grad=True)
b = torch.ones(2, 2, 1)
c = torch.nn.functional.conv1d(a, b, stride=2)
a.data = c
c.backward(c)
"""
    judged = Participants("reference", "torch").judged(parse(text), "each")
    assert judged.found.decision is Decision.INCOMPARABLE


def _losses_of_other_targets(reduction: str) -> str:
    return f"""
a = torch.tensor([[-2.0, 2.0, -1.0], [3.0, 1.0, -2.0]], requires_grad=True)
b = torch.tensor([1, 2])
c = torch.nn.functional.cross_entropy(a, b, reduction='{reduction}')
d = c.sum()
b.data = torch.tensor([3, 0])
d.backward()
"""


def test_the_gradient_of_losses_whose_targets_are_no_classes_by_now() -> None:
    """PyTorch looks at targets again where it reduces, and else writes to other memory: torch is not run."""
    with pytest.raises(Unspecified):
        exec(_losses_of_other_targets("none"), {"torch": reference_impl})
    refused = parse("import torch" + _losses_of_other_targets("mean"))
    judged = Participants("reference", "torch").judged(refused, "each")
    assert judged.found.decision is Decision.AGREE


WRITTEN_AT_ONCE = {
    "a step of a parameter that the optimizer has twice": """
a = torch.tensor([1.0, 2.0], requires_grad=True, device='cuda')
b = torch.optim.AdamW([a, a], lr=0.25)
c = a.sum()
c.backward()
b.step()
""",
    "a step that inference tensors are part of": """
a = torch.tensor([1.0, 2.0], requires_grad=True, device='cuda')
a.backward(a)
with torch.inference_mode():
    e = torch.tensor(-1.0, requires_grad=True, device='cuda')
m = torch.optim.SGD([e, a])
e.backward()
m.step()
""",
    "a gradient that is clipped twice": """
a = torch.tensor([2.0], requires_grad=True, device='cuda')
a.backward()
k = torch.nn.utils.clip_grad_norm_([a, a], 1.0)
""",
    "a write to some places of what shows an element twice": """
a = torch.tensor([1.0], device='cuda')
b = a.expand(2)
c = torch.tensor([1], device='cuda')
b.index_fill_(0, c, 2.0)
""",
}


@pytest.mark.device
@pytest.mark.parametrize("text", WRITTEN_AT_ONCE.values(), ids=WRITTEN_AT_ONCE)
def test_what_a_device_writes_at_once(text: str) -> None:
    """The order in which it does, or that it refuses, is what its kernels decide: what comes before and after
    is judged without that step.
    """
    program = parse(f"import torch\n{text}z = a * 2\n")
    judged = Participants("reference", "torch").judged(program, "each")
    assert judged.found.decision is Decision.AGREE
    assert judged.reference.program == Program(program.steps[:-2] + program.steps[-1:])


BESIDE_IT = {
    "a step of one inference tensor": """
with torch.inference_mode():
    e = torch.tensor(-1.0, requires_grad=True, device='cuda')
m = torch.optim.SGD([e])
e.backward()
m.step()
""",
    "gradients that are clipped once": """
a = torch.tensor([2.0], requires_grad=True, device='cuda')
b = torch.tensor([2.0], requires_grad=True, device='cuda')
a.backward()
b.backward()
k = torch.nn.utils.clip_grad_norm_([a, b], 1.0)
torch.nn.utils.clip_grads_with_norm_([a, b], 0.5, k)
""",
}


@pytest.mark.device
@pytest.mark.parametrize("text", BESIDE_IT.values(), ids=BESIDE_IT)
def test_what_is_decided_beside_that(text: str) -> None:
    """Nothing else is left open."""
    judged = Participants("reference", "torch").judged(parse("import torch\n" + text), "each")
    assert judged.found.decision is Decision.AGREE
