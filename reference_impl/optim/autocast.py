"""``torch.autocast``: some ops run in half precision and some in float32 while it is enabled.

Nothing is watched before it is enabled for the first time. Tensors are cast by ``to()``, as in PyTorch, and a
leaf that requires grad is cast once until the outermost block ends, but for casts under no_grad.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from contextlib import ContextDecorator
from functools import partial, wraps
from typing import Any

from reference_impl.base import dtypes
from reference_impl.base.device import CPU, place_of
from reference_impl.base.rules import by
from reference_impl.base.session import STATE
from reference_impl.core import extension_points
from reference_impl.core.apply import call
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.einsum import einsum
from reference_impl.nn import functional
from specs.op import Op
from specs.ops.autocast import FLOAT, FLOAT_FUNCTIONS, LOWER, LOWER_BY_DEVICE, LOWER_FUNCTIONS, WIDEST

UNSAFE = (
    "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\nMany models use "
    "a sigmoid layer right before the binary cross entropy layer.\nIn this case, combine the two layers "
    "using torch.nn.functional.binary_cross_entropy_with_logits\nor torch.nn.BCEWithLogitsLoss.  "
    "binary_cross_entropy_with_logits and BCEWithLogits are\nsafe to autocast."
)
HALVES = (dtypes.float16, dtypes.bfloat16)


class autocast(ContextDecorator):
    """Runs a block, or a function, with ops on one kind of device cast: matrix products to half precision,
    losses and the like to float32.

    As in PyTorch, one object remembers one mode: that in which it was entered last.
    """

    def __init__(
        self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if device_type not in FLOAT:
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self.device, self.fast_dtype = device_type, dtype or default_dtype(device_type)
        if enabled and self.fast_dtype not in HALVES:
            name = device_type.upper()
            warnings.warn(
                f"In {name} autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"{name} Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.",
                stacklevel=2,
            )
            enabled = False
        self._enabled, self._cached = enabled, cache_enabled is not False

    def __enter__(self) -> autocast:
        if self._enabled:
            _put_in_place()
        state = STATE.autocast
        self.prev, self.prev_cache_enabled = state.dtypes.get(self.device), state.caches
        state.dtypes[self.device] = self.fast_dtype if self._enabled else None
        state.caches = self._cached
        state.depth += 1
        return self

    def __exit__(self, *_: object) -> None:
        state = STATE.autocast
        state.depth -= 1
        if not state.depth:
            state.casts.clear()
        state.dtypes[self.device], state.caches = self.prev, self.prev_cache_enabled


def default_dtype(device_type: str) -> Any:
    """Return the half precision of a kind of device."""
    return dtypes.bfloat16 if device_type == "cpu" else dtypes.float16


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Tell whether ops on a kind of device are cast."""
    return STATE.autocast.dtypes.get(device_type) is not None


def get_autocast_dtype(device_type: str) -> Any:
    """Return the dtype to which ops on a kind of device are cast."""
    return STATE.autocast.dtypes.get(device_type) or default_dtype(device_type)


def is_autocast_available(device_type: str) -> bool:
    """Tell whether ops on a kind of device can be cast."""
    return device_type in FLOAT


def custom_fwd(fwd: Any = None, *, device_type: str, cast_inputs: Any = None) -> Any:
    """Wrap the forward of a custom function: it runs as around it, or on inputs that are cast and without
    autocast.
    """
    if fwd is None:
        return partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @wraps(fwd)
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        ctx._dtype = get_autocast_dtype(device_type)
        enabled = is_autocast_enabled(device_type)
        ctx._fwd_used_autocast = enabled and cast_inputs is None
        if cast_inputs is None or not enabled:
            return fwd(ctx, *args, **kwargs)
        named = {key: _cast(x, cast_inputs) for key, x in kwargs.items()}
        with autocast(device_type, enabled=False):
            return fwd(ctx, *(_cast(x, cast_inputs) for x in args), **named)

    return forward


def custom_bwd(bwd: Any = None, *, device_type: str) -> Any:
    """Wrap the backward of a custom function: ops are cast in it as they were in forward."""
    if bwd is None:
        return partial(custom_bwd, device_type=device_type)

    @wraps(bwd)
    def backward(ctx: Any, *grads: Any) -> Any:
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(ctx, *grads)

    return backward


