"""Networks that train in half precision, or on data of another dtype, against torch."""

from __future__ import annotations

from typing import Any

import pytest

import reference_impl

torch = pytest.importorskip("torch")

NORMS = {
    "LayerNorm": "LayerNorm(4)",
    "RMSNorm": "RMSNorm(4)",
    "BatchNorm1d": "BatchNorm1d(4)",
    "BatchNorm1d, to predict": "BatchNorm1d(4).eval()",
    "GroupNorm": "GroupNorm(2, 4)",
    "PReLU": "PReLU()",
    "Conv1d": "Conv1d(4, 2, 1)",
}
LOSSES = (
    "CrossEntropyLoss",
    "BCELoss",
    "BCEWithLogitsLoss",
    "HuberLoss",
    "MSELoss",
    "L1Loss",
    "SmoothL1Loss",
)
NETWORK = """nn.Sequential(
    nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.PReLU(), nn.Conv2d(4, 4, 2), nn.GroupNorm(2, 4),
    nn.ConvTranspose2d(4, 2, 2), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(8, 3), nn.LayerNorm(3),
)"""


def met(side: Any, layer: str, dtypes: tuple[str, str]) -> Any:
    """The dtypes of result and gradients of a layer, or its refusal."""
    made = eval(f"nn.{layer}", {"nn": side.nn}).to(getattr(side, dtypes[0]))
    x = side.ones(2, 4, dtype=getattr(side, dtypes[1])).requires_grad_()
    try:
        out = made(x[..., None] if layer.startswith("Conv") else x)
    except RuntimeError as error:
        return str(error)
    out.sum().backward()
    return [str(t.dtype) for t in (out, x.grad, *(p.grad for p in made.parameters()))], out.grad_fn.name()


@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize("dtypes", [("float32", "bfloat16"), ("float32", "float64"), ("bfloat16", "float32")])
@pytest.mark.filterwarnings("ignore:Mismatch dtype between input and weight")
def test_a_layer_meets_another_dtype(name: str, dtypes: tuple[str, str]) -> None:
    """Norms take half precision beside float32 and give it back; what else differs is refused."""
    if (name, dtypes[1]) == ("RMSNorm", "float32"):
        pytest.skip("promotes on both sides")
    assert met(torch, NORMS[name], dtypes) == met(reference_impl, NORMS[name], dtypes)


def trained(side: Any) -> list[Any]:
    """The dtype, node and strides after each layer of a network under autocast, then of losses."""
    network = eval(NETWORK, {"nn": side.nn})
    told: list[Any] = []
    with side.autocast("cpu", dtype=side.bfloat16):
        x = side.ones(2, 3, 6, 6)
        for layer in network:
            x = layer(x)
            told.append((type(layer).__name__, str(x.dtype), x.grad_fn.name(), tuple(x.stride())))
        for name in LOSSES:
            given = (x.sigmoid() if name == "BCELoss" else x, side.ones(2, 3))
            loss = getattr(side.nn, name)()(*given)
            told.append((name, str(loss.dtype), loss.grad_fn.name()))
    x.float().sum().backward()
    return [*told, {name: str(p.grad.dtype) for name, p in network.named_parameters()}]


def test_modules_are_cast_as_their_functions() -> None:
    """Convolutions after convolutions, and losses as modules, under autocast."""
    assert trained(torch) == trained(reference_impl)


CUDA = "BCELoss()(torch.rand(2, device='cuda'), torch.ones(2, device='cuda'))"


def test_binary_cross_entropy_as_a_module_is_unsafe_to_autocast() -> None:
    """On CUDA, in torch's words."""
    with reference_impl.autocast("cuda"), pytest.raises(RuntimeError, match="unsafe to autocast"):
        eval(f"torch.nn.{CUDA}", {"torch": reference_impl})


@pytest.mark.parametrize("side", [torch, reference_impl], ids=["torch", "reference"])
def test_rms_norm_tells_of_two_dtypes(side: Any) -> None:
    """Torch then takes a kernel that is not fused; both tell it once a process, or always if asked."""
    before = side.is_warn_always_enabled()
    side.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="c10::BFloat16, weight dtype = float, Cannot dispatch"):
            side.nn.RMSNorm(4)(side.ones(2, 4, dtype=side.bfloat16))
    finally:
        side.set_warn_always(before)
