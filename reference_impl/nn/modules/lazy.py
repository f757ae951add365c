"""``torch.nn.modules.lazy``: the base by which scripts make layers that are lazy."""

from reference_impl.nn.lazy import LazyModuleMixin

__all__ = ["LazyModuleMixin"]
