"""The modules of the menu: layers that begin with given parameters, so that nothing is random.

Plain PyTorch, as people write it. `specs.callbacks` hands the text of each to whoever prints or runs a
program.
"""

import torch


class Affine(torch.nn.Linear):
    """A linear layer that begins with this weight and bias."""

    def __init__(self, weight, bias=None):
        outs, ins = weight.shape
        super().__init__(ins, outs, bias=bias is not None)
        self.weight = torch.nn.Parameter(weight)
        if bias is not None:
            self.bias = torch.nn.Parameter(bias)


class Scaling(torch.nn.Module):
    """Multiplies by a parameter; counts its calls in training."""

    def __init__(self, weight):
        super().__init__()
        self.weight = torch.nn.Parameter(weight)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x):
        if self.training:
            self.calls += 1
        return x * self.weight


class Residual(torch.nn.Module):
    """Adds its argument to the result of a module."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        return x + self.module(x)


class Twice(torch.nn.Module):
    """Calls a module on its own result."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        return self.module(self.module(x))


class Detached(torch.nn.Module):
    """Cuts the result of a module off, but in training."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        y = self.module(x)
        return y if self.training else y.detach()
