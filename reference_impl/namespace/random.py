"""Random numbers from one seedable source.

NB: what follows a seed is what numpy makes of it, not PyTorch.
"""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.namespace.factories import made, shape_of
from specs.layout import laid_out_like


class Generator:
    """A source of random numbers with a state that can be read and set."""

    def __init__(self, device: Any = "cpu") -> None:
        self._numpy = np.random.default_rng()
        self._seed = 0

    def manual_seed(self, seed: int) -> Generator:
        """Start over from ``seed``."""
        self._seed = int(seed)
        self._numpy = np.random.default_rng(self._seed % 2**64)
        return self

    def seed(self) -> int:
        """Start over from a seed that nobody chose, and tell it."""
        self.manual_seed(int(np.random.SeedSequence().generate_state(1)[0]))
        return self._seed

    def initial_seed(self) -> int:
        """The seed it started from."""
        return self._seed

    def get_state(self) -> Tensor:
        """The state as bytes."""
        return wrap(np.frombuffer(pickle.dumps(self._numpy.bit_generator.state), np.uint8).copy())

    def set_state(self, state: Tensor) -> None:
        """Go on from a state that `get_state` gave."""
        self._numpy.bit_generator.state = pickle.loads(array_of(state).tobytes())


default_generator = Generator()
default_generator.seed()
manual_seed = default_generator.manual_seed
initial_seed = default_generator.initial_seed
seed = default_generator.seed
get_rng_state = default_generator.get_state
set_rng_state = default_generator.set_state


@contextlib.contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, **_: Any) -> Iterator[None]:
    """Leave the random state after the block as it was before it."""
    state = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)


def source(generator: Generator | None) -> np.random.Generator:
    """The numpy generator behind a source, or behind the common one."""
    return (default_generator if generator is None else generator)._numpy


def _drawn(draw: str, shape: Any, generator: Generator | None, dtype: dtypes.dtype | None) -> np.ndarray:
    """Standard numbers of that distribution; complex ones have half of the variance in either part."""
    numpy = (dtypes.default() if dtype is None else dtype).numpy
    if not dtypes.differentiable(numpy):
        name = dtypes.of(numpy).name
        raise NotImplementedError(f"random numbers are not implemented for {name!r}: they are no integers")
    sample = getattr(source(generator), draw)
    if numpy.kind == "c":
        scale = np.sqrt(0.5) if draw == "standard_normal" else 1
        return ((sample(shape) + 1j * sample(shape)) * scale).astype(numpy)
    return np.asarray(sample(shape)).astype(numpy)


def _sizes(draw: str) -> Any:
    def make(
        *size: Any,
        generator: Generator | None = None,
        dtype: dtypes.dtype | None = None,
        requires_grad: bool = False,
        **where: Any,
    ) -> Tensor:
        """Random numbers in a new tensor of that size."""
        return made(_drawn(draw, shape_of(size, where), generator, dtype), requires_grad, **where)

    return make


def _like(draw: str) -> Any:
    def make(
        x: Tensor, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False, **where: Any
    ) -> Tensor:
        """Random numbers in a new tensor of that one's shape, dtype and layout."""
        model = array_of(x)
        numbers = np.empty_like(model, (x.dtype if dtype is None else dtype).numpy)
        numbers[...] = _drawn(draw, model.shape, None, dtypes.of(numbers.dtype))
        return made(laid_out_like(numbers, model), requires_grad, **where)

    return make


rand = _sizes("random")
randn = _sizes("standard_normal")
rand_like = _like("random")
randn_like = _like("standard_normal")


def randint(
    *bounds: Any,
    low: int = 0,
    high: int | None = None,
    size: Any = None,
    generator: Generator | None = None,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    **where: Any,
) -> Tensor:
    """Integers from ``low`` on and below ``high``, the last two arguments unless named."""
    given = list(bounds)
    if size is None:
        size = given.pop()
    if given:
        high = given.pop()
    if given:
        low = given.pop()
    numpy = (dtypes.int64 if dtype is None else dtype).numpy
    return made(source(generator).integers(low, high, tuple(size)).astype(numpy), requires_grad, **where)


def randint_like(x: Tensor, *bounds: int, dtype: dtypes.dtype | None = None, **more: Any) -> Tensor:
    """Random integers in a new tensor of that one's shape and dtype."""
    return randint(*bounds, array_of(x).shape, dtype=x.dtype if dtype is None else dtype, **more)


def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    requires_grad: bool = False,
    **where: Any,
) -> Tensor:
    """The integers below ``n`` in random order."""
    numpy = (dtypes.int64 if dtype is None else dtype).numpy
    return made(source(generator).permutation(n).astype(numpy), requires_grad, **where)


def normal(
    mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Generator | None = None, **more: Any
) -> Tensor:
    """Normal numbers of a mean and a deviation each, or of one of both in a new tensor of that size."""
    if size is not None:
        return made(source(generator).normal(mean, std, tuple(size)).astype(dtypes.default().numpy), **more)
    arrays = [array_of(value) if isinstance(value, Tensor) else value for value in (mean, std)]
    numpy = next((a.dtype for a in arrays if isinstance(a, np.ndarray)), dtypes.default().numpy)
    return wrap(np.asarray(source(generator).normal(*arrays)).astype(numpy))


def multinomial(
    x: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """Positions drawn with weights that the last dimension gives."""
    *outer, classes = array_of(x).shape
    rows = array_of(x).reshape(-1, classes)
    drawn = [source(generator).choice(row.size, num_samples, replacement, row / row.sum()) for row in rows]
    return wrap(np.asarray(drawn, np.int64).reshape((*outer, num_samples)))
