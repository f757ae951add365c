"""Ways out of the graph and back: numpy, the factories that take a tensor, and `increment_version`."""

from __future__ import annotations

from typing import Any

from conformance.generate.state.features import INTEROP
from conformance.generate.state.gen_state import GenState
from conformance.generate.state.registry import step
from conformance.generate.state.tensor_info import Store, is_constant
from conformance.program import ref

_FLAG = (("requires_grad", True),)


@step(3, INTEROP, emits=("numpy", "torch.from_numpy"))
def numpy_round_trip(state: GenState, about: Any = None) -> bool:
    """``numpy()``, and a tensor on the same memory; mostly of a tensor that requires no grad."""
    tensor = state.find(is_constant) if state.below(4) else state.any_tensor()
    if tensor is None:
        return False
    array = state.fresh_name()
    if not state.emit("numpy", (tensor.ref,), (), (array,)):
        return True
    name = state.result_name()
    if state.emit("torch.from_numpy", (ref(array),), (), (name,)):
        alias = state.bind(name, tensor.store)
        if alias is not None:
            tensor.store.shared_with_numpy = True
            state.prioritise((alias, tensor))
            state.schedule("inplace_op", alias)
    return True


@step(3, INTEROP, emits=("torch.tensor", "torch.as_tensor"))
def factory_of_tensor(state: GenState, about: Any = None) -> bool:
    """``torch.tensor`` of a tensor, a copy, or ``torch.as_tensor``, which returns the tensor itself."""
    tensor = state.any_tensor()
    name = state.result_name()
    if state.below(2):
        if state.emit("torch.as_tensor", (tensor.ref,), (), (name,)):
            state.bind(name, tensor.store, tensor.parents)
        return True
    old = tensor.store
    store = Store(old.bits, old.frac, old.inexact, old.may_hold_grad)
    kwargs = _FLAG if state.below(2) and (tensor.kind in "fc" or state.unchecked) else ()
    if state.emit("torch.tensor", (tensor.ref,), kwargs, (name,)):
        state.bind(name, store)
    return True


@step(1, INTEROP, emits=("torch.autograd.graph.increment_version",))
def increment_version(state: GenState, about: Any = None) -> bool:
    """``increment_version()``: declare a write that autograd did not record; a backward may then refuse."""
    tensor = state.any_tensor()
    if state.emit("torch.autograd.graph.increment_version", (tensor.ref,)):
        state.schedule("backward_through", tensor)
    return True
