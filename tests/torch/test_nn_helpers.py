"""Helpers around modules: initial values, functions of all parameters, one_hot, parameters by path."""

from __future__ import annotations

import pytest

import reference_impl

torch = pytest.importorskip("torch")
SIDES = (torch, reference_impl)
INITIAL = [
    ("uniform_", {"a": -2.0, "b": 3.0}),
    ("normal_", {"mean": 1.0, "std": 0.5}),
    ("constant_", {"val": 2.5}),
    ("zeros_", {}),
    ("ones_", {}),
    ("xavier_uniform_", {"gain": 2.0}),
    ("xavier_normal_", {}),
    ("kaiming_uniform_", {"a": 5**0.5}),
    ("kaiming_normal_", {"nonlinearity": "relu"}),
    ("kaiming_normal_", {"nonlinearity": "linear"}),
    ("kaiming_uniform_", {"nonlinearity": "tanh"}),
    ("kaiming_uniform_", {"mode": "fan_out"}),
    ("kaiming_normal_", {"mode": "fan_out", "nonlinearity": "relu"}),
    ("eye_", {}),
]
WRITTEN_OFTEN = [
    ("orthogonal_", {"gain": 2}),
    ("sparse_", {"sparsity": 0.3}),
    ("trunc_normal_", {"std": 0.5, "a": -0.5, "b": 1.0}),
    ("trunc_normal_", {"std": 0.5, "a": 1.5, "b": 2.0}),
]


@pytest.mark.parametrize(("name", "how"), INITIAL, ids=[f"{name} {how}" for name, how in INITIAL])
def test_initial_values_have_torchs_distribution_and_are_not_recorded(name, how):
    """Mean and spread are those of torch; the leaf stays one, written once."""
    found = []
    for side in SIDES:
        side.manual_seed(0)
        weight = side.nn.Parameter(side.empty(200, 300))
        assert weight is getattr(side.nn.init, name)(weight, **how)
        assert (True, True, None, 1) == (
            weight.is_leaf,
            weight.requires_grad,
            weight.grad_fn,
            weight._version,
        )
        values = weight.detach()
        found.append([values.mean().item(), values.std().item(), values.max().item()])
    torchs, ours = found
    assert torchs[:2] == pytest.approx(ours[:2], rel=0.03, abs=0.01)
    assert torchs[2] == pytest.approx(ours[2], rel=0.03 if "uniform" in name else 0.3)


@pytest.mark.parametrize(("name", "how"), WRITTEN_OFTEN, ids=[f"{name} {how}" for name, how in WRITTEN_OFTEN])
@pytest.mark.filterwarnings("ignore:mean is more than 2 std")
def test_initial_values_that_are_written_in_steps_are_distributed_as_torchs(name, how):
    """Mean, spread, bounds, zeros, orthogonality, and the number of writes."""
    found = []
    for side in SIDES:
        side.manual_seed(0)
        weight = side.nn.Parameter(side.empty(300, 200))
        assert weight is getattr(side.nn.init, name)(weight, **how)
        assert (True, True, None) == (weight.is_leaf, weight.requires_grad, weight.grad_fn)
        values = weight.detach()
        found.append([
            weight._version, values.mean().item(), values.std().item(), values.abs().max().item(),
            (values == 0).sum().item(), (values.T @ values).diagonal().mean().item(),
            (values.T @ values).triu(1).norm().item(),
        ])  # fmt: skip
    assert found[0] == pytest.approx(found[1], rel=0.05, abs=0.01)


@pytest.mark.parametrize("groups", [1, 2])
def test_a_dirac_weight_keeps_channels(groups):
    shown = []
    for side in SIDES:
        weight = side.nn.init.dirac_(side.ones(4, 3, 3, 2), groups)
        shown.append([weight.tolist(), weight._version])
    assert shown[0] == shown[1]


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.nn.init.eye_(t.ones(2)),
        lambda t: t.nn.init.orthogonal_(t.ones(2)),
        lambda t: t.nn.init.sparse_(t.ones(2, 2, 2), 0.1),
        lambda t: t.nn.init.dirac_(t.ones(2, 2)),
        lambda t: t.nn.init.dirac_(t.ones(3, 2, 2), 2),
        lambda t: t.nn.init.kaiming_normal_(t.ones(2, 2), mode="fan"),
        lambda t: t.nn.init.xavier_normal_(t.ones(2)),
    ],
    ids=["eye", "orthogonal", "sparse", "dirac", "dirac groups", "mode", "fans"],
)
def test_initial_values_are_refused_in_torchs_words(call):
    said = []
    for side in SIDES:
        with pytest.raises(ValueError) as refused:  # noqa: PT011 -- the text is compared
            call(side)
        said.append(str(refused.value))
    assert said[0] == said[1]


