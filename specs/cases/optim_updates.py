"""The updates of optimizers, step by step, with every setting of each."""

import torch

from specs.cases._measures import stepped


def every_setting_of_sgd():
    """Dampening spares the first gradient; weight decay, momentum and the sign go in that order.

    Rules: optim/momentum-is-its-own, optim/step-is-not-recorded.
    """
    x = torch.tensor([1.0, -3.0], dtype=torch.float64, requires_grad=True)
    o = torch.optim.SGD([x], lr=0.5, momentum=0.5, dampening=0.25, weight_decay=0.25)
    assert stepped(o, x, 1.0, -4.0, 0.5) == [[0.375, -1.625], [1.527344, -3.785156], [1.772827, -4.135376]]
    o = torch.optim.SGD([x], lr=0.5, momentum=0.5, weight_decay=0.25, nesterov=True, maximize=True)
    assert stepped(o, x, 1.0, -4.0, 0.5) == [
        [2.190422, -4.859993],
        [-1.150683, 1.930486],
        [-1.093581, 1.91001],
    ]
    o = torch.optim.SGD([x], lr=0.125, weight_decay=0.25, maximize=True)
    assert stepped(o, x, 1.0, -4.0, 0.5) == [
        [-0.934407, 1.600322],
        [-1.405206, 2.550312],
        [-1.298794, 2.345615],
    ]


def sgd_goes_against_the_gradient_and_the_decay():
    """By its rate times both; the other way if it maximizes. Rule: optim/updates-by-its-algorithm."""
    x = torch.tensor([1.0, -4.0], requires_grad=True)
    x.grad = torch.tensor([2.0, 1.0])
    torch.optim.SGD([x], lr=0.5, weight_decay=0.25).step()
    assert x.tolist() == [-0.125, -4.0]
    torch.optim.SGD([x], lr=0.5, weight_decay=0.5, maximize=True).step()
    assert x.tolist() == [0.90625, -2.5]
    torch.optim.SGD([x], lr=0.25).step()
    assert x.tolist() == [0.40625, -2.75] and x.grad.tolist() == [2.0, 1.0]


def every_setting_of_adam():
    """Both means are corrected by the count of steps; amsgrad keeps the largest before that correction.

    Rule: optim/updates-by-its-algorithm.
    """
    x = torch.tensor([1.0, -3.0], dtype=torch.float64, requires_grad=True)
    o = torch.optim.Adam([x], lr=0.25, betas=(0.5, 0.75), eps=0.5)
    assert stepped(o, x, 1.0, -4.0, 0.5) == [[0.833333, -2.8], [0.995651, -2.974454], [1.058224, -3.043034]]
    o = torch.optim.Adam([x], lr=0.25, betas=(0.5, 0.75), weight_decay=0.5, amsgrad=True, maximize=True)
    assert stepped(o, x, 1.0, -4.0, 0.5) == [
        [1.308224, -3.293034],
        [1.099697, -3.078221],
        [0.994647, -2.960262],
    ]
    o = torch.optim.Adam([x], lr=0.25, weight_decay=0.5, decoupled_weight_decay=True)
    assert stepped(o, x, 1.0, -4.0, 0.5) == [
        [0.620316, -2.340229],
        [0.682652, -2.187576],
        [0.685422, -2.00223],
    ]
    o = torch.optim.Adam([x])
    assert stepped(o, x, 1.0, -4.0, 0.5) == [
        [0.684422, -2.00123],
        [0.684982, -2.00179],
        [0.685334, -2.002142],
    ]
    o = torch.optim.AdamW([x], lr=0.25, betas=(0.5, 0.75), eps=0.5, weight_decay=0.5)
    assert stepped(o, x, 1.0, -4.0, 0.5) == [
        [0.433001, -1.551875],
        [0.541193, -1.532344],
        [0.536117, -1.409381],
    ]
    o = torch.optim.AdamW([x], lr=0.25, amsgrad=True, maximize=True)
    assert stepped(o, x, 1.0, -4.0, 0.5) == [
        [0.784776, -1.655858],
        [0.642938, -1.511842],
        [0.55323, -1.419961],
    ]
    o = torch.optim.AdamW([x])
    assert stepped(o, x, 1.0, -4.0, 0.5) == [
        [0.552224, -1.418947],
        [0.552778, -1.419492],
        [0.553125, -1.419831],
    ]


