"""``torch.utils``: as far as autograd goes, checkpointing."""

from reference_impl.utils import checkpoint

__all__ = ["checkpoint"]
