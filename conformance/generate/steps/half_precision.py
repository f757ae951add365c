"""Products of half precision with numbers that it would round."""

from __future__ import annotations

from conformance.generate.state.gen_state import GenState
from conformance.generate.state.registry import follow_up
from conformance.generate.state.tensor_info import Store, TensorInfo

_FACTORS = {
    "bfloat16": (1.00390625, 1.005859375, -2.01171875, 0.501953125),
    "float16": (1.00048828125, 1.000732421875, -2.00146484375, 0.500244140625),
}
"""Numbers of one or two bits more than the dtype has; a product with a few bits is exact in float32."""
_PRODUCTS = ("mul", "__mul__", "__rmul__", "mul")


@follow_up
def scale_half(state: GenState, x: TensorInfo) -> bool:
    """A leaf of half precision times such a number, to be rounded once, and a pass through the product.

    What the product holds is measured: it spans too many bits for arithmetic that stays exact.
    """
    op = state.pick(_PRODUCTS)
    if x.dtype not in _FACTORS:  # another was assigned to its data since
        return False
    if not x.is_leaf or x.store.bits + x.store.frac > _MOST_BITS or not state.supports(op):
        return False
    name = state.result_name()
    if state.emit(op, (x.ref, state.pick(_FACTORS[x.dtype])), (), (name,)):
        product = state.bind(name, Store(x.store.bits), (x,))
        if product is not None:
            state.remeasure(product)
            state.schedule("backward", product)
    return True


_MOST_BITS = 5
