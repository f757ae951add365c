"""Real PyTorch behind the adapter contract; the only module of the package, beside the stand-in device, that
imports torch.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import Any

from conformance.adapters import standin, torch_device
from conformance.adapters.batched_copy import BatchedCopy
from conformance.adapters.capabilities import DEVICE_VARIABLE, Capabilities
from conformance.adapters.errors import AdapterError
from conformance.adapters.torch_shaped import TorchShaped
from conformance.execution.collector import importing
from conformance.execution.flight_recorder import give_up
from conformance.execution.op_reach import speaks_of_gradients
from specs.case import Case
from specs.fact import TOPOLOGY, UNSEEN
from specs.rule import version_key

OLDEST = "2.11"

_POISONED = re.compile(
    "CUDA error: (device-side assert triggered|an illegal memory access|an illegal instruction|"
    "misaligned address|unspecified launch failure)"
)
"""Errors that every later call to the device repeats."""

_CREATE_GRAPH = 3
"""The place of `create_graph` among the arguments of `torch.autograd.backward`, the earliest of all."""

_AGE = TOPOLOGY.index("age")


class Torch(TorchShaped):
    """PyTorch as it is installed, one thread, and what stands for `cuda`: its own, the stand-in, or none
    (``cpu``), with the reason why in ``lacking``.
    """

    whole = True
    unsupported = ()

    def __init__(self, namespace: Any, device: str, lacking: str = "") -> None:
        self.other = device not in torch_device.KINDS
        self.without: tuple[str, ...] = tuple(torch_device.absences(namespace, device)) if self.other else ()
        count = _count(namespace, device)
        features = Capabilities().features | set(("devices", "two_devices")[:count])
        dtypes = Capabilities().dtypes - set(self.without)
        super().__init__(
            namespace,
            "torch",
            str(namespace.__version__),
            Capabilities(features=features, dtypes=dtypes, refusals="rules"),
        )
        self.count, self.cpu_alone = count, not count
        self.device, self.lacking = device, lacking
        self.stands_for_cuda = device if device != "cpu" else "cuda"
        self._threads = self._moved = self._between = False
        self._batch: BatchedCopy | None = None
        if hasattr(os, "register_at_fork"):
            # The pool of threads is lost in a child, and made anew by who asks first. If those are two of the
            # engine's threads at once, PyTorch aborts: "Invalid thread pool!".
            os.register_at_fork(after_in_child=partial(namespace.set_num_threads, 1))
        if device == "cuda":
            exactly(namespace.backends)

    def start(self) -> None:
        super().start()
        self._threads = self._moved = self._between = False
        self.listed = self.namespace.Tensor.tolist

    def forget(self, values: Iterable[Any]) -> None:
        """Take their gradients from leaves: with create_graph both lead to each other, which PyTorch never
        frees.
        """
        kind = self.namespace.Tensor
        for value in values:
            try:
                if isinstance(value, kind) and value.is_leaf and value.grad is not None:
                    value.grad = None
            except RuntimeError:  # a view that is stale
                continue

    def place(self, name: str) -> str:
        """As for any namespace; from then on tensors may be there."""
        if name != "cpu":
            self._moves()
        return super().place(name)

    def _moves(self) -> None:
        """Have devices observed too, which takes longer."""
        self._moved, self.listed = True, self._taken

    def _find(self, op: str) -> Any:
        if op == "cuda":
            if self.other:
                return self._moving(torch_device.mover(self.device))
            return self._moving(super()._find(standin.NAME if self.device == standin.NAME else op))
        function = super()._find(op)
        if self.device == "cpu" or function is None or not speaks_of_gradients(op):
            return function
        if self.device == standin.NAME:
            function = standin.in_one_row(function)
        elif self.device == "cuda":
            return self._in_one_thread(function)
        return self._watched(function, "functional" in op)

    def _moving(self, function: Any) -> Any:
        """A function that takes tensors to a device."""

        def called(*args: Any, **kwargs: Any) -> Any:
            self._moves()
            return function(*args, **kwargs)

        return called

    def _watched(self, function: Any, between: bool) -> Any:
        """A function that may run the engine. With create_graph the threads of devices make nodes, too, and
        this one makes some ``between``, if it runs the engine more often.
        """

        def called(*args: Any, **kwargs: Any) -> Any:
            self._threads = self._threads or bool(kwargs.get("create_graph"))
            self._between = self._between or (between and self._moved)
            return function(*args, **kwargs)

        return called

    def _in_one_thread(self, function: Any) -> Any:
        """A function that may run the engine, in this thread if it may record a graph.

        A later backward goes by the numbers of nodes, and the threads of devices number theirs by all that
        they ever made.
        """
        autograd = self.namespace.autograd
        plain = (self.namespace.Tensor.backward, autograd.backward, autograd.grad)
        threads = autograd.set_multithreading_enabled

        def called(*args: Any, **kwargs: Any) -> Any:
            self._threads = True
            if function in plain and len(args) < _CREATE_GRAPH and not kwargs.get("create_graph"):
                return function(*args, **kwargs)
            with threads(False):
                return function(*args, **kwargs)

        return called

    def observe(
        self, session: None, tensors: dict[str, Any], since: dict[str, Any], grads: bool
    ) -> dict[str, tuple[Any, ...]]:
        """As for any namespace; the elements of all that is on devices are brought over in one copy."""
        if not self._moved:
            # NB: not by `super()`, which takes longer to find it.
            return TorchShaped.observe(self, session, tensors, since, grads)
        batch = self._batch = BatchedCopy(self.namespace)
        try:
            seen = super().observe(session, tensors, since, grads)
        finally:
            self._batch = None
        return batch.fill(seen, self._read) if batch.tensors else seen

    def _taken(self, x: Any) -> Any:
        """The elements; of what is on a device a slot in the batch, as long as one is open."""
        return x.tolist() if x.is_cpu or self._batch is None else self._batch.take(x)

    def refusal(self, error: BaseException) -> str | None:
        """As for any namespace; after an error that leaves nothing of a CUDA context the process is given
        up.
        """
        if self.device == "cuda" and _POISONED.search(str(error)):
            give_up()
        return super().refusal(error)

    def lacks(self, error: BaseException) -> bool:
        """As for any namespace; other devices say themselves what they lack."""
        if self.other and self._moved and torch_device.says_it_lacks(error):
            return True
        return super().lacks(error)

    def beyond(self, case: Case) -> str:
        """As for any namespace; where there is nothing at all, what is lacking."""
        return super().beyond(case) and (self.lacking or super().beyond(case))

    def wiring(
        self, session: None, tensors: dict[str, Any], facts: dict[str, tuple[Any, ...]]
    ) -> dict[str, tuple[Any, ...]]:
        """As for any namespace; but threads number their nodes each for itself, and where they do so in one
        row, several may be at it at once: such ages tell nothing.
        """
        seen = TorchShaped.wiring(self, session, tensors, facts)
        if not self._threads:
            return seen
        places = {str(x.device) for x in tensors.values()}
        in_one_row = self.device == standin.NAME and len(places) == 1 and not _numbered_twice(seen)
        in_one_row = in_one_row and not self._between
        if places <= {"cpu"} or in_one_row:
            return seen
        return {name: (*facts[:_AGE], UNSEEN, *facts[_AGE + 1 :]) for name, facts in seen.items()}

    def hardware(self) -> dict[str, str | None]:
        """Return the `device_name`, `driver` and `cuda` runtime in use, None where there is none."""
        if self.device == standin.NAME:
            return {"device_name": "stand-in (PrivateUse1)", "driver": None, "cuda": None}
        if self.device == "cpu":
            return {"device_name": None, "driver": None, "cuda": None}
        if self.other:
            named = torch_device.device_name(self.namespace, self.device)
            return {"device_name": named, "driver": None, "cuda": None}
        name = str(self.namespace.cuda.get_device_name(0))
        runtime = self.namespace.version.cuda or f"ROCm {self.namespace.version.hip}"
        return {"device_name": name, "driver": _driver(), "cuda": runtime}

    @property
    def versions(self) -> dict[str, str]:
        """Return the versions that a report names for this torch."""
        return {"torch": self.version}


def _numbered_twice(topology: dict[str, tuple[Any, ...]]) -> bool:
    """Tell whether two nodes have one age, as those of two threads may; accumulators are all the youngest."""
    ages = Counter(age for facts in topology.values() if facts[_AGE] is not UNSEEN for age in facts[_AGE])
    return any(many > 1 for age, many in ages.items() if age != max(ages))


def _count(torch: Any, device: str) -> int:
    """Return how many devices there are that stand for `cuda`."""
    if device == "cpu":
        return 0
    if device in torch_device.KINDS:
        found: int = getattr(torch, device).device_count()
        return found
    return torch_device.find(torch, device)


def exactly(backends: Any) -> None:
    """Have CUDA compute in full precision and the same way each time, so that what is exact is so there."""
    backends.cuda.matmul.allow_tf32 = backends.cudnn.allow_tf32 = False
    backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    backends.cudnn.deterministic, backends.cudnn.benchmark = True, False


def load() -> Torch:
    """The installed torch; raises AdapterError where there is none or an old one, or not the device."""
    try:
        with importing():
            import torch
    except ImportError as error:
        raise AdapterError(
            f"torch cannot be imported ({error})",
            "pip install torch, or compare with the reference: --against reference",
        ) from None
    if version_key(torch.__version__) < version_key(OLDEST):
        raise AdapterError(f"torch {torch.__version__} is too old", f"install torch >= {OLDEST}")
    torch_device.import_backends()
    wanted = os.environ.get(DEVICE_VARIABLE, "auto")
    adapter = Torch(torch, *_device(torch, wanted))
    adapter.asks_once = True
    return adapter


def _driver() -> str | None:
    """The version of NVIDIA's driver, as its own tool tells it; torch does not."""
    asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        told = subprocess.run(asked, capture_output=True, text=True, timeout=30, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    return next(iter(told.split()), None)


def _device(torch: Any, wanted: str) -> tuple[str, str]:
    """Return what `cuda` stands for, and why it stands for nothing; raise AdapterError where the wanted
    device is missing.
    """
    if wanted not in torch_device.KINDS:
        torch_device.find(torch, wanted)
        return wanted, ""
    if wanted in ("auto", "cuda") and torch.cuda.is_available():
        return "cuda", ""
    if wanted == "cuda":
        raise AdapterError("torch finds no CUDA device", "choose standin, or auto")
    if wanted == "cpu":
        return "cpu", "devices were not asked for"
    try:
        standin.load()
    except AdapterError as error:
        if wanted == "auto":
            return "cpu", f"torch finds no CUDA device, and {error.problem}"
        raise
    return standin.NAME, ""
