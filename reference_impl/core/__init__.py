"""The machine: tensors, the graph of their histories, and the engine."""
