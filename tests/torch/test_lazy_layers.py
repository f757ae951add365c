"""Layers that learn the number of their inputs, and weights kept orthogonal, beside torch's."""

from __future__ import annotations

import pytest

import reference_impl

torch = pytest.importorskip("torch")

BOTH = (torch, reference_impl)
LAZY = {
    "LazyLinear(3)": (2, 5),
    "LazyLinear(3, bias=False)": (5,),
    "LazyConv1d(4, 2)": (1, 2, 5),
    "LazyConv2d(4, 3, padding=1, groups=2)": (1, 2, 4, 4),
    "LazyConvTranspose2d(4, 2, 2)": (1, 3, 4, 4),
    "LazyBatchNorm1d()": (4, 3),
    "LazyBatchNorm2d(affine=False)": (2, 3, 4, 4),
    "LazyInstanceNorm2d()": (2, 3, 4, 4),
}


def _ran(namespace, made, shape):
    layer = eval(made, vars(namespace.nn))
    before = (repr(layer), [repr(x) for x in layer.parameters()], list(layer.state_dict()))
    out = layer(namespace.ones(shape))
    after = [(name, tuple(x.shape), x._version, x.requires_grad) for name, x in layer.named_parameters()]
    buffers = [(name, tuple(x.shape), x._version) for name, x in layer.named_buffers()]
    return before, tuple(out.shape), repr(layer), type(layer).__name__, after, buffers


@pytest.mark.parametrize("made", LAZY)
def test_a_lazy_layer_becomes_what_torch_makes_of_it(made):
    """Before its first batch, and after: names, shapes, versions."""
    ours, theirs = (_ran(namespace, made, LAZY[made]) for namespace in (reference_impl, torch))
    assert theirs == ours


@pytest.mark.parametrize("asked", ["w.shape", "w.numel()", "w.sum()", "w.detach()"])
def test_a_parameter_without_a_shape_refuses_in_torchs_words(asked):
    """A parameter has none before the first batch."""
    said = []
    for namespace in BOTH:
        w = namespace.nn.LazyLinear(3).weight
        with pytest.raises((RuntimeError, ValueError)) as refused:
            eval(asked, {"w": w})
        said.append((type(refused.value).__name__, str(refused.value)))
    assert said[0] == said[1]


def test_a_state_gives_a_lazy_layer_its_shape():
    """Loading it before the first batch."""
    for namespace in BOTH:
        full, lazy = namespace.nn.Linear(5, 3), namespace.nn.LazyLinear(3)
        lazy.load_state_dict(full.state_dict())
        assert (3, 5) == tuple(lazy.weight.shape)
        assert full.weight.tolist() == lazy.weight.tolist()
        assert (2, 3) == tuple(lazy(namespace.ones(2, 5)).shape)


@pytest.mark.parametrize("sizes", [(3, 3), (3, 5), (5, 3)])
@pytest.mark.parametrize("how", [None, "cayley", "matrix_exp", "householder"])
def test_a_weight_stays_orthogonal(sizes, how):
    """Through a step, with torch's parts and torch's last node."""
    told = []
    for namespace in BOTH:
        layer = namespace.nn.utils.parametrizations.orthogonal(
            namespace.nn.Linear(*sizes), orthogonal_map=how
        )
        layer(namespace.ones(2, sizes[0])).pow(2).sum().backward()
        namespace.optim.SGD(layer.parameters(), lr=0.1).step()
        weight = layer.weight
        product = weight @ weight.mT if sizes[0] >= sizes[1] else weight.mT @ weight
        identity = namespace.eye(min(sizes))
        told.append(
            (
                bool(namespace.allclose(product, identity, atol=1e-5)),
                weight.grad_fn.name(),
                [(name, tuple(x.shape), x._version) for name, x in layer.named_parameters()],
                [(name, tuple(x.shape), x._version) for name, x in layer.named_buffers()],
            )
        )
    assert told[0] == told[1]
    assert told[0][0]
