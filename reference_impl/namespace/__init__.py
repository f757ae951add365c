"""PyTorch's public names on top of the core: methods, factories and functions."""
