"""Inference mode crossed with writes: the same happens on torch and on the reference, refusals included."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice, product
from typing import Any

import pytest
import torch as pytorch

import reference_impl
from conformance.generate.ops.recipe import Recipe
from conformance.program import Program
from conformance.program.printing import to_text
from op_programs import RECIPES, differs, programs
from specs.rule import classify
from together import together

MODES = {
    "normal": (),
    "no_grad": ("no_grad",),
    "inference": ("inference",),
    "inference, grad": ("inference", "enable_grad"),
    "inference, then not": ("inference", "normal"),
    "no_grad, normal": ("no_grad", "normal"),
}


def entered(torch: Any, mode: str) -> ExitStack:
    """Enter the blocks of a mode."""
    made = {
        "no_grad": torch.no_grad,
        "enable_grad": torch.enable_grad,
        "inference": torch.inference_mode,
        "normal": lambda: torch.inference_mode(False),
    }
    stack = ExitStack()
    for word in MODES[mode]:
        stack.enter_context(made[word]())
    return stack


def inside(torch: Any, make: Any, *args: Any) -> Any:
    with torch.inference_mode():
        return make(*args)


def result(torch: Any) -> Any:
    return torch.tensor([1.0, 2.0], requires_grad=True) * 2


def with_data(x: Any, data: Any) -> Any:
    x.data = data
    return x


TARGETS: dict[str, Any] = {
    "made inside": lambda t: inside(t, lambda: t.tensor([1.0, 2.0])),
    "flagged inside": lambda t: inside(t, lambda: t.tensor([1.0, 2.0], requires_grad=True)),
    "window inside": lambda t: inside(t, lambda: t.tensor([1.0, 2.0]).view(2)),
    "window outside": lambda t: inside(t, lambda: t.tensor([1.0, 2.0])).view(2),
    "detached outside": lambda t: inside(t, lambda: t.tensor([1.0, 2.0])).detach(),
    "view of a result": lambda t: inside(t, result(t).view, 2),
    "view of a leaf": lambda t: inside(t, t.ones(2, requires_grad=True).view, 2),
    "view of a plain one": lambda t: inside(t, t.ones(2).view, 2),
    "one of several": lambda t: inside(t, (t.ones(2, 2, requires_grad=True) * 1).unbind, 0)[0],
    "view of a view": lambda t: inside(t, result(t).view, 2).view(2),
    "view of a view inside": lambda t: inside(t, result(t).view(2).view, 2),
    "result": result,
    "leaf": lambda t: t.ones(2, requires_grad=True),
    "inference data": lambda t: with_data(t.ones(2), inside(t, t.ones, 2)),
    "normal data": lambda t: with_data(inside(t, t.ones, 2), t.ones(2)),
}

NORMAL = {torch: torch.ones(2) for torch in (pytorch, reference_impl)}

WRITES: dict[str, Any] = {
    "add a number": lambda t, x: x.add_(1),
    "neg": lambda t, x: x.neg_(),
    "mul what requires grad": lambda t, x: x.mul_(t.ones(2, requires_grad=True)),
    "sub a normal tensor": lambda t, x: x.sub_(NORMAL[t]),
    "mul an inference tensor": lambda t, x: x.mul_(inside(t, t.ones, 2)),
    "copy": lambda t, x: x.copy_(t.zeros(2)),
    "copy what requires grad": lambda t, x: x.copy_(t.ones(2, requires_grad=True)),
    "copy an inference tensor": lambda t, x: x.copy_(inside(t, t.zeros, 2)),
    "assign a number": lambda t, x: x.__setitem__(0, 5.0),
    "assign at positions": lambda t, x: x.__setitem__(t.tensor([0]), 5.0),
    "assign what requires grad": lambda t, x: x.__setitem__(0, t.tensor(3.0, requires_grad=True)),
    "zero": lambda t, x: x.zero_(),
    "fill": lambda t, x: x.fill_(2.0),
    "set the flag": lambda t, x: x.requires_grad_(),
    "drop the flag": lambda t, x: x.requires_grad_(False),
    "assign the flag": lambda t, x: setattr(x, "requires_grad", True),
    "detach in place": lambda t, x: x.detach_(),
    "assign data": lambda t, x: setattr(x, "data", t.zeros(2)),
    "assign inference data": lambda t, x: setattr(x, "data", inside(t, t.zeros, 2)),
    "assign a grad": lambda t, x: setattr(x, "grad", inside(t, t.zeros, 2)),
    "retain the grad": lambda t, x: x.retain_grad(),
    "hook": lambda t, x: x.register_hook(lambda g: g) and None,
    "unsqueeze": lambda t, x: x.unsqueeze_(0),
    "count": lambda t, x: t.autograd.graph.increment_version(x),
}


def tried(call: Any) -> Any:
    """The result of a call, or the rule that refuses it."""
    try:
        return call()
    except RuntimeError as error:
        return getattr(error, "rule", None) or classify("RuntimeError", str(error)) or str(error)[:40]


def shown(x: Any) -> tuple[Any, ...]:
    return (
        x.is_inference(),
        x.tolist(),
        tuple(x.shape),
        x.requires_grad,
        x._is_view(),
        tried(lambda: x._version),
        tried(lambda: x.is_leaf),
        tried(lambda: x.grad_fn and x.grad_fn.name()),
        tried(lambda: (x * 2).requires_grad) if not (x.is_inference() and x.requires_grad) else None,
        tried(lambda: x.detach().is_inference()),
    )


def kind(x: Any) -> tuple[Any, ...]:
    """The facts shown of a result. NB: the first count of a fresh version counter is unspecified."""
    facts = list(shown(x)[:-2])
    facts[5] = "counted" if isinstance(facts[5], int) else facts[5]
    return tuple(facts)


@together("write, target", product(sorted(WRITES), sorted(TARGETS)), by=lambda row: row[0])
def test_writes(write, target):
    """In each mode: what is refused by which rule, and what the tensor and its base are afterwards."""

    def run(torch: Any, mode: str) -> Any:
        x = TARGETS[target](torch)
        with entered(torch, mode):
            done = tried(lambda: WRITES[write](torch, x))
        base = x._base
        outcome = done if isinstance(done, str) else "done"
        return outcome, shown(x), base is not None and shown(base)

    for mode in MODES:
        assert run(pytorch, mode) == run(reference_impl, mode), mode


@pytest.mark.parametrize("mode", sorted(MODES))
@pytest.mark.parametrize("target", sorted(TARGETS))
def test_what_is_made_of_them(target, mode):
    """Results, views, copies and gradients in each mode: inference tensors or not, recorded or not."""

    def run(torch: Any) -> list[Any]:
        x, s, c = TARGETS[target](torch), torch.ones(2, requires_grad=True), torch.ones(2)
        alone = x.is_inference() and x.requires_grad
        seen = []
        with entered(torch, mode):
            for make in (
                lambda: x + s,
                lambda: x * s,
                lambda: x + c,
                lambda: x[0],
                lambda: x.view(2).view(2),
                lambda: x.unbind(0)[0],
                lambda: x.expand(2, 2),
                lambda: x.data,
                lambda: torch.autograd.grad((x + s).sum(), s)[0],
                *(() if alone else (lambda: x * 2, lambda: x.clone(), lambda: x.sum())),
            ):
                made = tried(make)
                seen.append(made if isinstance(made, str) else kind(made))
        return seen

    assert run(pytorch) == run(reference_impl)


def test_the_modes_tell_themselves():
    """is_grad_enabled and is_inference_mode_enabled inside, and after the block; also when decorated."""

    def run(torch: Any) -> list[Any]:
        seen = []

        def tell(*_: Any) -> None:
            seen.append((torch.is_grad_enabled(), torch.is_inference_mode_enabled()))

        for mode in MODES:
            with entered(torch, mode):
                tell()
            tell()
        with torch.no_grad():
            torch.inference_mode(tell)(1)
            torch.inference_mode(False)(tell)()
            torch.inference_mode()(tell)()
            tell()
        with torch.inference_mode():
            torch.set_grad_enabled(True)
            tell()
            torch.no_grad()(tell)()
        tell()

        @torch.inference_mode()
        def generator() -> Any:
            tell()
            yield
            tell()

        for _ in generator():
            tell()
        return seen

    assert run(pytorch) == run(reference_impl)


@pytest.mark.parametrize("mode", sorted(MODES))
def test_backward_in_each_mode(mode):
    """The mode in which backward runs decides the kind of its grads, and if they can be added to later."""

    def run(torch: Any) -> list[Any]:
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x * 3
        y.retain_grad()
        root = (y * x).sum()
        with entered(torch, mode):
            seen = [tried(lambda: root.backward(retain_graph=True, create_graph=False))]
        seen += [kind(x.grad), kind(y.grad), tried(lambda: (x * 2).sum().backward())]
        with entered(torch, mode):
            seen += [tried(lambda: root.backward(retain_graph=True)), x.grad.tolist()]
            (g,) = torch.autograd.grad(root, x, create_graph=True)
        return [*seen, kind(g)]

    assert run(pytorch) == run(reference_impl)


def alone(program: Program) -> Iterator[Program]:
    """The program with each choice of inference tensors among its tensors, and of those that require grad."""
    made = [at for at, step in enumerate(program.steps) if step.op == "torch.tensor"]
    for inside_, graded in product(product((False, True), repeat=len(made)), repeat=2):
        steps = list(program.steps)
        for at, inference, grad in zip(made, inside_, graded, strict=True):
            flag = ("requires_grad", True)
            kwargs = tuple([pair for pair in steps[at].kwargs if pair != flag or grad])
            steps[at] = steps[at]._replace(kwargs=kwargs, mode=("inference_mode",) if inference else ())
        if any(inside_):
            yield Program(tuple(steps))


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: f"{recipe.spelled}-{recipe.op.key}")
def test_an_op_on_inference_tensors_does_what_its_kernel_does(recipe: Recipe) -> None:
    """Alone or beside normal tensors, an op is recorded, refused or neither as on torch."""
    for made in islice(programs(recipe, (("float64", "float32"),)), 12):
        for one in alone(made):
            assert not differs(one), to_text(one)
