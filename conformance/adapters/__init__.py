"""Adapters: how an implementation is driven and observed, and loading the one a user names.

An adapter is a module or an object with these names; nothing of ours is inherited:

    name, version                          words for the report, printable and of at most 100 characters
    start() -> session                     begin a program; `session` is passed back, never inspected
    perform(session, step, (args, kwargs)) do one step on the implementation's own values, give its own values
    facts(session, value) -> dict          what can be seen, by names of `specs.fact.FACTS`; omit the rest
    refusal(error) -> rule id or None      which rule an exception refuses by; None makes it a crash

and, where there is more to say, these:

    capabilities                           a `Capabilities`; without it everything may be drawn
    stop(session)                          end a program
    run(session, region, values)           do a program's differentiable middle at once
    contract                               the version of this contract that it was written for (1)
    mode(session, name)                    a context manager for a grad mode, or inference mode
    saving(session, pack, unpack)          a context manager that hands these hooks all tensors that are saved
    dtype(name)                            the implementation's own dtype
    wiring(session, values, facts)         the topology of the values (by name) in the end: by name, the
                                           facts `specs.fact.TOPOLOGY`, UNSEEN where one cannot be told;
                                           `facts` are those of each that were just observed

The contract in detail:

* A name that is left out is a thing the implementation lacks: without `mode` a step in a grad mode is
  unsupported, without `dtype` it is handed `Dtype`s as they are, without `wiring` topology is not compared.
  Without `saving`, `mode` is asked for hooks on saved tensors as for any mode, and the calls of functions are
  not compared from there on.
  `perform`, `mode` and `dtype` raise NotImplementedError for what the implementation lacks: the program is
  compared up to there, and a case is unsupported. From `facts` it means that nothing is shown of that value.
* `args` and `kwargs` are as PyTorch takes them, by position or by name as a user would write them; the
  receiver of a method comes first. Tensors are the implementation's own objects (Python's numbers, text and
  lists are none: a class around them is), None is None, and a device is a str. The step's results are what
  PyTorch returns: one value, or a tuple where it returns one; what is returned for a step that binds no name
  is dropped. `autograd-conformance ops` lists the keywords that may come; whoever lacks some claims
  `"sum(dim)"` instead of `"sum"`.
* Facts are plain Python: `value` is a number for a 0-d tensor and nested lists for others, `shape` a tuple
  (or list) of ints, `dtype` PyTorch's name without `torch.`, `version` the raw counter. `grad` is None or a
  dict with names of GRAD_FACTS (or a tuple in their order); leave it out where it cannot be told. A fact
  whose reading is refused is `specs.fact.refused(rule)`. An unknown name, or a value of another type, is a
  broken adapter (exit code 3), not a divergence.
* `perform` may change the values that it is given where PyTorch would, and nothing else: neither the lists
  and dicts of arguments nor the step. `facts` changes nothing that a program can see.
* With `refusals="some"` any exception counts where PyTorch refuses, and `refusal` may return None throughout;
  with "none" such steps are neither drawn nor judged.

* `run` is for compilers, and for what is slow a step at a time. `region.function(namespace)` is a Python
  function of `region.inputs` (whose `values` are given) that returns the values of `region.outputs`, and
  `region.text` its source; `run` returns such a tuple. Leaves, backward, hooks and readings remain steps.
  Facts of steps within are not asked for, nor how often something was written to within; a `grad_fn` that is
  not PyTorch's is better not claimed. Where `run` raises an error the program is run again, and the steps
  that fail alone are regions of their own, of one step; with `refusals` "outside" or "none" it ends there.

The remaining names that `run` asks for (`resolve`, `observe`, `gradient`, `counter`, `warned`, `fired`,
`decorate`, `lacks`) are speed and detail, see `torch_shaped`.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from functools import cache, partial, wraps
from pathlib import Path
from threading import RLock
from typing import Any

from conformance.adapters.capabilities import Capabilities, on_device_asked_for
from conformance.adapters.errors import BROKEN, AdapterError
from conformance.adapters.interpreter import interpreter_of
from conformance.adapters.introduced import Introduced
from conformance.adapters.remote import BUILT_IN, STARTING, Remote
from conformance.adapters.stdio import STDIO, Stdio

CONTRACT = 1
"""The version of the contract; it grows when an adapter that kept it would no longer do."""

ELSEWHERE = (Remote, Stdio)
"""The adapters of implementations that live in a process of their own."""

NEEDED = ("start", "perform", "facts", "refusal")
TORCH_LIKE = "torch-like:"
LONGEST_NAME = 100
"""Characters that the name or the version of an implementation may have."""


_LOADING = RLock()


def _once(function: Callable[[str], Any]) -> Callable[[str], Any]:
    """Cache a function's results; two threads that ask at a time get one result."""
    kept = cache(function)

    @wraps(function)
    def found(spec: str) -> Any:
        with _LOADING:
            return kept(spec)

    return found


@_once
def load(spec: str) -> Any:
    """The adapter of a built-in name, `module:attribute` or a path; raises AdapterError.

    What is not built in is imported in a process of its own, and only there; `isolated:` before a name has
    what is built in live so too, and `python:PATH:` is a process of another interpreter. `stdio:COMMAND`
    speaks to a command in any language, which is that process itself, and `torch-like:MODULE` is a module
    whose names are PyTorch's.
    """
    if spec in BUILT_IN or spec.startswith(STDIO):
        return _introduced.get(spec) or load_here(spec)
    inner = interpreter_of(spec).spec
    if inner not in BUILT_IN and not inner.startswith((STDIO, TORCH_LIKE)):
        _check_name(inner)
    remote = Remote(spec)
    _check_words(remote, spec)
    return remote


