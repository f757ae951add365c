"""PyTorch's rarer conduct, one theme a file, hooked into the extension points of the core."""

from reference_impl.fidelity import device_races

__all__ = ["device_races"]