def test_counts_have_the_rates_as_mean_and_variance():
    for side in SIDES:
        side.manual_seed(0)
        counts = side.poisson(side.full((20_000,), 4.0))
        assert counts.mean().item() == pytest.approx(4, rel=0.05)
        assert counts.var().item() == pytest.approx(4, rel=0.05)
        with pytest.raises(RuntimeError, match="invalid Poisson rate, expected rate to be non-negative"):
            side.poisson(side.tensor([-1.0]))


def test_running_estimates_are_computed_anew():
    """Each batch of the loader counts the same; momentum and mode are put back."""
    shown = []
    for side in SIDES:
        model = side.nn.Sequential(side.nn.BatchNorm1d(2, momentum=0.3), side.nn.ReLU()).eval()
        model(side.ones(3, 2))
        loader = [(side.arange(n, n + 6.0).reshape(3, 2), "label") for n in range(3)]
        side.optim.swa_utils.update_bn(loader, model)
        norm = model[0]
        shown.append([
            norm.running_mean.tolist(), norm.running_var.tolist(), norm.num_batches_tracked.item(),
            norm.momentum, norm.training, norm.running_mean._version,
        ])  # fmt: skip
        side.optim.swa_utils.update_bn(loader, side.nn.Linear(2, 2))
    assert shown[0] == shown[1]


@pytest.mark.parametrize("name", ["linear", "sigmoid", "tanh", "relu", "selu", "leaky_relu"])
def test_gains_are_torchs(name):
    for param in (None, 0.3):
        assert torch.nn.init.calculate_gain(name, param) == reference_impl.nn.init.calculate_gain(name, param)


def test_one_hot_encodes_along_a_new_last_dimension():
    shown = []
    for side in SIDES:
        labels = side.tensor([[0, 2], [1, 0]])
        one_hot = side.nn.functional.one_hot
        shown.append(
            [repr(one_hot(labels)), repr(one_hot(labels, 4)), repr(one_hot(labels, num_classes=3).dtype)]
        )
    assert shown[0] == shown[1]


def test_a_parameter_is_found_by_its_path():
    for side in SIDES:
        net = side.nn.Sequential(side.nn.Linear(2, 3), side.nn.Sequential(side.nn.Linear(3, 1)))
        assert net[1][0].weight is net.get_parameter("1.0.weight")
        assert net.get_submodule("1") is net[1]
        with pytest.raises(AttributeError):
            net.get_parameter("1.0.nothing")
        with pytest.raises(AttributeError):
            net.get_parameter("2.weight")


def test_parameters_become_a_vector_and_back():
    """The vector is recorded; writing it back replaces the data of each parameter."""
    shown = []
    for side in SIDES:
        utils = side.nn.utils
        net = side.nn.Linear(2, 2)
        vector = utils.parameters_to_vector(net.parameters())
        assert vector.requires_grad is True
        utils.vector_to_parameters(side.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), net.parameters())
        shown.append([net.weight.tolist(), net.bias.tolist(), net.weight.is_leaf])
    assert shown[0] == shown[1]


def test_grads_are_clipped_in_place():
    """By the norm of all of them, which is returned, or each value by itself."""
    shown = []
    for side in SIDES:
        x, y = (side.tensor(values, requires_grad=True) for values in ([3.0, -4.0], [12.0]))
        x.grad, y.grad = side.tensor([3.0, -4.0]), side.tensor([12.0])
        norm = side.nn.utils.clip_grad_norm_([x, y], 6.5)
        by_norm = [norm.item(), *x.grad.tolist(), *y.grad.tolist()]
        side.nn.utils.clip_grad_value_([x, y], 1.75)
        shown.append([*by_norm, *x.grad.tolist(), *y.grad.tolist(), x.grad._version])
    assert shown[0] == pytest.approx(shown[1])


