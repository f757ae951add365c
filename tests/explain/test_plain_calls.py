"""Errors that no rule speaks of: losses that want another dtype or shape, and numbers taken for tensors."""

from __future__ import annotations

import pytest

from explained import explained

BEGIN = "import torch\nfrom torch import nn\nF = nn.functional\nx = torch.rand(4, 3, requires_grad=True)\n"
CALLS = {
    "F.binary_cross_entropy(x, torch.ones(4, 3, dtype=torch.long))": "target.float()",
    "F.binary_cross_entropy_with_logits(x, torch.ones(4, 3, dtype=torch.long))": "target.float()",
    "F.cross_entropy(x, torch.zeros(4, 1, dtype=torch.long))": "target.squeeze(1)",
    "F.cross_entropy(x, torch.zeros(4))": "target.long()",
    "F.cross_entropy(x, torch.zeros(4, 3, dtype=torch.long))": "class indices of shape (N,)",
    "F.binary_cross_entropy_with_logits(x, torch.ones(4))": "output.squeeze(1)",
    "F.binary_cross_entropy(x, torch.ones(4))": "output.squeeze(1)",
    "nn.BatchNorm1d(3)(x[:1])": "eval()",
    "nn.Embedding(3, 2)(torch.tensor([3]))": "num_embeddings",
    "nn.Conv2d(3, 4, 3)(torch.ones(1, 8, 8, 3))": "x.permute(0, 3, 1, 2)",
    "nn.Conv2d(3, 4, 3)(torch.ones(1, 3, 8, 8, dtype=torch.uint8))": "x.float()",
    "nn.LSTM(3, 2)(torch.ones(4, 1, 3), (torch.ones(1, 2, 2), torch.ones(1, 2, 2)))": "stands second",
    "nn.BCELoss()(x + 1, torch.ones(4, 3))": "BCEWithLogitsLoss",
    "type('Net', (nn.Module,), {'__init__': lambda self: setattr(self, 'a', nn.Linear(1, 1))})()": "super()",
}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_that_refuses_what_it_is_given_has_a_cure(call: str) -> None:
    """The words of PyTorch, and what to give instead."""
    found = explained(f"{BEGIN}{call}\n")
    assert found.error is not None
    assert found.error.rule is None
    assert CALLS[call] in found.error.cure


def test_a_loss_without_a_target_for_each_input_has_a_cure():
    """That of its rule."""
    found = explained(f"{BEGIN}F.cross_entropy(x, torch.zeros(5, dtype=torch.long))\n")
    assert found.error is not None
    assert found.error.rule == "nn/a-target-for-each-input"
    assert "scores.reshape(-1, classes)" in found.error.cure


def test_a_number_that_is_taken_for_a_tensor_is_traced():
    """To the line that made it, though other tensors were on the way."""
    script = "total = 0\nfor _ in range(2):\n    total += (x * 2).sum().item()\ntotal.backward()\n"
    found = explained(BEGIN + script)
    assert found.error is not None
    assert (7,) == found.error.causes
    assert "total is a plain number" in found.error.sentence
    assert "without item()" in found.error.cure


def test_other_lacking_attributes_have_no_such_reason():
    """A number that no tensor was, and a name that is not assigned by itself."""
    for script in ("total = 1.5\ntotal.backward()\n", "(x.sum().item()).backward()\n"):
        found = explained(BEGIN + script)
        assert found.error is not None
        assert "" == found.error.cure


def test_a_list_of_numbers_is_traced_to_the_line_that_made_them():
    """As the operand of torch.stack(), which wants tensors."""
    script = "losses = []\nfor v in x:\n    losses.append(float(v.sum()))\ntorch.stack(losses).mean()\n"
    found = explained(BEGIN + script)
    assert found.error is not None
    assert (7,) == found.error.causes
    assert "losses holds plain numbers: line 7" in found.error.sentence
    assert "without float()" in found.error.cure
