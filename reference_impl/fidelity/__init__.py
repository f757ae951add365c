"""PyTorch's rarer conduct, one theme a file, hooked into the core."""
