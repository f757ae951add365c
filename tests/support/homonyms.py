"""Names that several modules may offer to others, each with what they mean and where."""

from __future__ import annotations

SAME = {
    "ALIASES": (
        "names for the same thing: by function, or by what a result may share with an operand",
        "conformance/comparison/tolerance/op_effects.py reference_impl/namespace/composite.py specs/kind.py",
    ),
    "ALL": (
        "all there is of the module's kind: dtypes, features, ops, rules",
        "conformance/generate/state/features.py conformance/grading/selection.py "
        "reference_impl/base/dtypes.py specs/ops/__init__.py",
    ),
    "BOTH": ("functions that are methods too", "reference_impl/namespace/"),
    "CASTS": (
        "the methods that cast: in a data flow, those that may also return the tensor itself",
        "conformance/comparison/tolerance/op_effects.py reference_impl/namespace/casts.py",
    ),
    "METHODS": (
        "the attributes that a module gives to Tensor",
        "reference_impl/core/as_strided.py reference_impl/fidelity/grad_dtype.py reference_impl/namespace/",
    ),
    "OPERATORS": (
        "the operators of Tensor, each with the op behind it",
        "reference_impl/namespace/non_differentiable.py specs/ops/__init__.py",
    ),
    "PROPERTIES": (
        "the properties that a module gives to Tensor",
        "reference_impl/namespace/",
    ),
    "empty_strided": (
        "memory laid out by given strides: an array's, or a tensor's",
        "reference_impl/namespace/factories.py specs/layout.py",
    ),
    "load": (
        "an adapter's or registry's entry; of the namespace, PyTorch's own",
        "conformance/adapters/ reference_impl/namespace/serialization.py specs/ops/__init__.py",
    ),
    "refused": ("by that rule: the block of a case, or the value of a fact", "specs/case.py specs/fact.py"),
    **dict.fromkeys(
        ("enter_engine", "leave_engine", "user_code"),
        ("what rules see of it, and warnings besides", "reference_impl/base/rules.py specs/active_rules.py"),
    ),
    "run": (
        "a command is called as the function that it runs",
        "conformance/cli/run.py conformance/execution/run.py",
    ),
    "runner_for": (
        "the runner of an op in a special case: an extension point, and the themes that fill it",
        "reference_impl/core/extension_points.py reference_impl/fidelity/",
    ),
    **{
        kind: ("a kind of argument is called as what it takes", f"specs/kind.py {home}")
        for kind, home in {
            "Dtype": "conformance/program/value.py",
            "Shape": "conformance/generate/steps/leaves.py",
            "Size": "reference_impl/base/size.py",
            "Tensor": "reference_impl/core/tensor.py",
        }.items()
    },
    "Function": (
        "a custom function: as a program names it, and as users define it",
        "conformance/program/value.py reference_impl/autograd/function.py",
    ),
}
"""Names that several modules may offer to others, each with the one thing that they mean in these files and
folders.
"""
