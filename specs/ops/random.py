"""Ops that write random numbers; no gradient passes through them.

The numbers are an operand that is never differentiated: ``reference_impl.namespace.random`` draws them.
Generated programs do not call these (``internal``).
"""

from __future__ import annotations

from typing import Any

from specs.kind import Tensor
from specs.op import Op, op

_KERNELS = {
    "uniform": "check_uniform_bounds", "normal": "normal_kernel", "random": "random_kernel",
    "bernoulli": "bernoulli_scalar_cpu_",
}  # fmt: skip
"""Kernels that are not called as the function is."""


def _declared(name: str, node: str, lacking: str = "", how: str = "") -> Op:
    def write(x: Tensor, numbers: Tensor) -> Any:
        """Overwrite with numbers that somebody drew."""
        if how and x.dtype.kind == "c":
            raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")
        return numbers

    write.__name__ = f"_{name}{how}_drawn_"
    facts: dict[str, Any] = {"dtypes": "keep", "memory": "value", "overwrites": "fill", "complex": True}
    facts |= {"lacks": lacking, "kernel": _KERNELS.get(name, name)}
    return op(internal=True, inplace="only", node=node, **facts)(write).wrt(x=lambda g: g.zeros_like())


OPS = {
    made.key: made
    for made in (
        _declared("uniform", "UniformBackward0", "biu"),
        _declared("normal", "NormalBackward0", "biu"),
        _declared("log_normal", "LogNormalBackward0", "biuc"),
        _declared("exponential", "ExponentialBackward0"),
        _declared("cauchy", "CauchyBackward0"),
        _declared("geometric", "GeometricBackward0", "bc"),
        _declared("random", "RandomBackward0", "", "_between"),
        _declared("random", "RandomBackward1", "", "_below"),
        _declared("random", "RandomBackward2", "c"),
        _declared("bernoulli", "BernoulliBackward2", "c"),
    )
}
"""By key: ``_uniform_drawn_``, ``_normal_drawn_``, ..."""
globals().update(OPS)  # an op is found by being a module's attribute


@op(
    batched_write="inplace bernoulli",
    internal=True,
    inplace="only",
    node="BernoulliBackward1",
    dtypes="keep",
    memory="value",
    overwrites="fill",
)
def _bernoulli_of_(x: Tensor, p: Tensor, numbers: Tensor) -> Any:
    """Overwrite with ones and zeros drawn by the probabilities ``p``."""
    return numbers


_bernoulli_of_.wrt(x=lambda g: g.zeros_like(), p=lambda g, p_shape: g.new_zeros(p_shape))


@op(internal=True, node="BernoulliBackward0", dtypes="keep")
def _bernoulli_drawn(x: Tensor, numbers: Tensor) -> Any:
    """Ones and zeros drawn by the probabilities ``x``."""
    return numbers


_bernoulli_drawn.wrt(x=lambda g: g.zeros_like())


@op(internal=True, node="NormalBackward1", dtypes="keep")
def _normal_of_mean(mean: Tensor, numbers: Tensor) -> Any:
    """Normal numbers drawn around ``mean``."""
    return numbers


_normal_of_mean.wrt(mean=lambda g, mean_shape: g.new_zeros(mean_shape))


@op(internal=True, node="NormalBackward2", dtypes="keep")
def _normal_of_std(std: Tensor, numbers: Tensor) -> Any:
    """Normal numbers drawn with the deviations ``std``."""
    return numbers


_normal_of_std.wrt(std=lambda g, std_shape: g.new_zeros(std_shape))


@op(internal=True, node="NormalBackward3", dtypes="keep")
def _normal_of_both(mean: Tensor, std: Tensor, numbers: Tensor) -> Any:
    """Normal numbers drawn around ``mean`` with the deviations ``std``."""
    return numbers


_normal_of_both.wrt(
    mean=lambda g, mean_shape: g.new_zeros(mean_shape), std=lambda g, std_shape: g.new_zeros(std_shape)
)


@op(internal=True, node="PoissonBackward0", dtypes="keep")
def _poisson_drawn(x: Tensor, numbers: Tensor) -> Any:
    """Counts drawn by the rates ``x``."""
    return numbers


_poisson_drawn.wrt(x=lambda g: g.zeros_like())
