"""``torch.utils.checkpoint``: keep a function's inputs instead of what it saves, and compute it again when
backward asks.

With ``use_reentrant=True`` the call is a custom function whose backward runs a backward of its own. Without,
hooks take the place of what is saved, and the first of them that is asked in a backward runs the function
again under hooks that collect what is saved then.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from reference_impl.autograd import _is_checkpoint_valid, backward
from reference_impl.autograd.function import Function
from reference_impl.autograd.graph import saved_tensors_hooks
from reference_impl.base.modes import enable_grad, no_grad
from reference_impl.base.rules import by, refuse_by, warn
from reference_impl.base.session import STATE
from reference_impl.core.access import array_of
from reference_impl.core.saved import SavedVariable
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.random import fork_rng, get_rng_state, set_rng_state
from reference_impl.nn.containers import Sequential
from specs.errors import Refusal, admit

__all__ = [
    "CheckpointError", "CheckpointFunction", "checkpoint", "checkpoint_sequential", "noop_context_fn",
    "set_checkpoint_debug_enabled", "set_checkpoint_early_stop",
]  # fmt: skip

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]


@admit
class CheckpointError(RuntimeError):
    """What was computed again is not what was computed first."""


class _EnoughComputed(Exception):
    """Ends a second run once all that was saved in the first is there."""


def noop_context_fn() -> Contexts:
    """Two contexts that do nothing, for the first run and the second."""
    return nullcontext(), nullcontext()


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """In the block, whether second runs end as soon as they can, whatever the calls say."""
    STATE.early_stop.append(enable)
    try:
        yield
    finally:
        STATE.early_stop.pop()


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """In the block, whether errors come with more words, whatever the calls say."""
    STATE.checkpoint_debug.append(enabled)
    try:
        yield
    finally:
        STATE.checkpoint_debug.pop()


# -- by a custom function ----------------------------------------------------------------------------
class CheckpointFunction(Function):
    """A call that is computed again in its own backward."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        if not any(x.requires_grad for x in args if isinstance(x, Tensor)):
            warn("checkpoint/needs-an-input-that-requires-grad")
        ctx.function, ctx.args = function, [None if isinstance(x, Tensor) else x for x in args]
        ctx.random = get_rng_state() if preserve_rng_state else None
        ctx.save_for_backward(*(x for x in args if isinstance(x, Tensor)))
        ctx.places = [at for at, x in enumerate(args) if isinstance(x, Tensor)]
        with no_grad():
            return function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        if not _is_checkpoint_valid():
            refuse_by("checkpoint/reentrant-needs-a-whole-backward")
        inputs = list(ctx.args)
        for at, x in zip(ctx.places, ctx.saved_tensors, strict=True):
            inputs[at] = x.detach()
            inputs[at].requires_grad = x.requires_grad
        with fork_rng(enabled=ctx.random is not None):
            if ctx.random is not None and by("checkpoint/draws-the-same-again"):
                set_rng_state(ctx.random)
            with enable_grad():
                outputs = ctx.function(*inputs)
        pairs = zip(outputs if isinstance(outputs, tuple) else (outputs,), grads, strict=False)
        wanted = [(out, g) for out, g in pairs if isinstance(out, Tensor) and out.requires_grad]
        if not wanted:
            refuse_by("checkpoint/reentrant-needs-an-output-that-requires-grad")
        backward([out for out, _ in wanted], [g for _, g in wanted])
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
        self.args = [SavedVariable(x) if isinstance(x, Tensor) else x for x in args]
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
        task: Any = STATE.graph_tasks[-1] if STATE.graph_tasks else _Again()
        again = self.again.get(task)
        if again is None:
            again = self.again[task] = _Again()
            self._compute(again)
        tensor: Any = again.tensors[holder.number]
        if tensor is None:
            refuse_by("checkpoint/unpacked-once-a-backward")
        again.tensors[holder.number] = None
        return tensor

    def _compute(self, again: _Again) -> None:
        args = [x.unpack(None) if isinstance(x, SavedVariable) else x for x in self.args]  # type: ignore[arg-type]
        try:
            with saved_tensors_hooks(lambda x: self._collect(again, x), lambda x: x), enable_grad():
                self.run(*args)
        except _EnoughComputed:
            pass
        if self.unequal:
            return
        if again.count != len(self.holders):
            refuse_by("checkpoint/saves-as-many-again", before=len(self.holders), now=again.count)
        for number, tensor in again.tensors.items():
            if self.checks and tensor is not None and _shape(tensor) != self.seen[number]:
                seen = self.seen[number]
                refuse_by("checkpoint/saves-alike-again", number=number, before=seen, now=_shape(tensor))

    def _collect(self, again: _Again, tensor: Tensor) -> Tensor:
        """In the second run: keep what is saved, if it is still asked for."""
        kept = tensor.detach() if tensor.requires_grad else tensor
        number = again.count
        again.count += 1
        if number >= len(self.holders):
            if self.done:
                refuse_by("checkpoint/saves-no-more-again")
            self.unequal = True  # a backward within the function, before all was saved
            return kept
        if self.holders[number]() is not None:
            again.tensors[number] = kept
        if self.early_stop and again.count == len(self.holders) and by("checkpoint/stops-early"):
            raise _EnoughComputed
        return kept


def _shape(tensor: Tensor) -> tuple[Any, ...]:
    return tuple(array_of(tensor).shape), array_of(tensor).dtype


@contextmanager
def _with_more_words(hooks: bool) -> Iterator[None]:
    try:
        yield
    except Refusal as error:
        if hooks and isinstance(error, CheckpointError):
            error.says += (
                "\nYou are seeing this error because you passed `debug=True` to checkpoint: the function "
                "does not do the same twice"
            )
        raise


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
            if state is not None and by("checkpoint/draws-the-same-again"):
                set_rng_state(state)
            with second:
                function(*args, **kwargs)

    if not STATE.enabled or not by("checkpoint/computes-again"):
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
        warn("checkpoint/says-which-way")
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
            refuse_by("checkpoint/keywords-by-hooks-only", names=",".join(kwargs))
        if context_fn is not noop_context_fn or debug:
            refuse_by("checkpoint/contexts-by-hooks-only")
        return CheckpointFunction.apply(function, preserve, *args)
    if STATE.checkpoint_debug and STATE.checkpoint_debug[-1] is not None:
        debug = STATE.checkpoint_debug[-1]
    if debug and context_fn is not noop_context_fn:
        raise ValueError("debug=True is incompatible with non-default context_fn")
    if determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of default and none, but got {determinism_check}")
    stops = STATE.early_stop[-1] if STATE.early_stop else early_stop
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
        refuse_by("checkpoint/keywords-by-hooks-only", names=",".join(kwargs))
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
