"""``torch.utils.checkpoint``: keep a function's inputs instead of what it saves, and compute it again when
backward asks.

With ``use_reentrant=True`` the call is a custom function whose backward runs a backward of its own. Without,
hooks take the place of what is saved, and the first of them that is asked in a backward runs the function
again under hooks that collect what is saved then.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from reference_impl import autograd
from reference_impl.autograd.function import Function
from reference_impl.autograd.graph import saved_tensors_hooks
from reference_impl.engine import RUNNING
from reference_impl.modes import STATE, enable_grad, no_grad
from reference_impl.nn.containers import Sequential
from reference_impl.random import fork_rng, get_rng_state, set_rng_state
from reference_impl.saving import Saved
from reference_impl.tensor import Tensor

__all__ = [
    "CheckpointError", "CheckpointFunction", "checkpoint", "checkpoint_sequential", "noop_context_fn",
    "set_checkpoint_debug_enabled", "set_checkpoint_early_stop",
]  # fmt: skip

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]


class CheckpointError(RuntimeError):
    """What was computed again is not what was computed first."""


class _EnoughComputed(Exception):
    """Ends a second run once all that was saved in the first is there."""


_early_stop: list[bool] = []
_debug: list[bool | None] = []


def noop_context_fn() -> Contexts:
    """Two contexts that do nothing, for the first run and the second."""
    return nullcontext(), nullcontext()


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """In the block, whether second runs end as soon as they can, whatever the calls say."""
    _early_stop.append(enable)
    try:
        yield
    finally:
        _early_stop.pop()


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """In the block, whether errors come with more words, whatever the calls say."""
    _debug.append(enabled)
    try:
        yield
    finally:
        _debug.pop()


# -- by a custom function ----------------------------------------------------------------------------
class CheckpointFunction(Function):
    """A call that is computed again in its own backward."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        if not any(x.requires_grad for x in args if isinstance(x, Tensor)):
            warnings.warn("None of the inputs have requires_grad=True: there is no gradient", stacklevel=2)
        ctx.function, ctx.args = function, [None if isinstance(x, Tensor) else x for x in args]
        ctx.random = get_rng_state() if preserve_rng_state else None
        ctx.save_for_backward(*(x for x in args if isinstance(x, Tensor)))
        ctx.places = [at for at, x in enumerate(args) if isinstance(x, Tensor)]
        with no_grad():
            return function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        if not autograd._is_checkpoint_valid():
            raise RuntimeError(
                "With use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() and with the "
                "`inputs` of .backward(); use_reentrant=False is not"
            )
        inputs = list(ctx.args)
        for at, x in zip(ctx.places, ctx.saved_tensors, strict=True):
            inputs[at] = x.detach()
            inputs[at].requires_grad = x.requires_grad
        with fork_rng(enabled=ctx.random is not None):
            if ctx.random is not None:
                set_rng_state(ctx.random)
            with enable_grad():
                outputs = ctx.function(*inputs)
        pairs = zip(outputs if isinstance(outputs, tuple) else (outputs,), grads, strict=False)
        wanted = [(out, g) for out, g in pairs if isinstance(out, Tensor) and out.requires_grad]
        if not wanted:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        autograd.backward([out for out, _ in wanted], [g for _, g in wanted])
        return (None, None, *(x.grad if isinstance(x, Tensor) else None for x in inputs))


# -- by hooks ----------------------------------------------------------------------------------------
class _Holder:
    """Stands for a tensor that was saved in the first run."""

    __slots__ = ("__weakref__", "frame", "number")

    def __init__(self, frame: _Frame, number: int) -> None:
        self.frame, self.number = frame, number


class _Again:
    """What a second run has saved so far, for one backward: by number, None for what was handed out."""

    def __init__(self) -> None:
        self.count = 0
        self.tensors: dict[int, Tensor | None] = {}


