"""torch.distributions: densities of relaxed classes and of what several maps make."""

import torch

from specs.cases._densities import valued
from specs.cases._measures import derivatives


def densities_of_relaxed_classes():
    """With a temperature, from probabilities and logits. Rule: op/derivatives-beyond-programs."""
    d = torch.distributions
    t = torch.tensor(0.75, dtype=torch.float64, requires_grad=True)
    p = torch.tensor([0.25, 0.5], dtype=torch.float64, requires_grad=True)
    x = torch.tensor([0.5, -1.0, 0.25], dtype=torch.float64, requires_grad=True)
    v = torch.tensor([0.625, 0.125], dtype=torch.float64, requires_grad=True)
    b = d.RelaxedBernoulli(t, p)
    assert derivatives(b.log_prob(v), t, p, v) == [
        [1.25417],
        [3.35823, -4.98313],
        [-0.94827, -5.17177],
        [-162.6409],
        [-125.50269, -87.98944],
        [18.20863, -565.68788],
        [26.89148, 51.88295],
    ]
    assert [valued(each, p) for each in (b.logits, b.probs)] == [
        [[-1.09861, 0.0], [5.33333, 8.0]],
        [[0.25, 0.5], [1.0, 2.0]],
    ]
    b = d.RelaxedBernoulli(t, logits=x[:2])
    assert derivatives(b.log_prob(v), t, x, v) == [
        [3.1512],
        [-0.05837, -0.45152, 0.0],
        [1.25346, -10.61816],
        [-413.44935],
        [5.65982, -148.98047, 0.0],
        [8.20254, -1275.26648],
        [11.7403, 118.58372],
    ]
    assert [valued(each, x) for each in (b.logits, b.probs)] == [
        [[0.5, -1.0], [1.0, 2.0, 0.0]],
        [[0.62246, 0.26894], [0.235, 0.39322, 0.0]],
    ]
    w = torch.cat([v, 1 - v.sum(0, True)])
    c = d.RelaxedOneHotCategorical(t, logits=x)
    assert valued(c.log_prob(w), t, x, v) == [
        [0.62108],
        [2.80699],
        [0.08938, 0.32061, -0.40999],
        [1.06276, -7.15362],
    ]
    assert [valued(each, x) for each in (c.logits, c.probs)] == [
        [[-0.69411, -2.19411, -0.94411], [-1.99711, 1.33126, 0.66585]],
        [[0.49952, 0.11146, 0.38902], [-0.44432, 0.01232, 0.43201]],
    ]
    c = d.RelaxedOneHotCategorical(t, torch.stack([p, 1 - p]))
    assert derivatives(c.log_prob(torch.stack([v, 1 - v], -1)), t, p, v) == [
        [0.90112],
        [3.91758, -3.91008],
        [-0.50637, -3.67908],
        [-121.5925],
        [-98.7488, 41.889],
        [47.94546, -341.81509],
        [25.55786, 32.46134],
    ]
    assert (tuple(c.batch_shape), tuple(c.event_shape), c.temperature is t, repr(c.support)) == (
        (2,),
        (2,),
        True,
        "Simplex()",
    )
    assert (b.temperature is t, tuple(b.batch_shape), repr(b.support), b.has_rsample) == (
        True,
        (2,),
        "Interval(lower_bound=0.0, upper_bound=1.0)",
        True,
    )


def densities_of_what_several_maps_make():
    """The slope of each is taken off, for the events that it has. Rule: op/derivatives-beyond-programs."""
    d = torch.distributions
    t = d.transforms
    a = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
    s = torch.tensor([2.0, 0.5], dtype=torch.float64, requires_grad=True)
    v = torch.tensor([0.625, 0.25], dtype=torch.float64, requires_grad=True)
    made = d.TransformedDistribution
    x = made(d.Normal(a, s), [t.SigmoidTransform(), t.AffineTransform(s, 3.0)])
    assert derivatives(x.log_prob(v + 2), a, s, v) == [
        [-0.45875, 10.69178],
        [0.17269, 38.7844],
        [-0.25179, -14.20587],
        [-0.04113, -4651.21934],
        [1.54726, -26339.89464],
        [-1.31275, 6529.14675],
        [0.60734, 1820.3501],
    ]
    assert (tuple(x.batch_shape), tuple(x.event_shape), x.has_rsample, repr(x.support)) == (
        (2,),
        (),
        True,
        "Real()",
    )
    y = made(d.Normal(a, s), [t.ExpTransform(), t.AffineTransform(0.0, s, event_dim=1)])
    assert derivatives(y.log_prob(v), a, s, v) == [
        [-0.41579, 1.22741],
        [-0.36214, 1.20809],
        [-0.93474, -8.90965],
        [-0.75051, -326.12001],
        [0.49139, -1051.08118],
        [-1.59515, 669.42582],
        [167.05112],
    ]
    assert (tuple(y.batch_shape), tuple(y.event_shape), repr(y.support)) == (
        (),
        (2,),
        "IndependentConstraint(Real(), 1)",
    )
    z = made(d.Independent(d.Normal(a, s), 1), t.ExpTransform())
    assert derivatives(z.log_prob(v), a, s, v) == [
        [-0.2425, -1.54518],
        [-0.38239, -0.80621],
        [-1.212, 2.18071],
        [-1.03381, 72.17819],
        [0.76663, -121.82761],
        [-3.04652, -326.75673],
        [18.93403],
    ]
    assert (tuple(z.batch_shape), tuple(z.event_shape), repr(z.support)) == (
        (),
        (2,),
        "IndependentConstraint(GreaterThan(lower_bound=0.0), 1)",
    )
    w = made(d.Normal(a, s), t.StickBreakingTransform())
    assert valued(w.log_prob(torch.cat([v, 1 - v.sum(0, True)])), a, s, v) == [
        [-3.69758],
        [0.17599, 6.77259],
        [-0.43805, 20.93398],
        [-48.53161, -77.27106],
    ]
    assert (tuple(w.batch_shape), tuple(w.event_shape), repr(w.support)) == ((), (3,), "Simplex()")
    n = made(d.Exponential(s), [])
    assert valued(n.log_prob(v), s, v) == [[-0.55685, -0.81815], [-0.125, 3.5], [-2.0, -1.0]]
    assert (n.support is d.Exponential.support, repr(made(d.Normal(a, s), t.TanhTransform()))) == (
        True,
        "TransformedDistribution()",
    )
    b = made(d.Uniform(a, a + 4), t.ComposeTransform([t.ExpTransform(), t.AffineTransform(1.0, s)]))
    assert derivatives(b.log_prob(v * 4 + 2), a, s, v) == [
        [0.0, 0.0],
        [0.0, 0.0],
        [-1.14286, -4.0],
        [0.0, 0.0],
        [0.0, 0.0],
        [-2.98542, -64.0],
        [2.61224, 16.0],
    ]
