"""What CUDA's kernels answer with an assertion that ends the process, and the CPU's with an error.

An index out of range, say, is found by a kernel that runs after its call has returned: nothing runs on the
device from then on. Calls that may end so are tried on copies on the CPU first.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_OPS = re.compile(
    r"(.*\.)?((index_(select|add|fill|copy|put|reduce)|gather|take(_along_dim)?|put|scatter(_add|_reduce)?"
    r"|embedding(_bag)?|(nll|(multi(label)?_)?margin)_loss|(binary_)?cross_entropy|one_hot|repeat_interleave"
    r"|max_unpool[123]d|bernoulli|multinomial)_?|__[gs]etitem__)"
)
_ERRORS = re.compile(
    r"(index_copy_\(\): )?index (out of range in self|-?\d+ is out of bounds for dimension \d+ with size)"
    r"|out of range: tried to access|Index \d+ of input takes value|Target -?\d+ is out of bounds"
    r"|(argument #2 )?'?target'? (is )?out of range|Class values must be|repeats can not|Found an invalid max"
    r"|all elements of (input|target) should be|Expected p_in|probability tensor contains"
)


class WouldAssert(Exception):
    """Raised in place of a call that would end the process."""


def may_assert(op: str) -> bool:
    """Tell whether a kernel of that operation may assert something of the values that it is given."""
    return _OPS.fullmatch(op) is not None


def tried_first(function: Callable[..., Any], torch: Any) -> Callable[..., Any]:
    """Return the function of such an operation, raising `WouldAssert` where it would end the process.

    Calls without a tensor on CUDA, or with nothing but numbers and slices in brackets, are not tried.
    """

    def copied(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.detach().to("cpu", copy=True)
        return type(value)(map(copied, value)) if isinstance(value, list | tuple) else value

    def called(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        if any(map(_is_on_cuda, given)) and any(map(_is_array, given[1:])):
            with torch.no_grad():
                try:
                    function(*map(copied, args), **{name: copied(value) for name, value in kwargs.items()})
                except Exception as error:
                    if _ERRORS.match(str(error)):
                        raise WouldAssert("a kernel of CUDA asserts that values are in range") from None
        return function(*args, **kwargs)

    def _is_on_cuda(value: Any) -> bool:
        return isinstance(value, torch.Tensor) and value.is_cuda

    def _is_array(value: Any) -> bool:
        return isinstance(value, list | torch.Tensor) or (isinstance(value, tuple) and any(map(_is_array, value)))

    return called
