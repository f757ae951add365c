"""Two ops that the table lacks, each a text as a contributor writes it, and a family module made of them.

Loading this module, as a plugin of pytest or by import, adds the family before anything reads the table.
"""

from __future__ import annotations

import sys
from types import ModuleType

from specs import ops

UNARY = '''
@op(inplace=True, node="Rad2DegBackward0", dtypes="float", exact=False, ulp=1)
def rad2deg(x: Tensor):
    """Degrees for radians."""
    return np.multiply(x, x.dtype.type(180 / np.pi))

rad2deg.wrt(x=lambda g: g.mul_scalar(180 / np.pi))
'''

BINARY = '''
@op(node="FmaxBackward0", grows="keeps", jumps=True)
def fmax(x: Tensor, y: Tensor):
    """The larger of each pair; of a tie, the first one gets the gradient."""
    return np.fmax(x, y)

fmax.wrt(x=lambda g, x, y: g.masked_fill(x.lt(y), 0), y=lambda g, x, y: g.masked_fill(x.ge(y), 0))
'''

NAMES = ("rad2deg", "fmax")


def _family() -> ModuleType:
    module = ModuleType("specs.ops.added", "The ops that are added.")
    exec(
        "import numpy as np\nfrom specs.kind import Tensor\nfrom specs.op import op\n" + UNARY + BINARY,
        vars(module),
    )
    return module


if "added" not in ops.FAMILIES:
    assert not ops.ALL, "the op table has been read already"
    sys.modules["specs.ops.added"] = _family()
    ops.FAMILIES += ("added",)
