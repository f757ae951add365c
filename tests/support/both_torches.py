"""Running a function of torch's namespace on torch and on the reference, with the same numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


def numbers(*shape: int, seed: int = 0, low: float = -1.0, high: float = 1.0) -> np.ndarray:
    """Numbers of a shape, in float64."""
    return np.random.default_rng([seed, *shape]).uniform(low, high, shape)


class Inputs:
    """Makes the inputs of a call for one namespace; leaves that require grad are remembered."""

    def __init__(self, torch: Any) -> None:
        self.torch, self.leaves, self.made = torch, [], 0

    def __call__(self, *shape: int, low: float = -1.0, high: float = 1.0, grad: bool = True) -> Any:
        """A leaf of float64 numbers; each call gives others."""
        self.made += 1
        made = self.torch.tensor(numbers(*shape, seed=self.made, low=low, high=high), requires_grad=grad)
        self.leaves += [made] * grad
        return made

    def module(self, module: Any) -> Any:
        """Fill the parameters and buffers of a module with numbers, in double precision."""
        module = module.double()
        with self.torch.no_grad():
            for n, (_, x) in enumerate(module.named_parameters()):
                x.copy_(self.torch.tensor(numbers(*x.shape, seed=100 + n, low=-0.5, high=0.5)))
        self.leaves += [p for p in module.parameters() if p.requires_grad]
        return module


def flat(value: Any) -> Iterator[Any]:
    """The tensors and numbers in nested results."""
    if isinstance(value, dict):
        for key in sorted(value):
            yield from flat(value[key])
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from flat(item)
    elif value is not None:
        yield value


def _array(x: Any) -> Any:
    if not hasattr(x, "requires_grad"):
        return x
    x = x.detach()
    if getattr(x, "_is_zerotensor", bool)() or type(x).__name__ == "ZeroTensor":
        return np.zeros(tuple(x.shape))
    return np.asarray((x.float() if "bfloat16" in str(x.dtype) else x).tolist())


def graph(root: Any) -> list[tuple[str, list[int | None]]]:
    """The nodes of a graph as they are reached, by name, each with the numbers of those it passes to."""
    found: list[tuple[str, list[int | None]]] = []
    numbers_of: dict[Any, int] = {}

    def visit(node: Any) -> int | None:
        if node is None:
            return None
        if node not in numbers_of:
            numbers_of[node] = len(found)
            edges: list[int | None] = []
            found.append((node.name().rpartition("::")[2], edges))
            edges += [visit(to) for to, _ in node.next_functions]
        return numbers_of[node]

    visit(root)
    return found


def outcome(torch: Any, function: Callable[[Any, Inputs], Any], twice: bool = True) -> dict[str, Any]:
    """Facts and values of the results, the gradients of all leaves, and those of the gradients."""
    make = Inputs(torch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = list(flat(function(torch, make)))
        tensors = [r for r in results if hasattr(r, "requires_grad")]
        found: dict[str, Any] = {
            "values": [_array(r) for r in results],
            "facts": [(r.is_leaf, r.requires_grad, tuple(r.shape), str(r.dtype)) for r in tensors],
            "graphs": [graph(r.grad_fn) for r in tensors],
        }
        roots = [r for r in tensors if r.requires_grad]
        if not roots:
            return found
        total = sum((r * torch.tensor(numbers(*r.shape, seed=50 + n))).sum() for n, r in enumerate(roots)
                    if not r.is_complex())  # fmt: skip
        grads = torch.autograd.grad(total, make.leaves, create_graph=twice, allow_unused=True)
        found["grads"] = [None if g is None else _array(g) for g in grads]
        kept = [g for g in grads if g is not None and g.requires_grad]
        if twice and kept:
            again = sum((g * g).sum() for g in kept)
            second = torch.autograd.grad(again, make.leaves, allow_unused=True)
            found["second"] = [np.zeros(tuple(x.shape)) if g is None else _array(g)
                               for g, x in zip(second, make.leaves, strict=True)]  # fmt: skip
    return found


def differences(theirs: dict[str, Any], ours: dict[str, Any], tolerance: float) -> list[str]:
    """The differences between two outcomes, in words."""
    found = []
    for name in ("facts", "graphs"):
        if theirs[name] != ours[name]:
            found.append(f"{name}: torch {theirs[name]}, reference {ours[name]}")
    for name in ("values", "grads", "second"):
        there, here = theirs.get(name, []), ours.get(name, [])
        if name == "second" and bool(there) != bool(here):
            there = there or [np.zeros_like(x) for x in here]
            here = here or [np.zeros_like(x) for x in there]
        if len(there) != len(here):
            found.append(f"{name}: torch has {len(there)}, the reference {len(here)}")
            continue
        for n, (x, y) in enumerate(zip(there, here, strict=True)):
            if (x is None) != (y is None):
                found.append(f"{name}[{n}]: torch {x}, reference {y}")
            elif isinstance(x, (np.ndarray, float, int)):
                if np.shape(x) != np.shape(y) or not np.allclose(x, y, tolerance, tolerance, equal_nan=True):
                    found.append(f"{name}[{n}]: torch {x}, reference {y}")
            elif x is not None and str(x) != str(y):
                found.append(f"{name}[{n}]: torch {x!r}, reference {y!r}")
    return found
