"""PyTorch's rarer conduct, one theme a file, hooked into the extension points of the core."""

from reference_impl.fidelity import device_races, grad_metadata, grad_stealing, grad_sum

__all__ = ["device_races", "grad_metadata", "grad_stealing", "grad_sum"]
