"""torch.distributions.constraints, and the transforms to what they hold."""

import torch

from specs.cases._densities import valued
from specs.cases._measures import derivatives, error_kinds


def maps_to_what_parameters_must_be():
    """Unconstrained numbers are mapped to a constraint. Rule: op/derivatives-beyond-programs."""
    d = torch.distributions
    c = d.constraints
    x = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
    to, by = d.transform_to, d.biject_to
    assert [valued(to(each)(x), x) for each in (c.real, c.positive, c.unit_interval, c.simplex)] == [
        [[0.5, -1.0], [1.0, 2.0]],
        [[1.64872, 0.36788], [1.64872, 0.73576]],
        [[0.62246, 0.26894], [0.235, 0.39322]],
        [[0.81757, 0.18243], [-0.14915, 0.14915]],
    ]
    assert [valued(by(each)(x), x) for each in (c.real, c.positive, c.unit_interval, c.simplex)] == [
        [[0.5, -1.0], [1.0, 2.0]],
        [[1.64872, 0.36788], [1.64872, 0.73576]],
        [[0.62246, 0.26894], [0.235, 0.39322]],
        [[0.45186, 0.14742, 0.40072], [-0.42875, -0.10777]],
    ]
    assert [valued(to(each)(x), x) for each in (c.greater_than(2.0), c.greater_than_eq(-1.0))] == [
        [[3.64872, 2.36788], [1.64872, 0.73576]],
        [[0.64872, -0.63212], [1.64872, 0.73576]],
    ]
    assert [valued(by(each)(x), x) for each in (c.interval(-1.0, 3.0), c.half_open_interval(2.0, 5.0))] == [
        [[1.48984, 0.07577], [0.94001, 1.5729]],
        [[3.86738, 2.80682], [0.70501, 1.17967]],
    ]
    assert [valued(by(each)(x), x) for each in (c.interval(0.0, 3.0), c.interval(-1.0, 1.0))] == [
        [[1.86738, 0.80682], [0.70501, 1.17967]],
        [[0.24492, -0.46212], [0.47001, 0.78645]],
    ]
    assert [valued(f(c.independent(c.positive, 1))(x), x) for f in (to, by)] == [
        [[1.64872, 0.36788], [1.64872, 0.73576]],
        [[1.64872, 0.36788], [1.64872, 0.73576]],
    ]
    assert valued(by(c.independent(c.positive, 1)).log_abs_det_jacobian(x, x.exp()), x) == [
        [-0.5],
        [1.0, 1.0],
    ]
    assert valued(by(c.real_vector)(x), x) == [[0.5, -1.0], [1.0, 2.0]]
    assert valued(to(c.lower_cholesky)(x.expand(2, 2)), x) == [
        [1.64872, 0.0, 0.5, 0.36788],
        [4.64872, 1.47152],
    ]
    low = c.greater_than(x.detach())
    assert valued(to(low)(x), x) == [[2.14872, -0.63212], [1.64872, 0.73576]]
    own = type(to)()
    own.register(c.positive, lambda constraint: d.transforms.SoftplusTransform())
    assert valued(own(c.greater_than(0.0))(x), x) == [[0.97408, 0.31326], [0.62246, 0.53788]]
    made = own.register(c.interval)(lambda constraint: d.transforms.TanhTransform())
    assert valued(own(c.unit_interval)(x), x) == valued(made(c.unit_interval)(x), x)
    assert (
        error_kinds([lambda: own.register(3, lambda constraint: None), lambda: own.register(int, made)])
        == "TT"
    )


def constraints_and_what_holds_them():
    """Each says of values if they are within. Rule: op/derivatives-beyond-programs."""
    c = torch.distributions.constraints
    x = torch.tensor([-1.0, 0.0, 0.5, 1.0, 2.0, float("nan")])
    assert [each.check(x).tolist() for each in (c.real, c.boolean, c.positive, c.nonnegative)] == [
        [True, True, True, True, True, False],
        [False, True, False, True, False, False],
        [False, False, True, True, True, False],
        [False, True, True, True, True, False],
    ]
    assert [each.check(x).tolist() for each in (c.unit_interval, c.nonnegative_integer)] == [
        [False, True, True, True, False, False],
        [False, True, False, True, True, False],
    ]
    assert [each.check(x).tolist() for each in (c.greater_than(0.5), c.greater_than_eq(0.5))] == [
        [False, False, False, True, True, False],
        [False, False, True, True, True, False],
    ]
    assert [each.check(x).tolist() for each in (c.interval(0.5, 1.0), c.half_open_interval(0.5, 1.0))] == [
        [False, False, True, True, False, False],
        [False, False, True, False, False, False],
    ]
    assert [each.check(x).tolist() for each in (c.integer_interval(0, 1), c.integer_interval(1, 5))] == [
        [False, True, False, True, False, False],
        [False, False, False, True, True, False],
    ]
    y = torch.tensor([[0.25, 0.75], [0.5, 0.6], [-0.5, 1.5], [0.0, 1.0], [1.0, 1.0], [0.5, 0.5 + 1e-5]])
    assert [each.check(y).tolist() for each in (c.simplex, c.one_hot, c.real_vector)] == [
        [True, False, False, True, False, False],
        [False, False, False, True, False, False],
        [True, True, True, True, True, True],
    ]
    assert c.independent(c.positive, 1).check(y).tolist() == [True, True, False, False, True, True]
    assert c.independent(c.positive, 2).check(y).item() is False
    assert c.independent(c.positive, 0).check(y).tolist() == [
        [True, True],
        [True, True],
        [False, True],
        [False, True],
        [True, True],
        [True, True],
    ]
    m = torch.tensor(
        [
            [[2.0, 0.0], [1.0, 1.0]],
            [[2.0, 1.0], [1.0, 1.0]],
            [[1.0, 2.0], [2.0, 1.0]],
            [[-1.0, 0.0], [1.0, 1.0]],
        ]
    )
    assert [each.check(m).tolist() for each in (c.lower_cholesky, c.positive_definite)] == [
        [True, False, False, False],
        [False, True, True, False],
    ]
    assert [each.event_dim for each in (c.real, c.simplex, c.one_hot, c.real_vector, c.lower_cholesky)] == [
        0,
        1,
        1,
        1,
        2,
    ]
    assert [each.event_dim for each in (c.positive_definite, c.independent(c.simplex, 2))] == [2, 3]
    assert [repr(each) for each in (c.real, c.positive, c.unit_interval, c.simplex, c.one_hot)] == [
        "Real()",
        "GreaterThan(lower_bound=0.0)",
        "Interval(lower_bound=0.0, upper_bound=1.0)",
        "Simplex()",
        "OneHot()",
    ]
    assert [repr(each) for each in (c.independent(c.real, 2), c.integer_interval(0, 3))] == [
        "IndependentConstraint(Real(), 2)",
        "IntegerInterval(lower_bound=0, upper_bound=3)",
    ]
    n = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    low = torch.distributions.transform_to(c.greater_than(n))
    assert valued(low(n), n) == [[2.14872, 9.38906], [2.64872, 16.77811]]
    assert derivatives(low(n * n).log1p(), n) == [[0.8204, 7.61804], [1.16591, 77.82057], [1.34613, 58.03458]]
    assert c.positive_definite.check(m[1:3]).tolist() == [True, False]
    almost = m[1] + torch.tensor([[0.0, 9e-6], [0.0, 0.0]])
    assert [c.positive_definite.check(almost).item(), c.positive_definite.check(almost + 3e-6).item()] == [
        True,
        True,
    ]
