"""``torch.utils.swap_tensors``: two tensor objects change places, with all that they are."""

from __future__ import annotations

import gc
import weakref
from typing import Any

from reference_impl.autograd.graph import get_gradient_edge
from reference_impl.core.graph import AccumulateGrad, accumulator_of
from reference_impl.core.saved import SavedVariable
from reference_impl.core.tensor import Tensor
from reference_impl.core.views import ViewOf

_SLOTS = tuple(name for name in Tensor.__slots__ if not name.startswith("__"))
_POISONED = (
    "Trying to execute AccumulateGrad node that was poisoned by swap_tensors this can happen when you try to "
    "run backward on a tensor that was swapped. For a module m with `torch.__future__."
    "set_swap_module_params_on_conversion(True)` you should not change the device or dtype of the module "
    "(e.g. `m.cpu()` or `m.half()`) between running forward and backward. To resolve this, please only "
    "change the device/dtype before running forward (or after both forward and backward)."
)


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Give each the content, the class and the attributes of the other."""
    for name, x in (("t1", t1), ("t2", t2)):
        if weakref.getweakrefs(x):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    for name, x in (("t1", t1), ("t2", t2)):
        _need_no_other_use(name, x)
    for name in _SLOTS:
        mine, other = getattr(t1, name), getattr(t2, name)
        setattr(t1, name, other)
        setattr(t2, name, mine)
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__


def _need_no_other_use(name: str, x: Tensor) -> None:
    """Refuse a tensor that a graph or a view holds; an accumulator of a leaf may not run any more."""
    accumulator = accumulator_of(x) if isinstance(x, Tensor) else None
    kinds = (SavedVariable, ViewOf, AccumulateGrad)
    holders = [each for each in gc.get_referrers(x) if isinstance(each, kinds)]
    if len(holders) == 1 and x.is_leaf:
        get_gradient_edge(x)  # which refuses where there is none
    if any(each is not accumulator for each in holders):
        count = 1 + len(holders)
        raise RuntimeError(
            f"Expected use_count of {name} to be 1 or 2 with an AccumulateGrad node but got {count} make "
            "sure you are not holding references to the tensor in other places."
        )
    if accumulator is not None:
        accumulator.register_prehook(_refuse)


def _refuse(grads: Any) -> Any:
    raise RuntimeError(_POISONED)
