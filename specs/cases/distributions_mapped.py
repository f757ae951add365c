"""torch.distributions: densities of what maps make of other distributions' values."""

import torch

from specs.cases._densities import valued
from specs.cases._measures import derivatives


def densities_of_what_is_exponential():
    """LogNormal, HalfNormal, Gumbel, Pareto, Weibull: densities and moments.

    Rule: op/derivatives-beyond-programs.
    """
    d = torch.distributions
    a = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
    s = torch.tensor([2.0, 0.5], dtype=torch.float64, requires_grad=True)
    k = torch.tensor([1.5, 3.0], dtype=torch.float64, requires_grad=True)
    v = torch.tensor([2.5, 0.75], dtype=torch.float64, requires_grad=True)
    x = d.LogNormal(a, s)
    assert derivatives(x.log_prob(v), a, s, v) == [
        [0.10407, 5.69854],
        [-0.47834, 4.11835],
        [-0.44163, -10.26472],
        [-0.0408, -497.90622],
        [-0.26651, -1219.03973],
        [-0.13971, 382.90278],
        [0.86935, 154.79877],
    ]
    assert [valued(each, a, s) for each in (x.mean, x.variance, x.entropy(), x.loc, x.scale)] == [
        [[12.18249, 0.41686], [12.18249, 0.83372], [24.36499, 0.41686]],
        [[7954.67077, 0.04936], [15909.34154, 0.19742], [64231.01878, 0.54497]],
        [[2.61209, -0.27421], [1.0, 2.0], [0.5, 4.0]],
        [[0.5, -1.0], [1.0, 2.0], None],
        [[2.0, 0.5], None, [1.0, 2.0]],
    ]
    x = d.HalfNormal(s)
    assert derivatives(x.log_prob(v), s, v) == [
        [0.28125, 5.0],
        [-0.625, -6.0],
        [-1.2998, -748.0],
        [0.66406, 336.0],
        [0.93945, 61.0],
    ]
    assert [valued(each, s) for each in (x.mean, x.variance, x.entropy(), x.scale)] == [
        [[1.59577, 0.39894], [0.79788, 1.59577]],
        [[1.45352, 0.09085], [1.45352, 0.72676]],
        [[1.41894, 0.03264], [0.5, 4.0]],
        [[2.0, 0.5], [1.0, 2.0]],
    ]
    assert str(d.HalfNormal(s, validate_args=False).log_prob(-v).tolist()) == "[-inf, -inf]"
    x = d.Gumbel(a, s)
    assert derivatives(x.log_prob(v), a, s, v) == [
        [0.31606, 3.87921],
        [-0.18394, 9.57724],
        [-0.31606, -3.87921],
        [-0.0243, -168.55263],
        [-0.25792, -1077.21424],
        [0.0243, 168.55263],
        [0.46724, 121.82001],
    ]
    assert [valued(each, a, s) for each in (x.mean, x.variance, x.stddev, x.entropy())] == [
        [[1.65443, -0.71139], [1.0, 2.0], [0.57722, 1.15443]],
        [[6.57974, 0.41123], None, [6.57974, 3.28987]],
        [[2.5651, 0.64127], None, [1.28255, 2.5651]],
        [[2.27036, 0.88407], None, [0.5, 4.0]],
    ]
    assert [valued(each.mode, a, s) for each in (d.LogNormal(a, s), d.HalfNormal(s), x)] == [
        [[0.0302, 0.2865], [0.0302, 0.57301], [-0.12079, -0.57301]],
        [[0.0, 0.0], None, None],
        [[0.5, -1.0], [1.0, 2.0], None],
    ]
    x = d.Pareto(s, k)
    assert derivatives(x.log_prob(v + 1), s, k, v) == [
        [0.75, 12.0],
        [0.10705, -1.83886],
        [-0.71429, -4.57143],
        [-0.45545, -590.71087],
        [1.06301, 107.26625],
        [-0.35272, -19.68028],
        [2.16833, 168.27936],
    ]
    assert [valued(each, s, k) for each in (x.mean, x.mode, x.variance, x.entropy())] == [
        [[6.0, 0.75], [3.0, 3.0], [-8.0, -0.25]],
        [[2.0, 0.5], [1.0, 2.0], None],
        [["inf", 0.1875], ["inf", 1.5], [0.0, -0.625]],
        [[1.95435, -0.45843], [0.5, 4.0], [-1.11111, -0.88889]],
    ]
    x = d.Weibull(s, k)
    assert derivatives(x.log_prob(v), s, k, v) == [
        [0.29816, 28.5],
        [0.57796, -1.25929],
        [-0.63853, -21.66667],
        [-0.86068, -24185.2851],
        [0.10585, 2229.70942],
        [0.29125, 12705.67154],
        [1.66129, 1283.28026],
    ]
    assert [valued(each, s, k) for each in (x.mean, x.mode, x.variance, x.entropy())] == [
        [[1.80549, 0.44649], [0.90275, 1.78596], [-0.14586, 0.0131]],
        [[0.9615, 0.43679], [0.48075, 1.74716], [1.32414, 0.08789]],
        [[1.50276, 0.02633], [1.50276, 0.21067], [-2.08941, -0.02993]],
        [[1.48009, -0.40695], [0.5, 4.0], [-0.41013, -0.5384]],
    ]
    assert [repr(each.support) for each in (d.LogNormal(a, s), x, d.Gumbel(a, s), d.HalfNormal(s))] == [
        "GreaterThan(lower_bound=0.0)",
        "GreaterThan(lower_bound=0.0)",
        "Real()",
        "GreaterThanEq(lower_bound=0.0)",
    ]
    assert d.Pareto(s.detach(), k).support.check(v).tolist() == [True, True]


