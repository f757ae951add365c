"""PyTorch's own autograd tests, run unchanged on the reference.

`python -m benchmarks.pytorch_own --tests DIR`, where DIR is the ``test`` folder of PyTorch's sources.
``tests.toml`` names the tests that ask for nothing but a torch-shaped namespace, ``failures.toml`` those of
them that fail and why.
"""
