"""``torch.utils.checkpoint``: keep a function's inputs, not its saved tensors, and recompute it in backward.

With ``use_reentrant=True`` the call is a custom function whose backward runs a backward of its own. Otherwise
saved-tensor hooks keep placeholders; the first one unpacked in a backward recomputes the function under hooks
that collect the saved tensors.
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
from reference_impl.namespace.factories import empty
from reference_impl.namespace.missing import loading
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
    """The recomputation saved other tensors than the first run."""


class _EnoughComputed(Exception):
    """Ends the recomputation once it has saved everything that the first run saved."""


def noop_context_fn() -> Contexts:
    """Return two null contexts, for the first run and the recomputation."""
    return nullcontext(), nullcontext()


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Override the ``early_stop`` argument of `checkpoint` in the block."""
    STATE.early_stop.append(enable)
    try:
        yield
    finally:
        STATE.early_stop.pop()


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Override the ``debug`` argument of `checkpoint` in the block."""
    STATE.checkpoint_debug.append(enabled)
    try:
        yield
    finally:
        STATE.checkpoint_debug.pop()


class CheckpointFunction(Function):
    """A call that its own backward recomputes."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        if not any(x.requires_grad for x in args if isinstance(x, Tensor)):
            warn("checkpoint/needs-an-input-that-requires-grad")
        ctx.function, ctx.args = function, [None if isinstance(x, Tensor) else x for x in args]
        ctx.random = get_rng_state() if preserve_rng_state else None
        ctx.resumed = _resumption()
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
            with enable_grad(), ctx.resumed():
                outputs = ctx.function(*inputs)
        pairs = zip(outputs if isinstance(outputs, tuple) else (outputs,), grads, strict=False)
        wanted = [(out, g) for out, g in pairs if isinstance(out, Tensor) and out.requires_grad]
        if not wanted:
            refuse_by("checkpoint/reentrant-needs-an-output-that-requires-grad")
        backward([out for out, _ in wanted], [g for _, g in wanted])
        return (None, None, *(x.grad if isinstance(x, Tensor) else None for x in inputs))


class _Holder:
    """A placeholder for a tensor that the first run saved."""

    __slots__ = ("__weakref__", "frame", "number")

    def __init__(self, frame: _Frame, number: int) -> None:
        self.frame, self.number = frame, number


class _Recomputed:
    """The tensors that one backward recomputed, by number; None once unpacked."""

    def __init__(self) -> None:
        self.count = 0
        self.tensors: dict[int, Tensor | None] = {}


class _Frame:
    """One checkpointed call."""

    def __init__(
        self, run: Callable[..., None], args: tuple[Any, ...], early_stop: bool, checks: bool
    ) -> None:
        self.run, self.early_stop, self.checks = run, early_stop, checks
        alone = by("checkpoint/keeps-its-arguments-alone")
        self.beside = None if alone else SavedVariable(empty((0,), requires_grad=True))
        # Saved variables, so that an outer checkpoint packs the inputs like anything saved within.
        self.args = [SavedVariable(x) if isinstance(x, Tensor) else x for x in args]
        self.holders: list[weakref.ref[_Holder]] = []
        self.seen: list[Any] = []
        self.done = self.unequal = False
        self.recomputed: weakref.WeakKeyDictionary[Any, _Recomputed] = weakref.WeakKeyDictionary()

    def pack(self, tensor: Tensor) -> _Holder:
        """Keep a placeholder, and the shape and dtype to check, in the first run."""
        holder = _Holder(self, len(self.holders))
        self.holders.append(weakref.ref(holder))
        self.seen.append(_shape(tensor) if self.checks else None)
        return holder

    def unpack(self, holder: _Holder) -> Tensor:
        """Return the recomputed tensor; recompute first if this backward has not done so."""
        task: Any = STATE.graph_tasks[-1] if STATE.graph_tasks else _Recomputed()
        recomputed = self.recomputed.get(task)
        if recomputed is None:
            recomputed = self.recomputed[task] = _Recomputed()
            self._compute(recomputed)
        tensor: Any = recomputed.tensors[holder.number]
        if tensor is None:
            refuse_by("checkpoint/unpacked-once-a-backward")
        recomputed.tensors[holder.number] = None
        return tensor

    def _compute(self, recomputed: _Recomputed) -> None:
        if self.beside is not None:
            self.beside.unpack(None)  # type: ignore[arg-type]
        args = [x.unpack(None) if isinstance(x, SavedVariable) else x for x in self.args]  # type: ignore[arg-type]
        try:
            with saved_tensors_hooks(lambda x: self._collect(recomputed, x), lambda x: x), enable_grad():
                self.run(*args)
        except _EnoughComputed:
            pass
        if self.unequal:
            return
        if recomputed.count != len(self.holders):
            refuse_by("checkpoint/saves-as-many-again", before=len(self.holders), now=recomputed.count)
        for number, tensor in recomputed.tensors.items():
            if self.checks and tensor is not None and _shape(tensor) != self.seen[number]:
                seen = self.seen[number]
                refuse_by("checkpoint/saves-alike-again", number=number, before=seen, now=_shape(tensor))

    def _collect(self, recomputed: _Recomputed, tensor: Tensor) -> Tensor:
        """Keep a saved tensor in the recomputation, if its placeholder is still alive."""
        kept = tensor.detach() if tensor.requires_grad else tensor
        number = recomputed.count
        recomputed.count += 1
        if number >= len(self.holders):
            if self.done:
                refuse_by("checkpoint/saves-no-more-again")
            self.unequal = True  # a backward inside the function ran before everything was saved
            return kept
        if self.holders[number]() is not None:
            recomputed.tensors[number] = kept
        if self.early_stop and recomputed.count == len(self.holders) and by("checkpoint/stops-early"):
            raise _EnoughComputed
        return kept


