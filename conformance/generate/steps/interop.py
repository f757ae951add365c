"""Ways out of the graph and back: through numpy, and through the factories that take a tensor."""

from __future__ import annotations

from typing import Any

from conformance.generate.state.gen_state import GenState
from conformance.generate.state.tensor_info import Store, TensorInfo
from conformance.program import ref

_FLAG = (("requires_grad", True),)


def array(state: GenState, about: Any = None) -> bool:
    """``numpy()``, and a tensor on that very memory; refused, as a rule, for what requires grad."""
    tensor = state.find(_plain) if state.below(4) else state.any_tensor()
    if tensor is None:
        return False
    held = state.fresh_name()
    if not state.emit("numpy", (tensor.ref,), (), (held,)):
        return True
    name = state.result_name()
    if state.emit("torch.from_numpy", (ref(held),), (), (name,)):
        alias = state.bind(name, tensor.store)
        if alias is not None:
            tensor.store.shared_with_numpy = True
            state.prioritise((alias, tensor))
            state.schedule(state.vocabulary.edit, alias)
    return True


def copied(state: GenState, about: Any = None) -> bool:
    """``torch.tensor`` of a tensor, or ``torch.as_tensor``, which is the tensor itself."""
    tensor = state.any_tensor()
    name = state.result_name()
    if state.below(2):
        if state.emit("torch.as_tensor", (tensor.ref,), (), (name,)):
            state.bind(name, tensor.store, tensor.parents)
        return True
    store = Store(tensor.store.bits, tensor.store.frac, tensor.store.inexact, tensor.store.may_hold_grad)
    kwargs = _FLAG if state.below(2) and (tensor.kind in "fc" or state.unchecked) else ()
    if state.emit("torch.tensor", (tensor.ref,), kwargs, (name,)):
        state.bind(name, store)
    return True


def increment_version(state: GenState, about: Any = None) -> bool:
    """A write that autograd is told of, and has not seen; what had saved the tensor may be used next."""
    tensor = state.any_tensor()
    if state.emit("torch.autograd.graph.increment_version", (tensor.ref,)):
        state.schedule(state.vocabulary.reach, tensor)
    return True


def _plain(tensor: TensorInfo) -> Any:
    return not tensor.requires_grad