_introduced: dict[str, Introduced] = {}


def introduce(spec: str, told: dict[str, Any]) -> None:
    """Have `load` know a built-in adapter by what it told elsewhere, until more is asked of it."""
    _introduced[spec] = Introduced(told, partial(load_here, spec))


def allow(spec: str, seconds: float) -> None:
    """Let each program and case of an implementation take so long, where it lives in a process of its own."""
    adapter = load(spec)
    if isinstance(adapter, ELSEWHERE):
        adapter.timeout = seconds


def patience(spec: str, seconds: float) -> float:
    """Return how long to wait for whoever runs and judges a program: dying and being reduced takes longer."""
    return 5 * seconds + STARTING if isinstance(load(spec), ELSEWHERE) else seconds


@_once
def load_here(spec: str) -> Any:
    """The adapter that `load` tells of, imported in this process."""
    if spec.startswith(STDIO):
        adapter: Any = Stdio(spec.removeprefix(STDIO))
    elif spec.startswith(TORCH_LIKE):
        adapter = _shaped_like_torch(spec.removeprefix(TORCH_LIKE))
    elif spec in BUILT_IN:
        adapter = importlib.import_module(f"conformance.adapters.{spec}").load()
    elif spec.endswith(".py"):
        adapter = _from_file(Path(spec))
    else:
        _check_name(spec)
        adapter = _from_module(*spec.split(":", 1))
    return checked(adapter, spec)


def _shaped_like_torch(module: str) -> Any:
    """The adapter of a module whose names are PyTorch's."""
    found = _guarded(lambda: importlib.import_module(module), f"module {module!r} cannot be imported")
    shaped = importlib.import_module("conformance.adapters.torch_shaped")
    version = str(getattr(found, "__version__", "of no version"))
    return _guarded(lambda: shaped.TorchShaped(found, module, version), f"{module} is not shaped like torch")


def _check_name(spec: str) -> None:
    """Refuse what names neither a file nor an attribute of a module."""
    if spec.endswith(".py"):
        if not os.path.isfile(spec):  # NB: Path.is_file raises where a name is too long
            raise AdapterError(f"there is no file {spec}", "the path of a Python file that holds an adapter")
    elif not all(spec.replace(":", ".").split(".")) or spec.count(":") != 1 or not spec.isprintable():
        raise AdapterError(
            f"there is no adapter {spec!r}", f"{', '.join(BUILT_IN)}, module:attribute, or a path.py"
        )


def checked(adapter: Any, spec: str) -> Any:
    """The adapter, if it keeps the contract as far as can be told without running it."""
    if not hasattr(adapter, "perform") and callable(adapter):
        adapter = _guarded(adapter, f"{spec} cannot be made")
    missing = [name for name in NEEDED if not callable(getattr(adapter, name, None))]
    missing += [name for name in ("name", "version") if not isinstance(getattr(adapter, name, None), str)]
    if missing:
        raise AdapterError(f"{spec} is no adapter: it lacks {', '.join(missing)}", "see conformance.adapters")
    _check_words(adapter, spec)
    if getattr(adapter, "contract", CONTRACT) != CONTRACT:
        problem = (
            f"{spec} is written for version {adapter.contract!r:.20} of the contract, and this is {CONTRACT}"
        )
        raise AdapterError(problem, "see docs/adapters.md", BROKEN)
    if not isinstance(getattr(adapter, "capabilities", _EVERYTHING), Capabilities):
        raise AdapterError(f"the capabilities of {spec} are no `Capabilities`", "see docs/adapters.md")
    return adapter


def _check_words(adapter: Any, spec: str) -> None:
    """Refuse a name or version that no report could show."""
    for what, text in (("name", adapter.name), ("version", adapter.version)):
        if not text.strip() or not text.isprintable() or len(text) > LONGEST_NAME:
            problem = f"the {what} of {spec} is no line of 1 to {LONGEST_NAME} printable characters"
            raise AdapterError(f"{problem}: {text!r:.80}", "see conformance.adapters", BROKEN)


def capabilities(adapter: Any) -> Capabilities:
    """Return the capabilities that an adapter declares, or the default, on the device that was asked for."""
    found: Capabilities | None = getattr(adapter, "capabilities", None)
    return _EVERYTHING if found is None else on_device_asked_for(found)


_EVERYTHING = Capabilities()


def _guarded(make: Callable[[], Any], problem: str) -> Any:
    try:
        return make()
    except AdapterError:
        raise
    except ModuleNotFoundError as error:
        hint = f"{sys.executable} has no {error.name}; --python PATH takes another interpreter"
        raise AdapterError(f"{problem}: {type(error).__name__}: {error}", hint) from error
    except Exception as error:
        raise AdapterError(f"{problem}: {type(error).__name__}: {error}", code=BROKEN) from error


def _from_module(module: str, attribute: str) -> Any:
    found = _guarded(lambda: importlib.import_module(module), f"module {module} cannot be imported")
    for word in attribute.split("."):
        if not hasattr(found, word):
            raise AdapterError(
                f"{module} has no {attribute}", "module:attribute names an adapter, or what makes one"
            )
        found = getattr(found, word)
    return found


def _from_file(path: Path) -> Any:
    _check_name(str(path))
    found = importlib.util.spec_from_file_location(path.stem, path)
    if found is None or found.loader is None:
        raise AdapterError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(found)
    loader = found.loader
    folder = str(path.absolute().parent)
    if folder not in sys.path:
        sys.path.append(folder)  # so that it finds its neighbours
    _guarded(lambda: loader.exec_module(module), f"{path} cannot be imported")
    return getattr(module, "adapter", module)
