"""Unusual settings, hooks and states of modules."""

import copy
import importlib
import warnings

import torch

from specs.cases._measures import derivatives, graded, refusal_kinds


class _Unready(torch.nn.modules.lazy.LazyModuleMixin, torch.nn.Linear):
    cls_to_become = None

    def __init__(self):
        super().__init__(1, 1)
        self.weight = torch.nn.parameter.UninitializedParameter()


class _Forgetful(_Unready):
    def initialize_parameters(self, x):
        pass


class _Doubled(torch.nn.Module):
    def forward(self, x):
        return 2 * x


class _Inverse(_Doubled):
    def right_inverse(self, x):
        raise NotImplementedError


def _quiet(call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()


def _raising(*args):
    raise ValueError


def layers_refuse_unusual_settings():
    """Ranks, dtypes and names that do not fit. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([[1.0, 2.0], [0.5, -1.0]], requires_grad=True)
    fun, nn = torch.nn.functional, torch.nn
    assert derivatives(x.softmax(0), x) == [
        [-0.47001, -0.09035, 0.47001, 0.09035],
        [-0.21642, -0.02956, 0.21642, 0.02956],
        [-0.44181, -0.01633, 0.44181, 0.01633],
    ]
    attention = nn.MultiheadAttention(2, 1, kdim=2, vdim=3)
    indices = torch.tensor([0, 1])
    assert refusal_kinds([
        lambda: fun.hardtanh(x, 1, -1),
        lambda: nn.AdaptiveLogSoftmaxWithLoss(2, 4, [2])(x[0], indices), lambda: attention(x, x[None], x),
        lambda: nn.AdaptiveLogSoftmaxWithLoss(2, 4, [2])(x[None], indices[:1]),
        lambda: attention(x, x, torch.ones(3, 3)), lambda: attention(x[None, None], x, x),
        lambda: attention(x[:, :1], x, x),
        lambda: fun.scaled_dot_product_attention(indices[None], indices[None], indices[None]),
        lambda: fun.embedding_bag(indices, x, indices[:1], mode="sum", per_sample_weights=x[0].double()),
        lambda: nn.EmbeddingBag(3, 2, _weight=x), lambda: nn.EmbeddingBag(3, 2, padding_idx=3),
        lambda: nn.Embedding(3, 2, _weight=x), lambda: fun.multi_margin_loss(x[None], indices),
        lambda: fun.soft_margin_loss(indices, indices), lambda: fun.soft_margin_loss(x, indices + 1j),
        lambda: fun.binary_cross_entropy_with_logits(x[0], indices),
        lambda: fun.layer_norm(x.half(), (2,), x[0].double()),
    ]) == 'Voooooooooooooooo'  # fmt: skip
    assert refusal_kinds([
        lambda: fun.adaptive_avg_pool2d(x, (1, 1)), lambda: fun.adaptive_max_pool2d(x, (1, 1)),
        lambda: fun.max_pool1d(x, 2, padding=-1), lambda: fun.avg_pool1d(x, 2, padding=-1),
        lambda: fun.adaptive_avg_pool1d(torch.ones(1, 0), 1), lambda: fun.lp_pool1d(torch.ones(1, 0), 2, 1),
        lambda: nn.RNN(2, 2)(x.double()), lambda: nn.LSTM(2, 2)(x[0]),
        lambda: nn.GRU(2, 2)(x, torch.ones(1, 1, 2)),
        lambda: fun.local_response_norm(x, 2),
        lambda: nn.utils.clip_grad_norm_([x], 1.0, error_if_nonfinite=True), lambda: nn.Module(3),
        lambda: nn.Linear(2, "a"),
    ]) == 'VVoo-oVVoV-TT'  # fmt: skip
    assert fun.local_response_norm(torch.ones(0, 2, 3), 2).shape == (0, 2, 3)


def hooks_of_modules_may_fail():
    """Hooks that are always called are, also where another failed. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert derivatives(x.softmax(0), x) == [[-0.19661, 0.19661], [0.07145, -0.07145], [-0.15463, 0.15463]]
    told = []
    layer = _Doubled()
    layer.register_forward_hook(_raising)
    layer.register_forward_hook(lambda *args: told.append("always"), always_call=True)
    assert refusal_kinds([lambda: layer(x)]) == "V"
    assert told == ["always"]
    layer.register_forward_hook(_raising, always_call=True)
    assert refusal_kinds([lambda: _quiet(lambda: layer(x))]) == "V"
    assert told == ["always", "always"]
    other = _Doubled()
    other.register_forward_pre_hook(lambda module, args, kwargs: args, with_kwargs=True)
    assert refusal_kinds([lambda: other(x)]) == "o"
    given = _Doubled()
    given.register_full_backward_hook(lambda *args: told.append("back"))
    given.forward = lambda a: {"a": 3 * a}
    assert graded(_quiet(lambda: given(x))["a"].sum(), x) == [(), 9.0, 9.0]
    assert told == ["always", "always"]
    broken = _Doubled()
    broken.register_load_state_dict_post_hook(lambda module, keys: keys)
    assert refusal_kinds([lambda: broken.load_state_dict({})]) == "o"


def lazy_modules_take_their_shapes_once():
    """Copies stay lazy; a module that gives no shapes is refused. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([[1.0, 2.0], [0.5, -1.0]], requires_grad=True)
    assert derivatives(x.softmax(0), x) == [
        [-0.47001, -0.09035, 0.47001, 0.09035],
        [-0.21642, -0.02956, 0.21642, 0.02956],
        [-0.44181, -0.01633, 0.44181, 0.01633],
    ]
    lazy = torch.nn.LazyLinear(1)
    copied = copy.deepcopy(lazy)
    assert (type(copied).__name__, copied.has_uninitialized_params()) == ("LazyLinear", True)
    assert (copied(x).shape, type(copied).__name__, lazy.has_uninitialized_params()) == (
        torch.Size([2, 1]),
        "Linear",
        True,
    )
    assert refusal_kinds([lambda: _Unready()(x), lambda: _Forgetful()(x), lambda: lazy.weight.shape]) == "Noo"


def sequences_that_were_sorted_come_back():
    """Sorted sequences need no order. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([[[1.0], [2.0]], [[3.0], [0.0]], [[4.0], [0.0]]], requires_grad=True)
    assert derivatives(x.softmax(0), x) == [
        [-0.11732, -0.50292, -0.34786, 0.14495, 0.46518, 0.35797],
        [0.0577, -0.47123, 0.22239, 0.05559, -0.28009, 0.41564],
        [-0.02466, -0.25293, -0.30185, 0.10378, 0.32651, 0.14915],
    ]
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor([3, 1]))
    out, lengths = torch.nn.utils.rnn.pad_packed_sequence(packed, padding_value=7.0)
    assert out.tolist() == [[[1.0], [2.0]], [[3.0], [7.0]], [[4.0], [7.0]]]
    assert lengths.tolist() == [3, 1]
    assert graded((out * out).sum(), x) == [(), 128.0, 68.0]


