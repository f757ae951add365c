"""Full backward hooks of modules: called once the gradients of outputs and inputs are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_impl.base.dtypes import differentiable
from reference_impl.base.session import STATE
from reference_impl.core.access import array_of, make_output_of
from reference_impl.core.graph import Node, RunningTask, gradient_edge
from reference_impl.core.tensor import Tensor

Grads = list[Tensor | None]


class BackwardHookFunctionBackward(Node):
    """A node behind aliases of several tensors that reports the gradients passing through."""

    __slots__ = ("tell",)

    def __init__(self, tensors: list[Tensor], tell: Callable[[Grads], Grads]) -> None:
        super().__init__(tuple(gradient_edge(x) for x in tensors))
        self.tell = tell

    def apply(self, grads: Grads, task: RunningTask) -> Grads:
        return self.tell(list(grads))


def _behind(tensors: list[Any], tell: Callable[[Grads], Grads]) -> list[Any]:
    """Replace the tensors by aliases behind one such node; other values stay."""
    places = [
        at for at, x in enumerate(tensors) if isinstance(x, Tensor) and differentiable(array_of(x).dtype)
    ]

    def told(grads: Grads) -> Grads:
        every: Grads = [None] * len(tensors)
        for at, g in zip(places, grads, strict=True):
            every[at] = g
        passed = tell(every)
        return [passed[at] for at in places]

    node = BackwardHookFunctionBackward([tensors[at] for at in places], told)
    aliases = list(tensors)
    for at in places:
        out = aliases[at] = tensors[at].detach()
        make_output_of(out, node)
    return aliases


class Watch:
    """One call of a module with backward hooks."""

    def __init__(self, module: Any, hooks: list[Callable[..., Any]]) -> None:
        self.module, self.hooks = module, hooks
        self.outputs: tuple[Any, ...] | None = None  # the gradients of the outputs, until the hooks have run
        self.inputs = 0
        self.waits = False

    def arguments(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Put the arguments behind a node if any tensor among them requires grad."""
        self.inputs = len(args)
        wanted = [x for x in args if isinstance(x, Tensor) and x.requires_grad]
        self.waits = STATE.enabled and bool(wanted)
        return tuple(_behind(list(args), self._finish)) if self.waits else args

    def result(self, result: Any) -> Any:
        """Put the result behind a node if any tensor in it requires grad."""
        parts = list(result) if isinstance(result, (tuple, list)) else [result]
        if not STATE.enabled or not any(isinstance(x, Tensor) and x.requires_grad for x in parts):
            return result
        out = _behind(parts, self._begin)
        return type(result)(out) if isinstance(result, (tuple, list)) else out[0]

    def _begin(self, grads: Grads) -> Grads:
        self.outputs = tuple(grads)
        if not self.waits:
            self._call([None] * self.inputs)
        return grads

    def _finish(self, grads: Grads) -> Grads:
        return self._call(grads)

    def _call(self, grads: Grads) -> Grads:
        if self.outputs is None:
            return grads  # a double backward reached the arguments another way
        for hook in self.hooks:
            replaced = hook(self.module, tuple(grads), self.outputs)
            if replaced is not None:
                grads = list(replaced) if isinstance(replaced, tuple) else [replaced]
        self.outputs = None
        return grads
