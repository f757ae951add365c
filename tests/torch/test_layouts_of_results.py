"""The strides of results are torch's, whatever the order of the operand's dimensions, for all that the
namespaces have but Fourier transforms, whose libraries decide. What a call needs of its arguments is tested
elsewhere: what either refuses counts as alike.
"""

from __future__ import annotations

from operator import attrgetter

import pytest

import reference_impl

torch = pytest.importorskip("torch", reason="needs torch")

NAMESPACES = ("torch", "torch.nn.functional", "torch.linalg", "torch.special")
ARGUMENTS = ((), (0,), (1,), (2.0,), ("itself",), ("integers",), ("itself", "itself"))
RANDOM = {
    "alpha_dropout", "bernoulli", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout",
    "fractional_max_pool2d", "fractional_max_pool3d", "gumbel_softmax", "multinomial", "normal", "poisson",
    "rrelu",
}  # fmt: skip
SETTINGS = {"compile", "manual_seed", "save", "use_deterministic_algorithms"}
LEFT = {
    "avg_pool1d": "PyTorch takes a row for an image whose channels lie last",
    "avg_pool3d": "PyTorch puts channels last in five dimensions only",
    "channel_shuffle": "channels stay last in PyTorch",
    "gradient": "channels stay last in PyTorch, in some dimensions",
    "lstsq": "PyTorch's solution is a part of a matrix with more rows",
    "triangular_solve": "PyTorch copies the matrix by columns",
}
"""Functions whose results lie otherwise in places, and how."""


def operands(module):
    """Tensors whose dimensions do not lie in their order."""
    numbers = module.tensor([0.5 + 0.25 * (i % 7) for i in range(120)])
    whole = numbers.reshape(2, 3, 4, 5)
    return {
        "turned": whole.permute(3, 1, 0, 2),
        "transposed": numbers[:6].reshape(2, 3).t(),
        "rotated": numbers[:24].reshape(2, 3, 4).permute(2, 0, 1),
        "square": numbers[:9].reshape(3, 3).t(),
        "channels last": whole.to(memory_format=module.channels_last),
        "batch": numbers[:18].reshape(2, 3, 3).mT,
    }


def namespace(module, name):
    """The namespace of that name in PyTorch, in the module that stands for ``torch``."""
    within = name.partition(".")[2]
    return attrgetter(within)(module) if within else module


def layout(result):
    """Shape, dtype and strides of each tensor; strides lead nowhere in dimensions of one element."""
    if isinstance(result, (tuple, list)):
        return [layout(each) for each in result]
    if not hasattr(result, "stride") or 0 in result.shape:
        return None
    strides = [stride for stride, size in zip(result.stride(), result.shape, strict=True) if size > 1]
    return tuple(result.shape), str(result.dtype), strides


def layouts(module, function):
    """The layout of what each call gives, None where it is refused."""
    found = {}
    for name, x in operands(module).items():
        of = {"itself": x, "integers": x.mul(4).long()}
        for how in ARGUMENTS:
            try:
                found[name, how] = layout(function(x.clone(), *[of.get(a, a) for a in how]))
            except Exception:  # of any kind: what is refused how is tested elsewhere
                found[name, how] = None
    return found


def functions():
    """Each function of a namespace that both have, but what is random, changes a setting or its operand."""
    for name in NAMESPACES:
        theirs, ours = namespace(torch, name), namespace(reference_impl, name)
        for function in sorted(vars(ours)):
            odd = function.startswith(("_", "set_")) or function.endswith("_")
            both = [getattr(module, function, None) for module in (theirs, ours)]
            plain = all(callable(f) and not isinstance(f, type) for f in both)
            if plain and not odd and function not in RANDOM | SETTINGS:
                yield pytest.param(function, *both, id=f"{name}.{function}")


@pytest.mark.parametrize(("name", "theirs", "ours"), [*functions()])
@pytest.mark.filterwarnings("ignore")
def test_results_lie_as_torchs(name, theirs, ours):
    """Of permuted, transposed and batched operands, alone and beside themselves, integers and numbers."""
    expected, actual = layouts(torch, theirs), layouts(reference_impl, ours)
    apart = {
        how: (expected[how], actual[how])
        for how in expected
        if expected[how] is not None and actual[how] is not None and expected[how] != actual[how]
    }
    assert bool(apart) == (name in LEFT), apart
