"""``torch.random``: generators and factories of random tensors.

NB: a seed gives numpy's numbers, not PyTorch's.
"""

from __future__ import annotations

import contextlib
import copy
import math
import pickle
from collections.abc import Iterator
from types import NoneType
from typing import Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.base.device import find_device
from reference_impl.base.rules import refuse_by
from reference_impl.base.session import STATE
from reference_impl.base.transforms import check_draw
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.fidelity.batched import check_random_operands, drawn_anew
from reference_impl.namespace.factories import new_leaf, shape_of
from specs.dtype_names import SCALARS
from specs.errors import need_kernel
from specs.layout import laid_out_like
from specs.signature import clash

STATE_BYTES = 5056
"""The length of PyTorch's state of a generator; the rest of what is shorter is not read."""


FIRST_SEED = 67280421310721
"""The seed of a generator that nobody has seeded."""


class Generator:
    """A seedable source of random numbers, on numpy's generator."""

    def __init__(self, device: Any = "cpu") -> None:
        self._device = find_device(device)
        self.manual_seed(FIRST_SEED)

    @property
    def device(self) -> Any:
        """The device whose tensors it fills."""
        return self._device

    def manual_seed(self, seed: int) -> Generator:
        """Seed the generator; return it. A negative seed counts from 2**64 down."""
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
            raise RuntimeError(f"manual_seed expected an int, but got {type(seed).__name__}")
        if not -(2**63) <= seed < 2**64:
            raise ValueError(f"{seed} does not fit 64 bits")
        self._seed = int(seed) % 2**64
        self._numpy = np.random.default_rng(self._seed)
        return self

    def seed(self) -> int:
        """Seed the generator from the operating system; return the seed."""
        self.manual_seed(int(np.random.SeedSequence().generate_state(1)[0]))
        return self._seed

    def initial_seed(self) -> int:
        """The last seed."""
        return self._seed

    def get_state(self) -> Tensor:
        """The state as a uint8 tensor, as long as PyTorch's."""
        state = pickle.dumps(self._numpy.bit_generator.state).ljust(STATE_BYTES, b"\0")
        return wrap(np.frombuffer(state, np.uint8).copy())

    def set_state(self, state: Tensor) -> None:
        """Restore a state from `get_state`."""
        if not isinstance(state, Tensor) or state.dtype is not dtypes.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if state.numel() != STATE_BYTES:
            raise RuntimeError(
                f"Expected a state of size {STATE_BYTES}, but found one of size {state.numel()}"
            )
        self._numpy.bit_generator.state = pickle.loads(array_of(state).tobytes())

    def clone_state(self) -> Generator:
        """Another generator in the same state."""
        return copy.deepcopy(self)


default_generator = Generator()
default_generator.seed()
initial_seed = default_generator.initial_seed
seed = default_generator.seed
get_rng_state = default_generator.get_state
set_rng_state = default_generator.set_state


def manual_seed(seed: Any) -> Generator:
    """Seed the default generator by anything that makes an int; return it."""
    return default_generator.manual_seed(int(seed))


@contextlib.contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, **_: Any) -> Iterator[None]:
    """Restore the state of the default generator after the block."""
    state = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)


def source(generator: Generator | None) -> np.random.Generator:
    """The numpy generator behind ``generator``, or behind the default one."""
    if not isinstance(generator, (Generator, NoneType)):
        raise TypeError(f"expected a torch.Generator, not {type(generator).__name__}")
    numpy = (default_generator if generator is None else generator)._numpy
    if STATE.transforms:
        check_draw(numpy)
    return numpy


def _drawn(draw: str, shape: Any, generator: Generator | None, dtype: dtypes.dtype | None) -> np.ndarray:
    """Draw from a standard distribution; the parts of complex normal numbers have variance 1/2 each."""
    numpy = dtypes.numpy_of(dtype)
    if not dtypes.differentiable(numpy):
        name = dtypes.of(numpy).name
        raise NotImplementedError(f"random numbers are not implemented for {name!r}: they are no integers")
    sample = getattr(source(generator), draw)
    if numpy.kind == "c":
        scale = np.sqrt(0.5) if draw == "standard_normal" else 1
        return ((sample(shape) + 1j * sample(shape)) * scale).astype(numpy)
    return np.asarray(sample(shape)).astype(numpy)


def _sizes(draw: str) -> Any:
    @drawn_anew
    def make(
        *size: Any,
        generator: Generator | None = None,
        dtype: dtypes.dtype | None = None,
        requires_grad: bool = False,
        **where: Any,
    ) -> Tensor:
        """A leaf of random numbers of the given size."""
        return new_leaf(_drawn(draw, shape_of(size, where), generator, dtype), requires_grad, **where)

    return make


def _like(draw: str) -> Any:
    @drawn_anew
    def make(
        x: Tensor, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False, **where: Any
    ) -> Tensor:
        """A leaf of random numbers with the shape, dtype and layout of ``x`` by default."""
        model = array_of(x)
        numbers = np.empty_like(model, dtypes.numpy_of(x.dtype if dtype is None else dtype))
        numbers[...] = _drawn(draw, model.shape, None, dtypes.of(numbers.dtype))
        return new_leaf(laid_out_like(numbers, model), requires_grad, **where)

    return make


