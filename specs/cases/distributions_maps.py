"""torch.distributions.transforms and the constraints that they lead to."""

import torch

from specs.cases._densities import valued
from specs.cases._measures import derivatives


def _mapped(t, x, *inputs):
    """Return what a transform makes of values, its slope there, and what its inverse makes of the result."""
    y = t(x)
    back, slope = t.inv(y), t.log_abs_det_jacobian(x, y)
    return [valued(each, x, *inputs) for each in (y, slope, back)]


def derivatives_of_maps_of_numbers():
    """Of what they give, of the logarithm of their slope, and of their inverse.

    Rule: op/derivatives-beyond-programs.
    """
    t = torch.distributions.transforms
    x = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
    s = torch.tensor([2.0, -0.5], dtype=torch.float64, requires_grad=True)
    p = torch.tensor([1.5, 0.25], dtype=torch.float64, requires_grad=True)
    assert _mapped(t.ExpTransform(), x) == [
        [[1.64872, 0.36788], [1.64872, 0.73576]],
        [[0.5, -1.0], [1.0, 2.0]],
        [[0.5, -1.0], [1.0, 2.0]],
    ]
    assert _mapped(t.SigmoidTransform(), x) == [
        [[0.62246, 0.26894], [0.235, 0.39322]],
        [[-1.44815, -1.62652], [-0.24492, 0.92423]],
        [[0.5, -1.0], [1.0, 2.0]],
    ]
    assert _mapped(t.TanhTransform(), x) == [
        [[0.46212, -0.76159], [0.78645, 0.83995]],
        [[-0.24023, -0.86756], [-0.92423, 3.04638]],
        [[0.5, -1.0], [1.0, 2.0]],
    ]
    assert _mapped(t.SoftplusTransform(), x) == [
        [[0.97408, 0.31326], [0.62246, 0.53788]],
        [[-0.47408, -1.31326], [0.37754, 1.46212]],
        [[0.5, -1.0], [1.0, 2.0]],
    ]
    assert _mapped(t.AffineTransform(s, p), x, s, p) == [
        [[2.75, -0.75], [1.5, 0.5], [1.0, 2.0], [0.5, -2.0]],
        [[0.40547, -1.38629], None, None, [0.66667, 8.0]],
        [[0.5, -1.0], [1.0, 2.0], [0.0, 0.0], [0.0, 0.0]],
    ]
    assert _mapped(t.AffineTransform(1.0, -2.0), x) == [
        [[0.0, 3.0], [-2.0, -4.0]],
        [[0.69315, 0.69315], None],
        [[0.5, -1.0], [1.0, 2.0]],
    ]
    assert _mapped(t.AffineTransform(s, 3.0), x, s) == [
        [[3.5, -3.5], [3.0, 6.0], [1.0, 2.0]],
        [[1.09861, 1.09861], None, None],
        [[0.5, -1.0], [1.0, 2.0], [0.0, 0.0]],
    ]
    assert _mapped(t.PowerTransform(s), p, s) == [
        [[2.25, 2.0], [3.0, -8.0], [0.9123, -5.54518]],
        [[1.09861, 1.38629], [0.66667, -12.0], [0.90547, -6.77259]],
        [[1.5, 0.25], [1.0, 2.0], [0.0, 0.0]],
    ]
    assert _mapped(t.PowerTransform(2.0), p) == [
        [[2.25, 0.0625], [3.0, 1.0]],
        [[1.09861, -0.69315], [0.66667, 8.0]],
        [[1.5, 0.25], [1.0, 2.0]],
    ]
    assert _mapped(t.ExpTransform().inv, p) == [
        [[0.40547, -1.38629], [0.66667, 8.0]],
        [[-0.40547, 1.38629], [-0.66667, -8.0]],
        [[1.5, 0.25], [1.0, 2.0]],
    ]
    y = torch.stack([x, p])
    assert valued(t.AffineTransform(s, p, event_dim=1).log_abs_det_jacobian(y, y), p) == [
        [-0.98083, -0.98083],
        [2.0, 12.0],
    ]
    assert valued(t.AffineTransform(0.0, p, event_dim=2).log_abs_det_jacobian(y, y), p) == [
        [-0.98083],
        [0.66667, 4.0],
    ]
    assert t.AffineTransform(0.0, 3.0, event_dim=1).log_abs_det_jacobian(y, y).exp().tolist() == [
        9.000000000000002,
        9.000000000000002,
    ]
    assert valued(t.AbsTransform()(x), x) == [[0.5, 1.0], [1.0, -2.0]]
    assert t.AbsTransform().inv(x) is x and t.AbsTransform().bijective is False
    assert derivatives(t.TanhTransform().log_abs_det_jacobian(x, x), x) == [
        [-0.92423, 3.04638],
        [2.90745, -10.2352],
        [1.70842, 9.28041],
    ]