def parametrizations_without_an_inverse():
    """Values that cannot be assigned. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([[1.0, 2.0], [0.5, -1.0]], requires_grad=True)
    assert derivatives(x.softmax(0), x) == [
        [-0.47001, -0.09035, 0.47001, 0.09035],
        [-0.21642, -0.02956, 0.21642, 0.02956],
        [-0.44181, -0.01633, 0.44181, 0.01633],
    ]
    parametrize = torch.nn.utils.parametrize
    layer = torch.nn.Linear(2, 2, bias=False)
    own = layer.weight
    parametrize.register_parametrization(layer, "weight", _Inverse())
    assert torch.equal(layer.weight, own * 2)
    assert refusal_kinds([lambda: setattr(layer, "weight", x.detach())]) == "N"
    parametrize.register_parametrization(layer, "weight", _Doubled())
    assert torch.equal(layer.weight, own * 4)
    prune = importlib.import_module(f"{torch.nn.utils.__name__}.prune")
    chosen, other = prune.RandomUnstructured(0.5), prune.RandomUnstructured(0.5)
    chosen._tensor_name, other._tensor_name = "weight", "bias"
    pruned = prune.PruningContainer(chosen)
    assert refusal_kinds([
        lambda: pruned.add_pruning_method(3),
        lambda: pruned.add_pruning_method(other),
    ]) == 'TV'  # fmt: skip


def modules_before_their_start():
    """Nothing can be registered before the module is made. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert derivatives(x.softmax(0), x) == [[-0.19661, 0.19661], [0.07145, -0.07145], [-0.15463, 0.15463]]
    unmade = _Doubled.__new__(_Doubled)
    module = _Doubled()
    module.register_buffer("kept", torch.ones(1))
    module.part = _Doubled()
    assert refusal_kinds([
        lambda: unmade.register_parameter("p", None), lambda: unmade.register_buffer("b", None),
        lambda: setattr(unmade, "p", torch.nn.Parameter(torch.ones(1))),
        lambda: setattr(unmade, "m", _Doubled()),
        lambda: setattr(module, "kept", 3), lambda: setattr(module, "part", 3),
        lambda: module.register_buffer("part", x),
        lambda: module.register_parameter("kept", None), lambda: module.register_module("p.q", _Doubled()),
        lambda: module.register_buffer(3, x), lambda: module.register_buffer("", x), lambda: module.nothing,
        lambda: module.get_submodule("part.nothing"), lambda: module.get_parameter("kept"),
        lambda: module.get_buffer("part"),
    ]) == 'AAAATTKKKTKAAAA'  # fmt: skip
    assert [name for name in dir(torch.nn.Sequential(_Doubled())) if name.isdigit()] == []