def every_setting_of_rmsprop():
    """It divides by the root of the mean square, or, centred, of the variance; momentum comes after that.

    Rule: optim/updates-by-its-algorithm.
    """
    x = torch.tensor([1.0, -3.0], dtype=torch.float64, requires_grad=True)
    o = torch.optim.RMSprop([x], lr=0.25, alpha=0.75, eps=0.5)
    assert stepped(o, x, 1.0, -4.0, 0.5) == [[0.75, -2.666667], [1.142721, -3.102143], [1.088129, -3.04086]]
    o = torch.optim.RMSprop([x], lr=0.25, alpha=0.5, momentum=0.5, centered=True)
    assert stepped(o, x, 1.0, -4.0, 0.5) == [
        [0.588129, -2.54086],
        [0.777186, -2.729917],
        [0.808086, -2.760817],
    ]
    o = torch.optim.RMSprop([x], lr=0.25, momentum=0.25, weight_decay=0.5, maximize=True)
    assert stepped(o, x, 1.0, -4.0, 0.5) == [
        [3.308086, -5.260817],
        [1.446722, -3.39001],
        [0.88274, -2.758665],
    ]
    o = torch.optim.RMSprop([x], centered=True)
    assert stepped(o, x, 1.0, -4.0, 0.5) == [
        [0.782236, -2.658161],
        [0.879539, -2.755463],
        [0.867415, -2.74334],
    ]


def every_setting_of_adagrad():
    """It divides by the root of the sum of squares; the rate falls from the second step on.

    Rule: optim/updates-by-its-algorithm.
    """
    x = torch.tensor([1.0, -3.0], dtype=torch.float64, requires_grad=True)
    o = torch.optim.Adagrad([x], lr=0.5, lr_decay=0.5, initial_accumulator_value=2.0, eps=0.25)
    assert o.state[x]["sum"].tolist() == [2.0, 2.0] and o.state[x]["step"].item() == 0
    assert stepped(o, x, 1.0, -4.0, 0.5) == [
        [0.747736, -2.62956],
        [1.037031, -2.93904],
        [1.010077, -2.910225],
    ]
    o = torch.optim.Adagrad([x], lr=0.5, weight_decay=0.5, maximize=True)
    assert stepped(o, x, 1.0, -4.0, 0.5) == [
        [1.510077, -3.410225],
        [1.012764, -2.911011],
        [1.012097, -2.887607],
    ]
    o = torch.optim.Adagrad([x])
    assert stepped(o, x, 1.0, -4.0, 0.5) == [
        [1.002097, -2.877607],
        [1.011798, -2.887308],
        [1.010594, -2.886104],
    ]


def every_setting_of_adadelta():
    """It multiplies by the root of the mean square of past steps, and remembers steps before the rate.

    Rule: optim/updates-by-its-algorithm.
    """
    x = torch.tensor([1.0, -3.0], dtype=torch.float64, requires_grad=True)
    o = torch.optim.Adadelta([x], lr=0.5, rho=0.5, eps=0.25)
    assert stepped(o, x, 1.0, -4.0, 0.5) == [
        [0.711325, -2.666667],
        [1.154132, -3.143358],
        [1.053752, -3.034638],
    ]
    o = torch.optim.Adadelta([x], lr=0.5, weight_decay=0.5, maximize=True)
    assert stepped(o, x, 1.0, -4.0, 0.5) == [
        [1.055333, -3.036219],
        [1.053108, -3.033986],
        [1.053089, -3.033808],
    ]
    o = torch.optim.Adadelta([x])
    assert stepped(o, x, 1.0, -4.0, 0.5) == [
        [1.049926, -3.030645],
        [1.054278, -3.034997],
        [1.053495, -3.034214],
    ]


def every_setting_of_adamax():
    """It divides by the largest size of a gradient, which fades; only the mean is corrected.

    Rule: optim/updates-by-its-algorithm.
    """
    x = torch.tensor([1.0, -3.0], dtype=torch.float64, requires_grad=True)
    o = torch.optim.Adamax([x], lr=0.5, betas=(0.5, 0.25), eps=0.25)
    assert stepped(o, x, 4.0, -1.0, 0.5) == [
        [0.529412, -2.515152],
        [0.262745, -2.218855],
        [-0.118207, -1.761712],
    ]
    o = torch.optim.Adamax([x], lr=0.5, weight_decay=0.5, maximize=True)
    assert stepped(o, x, 1.0, -4.0, 0.5) == [
        [0.381793, -2.261712],
        [0.178488, -2.027584],
        [0.068177, -1.879422],
    ]
    o = torch.optim.Adamax([x])
    assert stepped(o, x, 1.0, -4.0, 0.5) == [
        [0.066177, -1.877422],
        [0.066993, -1.878238],
        [0.067416, -1.878661],
    ]


