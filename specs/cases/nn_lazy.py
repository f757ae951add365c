"""Layers that take their sizes from the first batch."""

import torch

from specs.cases._measures import error_kinds, filled, graded, wave


def lazy_layers_take_their_sizes_from_a_batch():
    """The first call gives parameters their shapes, and the layer becomes a plain one.

    Rule: op/derivatives-beyond-programs.
    """
    n = torch.nn
    m = n.LazyLinear(2)
    assert (type(m.weight).__name__, type(m.bias).__name__, m.in_features, m.has_uninitialized_params()) == (
        "UninitializedParameter",
        "UninitializedParameter",
        0,
        True,
    )
    assert m(torch.ones(3, 5)).shape == (3, 2)
    assert (
        type(m).__name__,
        type(m.weight).__name__,
        tuple(m.weight.shape),
        m.in_features,
        m.weight.requires_grad,
    ) == ("Linear", "Parameter", (2, 5), 5, True)
    assert n.LazyLinear(2, bias=False).bias is None
    m = n.LazyLinear(2, dtype=torch.float64)
    assert m(torch.ones(1, 1, dtype=torch.float64)).dtype is torch.float64
    x = wave(1, 4, 4)
    m = n.LazyConv1d(2, 3, 2, 1, 1, 2, dtype=torch.float64)
    assert m(x).shape == (1, 2, 2)
    assert (
        type(m).__name__,
        tuple(m.weight.shape),
        tuple(m.bias.shape),
        m.in_channels,
        m.groups,
        m.stride,
        m.padding,
    ) == ("Conv1d", (2, 2, 3), (2,), 4, 2, (2,), (1,))
    assert graded(filled(m)(x), x, m.weight) == [(1, 2, 2), -36.6832, -90.8518, -97.357]
    m = n.LazyConv1d(2, 3, bias=False)
    assert m(torch.ones(4, 4)).shape == (2, 2) and m.bias is None and m.in_channels == 4
    m = n.LazyConvTranspose1d(4, 3, 2, 1, 1, 2)
    m(torch.ones(1, 4, 4))
    assert (
        type(m).__name__,
        tuple(m.weight.shape),
        tuple(m.bias.shape),
        m.in_channels,
        m.output_padding,
        m.groups,
    ) == ("ConvTranspose1d", (4, 2, 3), (4,), 4, (1,), 2)
    m = n.LazyConv2d(3, (1, 2))
    m(torch.ones(1, 4, 3, 3))
    assert (type(m).__name__, tuple(m.weight.shape), m.in_channels) == ("Conv2d", (3, 4, 1, 2), 4)
    m = n.LazyConvTranspose2d(3, 2)
    m(torch.ones(4, 3, 3))
    assert (type(m).__name__, tuple(m.weight.shape), m.in_channels) == ("ConvTranspose2d", (4, 3, 2, 2), 4)
    m = n.LazyConv3d(3, 2)
    m(torch.ones(1, 4, 3, 3, 3))
    assert (type(m).__name__, tuple(m.weight.shape)) == ("Conv3d", (3, 4, 2, 2, 2))
    m = n.LazyBatchNorm1d(eps=0.5, momentum=0.25)
    assert (type(m.weight).__name__, type(m.running_mean).__name__, m.num_batches_tracked.item()) == (
        "UninitializedParameter",
        "UninitializedBuffer",
        0,
    )
    y = torch.tensor([[1.0, 2.0], [3.0, 6.0]])
    m(y)
    assert (
        type(m).__name__,
        m.num_features,
        m.eps,
        m.momentum,
        m.running_mean.tolist(),
        m.num_batches_tracked.item(),
    ) == ("BatchNorm1d", 2, 0.5, 0.25, [0.5, 1.0], 1)
    assert (m.weight.tolist(), m.bias.tolist()) == ([1.0, 1.0], [0.0, 0.0])
    m = n.LazyBatchNorm2d(affine=False, track_running_stats=False)
    m(torch.ones(2, 3, 1, 1))
    assert (
        type(m).__name__,
        m.num_features,
        m.weight,
        m.bias,
        m.running_mean,
        m.affine,
        m.track_running_stats,
    ) == ("BatchNorm2d", 0, None, None, None, False, False)
    m = n.LazyInstanceNorm1d(affine=True)
    m(torch.ones(2, 3, 2))
    assert (type(m).__name__, m.num_features, tuple(m.weight.shape), m.running_mean is None) == (
        "InstanceNorm1d",
        3,
        (3,),
        False,
    )
    s = n.Sequential(n.LazyLinear(3), n.LazyLinear(1))
    assert s(torch.ones(2, 4)).shape == (2, 1)
    assert [tuple(p.shape) for p in s.parameters()] == [(3, 4), (3,), (1, 3), (1,)]
    m = n.LazyLinear(2)
    m.load_state_dict({"weight": torch.ones(2, 3), "bias": torch.zeros(2)})
    assert (
        tuple(m.weight.shape),
        m.has_uninitialized_params(),
        m(torch.ones(3)).tolist(),
        m.in_features,
    ) == ((2, 3), False, [3.0, 3.0], 3)
    m = n.LazyLinear(2)
    assert (
        error_kinds(
            [
                lambda: m.weight.shape,
                lambda: n.LazyConv1d(2, 3)(torch.ones(3)),
                lambda: n.LazyConv1d(2, 3, groups=2)(torch.ones(1, 3, 4)),
                lambda: torch.optim.SGD(n.LazyLinear(2).parameters(), lr=0.5),
            ]
        )
        == "ooV-"
    )
    c = n.LazyConv1d(2, 2, stride=2)
    assert repr(m.weight) == "<UninitializedParameter>"
    c(torch.ones(1, 3, 4)).sum().backward()
    assert (c.weight.grad.shape == (2, 3, 2), c.stride, len(c._forward_pre_hooks)) == (True, (2,), 0)