def derivatives_of_maps_of_vectors():
    """Of maps to shares and to triangular matrices. Rule: op/derivatives-beyond-programs."""
    t = torch.distributions.transforms
    x = torch.tensor([[0.5, -1.0, 0.25], [2.0, 0.0, -0.5]], dtype=torch.float64, requires_grad=True)
    assert _mapped(t.StickBreakingTransform(), x) == [
        [
            [0.35466, 0.10026, 0.30643, 0.23865, 0.71123, 0.09626, 0.07268, 0.11983],
            [-0.50683, -0.12176, -0.13416, -0.42753, -0.10411, -0.04524],
        ],
        [[-5.9521, -7.42487], [-0.41864, 0.53391, -0.12435, -3.68988, 0.0, 0.48984]],
        [[0.5, -1.0, 0.25, 2.0, 0.0, -0.5], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]],
    ]
    y = t.SoftmaxTransform()(x)
    assert valued(y, x) == [
        [0.49952, 0.11146, 0.38902, 0.82141, 0.11117, 0.06743],
        [-0.44432, 0.01232, 0.43201, -0.20208, 0.08382, 0.11826],
    ]
    assert valued(t.SoftmaxTransform().inv(y), x) == [
        [-0.69411, -2.19411, -0.94411, -0.19673, -2.19673, -2.69673],
        [-1.99711, 1.33126, 0.66585, -8.32114, 3.33252, 4.98862],
    ]
    m = x[:, :2]
    z = t.LowerCholeskyTransform()(m)
    assert valued(z, x) == [[1.64872, 0.0, 2.0, 1.0], [1.64872, 0.0, 0.0, 3.0, 4.0, 0.0]]
    assert valued(t.LowerCholeskyTransform().inv(z), x) == [
        [0.5, 0.0, 2.0, 0.0],
        [1.0, 0.0, 0.0, 3.0, 4.0, 0.0],
    ]
    cut = t.StickBreakingTransform()
    both = t.ComposeTransform([cut, t.ExpTransform()])
    assert [tuple(each.forward_shape((2, 3))) for each in (cut, both, t.ExpTransform())] == [
        (2, 4),
        (2, 4),
        (2, 3),
    ]
    assert tuple(t.IndependentTransform(cut, 1).forward_shape((2, 3))) == (2, 4)
    assert [both.domain.event_dim, both.codomain.event_dim, both.inv.domain.event_dim] == [1, 1, 1]
    more = t.ComposeTransform([t.ExpTransform(), cut, t.LowerCholeskyTransform()])
    assert [more.domain.event_dim, more.codomain.event_dim, more.inv.domain.event_dim] == [2, 2, 2]
    assert _mapped(both, x) == [
        [
            [1.4257, 1.10546, 1.35857, 1.26953, 2.0365, 1.10104, 1.07539, 1.1273],
            [-0.62506, -0.19508, -0.13449, 0.48128, -0.11868, -0.06744],
        ],
        [[-4.9521, -6.42487], [-0.41864, 0.53391, -0.12435, -3.68988, 0.0, 0.48984]],
        [[0.5, -1.0, 0.25, 2.0, 0.0, -0.5], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]],
    ]
    assert _mapped(t.ComposeTransform([t.TanhTransform(), cut]), x) == [
        [
            [0.34604, 0.12378, 0.29739, 0.23279, 0.4664, 0.17787, 0.13748, 0.21825],
            [-0.38561, -0.06065, -0.12275, -0.0365, -0.19133, -0.06634],
        ],
        [[-6.99044, -8.88604], [-1.22635, 1.70469, -0.60438, -3.97842, 0.0, 2.20557]],
        [[0.5, -1.0, 0.25, 2.0, 0.0, -0.5], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]],
    ]
    assert t.SoftmaxTransform.bijective is False and t.StickBreakingTransform.bijective is True
    many = t.ComposeTransform([t.ExpTransform(), t.AffineTransform(1.0, 2.0)])
    assert _mapped(many, x) == [
        [
            [4.29744, 1.73576, 3.56805, 15.77811, 3.0, 2.21306],
            [3.29744, 1.47152, 7.70415, 59.11245, 10.0, 7.27837],
        ],
        [[1.19315, -0.30685, 0.94315, 2.69315, 0.69315, 0.19315], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]],
        [[0.5, -1.0, 0.25, 2.0, 0.0, -0.5], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]],
    ]
    alone = t.IndependentTransform(many, 1)
    assert _mapped(alone, x) == [
        [
            [4.29744, 1.73576, 3.56805, 15.77811, 3.0, 2.21306],
            [3.29744, 1.47152, 7.70415, 59.11245, 10.0, 7.27837],
        ],
        [[1.82944, 3.57944], [1.0, 1.0, 1.0, 2.0, 2.0, 2.0]],
        [[0.5, -1.0, 0.25, 2.0, 0.0, -0.5], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]],
    ]
    assert _mapped(t.IndependentTransform(t.TanhTransform(), 2), x * 0.5)[1:] == [
        [[-1.24709], [-0.48984, 0.92423, -0.24871, -1.52319, 0.0, 0.48984]],
        [[0.25, -0.5, 0.125, 1.0, 0.0, -0.25], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]],
    ]
    assert _mapped(many.inv, x + 4) == [
        [[0.55962, 0.0, 0.48551, 0.91629, 0.40547, 0.22314], [0.28571, 1.0, 0.92308, 0.8, 1.66667, 2.4]],
        [
            [-1.25276, -0.69315, -1.17865, -1.60944, -1.09861, -0.91629],
            [-0.28571, -1.0, -0.92308, -0.8, -1.66667, -2.4],
        ],
        [[4.5, 3.0, 4.25, 6.0, 4.0, 3.5], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]],
    ]
    assert _mapped(t.ComposeTransform([]), x) == [
        [[0.5, -1.0, 0.25, 2.0, 0.0, -0.5], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]],
        [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0], None],
        [[0.5, -1.0, 0.25, 2.0, 0.0, -0.5], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]],
    ]
    assert derivatives(t.StickBreakingTransform()(x[0]), x) == [
        [-0.50683, -0.12176, -0.13416, 0.0, 0.0, 0.0],
        [0.12605, -0.02893, -0.05778, 0.0, 0.0, 0.0],
        [-0.232, 0.01542, 0.08576, 0.13082],
    ]


