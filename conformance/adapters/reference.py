"""The reference implementation behind the adapter contract; the only module of the package that imports it.

Beyond what any torch-shaped namespace shows, it tells which rules fired and gives raw state (``raw_*``) to
the generator, which must not observe what it draws.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import Any

import reference_impl
from conformance.adapters.topology import memory_place
from conformance.adapters.torch_shaped import FunctionTable, TorchShaped
from conformance.adapters.torch_words import told_by_torch
from reference_impl.base import dtypes, rules
from reference_impl.base.device import place_of
from reference_impl.base.not_modelled import NotModelled
from reference_impl.base.quietly import end_silence, silence
from reference_impl.base.session import STATE
from reference_impl.core.access import (
    array_of,
    grad_of,
    memory_of,
    node_of,
    observed_state,
    raw_state,
    shown_history,
    view_of,
)
from reference_impl.fidelity.shown_apart import memory_shown
from specs.active_rules import on_change
from specs.fact import UNSEEN

_OPEN = tuple(f"reference_impl.{name}" for name in ("autograd", "cuda", "nn", "optim", "utils"))
"""The modules of the reference whose functions a program may call."""

_BY_CHANCE = re.compile(
    r"rand|normal|bernoulli|multinomial|seed|rng|dropout|empty|cauchy|exponential_|geometric_|uniform|data_ptr"
)
"""Words of operations whose results differ between two runs."""

_NO_OPERATIONS = frozenset(
    f"torch.{name}"
    for name in ("load", "save", "install", "set_torch_release", "set_warn_always", "queue_callback")
)
"""Functions of the reference that touch files, or the process."""


class Reference(TorchShaped):
    """The reference, with its marks; it models the release of the torch that is installed, or else the
    newest.
    """

    whole = True
    unsupported = (dtypes.NoSuchDtype, rules.Unspecified, NotModelled)

    def __init__(self) -> None:
        with suppress(PackageNotFoundError):
            reference_impl.set_torch_release(version("torch").partition("+")[0])
        super().__init__(reference_impl, "reference", "")
        self.listed = _listed
        self._say_release()
        self.count = 2
        self._errors: list[Any] = []
        self._tables: dict[frozenset[str], FunctionTable] = {}
        on_change(self._look_up)

    def _look_up(self, off: Set[str]) -> None:
        """Find functions anew where other rules are in force: mutants stand in for some of them."""
        self._use(self._tables.setdefault(frozenset(off), FunctionTable(self._find)))

    def _say_release(self) -> None:
        self.torch = reference_impl.torch_release()
        self.version = f"{reference_impl.__version__} (torch {self.torch})"

    def says(self, error: BaseException) -> str:
        """Return the text of an exception in PyTorch's words."""
        return told_by_torch(error)

    @contextmanager
    def modelling(self, release: str) -> Iterator[None]:
        """Within the block that torch release is modelled; no other adapter of the reference is to be loaded
        in it.
        """
        before = reference_impl.torch_release(), self.torch, self.version
        if release == before[0]:
            yield
            return
        reference_impl.set_torch_release(release)
        self._say_release()
        try:
            yield
        finally:
            release, self.torch, self.version = before
            reference_impl.set_torch_release(release)

    def start(self) -> None:
        super().start()
        STATE.begin()
        # inf and nan are values here as they are in torch, and nothing to warn about.
        self._errors.append(silence())
        STATE.silent = True
        rules.fired()

    def stop(self, session: None) -> None:
        end_silence(self._errors.pop())
        STATE.silent = bool(self._errors)
        super().stop(session)

    def knows(self, op: str) -> bool:
        """Tell whether an operation, as steps spell it, is one of the reference's that two runs agree on, and
        that touches nothing but tensors.
        """
        name = op.strip(".=")
        if _BY_CHANCE.search(name) or name in _NO_OPERATIONS:
            return False
        if not op.startswith("torch."):
            return not name.startswith("_") and hasattr(reference_impl.Tensor, name)
        found: Any = reference_impl
        for word in name.split(".")[1:]:
            found = None if word.startswith("_") else getattr(found, word, None)
            if isinstance(found, ModuleType) and not found.__name__.startswith(_OPEN):
                return False
        module = getattr(found, "__module__", None) or ""
        if isinstance(found, type) and issubclass(found, reference_impl.nn.Module):
            return False  # its parameters are drawn at random
        return callable(found) and module.startswith("reference_impl")

    @staticmethod
    def orderly() -> bool:
        """Tell whether the last backward had to call hooks in the order it did."""
        return not STATE.unordered_hooks

    @staticmethod
    def perturb_results(by: Callable[[Any, Any, Any], Any] | None) -> None:
        """Let ``by(op, result, operands)`` replace the result of each op; None restores the results."""
        STATE.perturb = by

    def fired(self, session: None) -> frozenset[str]:
        """The rules that fired since the last call."""
        return rules.fired()

    def observe(
        self, session: None, tensors: dict[str, Any], since: dict[str, Any], grads: bool
    ) -> dict[str, tuple[Any, ...]]:
        """Return what the public attributes show, read from raw state where that is the same.

        Where observing may change something (a view's history), the public attribute is read.
        """
        names, tensor = dtypes.NAME_BY_NUMPY, reference_impl.Tensor
        moved, unseen_grads = STATE.devices, not grads
        seen: dict[str, tuple[Any, ...]] = {}
        grad: Any
        for name, x in tensors.items():
            try:
                array, view, retains, node, needs, grad, nr, counter = observed_state(x)
                if view is not None:
                    node, nr, needs = shown_history(x)
                leaf = node is None
                if unseen_grads and not leaf and not retains:
                    grad = UNSEEN
                elif grad is not None:
                    grad = self.gradient(grad)
                seen[name] = (
                    array.tolist() if type(x) is tensor else self.listed(x),
                    names[array.dtype],
                    array.shape,
                    str(place_of(x)) if moved else "cpu",
                    leaf,
                    needs or not leaf,
                    retains,
                    None if leaf else node.name(),
                    nr,
                    view is not None,
                    counter[0] - was if type(was := since[name]) is int else was,
                    grad,
                )
            except Exception:
                seen |= super().observe(session, {name: x}, since, grads)
        return seen

    def gradient(self, grad: Any) -> tuple[Any, ...]:
        """Return what the public attributes of a gradient show, read from raw state unless it is a view."""
        array, view, _, node, flag, _, _, _ = observed_state(grad)
        if view is not None or type(grad) is not reference_impl.Tensor:
            return super().gradient(grad)
        return (
            dtypes.NAME_BY_NUMPY[array.dtype],
            array.shape,
            "cpu" if not STATE.devices else str(place_of(grad)),
            array.tolist(),
            flag or node is not None,
            node is None,
            node if node is None else node.name(),
        )

    def wiring(
        self, session: None, tensors: dict[str, Any], facts: dict[str, tuple[Any, ...]]
    ) -> dict[str, tuple[Any, ...]]:
        """As for any namespace; but what hangs on a sum whose order is open, and what is numbered behind it,
        tells nothing.
        """
        seen = TorchShaped.wiring(self, session, tensors, facts)
        if not STATE.unordered_sums:
            return seen
        told = True
        for name, x in tensors.items():
            told = told and not _on_open_sum(node_of(x))
            history, _, *rest = seen[name]
            seen[name] = (history if told else UNSEEN, UNSEEN, *rest)
        return seen

    @staticmethod
    def memory_place(name: str, x: Any, shape: Sequence[int], owners: dict[int, str]) -> tuple[Any, ...]:
        """Return what the public attributes show of a tensor's memory, read from raw state."""
        if type(x) is not reference_impl.Tensor:
            return memory_place(name, x, shape, owners)
        array, storage = memory_of(x)
        shown, begins = memory_shown(storage) if STATE.shown_apart else (storage, 0)
        owner = owners.setdefault(id(shown), name)
        if 0 in shape:
            return (owner,)
        strides = _steps(shape, array.strides, array.itemsize)
        offset = 0 if array is storage else x.storage_offset()
        return owner, offset + begins // array.itemsize, strides

    # state below autograd, which the generator draws beside; nothing here regenerates a history

    raw_state = staticmethod(raw_state)

    def raw_array(self, value: Any) -> Any:
        """Return the array behind a tensor, whose memory other tensors may share."""
        return array_of(value)

    def raw_grad(self, value: Any) -> Any:
        """Return the grad of a tensor without a warning; None of any other value."""
        return grad_of(value) if isinstance(value, reference_impl.Tensor) else None

    def raw_leaves(self, values: Iterable[Any]) -> set[Any]:
        """Return the leaves that a backward from these values may fill, those of stale views' bases too."""
        tensors = [value for value in values if isinstance(value, reference_impl.Tensor)]
        views = [view for view in map(view_of, tensors) if view is not None]
        stack = [node_of(x) for x in tensors] + [node_of(view.base) for view in views]
        met: set[Any] = set()
        while stack:
            node = stack.pop()
            if node is not None and node not in met:
                met.add(node)
                stack += [target for target, _ in node.edges]
        return {node.variable for node in met if hasattr(node, "variable")}

    @property
    def versions(self) -> dict[str, str]:
        return {"reference": self.version}


def _listed(x: Any) -> Any:
    """The elements, of what is on a device without the copy that a program would record for them."""
    return array_of(x).tolist() if not x.is_cpu else x.tolist()


@lru_cache(maxsize=4096)
def _steps(shape: Sequence[int], strides: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """The strides that lead anywhere, in elements."""
    return tuple([step // itemsize for size, step in zip(shape, strides, strict=True) if size != 1])


def _on_open_sum(node: Any) -> bool:
    """Tell whether a sum whose operands may be added in another order lies behind a node."""
    met: set[Any] = set()
    stack = [node]
    while stack:
        node = stack.pop()
        if node is None or node in met:
            continue
        if node in STATE.unordered_sums:
            return True
        met.add(node)
        stack.extend(target for target, _ in node.edges)
    return False


def load() -> Reference:
    """The reference's adapter."""
    return Reference()
