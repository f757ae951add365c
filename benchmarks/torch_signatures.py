"""Put on file the signatures of torch's builtins: ``python -m benchmarks.torch_signatures``.

Torch parses arguments by texts such as ``add(Tensor other, *, Scalar alpha=1)``, which lie in its library as
they are. A text is a function's if its first parameter is the tensor that a method is called on, or if torch
has no method of that name. They go to ``specs/torch_signatures.json``.
"""

from __future__ import annotations

import json
import re
import types
from collections import defaultdict
from pathlib import Path

import torch

import specs

FILE = Path(specs.__file__).with_name("torch_signatures.json")
_TEXT = re.compile(rb"(?<=\0)([a-zA-Z_][a-zA-Z_0-9]*)\(([^\0()]*)\)(?:\|deprecated)?(?=\0)")
_PARAMETER = re.compile(r"\*|[A-Za-z_][\w:]*\*?(\[\d*\])?\?? \w+(=[^,]*)?")
_OF_FUNCTIONS = ("Tensor input", "Tensor self", "Scalar self", "Tensor condition", "TensorList tensors")
_NAMESPACES = {"linalg": torch.linalg, "special": torch.special, "fft": torch.fft}


def texts() -> dict[str, list[tuple[str, bool]]]:
    """Return the parameters of each signature in the library by name, and whether it is deprecated."""
    library = Path(torch.__file__).with_name("lib") / "libtorch_python.so"
    found: dict[str, list[tuple[str, bool]]] = defaultdict(list)
    for match in _TEXT.finditer(library.read_bytes()):
        name, parameters = match[1].decode(), match[2].decode(errors="replace")
        if all(_PARAMETER.fullmatch(part) for part in parameters.split(", ") if part):
            found[name].append((parameters, match[0].endswith(b"|deprecated")))
    return found


def is_builtin(value: object) -> bool:
    """Tell whether a function is written in C."""
    return isinstance(value, types.BuiltinFunctionType | types.MethodDescriptorType)


def takes_nothing(name: str) -> bool:
    """Tell whether a method refuses any argument, as C does."""
    try:
        getattr(torch.ones(2), name)(object())
    except TypeError as error:
        return "takes no arguments" in str(error)
    except Exception:
        return False
    return False


def signatures() -> dict[str, object]:
    """Return the signatures of functions by their names in torch, of methods, and what takes nothing."""
    found = texts()
    base = vars(torch._C.TensorBase)
    functions: dict[str, list[str]] = {}
    methods: dict[str, list[str]] = {}
    for name, all_of in found.items():
        method = is_builtin(base.get(name))
        for parameters, deprecated in all_of:
            first = parameters.startswith(_OF_FUNCTIONS) or "Tensor out=" in parameters
            first = first or "Tensor input" in parameters
            if name == "where" and parameters == "Tensor condition, Tensor other":
                first = False
            kept = functions if first or not method else methods
            kept.setdefault(name, []).append(parameters + ("|deprecated" if deprecated else ""))
    places = {
        name: name
        for name in functions
        if is_builtin(getattr(torch, name, None)) and not name.startswith("_")
    }
    for place, namespace in _NAMESPACES.items():
        for name in dir(namespace):
            if f"{place}_{name}" in functions:
                places[f"{place}.{name}"] = f"{place}_{name}"
    for name in dir(torch.nn.functional):
        function = getattr(torch.nn.functional, name)
        if is_builtin(function) and function.__name__ in functions and not name.startswith("_"):
            places[f"nn.functional.{name}"] = function.__name__
    inside = {name for name in dir(torch._C._nn) if name in functions and not name.startswith("_")}
    plain = [n for n, value in base.items() if is_builtin(value) and n not in methods and takes_nothing(n)]
    return {
        "torch": torch.__version__.partition("+")[0],
        "places": dict(sorted(places.items())),
        "functions": {name: functions[name] for name in sorted(inside | set(places.values()))},
        "methods": {name: methods[name] for name in sorted(methods) if not name.startswith("_")},
        "without_arguments": [name for name in sorted(plain) if not name.startswith("_")],
    }


def main() -> None:
    """Write the file anew."""
    FILE.write_text(json.dumps(signatures(), indent=1) + "\n", encoding="utf-8")
    print(f"wrote {FILE.name}")


if __name__ == "__main__":
    main()
