"""The adapter of NAME; replace the toy engine by yours. docs/tutorial.md explains it line by line.

autograd-conformance adapter smoke NAME.py
autograd-conformance grade NAME.py
"""

from conformance.adapters.capabilities import Capabilities


class Value:  # the engine: `import` yours instead
    def __init__(self, data, parents=()):
        self.data, self.parents, self.grad = data, parents, None

    def __add__(self, other):
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def backward(self, upstream=1.0):
        if not self.parents:
            self.grad = (self.grad or 0.0) + upstream
        for parent, local in self.parents:
            parent.backward(upstream * local)


def tensor(data, requires_grad=False, dtype=None):
    if not requires_grad or not isinstance(data, (int, float)):
        raise NotImplementedError("leaves are numbers that require grad")
    return Value(float(data))


OPS = {"torch.tensor": tensor, "add": Value.__add__, "mul": Value.__mul__, "backward": Value.backward}

name, version = "NAME", "0.1"
capabilities = Capabilities(
    ops=frozenset(["torch.tensor(dtype, requires_grad)", "add()", "mul()", "backward()"]),
    shapes="scalar",  # "any" once it has shapes
    dtypes=frozenset(["float64"]),
    features=frozenset(),  # `autograd-conformance ops` lists them
    facts=("value", "is_leaf", "grad"),
)


def start():
    """Begin a program; what is returned is passed to the other functions."""


def perform(session, step, operands):
    args, kwargs = operands
    if step.op != "torch.tensor" and not all(isinstance(arg, Value) for arg in args):
        raise NotImplementedError("no operation with plain numbers")
    return OPS[step.op](*args, **kwargs)


def facts(session, value):
    seen = {"value": value.data, "is_leaf": not value.parents}
    if value.grad is not None:  # where grads begin at 0, `if value.grad:`
        seen["grad"] = {"value": value.grad}
    return seen


def refusal(error):
    """Name the rule by which an error refuses; None makes it a crash."""