def every_setting_of_nadam():
    """The share of the momentum grows with the steps, and the next step's is taken ahead.

    Rule: optim/updates-by-its-algorithm.
    """
    x = torch.tensor([1.0, -3.0], dtype=torch.float64, requires_grad=True)
    o = torch.optim.NAdam([x], lr=0.5, betas=(0.5, 0.75), eps=0.25, momentum_decay=0.5)
    assert stepped(o, x, 1.0, -4.0, 0.5) == [
        [0.544307, -2.493674],
        [1.088901, -3.059418],
        [1.049566, -3.018099],
    ]
    o = torch.optim.NAdam([x], lr=0.5, weight_decay=0.5, maximize=True)
    assert stepped(o, x, 1.0, -4.0, 0.5) == [
        [1.577792, -3.546325],
        [1.060965, -3.026073],
        [1.024221, -2.96166],
    ]
    o = torch.optim.NAdam([x], lr=0.5, weight_decay=0.5, decoupled_weight_decay=True)
    assert stepped(o, x, 1.0, -4.0, 0.5) == [
        [0.23994, -1.693019],
        [0.679215, -1.769025],
        [0.468761, -1.286118],
    ]
    o = torch.optim.NAdam([x])
    assert stepped(o, x, 1.0, -4.0, 0.5) == [
        [0.466648, -1.284006],
        [0.468645, -1.286003],
        [0.468483, -1.28584],
    ]


def every_setting_of_radam():
    """It goes by the mean alone until the mean square is known well enough: that takes five steps and more.

    Rule: optim/updates-by-its-algorithm.
    """
    x = torch.tensor([1.0, -3.0], dtype=torch.float64, requires_grad=True)
    o = torch.optim.RAdam([x], lr=0.5, betas=(0.5, 0.875), eps=0.25)
    assert stepped(o, x, 1.0, -4.0, 0.5, 2.0, 1.0, -1.0, 3.0, 0.5) == [
        [0.5, -2.0],
        [1.666667, -4.333333],
        [2.02381, -5.047619],
        [1.657143, -4.314286],
        [1.221659, -3.443318],
        [1.226794, -3.448883],
        [1.116361, -3.330728],
        [1.020084, -3.227333],
    ]
    o = torch.optim.RAdam([x], lr=0.5, weight_decay=0.5, maximize=True)
    assert stepped(o, x, 1.0, -4.0, 0.5, 2.0, 1.0, -1.0) == [
        [1.265063, -3.4205],
        [0.162019, -0.956671],
        [-0.456694, 0.501748],
        [-0.571514, 0.918045],
        [-0.501308, 0.932446],
        [-0.501599, 0.933452],
    ]
    o = torch.optim.RAdam([x], lr=0.5, weight_decay=0.5, decoupled_weight_decay=True)
    assert stepped(o, x, 1.0, -4.0, 0.5, 2.0, 1.0, -1.0) == [
        [-0.876199, 1.700089],
        [0.15864, -0.356512],
        [0.541489, -1.112403],
        [0.414986, -0.85204],
        [0.195845, -0.408242],
        [0.147093, -0.306391],
    ]
    o = torch.optim.RAdam([x])
    assert stepped(o, x, 1.0, -4.0, 0.5) == [
        [0.146093, -0.304391],
        [0.147725, -0.307654],
        [0.14857, -0.309344],
    ]


def every_setting_of_rprop():
    """Steps grow while the sign stays, shrink when it turns, and that gradient is then forgotten.

    Rule: optim/updates-by-its-algorithm.
    """
    x = torch.tensor([1.0, -3.0], dtype=torch.float64, requires_grad=True)
    o = torch.optim.Rprop([x], lr=0.5, etas=(0.25, 2.0), step_sizes=(0.125, 1.5))
    assert stepped(o, x, 1.0, 4.0, 0.5, 0.25, -1.0, -2.0, 3.0, -1.0, 1.0) == [
        [0.5, -2.5],
        [-0.5, -1.5],
        [-2.0, 0.0],
        [-3.5, 1.5],
        [-3.5, 1.5],
        [-3.125, 1.125],
        [-3.125, 1.125],
        [-3.0, 1.0],
        [-3.0, 1.0],
    ]
    o = torch.optim.Rprop([x], maximize=True)
    assert stepped(o, x, 1.0, 4.0, -0.5, 1.0) == [
        [-2.99, 0.99],
        [-2.978, 0.978],
        [-2.978, 0.978],
        [-2.972, 0.972],
    ]
