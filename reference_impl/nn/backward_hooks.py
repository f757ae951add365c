"""Full backward hooks of modules: called once the gradients of outputs and inputs are known.

As in PyTorch a custom function that does nothing stands before the module and another one behind it; hooks on
their nodes see the gradients.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from reference_impl.autograd.function import Function
from reference_impl.base.rules import by, refuse_by, warn
from reference_impl.base.session import STATE
from reference_impl.base.transforms import Mapping
from reference_impl.core.tensor import Tensor

Grads = tuple[Tensor | None, ...]
HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks", "_last_node_hooks")
"""The hooks of a module, each kind by the name of its dict."""


class BackwardHookFunction(Function):
    """Returns its arguments, and hands gradients on as they come."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        ctx.mark_non_differentiable(*[arg for arg in args if not arg.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Any:
        return args


def _behind(
    values: tuple[Any, ...], hook: Callable[[Grads, Grads], Any]
) -> tuple[tuple[Any, ...], list[int]]:
    """Replace the tensors by aliases behind one node with that hook, and return their places: none at all
    where nothing is recorded.
    """
    places = [at for at, x in enumerate(values) if isinstance(x, Tensor)]
    recorded = STATE.enabled and any(values[at].requires_grad for at in places)
    if not (recorded and by("nn/backward-hooks-stand-before-and-behind")):
        return values, []
    if STATE.transforms and not isinstance(STATE.transforms[-1], Mapping):
        refuse_by("functional/transforms-need-setup-context")  # PyTorch's function has none
    aliases = BackwardHookFunction.apply(*[values[at] for at in places])
    nodes = [x.grad_fn for x in aliases if x.grad_fn is not None]
    if not nodes:
        refuse_by("nn/backward-hooks-need-floats")
    nodes[0].register_hook(hook)
    replaced = list(values)
    for at, alias in zip(places, aliases, strict=True):
        replaced[at] = alias
    return tuple(replaced) if type(values) is tuple else type(values)(*replaced), places


def _each(places: Sequence[int], grads: Grads, count: int) -> Grads:
    """The gradients in their places among so many values, None elsewhere."""
    every: list[Tensor | None] = [None] * count
    for at, g in zip(places, grads, strict=True):
        every[at] = g
    return tuple(every)


class Watch:
    """One call of a module with backward hooks, or with hooks before its backward."""

    def __init__(
        self, module: Any, hooks: list[Callable[..., Any]], pre_hooks: Sequence[Callable[..., Any]] = ()
    ) -> None:
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.outputs: Grads | None = None  # the gradients of the outputs, until the hooks have run
        self.inputs = 0
        self.before: list[int] = []
        self.behind: list[int] = []
        self.results = 0

    def arguments(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Put the arguments behind a node if any tensor among them requires grad."""
        self.inputs = len(args)
        args, self.before = _behind(args, self._finish)
        return args

    def result(self, result: Any) -> Any:
        """Put the result behind a node if any tensor in it requires grad."""
        if not isinstance(result, (Tensor, tuple)):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
                f"received {type(result)}",
                stacklevel=3,
            )
        values = result if isinstance(result, tuple) else (result,)
        self.results = len(values)
        values, self.behind = _behind(values, self._begin)
        return values if isinstance(result, tuple) else values[0]

    def _begin(self, _: Grads, grads: Grads) -> Any:
        """Take the gradients of the outputs; without arguments that require grad the hooks run at once."""
        outputs = _each(self.behind, grads, self.results)
        for hook in self.pre_hooks:
            replaced = hook(self.module, outputs)
            if replaced is not None:
                if len(replaced) != len(outputs):
                    refuse_by("nn/backward-pre-hook-returns-as-many", got=len(replaced), want=len(outputs))
                outputs = replaced if by("nn/backward-hooks-replace") else outputs
        self.outputs = outputs
        if not self.before and by("nn/backward-hook-fires-without-inputs"):
            if self.hooks or not by("nn/backward-pre-hooks-alone-are-silent"):
                warn("nn/backward-hook-fires-without-inputs")
            for hook in self.hooks:
                given = hook(self.module, (None,) * self.inputs, outputs)
                if given is not None and not (isinstance(given, tuple) and all(g is None for g in given)):
                    refuse_by("nn/backward-hook-replaces-no-inputs")
            self.outputs = None
        return tuple(outputs[at] for at in self.behind)

    def _finish(self, grads: Grads, _: Grads) -> Any:
        if self.outputs is None:
            return None  # a double backward reached the arguments another way
        given = _each(self.before, grads, self.inputs)
        for hook in self.hooks:
            replaced = hook(self.module, given, self.outputs)
            if replaced is not None:
                if len(replaced) != len(given):
                    refuse_by("nn/backward-hook-returns-as-many", got=len(replaced), want=len(given))
                given = replaced if by("nn/backward-hooks-replace") else given
        self.outputs = None
        return tuple(given[at] for at in self.before)


# -- hooks of one node -------------------------------------------------------------------------------
def need_one_kind(module: Any, full: bool) -> None:
    """Refuse hooks of the last node beside full ones, also where the others are removed by now."""
    if module._is_full_backward_hook not in (None, full):
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use "
            "only one of them."
        )
    module.__dict__["_is_full_backward_hook"] = full


def hook_last_node(module: Any, hooks: Sequence[Callable[..., Any]], args: Any, result: Any) -> None:
    """Register hooks on the node of the result: they see its gradients, not those of the arguments."""
    while not isinstance(result, Tensor):
        named = isinstance(result, dict)
        result = next(x for x in result.values() if isinstance(x, Tensor)) if named else result[0]
    node = result.grad_fn
    if node is None:
        return
    for hook in hooks:
        node.register_hook(lambda before, behind, hook=hook: hook(module, before, behind))
    given = {x.grad_fn for x in args if isinstance(x, Tensor)}
    if given != {target for target, _ in node.next_functions}:
        warnings.warn(
            "Using a non-full backward hook when the forward contains multiple autograd Nodes is deprecated "
            "and will be removed in future versions. This hook will be missing some grad_input. Please use "
            "register_full_backward_hook to get the documented behavior.",
            FutureWarning,
            stacklevel=4,
        )
