"""In-place changes of shape and storage, results put into ``out``, two results of one node: the same script
does the same on torch and on the reference.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch as pytorch

import reference_impl

CHANGES = {
    "transpose_": lambda x: x.transpose_(0, 1), "t_": lambda x: x.t_(),
    "swapdims_": lambda x: x.swapdims_(0, 1), "unsqueeze_": lambda x: x.unsqueeze_(0),
    "squeeze_": lambda x: x.squeeze_(), "squeeze_dim": lambda x: x.squeeze_(0),
    "as_strided_": lambda x: x.as_strided_((2, 2), (1, 2)),
}  # fmt: skip
TARGETS = ("plain", "result", "leaf", "view", "view of a leaf", "view of a view")


def make(torch: Any, target: str) -> tuple[Any, Any, Any]:
    """The tensor to be changed, its base, and the leaf behind them."""
    a = torch.arange(6.0).view(2, 3).clone()
    if target == "plain":
        return a, a, None
    a.requires_grad_()
    b = a if "leaf" in target else a * 1
    made = {"view": b.view(2, 3), "view of a leaf": b.view(2, 3), "view of a view": b.view(6).view(2, 3)}
    return made.get(target, b), b, a


def shown(x: Any) -> tuple[Any, ...]:
    node = x.grad_fn
    names = node and [each and each.name() for each, _ in node.next_functions]
    return tuple(x.shape), x.stride(), x._version, node and node.name(), names, x._is_view(), x.requires_grad


def outcome(call: Any) -> Any:
    try:
        return call()
    except RuntimeError as error:
        return "refused", str(error)[:40]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("change", sorted(CHANGES))
def test_changes_of_shape(change, target):
    """Shape, version, history of the tensor and its base, and the gradient: recorded and not."""

    def recorded(torch: Any) -> Any:
        x, base, leaf = make(torch, target)
        same = CHANGES[change](x) is x
        seen = [same, shown(x), shown(base)]
        if leaf is not None:
            (x * torch.arange(float(x.numel())).view(x.shape)).sum().backward()
            seen.append(leaf.grad.tolist())
        return seen

    def unrecorded(torch: Any) -> Any:
        x, base, _ = make(torch, target)
        with torch.no_grad():
            CHANGES[change](x)
        return shown(x), shown(base)

    for run in (recorded, unrecorded):
        assert outcome(lambda run=run: run(pytorch)) == outcome(lambda run=run: run(reference_impl))


def test_resizing(torch):
    """Resizing counts as a write unless the shape stays, and is refused if the tensor requires grad."""
    x = torch.ones(3)
    v = x[:1]
    x.resize_(2)
    v.resize_(2)
    assert ([1.0, 1.0], [1.0, 1.0], 2, 2) == (x.tolist(), v.tolist(), x._version, v._version)
    x.resize_((2,)).resize_as_(torch.zeros(1, 2))
    assert ((1, 2), 3) == (tuple(x.shape), x._version)
    assert (2, 4) == tuple(x.resize_(2, 4).shape)
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        torch.ones(3, requires_grad=True).resize_(2)


def test_setting(torch):
    """The memory is shared from then on, the version is not; with a history there is no derivative."""
    x, y = torch.ones(3), torch.zeros(4)
    x.set_(y)
    y.add_(1)
    assert ([1.0] * 4, 1, 1) == (x.tolist(), x._version, y._version)
    assert (0,) == tuple(torch.ones(3).set_().shape)
    z = torch.ones(3, requires_grad=True) * 2
    z.set_(torch.ones(2))
    assert "NotImplemented" in z.grad_fn.name()
    with pytest.raises(RuntimeError, match=r"derivative for set_ is not implemented"):
        z.sum().backward()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        torch.ones(3, requires_grad=True).set_(y)


def test_results_put_into_out(torch):
    """An `out` tensor counts as written, and no operand may require grad while recording."""
    x, out = torch.ones(2), torch.zeros(2)
    assert torch.mul(x, 3, out=out) is out
    assert ([3.0, 3.0], 1) == (out.tolist(), out._version)
    leaf = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="arguments don't support automatic differentiation"):
        torch.mul(leaf, 3, out=out)
    with torch.no_grad():
        torch.mul(leaf, 4, out=out)
    assert [4.0, 4.0] == out.tolist()


@pytest.mark.parametrize("dtype", ["bool", "int64", "float64", "complex64"])
@pytest.mark.parametrize("op", ["mul", "sqrt", "mean", "sum", "eq", "neg", "abs", "mm", "matmul"])
def test_out_of_another_dtype(op, dtype):
    """An `out` of another dtype is filled or refused as in PyTorch."""

    def put(torch: Any) -> Any:
        x = torch.ones(2, 2)
        args = () if op in ("sqrt", "neg", "abs") else (0,) if op in ("mean", "sum") else (x,)
        shape = (2,) if op in ("mean", "sum") else (2, 2)
        try:
            return getattr(torch, op)(x, *args, out=torch.zeros(shape, dtype=getattr(torch, dtype))).tolist()
        except RuntimeError:  # as NotImplementedError is
            return "refused"

    assert put(pytorch) == put(reference_impl)


@pytest.mark.parametrize("name", ["var_mean", "std_mean"])
@pytest.mark.parametrize(
    "how", [{}, {"dim": 1}, {"dim": (0, 1), "keepdim": True}, {"dim": 0, "correction": 0}]
)
def test_two_results_of_one_node(name, how):
    """Values, node and gradients are those of torch."""

    def run(torch: Any) -> Any:
        x = torch.tensor([[1.0, 2.0, 4.0], [2.0, 5.0, 3.0]], dtype=torch.float64, requires_grad=True)
        spread, mean = getattr(torch, name)(x, **how)
        (spread * 2 + mean).sum().backward()
        node = spread.grad_fn
        assert node is mean.grad_fn or node.name() == mean.grad_fn.name()
        return (
            node.name(),
            spread.output_nr,
            mean.output_nr,
            *map(
                pytest.approx,
                (spread.reshape(-1).tolist(), mean.reshape(-1).tolist(), x.grad.reshape(-1).tolist()),
            ),
        )

    expected, got = run(pytorch), run(reference_impl)
    assert expected[:3] == got[:3]
    assert all(x.expected == y for x, y in zip(expected[3:], got[3:], strict=True))


@pytest.mark.parametrize("name", ["data", "requires_grad", "_grad_fn", "_backward_hooks"])
def test_what_cannot_be_deleted(torch, name):
    """Attributes of the machine refuse; grad does not."""
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError):
        delattr(x, name)
    del x.grad
    assert x.grad is None


def countdown(torch: Any) -> Any:
    """A function whose forward keeps one less than its input, as a leaf, for its backward."""

    class Countdown(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            with torch.enable_grad():
                ctx.x = x.detach().requires_grad_() - 1
            return ctx.x.detach()

    return Countdown


def test_backwards_within_backwards_go_deep(torch):
    """A backward that begins another one does not use up the stack."""

    class Deep(countdown(torch)):
        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            if ctx.x > 0:
                with torch.enable_grad():
                    Deep.apply(ctx.x).sum().backward()
            return g

    x = torch.tensor(700.0, requires_grad=True)
    Deep.apply(x).sum().backward()
    assert x.grad.tolist() == 1.0


def test_an_error_comes_through_all_backwards(torch):
    """An error deep inside ends every backward around it, and leaves the grad mode as it was."""

    class Failing(countdown(torch)):
        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            if ctx.x <= 0:
                raise ValueError("at the bottom")
            with torch.enable_grad():
                Failing.apply(ctx.x).sum().backward()

    x = torch.tensor(100.0, requires_grad=True)
    with pytest.raises(ValueError, match="at the bottom"):
        Failing.apply(x).sum().backward()
    assert torch.is_grad_enabled()
    (x * 2).backward()
    assert x.grad.tolist() == 2.0
