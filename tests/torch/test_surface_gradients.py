"""Functions with gradients that generated programs do not call: values, graphs and gradients are torch's.

The same expression runs on torch and on the reference, on the same numbers; compared are what it gives, the
node that made it, its first gradients with their graph, and the gradients of those.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import reference_impl

torch = pytest.importorskip("torch")

from op_torch import tree  # noqa: E402 -- needs torch

NUMBERS = np.array([0.5, -1.25, 2.0, 0.75, -0.5, 1.5, 0.25, 3.0, -2.0, 1.0, -0.75, 1.75])

SAME_GRAPH = """
x.max(0)[0] | 2,3
x.max(1, keepdim=True).values | 2,3
x.min(dim=1)[0] | 2,3
x.max() | 2,3
x.min() | 2,3
x.max(0)[0] |
x.sort()[0] | 2,3
x.sort(0, descending=True)[0] | 2,3
x.topk(2)[0] | 2,3
x.topk(1, dim=0, largest=False)[0] | 2,3
x.kthvalue(2)[0] | 2,3
x.median() | 2,3
x.median(1)[0] | 2,3
x.clamp(y) | 2,3 | 2,3
x.clamp(max=y) | 2,3 | 3
x.clamp(y, z) | 2,3 | 3 | 2,1
x.clamp(y, y) | 3 | 3
x.clamp(torch.tensor([0.5, -1.25, 2.0]), torch.tensor([0.5, 3.0, 2.0])) | 3
x.mul(2).clamp_(y, z) | 2,3 | 3 | 2,1
x.mul(2).clamp_(max=y) | 3 | 3
x.clip(y.double(), z.double()) | 3 | 3 | 3
x.clamp_min(y) | 2,3 | 3
x.mul(2).clamp_max_(y) | 2,3 | 3
x.clamp_min(x.detach().round()) | 5
x.nanmedian() | 2,3
x.nanmedian(1)[0] | 2,3
x.masked_fill(x.gt(1), float("nan")).max() | 2,3
x.masked_fill(x.gt(1), float("nan")).median() | 2,3
x.masked_fill(x.gt(1), float("nan")).nanmedian() | 2,3
x.masked_fill(x.gt(1), float("nan")).nanmedian(1, True)[0] | 2,3
x.mode(1)[0] | 2,3
x.mode(0)[0] |
x.cummax(0)[0] |
x.cummin(-1)[0] |
x.cumprod(0) |
x.cumprod(-1) | 3,1
x.movedim(0, -1) |
x.mul(2).mT |
x.mul(2).H |
x.H | 2,3
x.mH | 2,2,3
x.mul(2).uniform_(2, 2) | 3
x.mul(2).uniform_(to=2, **{"from": 2}) | 3
x.mul(2).normal_(3, 0) | 3
x.mul(2).random_(3, 4) | 3
x.mul(2).random_(1) | 3
x.mul(2).random_().mul(0) | 3
x.mul(2).bernoulli_(1) | 3
x.mul(2).bernoulli_(y.clamp(1, 1)) | 3 | 3
x.mul(2).exponential_().mul(0) | 3
x.mul(2).log_normal_().mul(0) | 3
x.mul(2).cauchy_().mul(0) | 3
x.mul(2).geometric_(0.5).mul(0) | 3
x.clamp(1, 1).bernoulli() | 3
x.mul(2).eq_(y) | 3 | 3
x.mul(2).ne_(1) | 3
x.mul(2).gt_(y) | 2,3 | 3
x.mul(2).le_(0) | 3
torch.ones(3).new(x.mul(2)).mul(3) | 3
x.cummax(1)[0] | 2,3
x.cummin(0)[0] | 2,3
x.scatter(0, torch.tensor([[0, 1, 0]]), y) | 2,3 | 1,3
x.scatter(0, torch.tensor([[0, 1, 0]]), 2.0) | 2,3
x.index_copy(0, torch.tensor([1, 0]), y) | 2,3 | 2,3
x.index_fill(0, torch.tensor([1]), 2) | 2,3
x.tril() | 3,3
x.triu(1) | 2,3
x.var() | 2,3
x.var(0) | 2,3
x.var(1, unbiased=False, keepdim=True) | 2,3
x.var(dim=(0, 1), correction=0) | 2,3
x.std() | 2,3
x.std(0, keepdim=True) | 2,3
x.norm() | 2,3
x.norm(2, 0) | 2,3
x.norm(1) | 2,3
x.norm(3) | 2,2
x.norm(4, 1) | 2,2
x.norm(1.5) | 2,2
x.norm(float("inf")) | 2,3
x.logsumexp(0) | 2,3
x.logsumexp((0, 1), keepdim=True) | 2,3
x.softmax(1) | 2,3
torch.softmax(x, 0) | 2,3
x.log_softmax(-1) | 2,3
x.repeat(2, 3) | 2,3
x.repeat((2, 1, 3)) | 2,3
x.tile((2, 3)) | 2,3
x.roll(1, 0) | 3,3
x.roll((1, 2), (0, 1)) | 2,3
x.diag_embed() | 3
x.diag() | 3
x.clamp_min(0.5) | 5
x.clamp_max(0.5) | 5
x.sigmoid().logit() | 4
torch.cat([x, y]) | 2 | 3
torch.cat((x, y), 1) | 2,1 | 2,3
torch.stack([x, y], 1) | 2,3 | 2,3
torch.hstack([x, y]) | 2 | 3
torch.vstack([x, y]) | 3 | 3
x.movedim(0, -1) | 2,3,2
x.swapaxes(0, 1) | 2,3
x.unflatten(0, (2, 2)) | 4,3
x.split_with_sizes([1, 2])[1] | 3
torch.tensordot(x, y, 1) | 2,3 | 3,2
torch.outer(x, y) | 2 | 3
torch.addmm(x, y, z) | 2,2 | 2,3 | 3,2
x.repeat_interleave(2) | 3
x.real | 3
torch.complex(x, y).real | 3 | 3
torch.masked_select(x, torch.tensor([True, False, True])) | 3
x.abs().rsqrt() | 4
x.expm1() | 4
x.exp2() | 4
x.abs().log1p() | 4
x.abs().log2() | 4
x.tan() | 4
x.tanh().asin() | 4
x.atan() | 4
x.sinh() | 4
x.cosh() | 4
x.erf() | 4
x.frac() | 4
x.addcmul(y, z, value=2) | 2 | 2 | 2
x.addcdiv(y, z) | 2 | 2 | 2
torch.lerp(x, y, 0.25) | 3 | 3
x.lerp(y, z) | 3 | 3 | 3
x.atan2(y) | 3 | 3
torch.hypot(x, y) | 3 | 3
x.addmv(y, z) | 2 | 2,3 | 3
x.baddbmm(y, z, beta=2) | 2,2,2 | 2,2,3 | 2,3,2
F.relu(x) | 4
F.silu(x) | 4
F.gelu(x) | 4
F.elu(x, 2.0) | 4
F.softplus(x) | 4
F.leaky_relu(x, 0.5) | 4
F.hardtanh(x) | 5
F.relu6(x) | 5
F.threshold(x, 0.1, 0.0) | 5
F.threshold(x.clone(), 0.1, 0.0, inplace=True) | 5
F.leaky_relu(x.clone(), 0.5, True) | 4
F.hardtanh(x.clone(), inplace=True) | 4
F.relu(x.clone(), True) | 4
F.silu(x.clone(), inplace=True) | 4
F.softmin(x, 0) | 4
F.softsign(x) | 4
F.tanhshrink(x) | 4
F.pad(x, (1, 2)) | 2,3
F.pad(x, (1, -1, 0, 1), value=2.0) | 2,3
F.linear(x, y) | 2,3 | 4,3
F.linear(x, y, z) | 2,3 | 4,3 | 4
F.linear(x, y, z) | 3 | 4,3 | 4
F.linear(x, y, z) | 2,1,3 | 4,3 | 4
F.linear(x, y) | 2,1,3 | 4,3
F.mse_loss(x, y) | 2,3 | 2,3
F.mse_loss(x, y, reduction="sum") | 2,3 | 2,3
F.mse_loss(x, y, reduction="none") | 2,3 | 2,3
F.l1_loss(x, y) | 2,3 | 2,3
F.nll_loss(x, torch.tensor([0, 2])) | 2,3
F.nll_loss(x, torch.tensor([0, 2]), reduction="sum") | 2,3
F.cross_entropy(x, torch.tensor([0, 2])) | 2,3
F.dropout(x, 0.5, training=False).exp() | 3
"""

SAME_VALUES = """
x.trace() | 3,3
x.sum(dtype=torch.double) | 2,3
x.sum(1, dtype=torch.double) | 2,3
x.mean(0, keepdim=True) | 2,3
x.cumsum(0, dtype=torch.double) | 2,3
x.clamp(-0.3, 1) | 2,3
torch.clamp(x, 0.3) | 2,3
x.diag() | 2,3
x.diag(1) | 3,3
x.roll(1) | 2,3
x.take(torch.tensor([0, 4])) | 2,3
torch.var_mean(x)[0] | 2,3
torch.var_mean(x, 1)[1] | 2,3
torch.std_mean(x)[0] | 2,3
torch.einsum("ij,jk->ik", x, y) | 2,3 | 3,2
torch.einsum("ij->ji", x) | 2,3
torch.einsum("ii->i", x) | 3,3
torch.einsum("bij,bjk->bik", x, y) | 2,2,3 | 2,3,2
torch.einsum("i,i", x, y) | 3 | 3
torch.inner(x, y) | 2,3 | 3
torch.kron(x, y) | 2,2 | 2,1
x.dist(y) | 3 | 3
torch.meshgrid(x, y, indexing="ij")[0] | 2 | 3
x.repeat_interleave(torch.tensor([1, 2, 0])) | 3
x.tensor_split(2)[0] | 5
x.max(y) | 3 | 3
torch.pow(2, torch.complex(x, x)).real | 3
torch.pow(-1.5, torch.complex(x, x)).imag | 3
torch.pow(1 + 2j, x).abs() | 3
torch.pow(torch.tensor([-1.0, 0.5, -2.0]), torch.complex(x, x)).imag | 3
torch.cat([x, y.double()]) | 2 | 2
x % 0.75 | 5
x.div(y, rounding_mode="floor") | 3 | 3
F.nll_loss(x, torch.tensor([0, 2]), torch.tensor([1.0, 2.0, 3.0]), ignore_index=0) | 2,3
F.nll_loss(x, torch.tensor([0, 2]), torch.tensor([1.0, 2.0, 3.0]), reduction="none") | 2,3
F.cross_entropy(x, torch.tensor([[0, 2, 1], [1, 1, 0]])) | 2,3,3
F.conv2d(x, y, stride=2, padding=1, dilation=(1, 2)) | 1,2,5,5 | 3,2,2,2
F.conv2d(x, y, z) | 1,2,4,4 | 3,2,2,2 | 3
F.conv2d(x, y, groups=2) | 1,2,3,3 | 4,1,2,2
F.conv1d(x, y, z, padding=1) | 2,2,4 | 3,2,3 | 3
F.max_pool2d(x, 2) | 1,1,4,4
F.max_pool2d(x, 3, 1, 1) | 1,1,3,3
F.avg_pool2d(x, 2, 1) | 1,1,3,3
F.embedding(torch.tensor([[0, 1], [1, 1]]), x) | 3,2
F.layer_norm(x, (3,), y, z) | 2,3 | 3 | 3
F.batch_norm(x, None, None, y, z, training=True) | 4,3 | 3 | 3
F.instance_norm(x) | 2,2,3,3
F.logsigmoid(x) | 4
F.huber_loss(x, y) | 4 | 4
F.smooth_l1_loss(x, y, beta=0.5) | 4 | 4
F.binary_cross_entropy(x.sigmoid(), torch.tensor([0.0, 1.0, 1.0])) | 3
F.binary_cross_entropy_with_logits(x, y) | 4 | 4
F.kl_div(x, y.exp(), reduction="batchmean") | 2,3 | 2,3
F.normalize(x) | 2,3
F.cosine_similarity(x, y) | 2,3 | 2,3
"""


def rows(block: str) -> list[Any]:
    """Expression and shapes of the operands x, y and z, one a line."""
    found = []
    for line in block.strip().splitlines():
        expression, *shapes = [part.strip() for part in line.split("|")]
        sizes = [tuple(int(n) for n in shape.split(",") if n) for shape in shapes]
        found.append(pytest.param(expression, sizes, id=line.replace(" | ", "-")))
    return found


def seen(x: Any) -> tuple[str, tuple[int, ...], Any]:
    """Dtype, shape and elements, zeros without memory having been given some."""
    return str(x.dtype), tuple(x.shape), (x.detach() + x.new_zeros(())).tolist()


def measured(namespace: Any, expression: str, shapes: list[tuple[int, ...]]) -> tuple[list[Any], list[str]]:
    """Values and graphs: of the result, of its gradients, and of the gradients of those."""
    operands = {
        name: namespace.tensor(
            np.resize(np.roll(NUMBERS, -5 * n), shape), dtype=namespace.float32
        ).requires_grad_()
        for n, (name, shape) in enumerate(zip("xyz", shapes, strict=False))
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = eval(expression, {"torch": namespace, "F": namespace.nn.functional, **operands})
        g = namespace.ones_like(out).mul_(1.5).requires_grad_()
        grads = namespace.autograd.grad(out, list(operands.values()), g, create_graph=True, allow_unused=True)
        twice = [
            namespace.autograd.grad(
                grad.sin().sum(), [g, *operands.values()], allow_unused=True, retain_graph=True
            )
            for grad in grads
            if grad is not None and grad.requires_grad
        ]
    values = [seen(out), *[seen(grad) for grad in grads if grad is not None]]
    zeros = [namespace.zeros_like(x) for x in (g, *operands.values())]
    for gradients in twice:
        values += [seen(z if x is None else x) for x, z in zip(gradients, zeros, strict=True)]
    return values, [tree(out.grad_fn), *[tree(grad.grad_fn) for grad in grads if grad is not None]]


@pytest.mark.parametrize(("expression", "shapes"), [*rows(SAME_GRAPH), *rows(SAME_VALUES)])
def test_values_and_gradients_are_torchs(expression: str, shapes: list[tuple[int, ...]]) -> None:
    """The result, its gradients and theirs, in value, shape and dtype."""
    expected, _ = measured(torch, expression, shapes)
    actual, _ = measured(reference_impl, expression, shapes)
    assert [row[:2] for row in expected] == [row[:2] for row in actual]
    for (*_, mine), (*_, theirs) in zip(actual, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=3e-5, atol=1e-6)


@pytest.mark.parametrize(("expression", "shapes"), rows(SAME_GRAPH))
def test_graphs_are_torchs(expression: str, shapes: list[tuple[int, ...]]) -> None:
    """The nodes of the result and, under create_graph, of its gradients."""
    assert measured(torch, expression, shapes)[1] == measured(reference_impl, expression, shapes)[1]