def scalers_need_gradients():
    """A scale is only updated after a step that was scaled. Rule: op/derivatives-beyond-programs."""
    x = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    assert derivatives(x.softmax(0), x) == [[-0.19661, 0.19661], [0.07145, -0.07145], [-0.15463, 0.15463]]
    optimizer = torch.optim.SGD([x], lr=0.5)
    scaler = torch.amp.GradScaler("cpu")
    assert refusal_kinds([
        lambda: scaler.step(optimizer), lambda: scaler.update(), lambda: scaler.unscale_(optimizer),
    ]) == 'ooo'  # fmt: skip
    scaler.scale(x.sum())
    optimizer.zero_grad()
    assert refusal_kinds([lambda: scaler.step(optimizer), lambda: scaler.update()]) == "oo"
    assert refusal_kinds([
        lambda: torch.amp.GradScaler("cpu", growth_factor=1.0),
        lambda: torch.amp.GradScaler("cpu", backoff_factor=1.0),
        lambda: torch.optim.SGD(x, lr=0.5), lambda: torch.optim.SGD([x, 3], lr=0.5),
        lambda: torch.optim.SGD([x, x * 2], lr=0.5),
    ]) == 'ooTTV'  # fmt: skip
    assert [torch.amp.is_autocast_available(kind) for kind in ("cpu", "cuda")] == [True, True]
    with torch.autocast("cpu"):
        joined = torch.cat([x.detach(), x.detach().bfloat16()])
        tied = torch.linalg.multi_dot([torch.ones(1, 2), torch.ones(2, 2), torch.ones(2, 1)])
    assert (str(joined.dtype), str(tied.dtype)) == ("torch.float32", "torch.bfloat16")


def states_of_recurrent_layers_come_in_pairs():
    """An LSTM takes lists, too. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([[1.0, 2.0], [0.5, -1.0]], requires_grad=True)
    assert derivatives(x.softmax(0), x) == [
        [-0.47001, -0.09035, 0.47001, 0.09035],
        [-0.21642, -0.02956, 0.21642, 0.02956],
        [-0.44181, -0.01633, 0.44181, 0.01633],
    ]
    layer = torch.nn.LSTM(2, 3, 2, bidirectional=True)
    assert [[tuple(w.shape) for w in part] for part in layer.all_weights] == [
        [(12, 2), (12, 3), (12,), (12,)],
        [(12, 2), (12, 3), (12,), (12,)],
        [(12, 6), (12, 3), (12,), (12,)],
        [(12, 6), (12, 3), (12,), (12,)],
    ]
    assert layer.all_weights[1][2] is layer.bias_ih_l0_reverse
    begun = [torch.ones(4, 3), torch.zeros(4, 3)]
    assert torch.equal(layer(x, begun)[0], layer(x, (*begun,))[0])
    assert torch.equal(layer(x, torch.stack(begun))[0], layer(x, begun)[0])
    batch = x.unsqueeze(1)
    assert refusal_kinds([
        lambda: layer(batch, torch.ones(2, 4, 1, 3)), lambda: layer(batch, (torch.ones(4, 1, 3),)),
        lambda: layer(batch, (torch.ones(4, 1, 3),) * 3), lambda: layer(batch, 3),
        lambda: layer(batch, begun),
        lambda: layer(x, torch.ones(2, 4, 1, 3)),
    ]) == 'TIoToo'  # fmt: skip


def modules_are_emptied():
    """The parameters stay the same leaves. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([[1.0, 2.0], [0.5, -1.0]], requires_grad=True)
    assert derivatives(x.softmax(0), x) == [
        [-0.47001, -0.09035, 0.47001, 0.09035],
        [-0.21642, -0.02956, 0.21642, 0.02956],
        [-0.44181, -0.01633, 0.44181, 0.01633],
    ]
    layer = torch.nn.Linear(2, 3)
    weight = layer.weight
    assert layer.to_empty(device="cpu") is layer
    assert (layer.weight is weight, weight.is_leaf, weight.requires_grad, tuple(weight.shape)) == (
        True,
        True,
        True,
        (3, 2),
    )
    form = torch.nn.Bilinear(2, 2, 1)
    form.weight.data.fill_(9.0)
    form.reset_parameters()
    assert (form.weight.detach().abs().max() < 0.8).item() is True
    assert refusal_kinds([lambda: layer.to_empty("cpu"), lambda: layer.to_empty()]) == "TT"