@pytest.mark.parametrize("mode", [True, False])
def test_a_module_passes_the_mode_on_to_its_children(mode):
    """By calling their train(), which they may override."""
    for side in SIDES:
        modes = []

        class Merging(side.nn.Linear):
            def train(self, mode=True):
                modes.append(mode)  # noqa: B023  read within the pass
                return super().train(mode)

        net = side.nn.Sequential(Merging(1, 1), side.nn.Sequential(Merging(1, 1)))
        net.train(mode)
        assert [mode, mode] == modes
        assert mode is net[0].training


@pytest.mark.parametrize("name", ["xavier_uniform", "kaiming_normal", "constant", "orthogonal"])
def test_old_names_of_initial_values_warn(name):
    """In torch's words."""
    said = []
    for side in SIDES:
        x = side.empty(3, 3)
        with pytest.warns(FutureWarning) as warned:
            getattr(side.nn.init, name)(x, *([2.0] if name == "constant" else []))
        said.append(str(warned[0].message))
    assert said[0] == said[1]


def test_norms_that_are_not_finite_are_refused_on_request():
    """In torch's words, and otherwise taken."""
    said = []
    for side in SIDES:
        x = side.nn.Parameter(side.ones(2))
        (x * float("inf")).sum().backward()
        with pytest.raises(RuntimeError) as refused:
            side.nn.utils.clip_grad_norm_([x], 1.0, error_if_nonfinite=True)
        said.append(str(refused.value))
        assert float("inf") == float(side.nn.utils.get_total_norm([x.grad]))
    assert said[0] == said[1]


def test_rows_that_are_looked_up_are_held_to_a_norm():
    """In place: the version counts once, and other rows stay as they are."""
    found = []
    for side in SIDES:
        table = side.nn.Embedding(3, 2, max_norm=1.0)
        with side.no_grad():
            table.weight.copy_(side.tensor([[3.0, 4.0], [0.5, 0.0], [5.0, 5.0]]))
        version = table.weight._version
        out = table(side.tensor([0, 1, 0]))
        found.append((out.tolist(), table.weight.tolist(), table.weight._version - version, repr(table)))
    assert found[0][2:] == found[1][2:]
    for ours, theirs in zip(found[1][1], found[0][1], strict=True):
        assert ours == pytest.approx(theirs, rel=1e-5)


NORMS = {
    "known statistics": lambda t, x, w, b: t.nn.functional.batch_norm(x, x[0].detach(), t.ones(3), w, b),
    "those of the batch": lambda t, x, w, b: t.nn.functional.batch_norm(x, None, None, w, b, training=True),
    "those of a sample": lambda t, x, w, b: t.nn.functional.layer_norm(x, (3,), w, b),
    "those of a group": lambda t, x, w, b: t.nn.functional.group_norm(x, 3, w, b),
}


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("parts", ["x", "w", "b", "xw", "xb", "wb", "xwb"])
def test_a_gradient_of_a_norm_requires_grad_if_another_would(norm, parts):
    """PyTorch's node has all of them as its results; what has no part in one gets nothing of it."""
    told = []
    for side in SIDES:
        x = side.tensor([[0.0, 1.0, 4.0], [9.0, 16.0, 25.0]])
        given = {"x": x, "w": side.ones(3), "b": side.zeros(3)}
        leaves = [given[name].requires_grad_() for name in parts]
        out = NORMS[norm](side, *given.values())
        grads = side.autograd.grad(out.square().sum(), leaves, create_graph=True)
        told.append([g.requires_grad for g in grads])
        for g in grads:
            if g.requires_grad:
                seconds = side.autograd.grad(g.sum(), leaves, allow_unused=True, retain_graph=True)
                told[-1] += [s if s is None else [round(v, 3) for v in s.flatten().tolist()] for s in seconds]
    assert told[0] == told[1]