def _eligible(x: Any) -> bool:
    return isinstance(x, Tensor) and x.is_floating_point() and x.dtype != dtypes.float64


def _device(given: Any) -> str:
    """Return the kind of device of the first tensor among arguments."""
    for x in given:
        if isinstance(x, Tensor):
            return "cpu" if place_of(x) == CPU else "cuda"
        if isinstance(x, (list, tuple)) and any(isinstance(part, Tensor) for part in x):
            return _device(x)
    return ""


def _cast(x: Any, dtype: Any) -> Any:
    if isinstance(x, (list, tuple)) and any(isinstance(part, Tensor) for part in x):
        return type(x)(_cast(part, dtype) for part in x)
    if not _eligible(x) or x.dtype == dtype or not by("mode/autocast-casts"):
        return x
    state = STATE.autocast
    lasting = dtype != dtypes.float32 and x.dtype == dtypes.float32 and x.requires_grad and x.is_leaf
    if not (lasting and state.caches and STATE.enabled and x._base is None):
        return x.to(dtype)
    if id(x) not in state.casts:
        state.casts[id(x)] = x, x.to(dtype)
    return state.casts[id(x)][1]


def _widest(given: Any) -> Any:
    return dtypes.float32 if any(_eligible(x) and x.dtype == dtypes.float32 for x in given) else None


def _target(name: str, given: Any) -> Any:
    """Return the dtype to which the operands of an op are cast now, None if they are not."""
    device = _device(given)
    dtype = STATE.autocast.dtypes.get(device)
    if dtype is None:
        return None
    if name in LOWER_BY_DEVICE[device]:
        return dtype
    if name in FLOAT[device]:
        return dtypes.float32
    return _widest(given) if device == "cuda" and name in WIDEST else None


_CAST_OPS = LOWER | FLOAT["cpu"] | FLOAT["cuda"] | WIDEST


def _put_in_place() -> None:
    """Watch the ops and functions that are cast, once."""
    if STATE.casts:
        return
    STATE.casts = True
    before = extension_points.filled("runner_for")

    def runner_for(op: Op, types: tuple[type, ...]) -> Callable[..., Any] | None:
        run = before(op, types)
        if op.mutates or op.name not in _CAST_OPS:
            return run
        execute = run or (_of_ops if op.composite else call)

        def cast(kernel: Any, operands: Any, attributes: Any) -> Any:
            dtype = _target(op.name, operands)
            if dtype is not None:
                operands = tuple(_cast(x, dtype) for x in operands)
            return execute(kernel, operands, attributes)

        return cast

    extension_points.fill(runner_for)
    for forget in extension_points.on_switch:
        forget()
    _replace(einsum, _casting(einsum.__name__, einsum))
    for name in {*LOWER_FUNCTIONS[1:], *FLOAT_FUNCTIONS["cpu"], *FLOAT_FUNCTIONS["cuda"]}:
        _replace(getattr(functional, name), _casting(name, getattr(functional, name)))


def _of_ops(kernel: Any, operands: Any, attributes: Any) -> Any:
    return kernel.op.body(*operands, **attributes)


def _replace(function: Callable[..., Any], other: Callable[..., Any]) -> None:
    """Put a function in place of another in every module that has it."""
    for address, module in list(sys.modules.items()):
        if address.partition(".")[0] == "reference_impl":
            for name, value in list(vars(module).items()):
                if value is function:
                    setattr(module, name, other)


def _casting(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def cast(*args: Any, **kwargs: Any) -> Any:
        device = _device((*args, *kwargs.values()))
        dtype = STATE.autocast.dtypes.get(device)
        if dtype is None:
            return function(*args, **kwargs)
        if name == "binary_cross_entropy" and device == "cuda":
            raise RuntimeError(UNSAFE)
        if name in FLOAT_FUNCTIONS[device]:
            dtype = dtypes.float32
        elif name not in LOWER_FUNCTIONS:
            return function(*args, **kwargs)
        named = {key: _cast(x, dtype) for key, x in kwargs.items()}
        return function(*(_cast(x, dtype) for x in args), **named)

    return cast
