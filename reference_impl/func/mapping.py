"""``vmap``: a function of one element, called for each along a dimension of its inputs.

NB: PyTorch calls the function once, with all elements at a time. Here it is called for each; what would tell
the two apart is refused as PyTorch refuses it, or undone: only the first call prints and warns, and each
finds the tensors, and the random numbers that are to be the same, as the first one found them.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import partial, wraps
from typing import Any

from reference_impl.base.rules import refuse_by
from reference_impl.base.session import STATE
from reference_impl.base.transforms import RANDOMNESS, Mapping, transforming
from reference_impl.core.access import restore_written, written_state
from reference_impl.core.tensor import Tensor
from reference_impl.fidelity.batched import levels_of, marked
from reference_impl.func.inference import out_of_inference
from reference_impl.func.trees import broadcast, leaves, rebuilt
from reference_impl.namespace import composite
from specs.active_rules import set_aside


def need_randomness(randomness: str) -> None:
    """Refuse what says nothing of random numbers."""
    if randomness not in RANDOMNESS:
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
        )


def vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:  # fmt: skip
    """Return a function that calls ``func`` for each element along a dimension, and stacks what it gives."""
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")
    need_randomness(randomness)

    @wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        name = _name(func)
        given = leaves(args)
        dims = _dims_of_inputs(name, in_dims, args, given)
        level = Mapping(size=_size(given, dims), randomness=randomness)
        calls = _Calls(level)
        outs = []

        def call(at: int) -> Any:
            taken = [x if d is None else _element(x, d, at, level) for x, d in zip(given, dims, strict=True)]
            level.at, level.asked = at, 0
            level.elements = [
                (one, x, d) for one, x, d in zip(taken, given, dims, strict=True) if d is not None
            ]
            return func(*rebuilt(args, taken), **kwargs)

        level.probe = partial(calls.probe, call)
        with transforming(level):
            for at in range(max(level.size, 1)):
                with calls.next():
                    outs.append(call(at))
            return _stacked(name, outs, out_dims, level)

    return mapped


def _name(func: Any) -> str:
    """Return the name by which messages call a function."""
    if isinstance(func, partial) and not hasattr(func, "__name__"):
        return f"functools.partial({_name(func.func)}, ...)"
    return getattr(func, "__name__", repr(func))


def _dims_of_inputs(name: str, in_dims: Any, args: tuple[Any, ...], given: Sequence[Any]) -> list[Any]:
    """Return for each input the dimension that is mapped over, or None."""

    def complain(why: str) -> None:
        refuse_by("functional/vmap-in-dims", name=name, dims=f", in_dims={in_dims}, ...", why=why)

    if not isinstance(in_dims, (int, tuple)):
        complain(
            "expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, "
            f"got: {type(in_dims)}."
        )
    if not args:
        why = "got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a function with "
        refuse_by(
            "functional/vmap-in-dims",
            name=name,
            dims="",
            why=f"{why}no inputs. The latter is unsupported.",
        )
    if (dims := broadcast(in_dims, args)) is None:
        complain("in_dims is not compatible with the structure of `inputs`. in_dims has structure ...")
        dims = [0] * len(given)
    for x, d in zip(given, dims, strict=True):
        if d is None:
            continue
        if not isinstance(d, int):
            complain(f"Got in_dim={d} for an input but in_dim must be either an integer dimension or None.")
        if not isinstance(x, Tensor):
            complain(
                f"Got in_dim={d} for an input but the input is of type {type(x)}. We cannot vmap over "
                "non-Tensor arguments, please use None as the respective in_dim"
            )
        if not -x.ndim <= d < x.ndim:
            complain(
                f"Got in_dim={d} for some input, but that input is a Tensor of dimensionality {x.ndim} so "
                f"expected in_dim to satisfy -{x.ndim} <= in_dim < {x.ndim}."
            )
    return dims


def _size(given: Sequence[Any], dims: Sequence[Any]) -> int:
    """Return the number of elements; refuse none and several."""
    sizes = [x.shape[d] for x, d in zip(given, dims, strict=True) if d is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return sizes[0]


def _element(x: Tensor, dim: int, at: int, level: Mapping) -> Tensor:
    """Return one of many; of none, zeros, of which the function tells the shape of its results."""
    one = x.select(dim, at) if level.size else x.sum(dim)
    return marked(one, levels_of(x) | {level})


class _Calls:
    """The calls of a function, each of which finds what the first one found.

    A tensor that two calls write to was there before them. What a call wrote to one of its own stays.
    """

    def __init__(self, level: Mapping) -> None:
        self.level = level
        self.count = 0
        self._before: dict[int, tuple[Tensor, Any]] = {}
        """The tensors that the present call, or the last one, has written to, as they were before."""
        self._after: dict[int, tuple[Tensor, Any]] = {}
        """Those of the first call, as it left them."""
        self._lasting: set[int] = set()
        self._running = STATE.transforms[:], STATE.enabled, STATE.level
        """The state in which the calls begin, but for their map."""

    def _watch(self, target: Tensor) -> None:
        """Keep a tensor, before it is written, that does not stand for many."""
        if self.level not in levels_of(target):
            self._before.setdefault(id(target), (target, written_state(target)))

    def _undo(self) -> None:
        if self.count == 1:
            self._after = {key: (x, written_state(x)) for key, (x, _) in self._before.items()}
        for key, (target, state) in reversed(self._before.items()):
            if self.count == 1 or key in self._lasting:
                restore_written(target, state)
        self._before.clear()
        if self.level.randomness == "same":
            for generator, state in self.level.begun.items():
                generator.bit_generator.state = state

    def _tell_apart(self) -> None:
        """Note, after two calls, which tensors were there before them; give its own back to the first."""
        self._lasting = self._after.keys() & self._before.keys()
        for key, (target, state) in self._after.items():
            if key not in self._lasting:
                restore_written(target, state)

    @contextmanager
    def next(self) -> Iterator[None]:
        """Make a call in the block; but for the first, its rules are set aside, and nothing is shown."""
        STATE.write_watchers.append(self._watch)
        try:
            if not self.count:
                yield
            else:
                self._undo()
                with set_aside(repeat=True), warnings.catch_warnings(), _unheard():
                    warnings.simplefilter("ignore")
                    yield
                if self.count == 1:
                    self._tell_apart()
        finally:
            self.count += 1
            STATE.write_watchers.remove(self._watch)

    def probe(self, call: Callable[[int], Any], at: int, number: int) -> None:
        """Make a call as far as its rule of that number, within another, which finds all as it left it."""
        level, own = self.level, self._before
        kept = level.at, level.asked, level.elements, level.sought
        state = STATE.transforms[:], STATE.enabled, STATE.level
        drawn = {generator: generator.bit_generator.state for generator in level.begun}
        written = [(target, written_state(target)) for target, _ in own.values()]
        for target, before in reversed(own.values()):
            restore_written(target, before)
        self._before, level.sought = {}, number
        STATE.transforms, STATE.enabled, STATE.level = [*self._running[0], level], *self._running[1:]
        try:
            with set_aside(repeat=True), warnings.catch_warnings(), _unheard():
                warnings.simplefilter("ignore")
                call(at)
        finally:
            level.at, level.asked, level.elements, level.sought = kept
            STATE.transforms, STATE.enabled, STATE.level = state
            for target, before in [*reversed(self._before.values()), *written]:
                restore_written(target, before)
            self._before = own
            for generator, before in drawn.items():
                generator.bit_generator.state = before


@contextmanager
def _unheard() -> Iterator[None]:
    """Drop what the block prints."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        yield