rand = _sizes("random")
randn = _sizes("standard_normal")
rand_like = _like("random")
randn_like = _like("standard_normal")


def need_drawn_bounds(dtype: dtypes.dtype, low: int, high: int) -> None:
    """Refuse bounds of random integers that do not fit a dtype."""
    numpy = dtype.numpy
    if numpy.kind == "c":
        raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")
    if numpy.kind not in "biu":
        return
    least, most = (0, 1) if numpy.kind == "b" else (np.iinfo(numpy).min, np.iinfo(numpy).max)
    for word, bound in (("from", low), ("to - 1", high - 1)):
        if not least <= bound <= most:
            raise RuntimeError(f"{word} is out of bounds for {numpy}")


@drawn_anew
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
    """A leaf of random integers in ``[low, high)``; ``high`` and ``size`` come last unless named."""
    given = list(bounds)
    if size is None and given and not isinstance(given[-1], int):
        size = given.pop()
    if size is None or isinstance(size, int):
        told = ", ".join(type(each).__name__ for each in (*bounds, *([] if size is None else [size])))
        refuse_by("op/arguments", name="randint", given=told)
    if given:
        high = given.pop()
    if given:
        low = given.pop()
    numpy = dtypes.numpy_of(dtypes.int64 if dtype is None else dtype)
    high = 0 if high is None else high
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    need_drawn_bounds(dtypes.of(numpy), low, high)
    return new_leaf(
        source(generator).integers(low, high, shape_of((size,), {})).astype(numpy), requires_grad, **where
    )


@drawn_anew
def randint_like(
    x: Tensor,
    *bounds: int,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    generator: Generator | None = None,
    **where: Any,
) -> Tensor:
    """A leaf of random integers with the shape, dtype and layout of ``x``."""
    model = array_of(x)
    drawn = randint(*bounds, model.shape, dtype=x.dtype if dtype is None else dtype, generator=generator)
    return new_leaf(laid_out_like(array_of(drawn), model), requires_grad, x, **where)


@drawn_anew
def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    requires_grad: bool = False,
    **where: Any,
) -> Tensor:
    """A random permutation of the integers below ``n``."""
    numpy = dtypes.numpy_of(dtypes.int64 if dtype is None else dtype)
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    return new_leaf(source(generator).permutation(n).astype(numpy), requires_grad, **where)


def _normal(generator: Any, mean: Any, std: Any) -> np.ndarray:
    """Normal numbers; of complex ones, each part has half of the variance."""
    if np.asarray(mean).dtype.kind != "c":
        return np.asarray(generator.normal(mean, std))
    parts = (generator.normal(part, np.asarray(std) / math.sqrt(2)) for part in (mean.real, mean.imag))
    real, imag = parts
    return np.asarray(real + 1j * imag)


@drawn_anew
def normal(
    mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Generator | None = None, **more: Any
) -> Tensor:
    """Normal numbers, with tensors of means and deviations, or with numbers and a ``size``.

    The result has a history of the tensors, and their gradients are zero.
    """
    if not isinstance(std, Tensor) and std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    if size is not None:
        numpy = dtypes.numpy_of(more.pop("dtype", None))
        need_kernel("normal_kernel", numpy, "biu")
        about = complex(mean, mean) if numpy.kind == "c" else mean
        drawn = _normal(source(generator), np.full(shape_of((size,), {}), about), std)
        return new_leaf(drawn.astype(numpy), **more)
    check_random_operands(mean, std)
    arrays = [array_of(value) if isinstance(value, Tensor) else value for value in (mean, std)]
    if any(np.asarray(array).dtype.kind == "c" for array in arrays[1:]):
        raise RuntimeError("normal expects standard deviation to be non-complex")
    if isinstance(std, Tensor) and (np.asarray(arrays[1]) < 0).any():
        raise RuntimeError("normal expects all elements of std >= 0.0")
    if where := clash(*[np.shape(array) for array in arrays]):
        refuse_by("op/shapes-broadcast", **where)
    numpy = next((a.dtype for a in arrays if isinstance(a, np.ndarray)), dtypes.default().numpy)
    need_kernel("normal_kernel", numpy, "biu")
    numbers = wrap(_normal(source(generator), *arrays).astype(numpy))
    if isinstance(mean, Tensor):
        of_both = isinstance(std, Tensor)
        return mean._normal_of_both(std, numbers) if of_both else mean._normal_of_mean(numbers)
    return std._normal_of_std(numbers) if isinstance(std, Tensor) else numbers


@drawn_anew
def multinomial(
    x: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """Draw indices with the weights in each row."""
    check_random_operands(x)
    if not x.is_floating_point():
        got = SCALARS[x.dtype.name]
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {got}")
    if x.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if num_samples < 1:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if num_samples > array_of(x).shape[-1] and not replacement:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if not np.isfinite(array_of(x)).all() or (array_of(x) < 0).any():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if (array_of(x).sum(-1) <= 0).any():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    *outer, classes = array_of(x).shape
    rows = array_of(x).reshape(-1, classes)
    rows = rows.astype(np.float64)
    drawn = [source(generator).choice(row.size, num_samples, replacement, row / row.sum()) for row in rows]
    return wrap(np.asarray(drawn, np.int64).reshape((*outer, num_samples)))
