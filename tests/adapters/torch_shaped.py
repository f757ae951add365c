"""PyTorch as the documentation grades a namespace that is shaped like it."""

import torch

from conformance.adapters.torch_shaped import TorchShaped

adapter = TorchShaped(torch, "torch-shaped", torch.__version__)