def _stacked(name: str, outs: Sequence[Any], out_dims: Any, level: Mapping) -> Any:
    """Return what the calls gave, each result stacked along its dimension."""
    single = isinstance(outs[0], Tensor)
    single_dim = single and isinstance(out_dims, tuple) and len(out_dims) == 1
    for dim in leaves(out_dims):
        if not (dim is None or isinstance(dim, int)):
            raise ValueError(
                f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python "
                "collection of ints representing where in the outputs the vmapped dimension should appear."
            )
    dims = broadcast(out_dims[0] if single_dim else out_dims, outs[0])
    if dims is None:
        refuse_by(
            "functional/vmap-gives-tensors",
            name=name,
            dims=f"..., out_dims={out_dims})(<inputs>",
            why="out_dims is not compatible with the structure of `outputs`. out_dims has structure ...",
        )
        dims = [0] * len(leaves(outs[0]))
    columns = list(zip(*map(leaves, outs), strict=True))
    made = [_column(name, column, d, level) for column, d in zip(columns, dims, strict=True)]
    return rebuilt(outs[0], made)


def _column(name: str, column: tuple[Any, ...], dim: Any, level: Mapping) -> Any:
    """Return one result of all calls, stacked; without a dimension the same for all, as it is."""
    first = column[0]
    levels = levels_of(*column)
    if dim is None:
        if level in levels:
            refuse_by(
                "functional/vmap-gives-tensors",
                name=name,
                dims="...",
                why=f"`{name}` can not return a BatchedTensor when out_dim is None",
            )
        return column[-1]
    if not isinstance(first, Tensor):
        refuse_by(
            "functional/vmap-gives-tensors",
            name=name,
            dims="...",
            why=f"`{name}` must only return Tensors, got type {type(first)}. Did you mean to set out_dims= "
            "to None for output?",
        )
    if level not in levels:
        column = (column[-1],) * len(column)
    stack = composite.stack if first.is_inference() else out_of_inference(composite.stack)
    stacked = stack(column, dim)
    if not level.size:
        stacked = stacked.narrow(dim, 0, 0)
    return marked(stacked, levels - {level})