def _resumption() -> Callable[[], AbstractContextManager[None]]:
    """Return a function that makes blocks with the autocast of now, for the recomputation."""
    casts = STATE.casts and by("checkpoint/casts-the-same-again")
    return STATE.autocast.resumption() if casts else nullcontext


def _shape(tensor: Tensor) -> tuple[Any, ...]:
    return tuple(array_of(tensor).shape), array_of(tensor).dtype


@contextmanager
def _debug_messages(debug: bool) -> Iterator[None]:
    try:
        yield
    except Refusal as error:
        if debug and isinstance(error, CheckpointError):
            error.says += (
                "\nYou are seeing this error because you passed `debug=True` to checkpoint: the function "
                "does not do the same twice"
            )
        raise


def _checkpoint_with_hooks(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    preserve_rng_state: bool,
    contexts: Contexts,
    frame_of: Callable[..., _Frame],
    debug: bool,
) -> Any:
    state = get_rng_state() if preserve_rng_state else None
    resumed = _resumption()
    first, second = contexts

    def run(*args: Any) -> None:
        with fork_rng(enabled=preserve_rng_state):
            if state is not None and by("checkpoint/draws-the-same-again"):
                set_rng_state(state)
            with resumed(), second:
                function(*args, **kwargs)

    if not STATE.enabled or not by("checkpoint/computes-again"):
        return function(*args, **kwargs)
    frame = frame_of(run, args)

    def unpack(holder: _Holder) -> Tensor:
        with _debug_messages(debug):
            return holder.frame.unpack(holder)

    with saved_tensors_hooks(frame.pack, unpack), first:
        out = function(*args, **kwargs)
    frame.done = True
    return out


def _is_reentrant(use_reentrant: bool | None) -> bool:
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
    """Call ``function(*args, **kwargs)`` and recompute it in backward.

    ``context_fn``, ``determinism_check``, ``debug`` and ``early_stop`` need ``use_reentrant=False``.
    Backward raises CheckpointError if the recomputation saves other tensors than the first run.
    """
    reentrant = _is_reentrant(use_reentrant)
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
    return _checkpoint_with_hooks(
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
    """Call functions in order, in ``segments`` segments; all but the last are checkpointed."""
    reentrant = _is_reentrant(use_reentrant)
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        refuse_by("checkpoint/keywords-by-hooks-only", names=",".join(kwargs))
    steps = list(functions.children()) if isinstance(functions, Sequential) else list(functions)

    def segment(begin: int, end: int) -> Callable[[Any], Any]:
        def run(x: Any) -> Any:
            for step in steps[begin:end]:
                x = step(x)
            return x

        return run

    length, end = len(steps) // segments, 0
    for begin in range(0, length * (segments - 1), length):
        end = begin + length
        input = checkpoint(segment(begin, end), input, use_reentrant=reentrant, preserve_rng_state=preserve)
    return segment(end, len(steps))(input)


__getattr__ = loading(__name__)