def densities_of_shares_and_ratios():
    """HalfCauchy, InverseGamma, Kumaraswamy, LogisticNormal, FisherSnedecor, NegativeBinomial.

    Rule: op/derivatives-beyond-programs.
    """
    d = torch.distributions
    a = torch.tensor([0.5, -1.0], dtype=torch.float64, requires_grad=True)
    s = torch.tensor([2.0, 0.5], dtype=torch.float64, requires_grad=True)
    k = torch.tensor([1.5, 5.0], dtype=torch.float64, requires_grad=True)
    v = torch.tensor([0.625, 0.25], dtype=torch.float64, requires_grad=True)
    x = d.HalfCauchy(s)
    assert derivatives(x.log_prob(v), s, v) == [
        [-0.41103, -2.4],
        [-0.2847, -3.2],
        [-0.25, -64.0],
        [0.0, 0.0],
        [0.5, 16.0],
    ]
    assert [valued(each, s) for each in (x.mean, x.mode, x.variance, x.entropy(), x.scale)] == [
        [["inf", "inf"], None],
        [[0.0, 0.0], None],
        [["inf", "inf"], None],
        [[2.53102, 1.14473], [0.5, 4.0]],
        [[2.0, 0.5], [1.0, 2.0]],
    ]
    assert str(d.HalfCauchy(s, validate_args=False).log_prob(-v).tolist()) == "[-inf, -inf]"
    x = d.InverseGamma(k, s)
    assert derivatives(x.log_prob(v), s, k, v) == [
        [-0.85, 12.0],
        [1.12666, -1.62594],
        [1.12, -32.0],
        [7.49856, -3021.00753],
        [-6.54041, 609.43943],
        [-30.32147, -3301.98494],
        [6.49253, 1170.64368],
    ]
    assert [valued(each, k, s) for each in (x.mean, x.mode, x.variance, x.entropy())] == [
        [[4.0, 0.125], [-8.0, -0.0625], [2.0, 0.5]],
        [[0.8, 0.08333], [-0.32, -0.02778], [0.4, 0.33333]],
        [["inf", 0.00521], [0.0, -0.00868], [0.0, 0.04167]],
        [[1.98114, -1.5518], [-1.33701, -0.65588], [0.5, 4.0]],
    ]
    assert [str(e.tolist()) for e in (d.InverseGamma(k - 1, s).mean, x.concentration, x.rate)] == [
        "[inf, 0.16666666666666666]",
        "[1.5, 5.0]",
        "[2.0, 0.5]",
    ]
    x = d.Kumaraswamy(s, k)
    assert derivatives(x.log_prob(v), s, k, v) == [
        [0.18064, 12.31777],
        [0.17135, -0.98629],
        [0.57436, -20.0],
        [2.12852, -1774.52803],
        [-2.3998, 228.46201],
        [-7.26695, -130.49524],
        [0.78376, 552.70014],
    ]
    assert [valued(each, s, k) for each in (x.mean, x.variance, x.entropy())] == [
        [[0.58905, 0.04762], [0.13052, 0.41633], [-0.12937, -0.02948]],
        [[0.05302, 0.00567], [-0.01769, 0.05503], [-0.00759, -0.00585]],
        [[-0.12509, -2.39962], [-0.17991, 14.26667], [0.02296, -0.68265]],
    ]
    x = d.LogisticNormal(a, s)
    assert valued(x.log_prob(torch.cat([v, 1 - v.sum(0, True)])), a, s, v) == [
        [-3.69758],
        [0.17599, 6.77259],
        [-0.43805, 20.93398],
        [-48.53161, -77.27106],
    ]
    assert (x.loc is x.base_dist.base_dist.loc, tuple(x.event_shape), tuple(x.batch_shape)) == (
        True,
        (3,),
        (),
    )
    assert tuple(d.LogisticNormal(a[0], s[0]).scale.shape) == (1,)
    x = d.FisherSnedecor(s, k + 4)
    assert derivatives(x.log_prob(v), s, k, v) == [
        [0.18945, 2.12592],
        [0.02387, 0.00544],
        [-1.11111, -6.52055],
        [-0.49733, -65.81989],
        [-0.03416, 0.0074],
        [-0.65534, -300.94978],
        [2.54206, 47.03713],
    ]
    assert [valued(each, s, k) for each in (x.mean, x.variance)] == [
        [[1.57143, 1.28571], None, [-0.16327, -0.08163]],
        [[9.05442, 9.91837], [-2.88095, -37.02857], [-6.27146, -2.58192]],
    ]
    x = d.FisherSnedecor(s, k)
    assert [str(each.tolist()) for each in (x.mean, x.variance)] == [
        "[nan, 1.6666666666666667]",
        "[nan, 38.888888888888886]",
    ]
    n = torch.tensor([3.0, 0.0], dtype=torch.float64)
    x = d.NegativeBinomial(k, v)
    assert derivatives(x.log_prob(n), k, v) == [
        [0.37155, -0.57536],
        [0.8, -13.33333],
        [-4.77649, 71.11111],
        [-31.33628, 477.14268],
        [1.5561, 178.10882],
    ]
    assert [valued(each, k, v) for each in (x.mean, x.mode, x.variance, x.logits, x.probs)] == [
        [[2.5, 1.66667], [1.66667, 0.66667], [10.66667, 17.77778]],
        [[0.0, 1.0], [0.0, 0.0], [0.0, 0.0]],
        [[6.66667, 2.22222], [4.44444, 0.88889], [46.22222, 29.62963]],
        [[0.51083, -1.09861], None, [4.26667, 10.66667]],
        [[0.625, 0.25], None, [1.0, 2.0]],
    ]
    x = d.NegativeBinomial(5, logits=a)
    assert [valued(each, a) for each in (x.mean, x.mode, x.variance, x.log_prob(n), x.probs)] == [
        [[8.24361, 1.8394], [8.24361, 3.67879]],
        [[6.0, 1.0], [0.0, 0.0]],
        [[21.83502, 2.51607], [35.42642, 6.3855]],
        [[-2.73727, -1.56631], [-1.97967, -2.68941]],
        [[0.62246, 0.26894], [0.235, 0.39322]],
    ]
    assert d.NegativeBinomial(n, v).log_prob(n * 0).tolist() == [-2.9424877590351786, -0.0]
