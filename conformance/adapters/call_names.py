"""The names of calls that are told of beside the ops, for the watcher and for explanations."""

SILENT = "unscale_"
"""The call that writes to tensors and counts no write."""
STEP = "optimizer.step"
"""The step of an optimizer, which takes the parameters that it has."""
