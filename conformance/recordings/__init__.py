"""Recordings of what real PyTorch did: their format, how they are made, and grading against them."""