def maps_that_remember():
    """The last result is given again for the same input. Rule: op/derivatives-beyond-programs."""
    t = torch.distributions.transforms
    x = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
    f, g = t.ExpTransform(cache_size=1), t.ExpTransform()
    y = f(x)
    assert [f(x) is y, f.inv(y) is x, f(x + 0) is y, g(x) is g(x), g.inv(g(x)) is x] == [
        True,
        True,
        False,
        False,
        False,
    ]
    z = f.inv(x.exp())
    assert [f.inv.inv is f, f(z) is y, f(z).tolist() == y.tolist()] == [True, False, True]
    h = t.TanhTransform().with_cache()
    assert [h(x) is h(x), h.inv(h(x)) is x, t.AffineTransform(0.0, 1.0, cache_size=1).inv(y) is y] == [
        True,
        True,
        False,
    ]
    assert [repr(each) for each in (f, f.inv, t.TanhTransform())] == [
        "ExpTransform()",
        "_InverseTransform(ExpTransform())",
        "TanhTransform()",
    ]
    c = t.ComposeTransform([t.ExpTransform()], cache_size=1)
    assert [c(x) is c(x), c.inv(c(x)) is x] == [True, True]
    assert [repr(each) for each in (c, c.inv, t.IndependentTransform(g, 1))] == [
        "ComposeTransform(\n    ExpTransform()\n)",
        "ComposeTransform(\n    _InverseTransform(ExpTransform())\n)",
        "IndependentTransform(ExpTransform(), 1)",
    ]
    i = t.IndependentTransform(t.TanhTransform(), 1, cache_size=1)
    assert [i(x) is i(x), i.inv(i(x)) is x, f.with_cache() is f, g.with_cache() is g] == [
        True,
        True,
        True,
        False,
    ]
    e = f.inv.with_cache(0)
    assert [e(y) is e(y), e.inv is f] == [False, False]
    assert valued(h(x), x) == [[0.46212, -0.76159], [0.78645, 0.83995]]
    assert derivatives(t.SoftplusTransform(1)(x), x) == [
        [0.62246, 0.53788],
        [0.29256, 0.42302],
        [0.77491, 0.28932],
    ]