class _Frame:
    """One checkpointed call."""

    def __init__(
        self, run: Callable[..., None], args: tuple[Any, ...], early_stop: bool, checks: bool
    ) -> None:
        self.run, self.early_stop, self.checks = run, early_stop, checks
        # NB: an outer checkpoint packs them as it packs what is saved within.
        self.args = [Saved(x) if isinstance(x, Tensor) else x for x in args]
        self.holders: list[weakref.ref[_Holder]] = []
        self.seen: list[Any] = []
        self.done = self.unequal = False
        self.again: weakref.WeakKeyDictionary[Any, _Again] = weakref.WeakKeyDictionary()

    def pack(self, tensor: Tensor) -> _Holder:
        """In the first run: keep only that there was something, and its shape."""
        holder = _Holder(self, len(self.holders))
        self.holders.append(weakref.ref(holder))
        self.seen.append(_shape(tensor) if self.checks else None)
        return holder

    def unpack(self, holder: _Holder) -> Tensor:
        """What the second run saved in its place; runs it if this backward has not."""
        task: Any = RUNNING[-1] if RUNNING else _Again()
        again = self.again.get(task)
        if again is None:
            again = self.again[task] = _Again()
            self._compute(again)
        tensor = again.tensors[holder.number]
        if tensor is None:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked "
                "once; ctx.saved_tensors may be read once a backward"
            )
        again.tensors[holder.number] = None
        return tensor

    def _compute(self, again: _Again) -> None:
        args = [x.unpack(None) if isinstance(x, Saved) else x for x in self.args]  # type: ignore[arg-type]
        try:
            with saved_tensors_hooks(lambda x: self._collect(again, x), lambda x: x), enable_grad():
                self.run(*args)
        except _EnoughComputed:
            pass
        if self.unequal:
            return
        if again.count != len(self.holders):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward "
                f"({len(self.holders)}) and when it was computed again ({again.count})"
            )
        for number, tensor in again.tensors.items():
            if self.checks and tensor is not None and _shape(tensor) != self.seen[number]:
                raise CheckpointError(
                    "torch.utils.checkpoint: Recomputed values for the following tensors have different "
                    f"metadata than during the forward pass: number {number}, which was {self.seen[number]} "
                    f"and is {_shape(tensor)}"
                )

    def _collect(self, again: _Again, tensor: Tensor) -> Tensor:
        """In the second run: keep what is saved, if it is still asked for."""
        kept = tensor.detach() if tensor.requires_grad else tensor
        number = again.count
        again.count += 1
        if number >= len(self.holders):
            if self.done:
                raise CheckpointError(
                    "torch.utils.checkpoint: trying to save more tensors during recomputation than during "
                    "the original forward pass"
                )
            self.unequal = True  # a backward within the function, before all was saved
            return kept
        if self.holders[number]() is not None:
            again.tensors[number] = kept
        if self.early_stop and again.count == len(self.holders):
            raise _EnoughComputed
        return kept


def _shape(tensor: Tensor) -> tuple[Any, ...]:
    return tuple(tensor._array.shape), tensor._array.dtype


@contextmanager
def _with_more_words(hooks: bool) -> Iterator[None]:
    try:
        yield
    except CheckpointError as error:
        if not hooks:
            raise
        raise CheckpointError(
            f"{error}\nYou are seeing this error because you passed `debug=True` to checkpoint: the function "
            "does not do the same twice"
        ) from error


def _by_hooks(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    preserve_rng_state: bool,
    contexts: Contexts,
    frame_of: Callable[..., _Frame],
    debug: bool,
) -> Any:
    state = get_rng_state() if preserve_rng_state else None
    first, second = contexts

    def run(*args: Any) -> None:
        with fork_rng(enabled=preserve_rng_state):
            if state is not None:
                set_rng_state(state)
            with second:
                function(*args, **kwargs)

    if not STATE.enabled:
        return function(*args, **kwargs)
    frame = frame_of(run, args)

    def unpack(holder: _Holder) -> Tensor:
        with _with_more_words(debug):
            return holder.frame.unpack(holder)

    with saved_tensors_hooks(frame.pack, unpack), first:
        made = function(*args, **kwargs)
    frame.done = True
    return made


# -- what is called ----------------------------------------------------------------------------------
def _explicit(use_reentrant: bool | None) -> bool:
    if use_reentrant is None:
        text = "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly"
        warnings.warn(text, UserWarning, stacklevel=3)
    return use_reentrant is None or use_reentrant


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Call ``function(*args, **kwargs)`` so that backward computes it again."""
    reentrant = _explicit(use_reentrant)
    preserve = kwargs.pop("preserve_rng_state", True)
    if reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve, *args)
    if _debug and _debug[-1] is not None:
        debug = _debug[-1]
    if debug and context_fn is not noop_context_fn:
        raise ValueError("debug=True is incompatible with non-default context_fn")
    if determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of default and none, but got {determinism_check}")
    stops = _early_stop[-1] if _early_stop else early_stop
    checks = determinism_check == "default"
    return _by_hooks(
        function,
        args,
        kwargs,
        preserve,
        context_fn(),
        lambda run, given: _Frame(run, given, stops, checks),
        debug,
    )


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Call functions one after the other, each but the last of so many stretches in a checkpoint."""
    reentrant = _explicit(use_reentrant)
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    steps = list(functions.children()) if isinstance(functions, Sequential) else list(functions)

    def stretch(begin: int, end: int) -> Callable[[Any], Any]:
        def run(x: Any) -> Any:
            for step in steps[begin:end]:
                x = step(x)
            return x

        return run

    length, end = len(steps) // segments, 0
    for begin in range(0, length * (segments - 1), length):
        end = begin + length
        input = checkpoint(stretch(begin, end), input, use_reentrant=reentrant, preserve_rng_state=preserve)
    return stretch(end, len(steps))(input)
