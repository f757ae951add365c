"""Autocast on the CPU against torch: the dtypes of results and gradients, values, and nodes."""

from __future__ import annotations

import pytest

import reference_impl

torch = pytest.importorskip("torch")

MODULES = {"torch": torch, "reference": reference_impl}
CALLS = {
    "linear": lambda t, x, y: t.nn.functional.linear(x, y, y[0]),
    "linear of three dimensions": lambda t, x, y: t.nn.functional.linear(x.unsqueeze(0), y),
    "addmm": lambda t, x, y: t.addmm(x, x, y),
    "mm": lambda t, x, y: x.mm(y),
    "@": lambda t, x, y: x @ y,
    "matrix times vector": lambda t, x, y: x @ y[0],
    "bmm": lambda t, x, y: x.unsqueeze(0).bmm(y.unsqueeze(0)),
    "baddbmm": lambda t, x, y: t.baddbmm(x[None], x[None], y[None]),
    "conv1d": lambda t, x, y: t.nn.functional.conv1d(x[None], y[:, :, None]),
    "attention": lambda t, x, y: t.nn.functional.scaled_dot_product_attention(x[None], y[None], y[None]),
    "add": lambda t, x, y: x + y,
    "mul": lambda t, x, y: x * y,
    "exp": lambda t, x, y: x.exp(),
    "pow": lambda t, x, y: x.abs() ** 2,
    "sum": lambda t, x, y: x.sum(),
    "mean": lambda t, x, y: x.mean(),
    "prod": lambda t, x, y: x.prod(),
    "softmax": lambda t, x, y: x.softmax(-1),
    "log_softmax": lambda t, x, y: x.log_softmax(-1),
    "relu": lambda t, x, y: x.relu(),
    "sigmoid": lambda t, x, y: x.sigmoid(),
    "layer_norm": lambda t, x, y: t.nn.functional.layer_norm(x, (3,)),
    "norm": lambda t, x, y: x.norm(),
    "mse_loss": lambda t, x, y: t.nn.functional.mse_loss(x, y),
    "l1_loss": lambda t, x, y: t.nn.functional.l1_loss(x, y),
    "smooth_l1_loss": lambda t, x, y: t.nn.functional.smooth_l1_loss(x, y),
    "huber_loss": lambda t, x, y: t.nn.functional.huber_loss(x, y),
    "kl_div": lambda t, x, y: t.nn.functional.kl_div(x, y.softmax(-1), reduction="sum"),
    "cross_entropy": lambda t, x, y: t.nn.functional.cross_entropy(x, t.tensor([0, 1, 2])),
    "nll_loss": lambda t, x, y: t.nn.functional.nll_loss(x, t.tensor([0, 1, 2])),
    "bce with logits": lambda t, x, y: t.nn.functional.binary_cross_entropy_with_logits(x, y.sigmoid()),
    "bce": lambda t, x, y: t.nn.functional.binary_cross_entropy(x.sigmoid(), y.sigmoid()),
    "inv": lambda t, x, y: t.linalg.inv(x.bfloat16()),
    "solve": lambda t, x, y: t.linalg.solve(x.bfloat16(), y.bfloat16()),
    "cholesky": lambda t, x, y: t.linalg.cholesky((x @ x.t() + 4 * t.eye(3)).bfloat16()),
    "cat": lambda t, x, y: t.cat([x.bfloat16(), y]),
    "logsumexp": lambda t, x, y: x.logsumexp(-1),
    "cumsum": lambda t, x, y: x.cumsum(0),
    "einsum": lambda t, x, y: t.einsum("ij,jk->ik", x, y),
}


def outcome(name: str, call: str, dtype: str) -> tuple[list[str], list[list[float]]]:
    """The dtypes and values of a call and its gradients, under autocast."""
    t = MODULES[name]
    x = t.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.5], [1.0, 3.0, -2.0]], requires_grad=True)
    y = t.tensor([[1.0, 0.5, -0.5], [0.0, 2.0, 1.0], [-1.5, 0.25, 0.5]], requires_grad=True)
    with t.autocast("cpu", dtype=getattr(t, dtype)):
        out = CALLS[call](t, x.relu() + x if call.startswith("half") else x, y)
    out.float().sum().backward()
    tensors = [out, *(leaf.grad for leaf in (x, y) if leaf.grad is not None)]
    return [str(each.dtype) for each in tensors], [
        each.detach().double().flatten().tolist() for each in tensors
    ]


@pytest.mark.parametrize("call", CALLS)
def test_a_call_is_cast_as_torch_casts_it(call):
    """The dtypes are torch's, and the values to a rounding of half precision."""
    theirs, values = outcome("torch", call, "bfloat16")
    ours, mine = outcome("reference", call, "bfloat16")
    assert theirs == ours
    for one, other in zip(values, mine, strict=True):
        assert other == pytest.approx(one, rel=0.03, abs=0.03)


@pytest.mark.parametrize("name", MODULES)
def test_blocks_nest_and_end(name):
    """An inner block may switch it off, and nothing is cast after the last."""
    t = MODULES[name]
    x = t.ones(2, 2)
    with t.autocast("cpu"):
        with t.autocast("cpu", enabled=False):
            inner = x @ x
        outer = x @ x
    assert [str(each.dtype) for each in (inner, outer, x @ x)] == [
        "torch.float32",
        "torch.bfloat16",
        "torch.float32",
    ]
    assert not t.is_autocast_enabled("cpu")


@pytest.mark.parametrize("name", MODULES)
def test_a_weight_is_cast_once_in_a_block_with_grad_mode_on(name):
    """Its gradients meet at one cast; a cast under no_grad is not kept."""
    t = MODULES[name]
    x, w = t.ones(2, 2), t.ones(2, 2, requires_grad=True)
    with t.autocast("cpu"):
        with t.no_grad():
            x @ w
        one, other = x @ w, x @ w
    casts = [product.grad_fn.next_functions[1][0] for product in (one, other)]
    assert casts[0] is casts[1]
    assert casts[0].name() == "ToCopyBackward0"


@pytest.mark.parametrize("name", MODULES)
def test_a_custom_function_is_cast_as_it_says(name):
    """Its inputs are cast to what it names, and its backward runs as its forward did."""
    t = MODULES[name]

    class Product(t.autograd.Function):
        @staticmethod
        @t.amp.custom_fwd(device_type="cpu", cast_inputs=t.float32)
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x @ x

        @staticmethod
        @t.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g @ x.t() + x.t() @ g

    x = t.ones(2, 2, requires_grad=True)
    with t.autocast("cpu"):
        out = Product.apply(x.bfloat16())
    out.sum().backward()
    assert (str(out.dtype), x.grad.tolist()) == ("torch.float32", [[4.0, 4.0], [4.0, 4.0]])


@pytest.mark.parametrize("name", MODULES)
def test_a_function_may_run_under_autocast(name):
    """The object decorates, too."""
    t = MODULES[name]
    product = t.autocast("cpu", dtype=t.bfloat16)(lambda x: x @ x)
    assert str(product(t.ones(2, 2)).dtype) == "torch.bfloat16"
