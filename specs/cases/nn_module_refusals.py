"""Refusals of modules: names that are taken, settings out of range, states and data that do not fit."""

import torch

from specs.cases._measures import derivatives, filled, refusal_kinds


class _Bare(torch.nn.Module):
    """Assigns before it is a module."""

    def __init__(self, kind):
        self.x = kind


class _Moody(torch.nn.Module):
    """Has a state of its own that it cannot say."""

    def __init__(self, state):
        super().__init__()
        self.state = state


def modules_refuse_names_and_members_of_other_kinds():
    """Names are new strings without dots. Rule: op/derivatives-beyond-programs."""
    nn = torch.nn
    m = filled(nn.Linear(2, 1))
    x = torch.ones(1, 2, requires_grad=True)
    assert (
        refusal_kinds(
            [
                lambda: _Bare(nn.Parameter(torch.ones(1))),
                lambda: _Bare(nn.Linear(1, 1)),
                lambda: _Bare(1),
                lambda: m.register_parameter("", None),
                lambda: m.register_parameter("a.b", None),
                lambda: m.register_parameter(1, None),
                lambda: m.register_parameter("forward", None),
                lambda: m.register_parameter("weight", None),
                lambda: m.register_parameter("v", torch.ones(1)),
                lambda: m.register_parameter("v", m.weight * 2),
                lambda: m.register_buffer("", None),
                lambda: m.register_buffer("a.b", None),
                lambda: m.register_buffer(1, None),
                lambda: m.register_buffer("weight", None),
                lambda: m.register_buffer("b", 1.0),
                lambda: m.add_module("", None),
                lambda: m.add_module("a.b", None),
                lambda: m.add_module(1, None),
                lambda: m.add_module("weight", None),
                lambda: m.add_module("c", 1.0),
                lambda: setattr(m, "weight", torch.ones(1, 2)),
                lambda: setattr(m, "weight", 1.0),
                lambda: delattr(m, "nothing"),
                lambda: m.nothing,
                lambda: m.get_parameter("weight.data"),
                lambda: m.get_parameter("nothing"),
                lambda: m.get_parameter("training"),
                lambda: m.get_buffer("weight"),
                lambda: m.get_submodule("weight"),
                lambda: m.get_submodule("nothing"),
                lambda: m.set_submodule("", nn.Identity()),
                lambda: m.set_submodule("a.b", nn.Identity()),
                lambda: m(torch.ones(1, 3)),
                lambda: m(),
                lambda: m(x, x),
                lambda: m("x"),
                lambda: nn.Module()(x),
                lambda: nn.Module(1),
                lambda: nn.Module(width=1),
                lambda: m.to("nowhere"),
                lambda: m.to(torch.long),
                lambda: m.train("yes"),
                lambda: m.register_state_dict_post_hook(1),
                lambda: m.__setstate__({}),
            ]
        )
        == "AA-KKTK-TTKKTKTKKTKTTTAAAAAAAAVATTTTNTToTVA-"
    )
    assert (
        refusal_kinds(
            [
                lambda: nn.Sequential(1),
                lambda: nn.Sequential(m)[2],
                lambda: nn.Sequential(m)["0"],
                lambda: nn.Sequential(m).append(1),
                lambda: nn.Sequential(m).insert(3, m),
                lambda: nn.Sequential(m).insert(0, 1),
                lambda: nn.Sequential(m) * 0,
                lambda: nn.Sequential(m) * m,
                lambda: nn.Sequential(m) + m,
                lambda: nn.Sequential(m).extend(m),
                lambda: nn.Sequential(m).pop(1),
                lambda: nn.ModuleList([1]),
                lambda: nn.ModuleList([m])[1],
                lambda: nn.ModuleList([m]).extend(m),
                lambda: nn.ModuleList([m])(x),
                lambda: nn.ModuleDict({"a": 1}),
                lambda: nn.ModuleDict({"a": m})["b"],
                lambda: nn.ModuleDict({"a": m}).update(1),
                lambda: nn.ModuleDict({"a": m}).update([(1,)]),
                lambda: nn.ModuleDict({"a": m}).pop("b"),
                lambda: nn.ModuleDict({"a": m})(x),
                lambda: nn.ParameterList([m.weight])[1],
                lambda: nn.ParameterList([m.weight]).extend(1),
                lambda: nn.ParameterList([m.weight])(x),
                lambda: nn.ParameterDict({"a": m.weight})["b"],
                lambda: nn.ParameterDict({"a": m.weight}).update(1),
                lambda: nn.ParameterDict({"a": m.weight}).update([(1,)]),
                lambda: nn.ParameterDict({"a": m.weight})(x),
                lambda: nn.Parameter([1.0]),
                lambda: nn.Parameter(torch.tensor([1])),
                lambda: nn.Parameter(torch.tensor([1]), requires_grad=False),
                lambda: nn.Linear(-1, 1),
                lambda: nn.Linear(0, 1),
                lambda: nn.Flatten()(torch.ones(())),
                lambda: nn.Unflatten("a", 1),
                lambda: nn.Unflatten(0, 1.5),
                lambda: nn.Unflatten(0, (2, 2))(torch.ones(3)),
                lambda: nn.RNN(1, 1, nonlinearity="sin"),
                lambda: nn.RNN(1, 0),
                lambda: nn.RNN(1, 1.5),
                lambda: nn.RNN(1, 1, num_layers=0),
                lambda: nn.RNN(1, 1, dropout=2.0),
                lambda: nn.RNN(1, 1, batch_first=1),
                lambda: nn.LSTM(1, 1, proj_size=1),
                lambda: nn.LSTM(1, 2, proj_size=-1),
                lambda: nn.GRU(1, 1, proj_size=1),
                lambda: nn.RNN(1, 1)(torch.ones(2)),
                lambda: nn.RNN(1, 1)(torch.ones(2, 2)),
                lambda: nn.RNN(1, 1)(torch.ones(2, 1), torch.ones(1, 1, 1)),
                lambda: nn.LSTM(1, 1)(torch.ones(2, 1), torch.ones(1, 1)),
                lambda: nn.RNNCell(1, 1)(torch.ones(1, 1, 1)),
                lambda: nn.RNNCell(1, 1)(torch.ones(1, 1), torch.ones(1, 1, 1)),
                lambda: nn.RNNCell(1, 1)(torch.ones(1, 2)),
            ]
        )
        == "TITTIoVTVTITITNTKTVKNIToATVoAo-o-ITToVVTVVTVVVVooIVVo"
    )
    whole = filled(nn.Linear(2, 1, dtype=torch.float64))
    assert derivatives(whole(x.double()).exp(), x) == [
        [8.73489, 6.81985],
        [206.67961, 161.36711],
        [245.61705],
    ]


def states_and_data_have_to_fit():
    """Names, sizes and lengths. Rule: op/derivatives-beyond-programs."""
    nn, data = torch.nn, torch.utils.data
    m = filled(nn.Linear(2, 1))
    state = m.state_dict()
    x = torch.ones(1, 2, requires_grad=True)
    two = data.TensorDataset(torch.ones(2, 1), torch.zeros(2))
    assert (
        refusal_kinds(
            [
                lambda: m.load_state_dict(1),
                lambda: m.load_state_dict({}),
                lambda: m.load_state_dict({**state, "more": x}),
                lambda: m.load_state_dict({**state, "more": x}, strict=False),
                lambda: m.load_state_dict({**state, "weight": torch.ones(2, 2)}),
                lambda: m.load_state_dict({**state, "weight": torch.ones(2, 2)}, strict=False),
                lambda: m.load_state_dict({**state, "weight": 1.0}),
                lambda: m.load_state_dict({**state, 1: x}),
                lambda: _Moody(1).get_extra_state(),
                lambda: _Moody(1).set_extra_state(1),
                lambda: _Moody(1).load_state_dict({"_extra_state": 1}),
                lambda: nn.LazyLinear(1).weight.sum(),
                lambda: nn.LazyLinear(1).weight.shape,
                lambda: nn.LazyLinear(1).state_dict()["weight"].numel(),
                lambda: nn.LazyLinear(1).weight.share_memory_(),
                lambda: nn.LazyConv1d(1, 1)(torch.ones(1)),
                lambda: nn.LazyConv1d(1, 1, groups=2)(torch.ones(1, 3, 3)),
                lambda: torch.optim.SGD(nn.LazyLinear(1).parameters(), 0.1),
                lambda: nn.utils.clip_grad_norm_(m.weight, 1.0, error_if_nonfinite=True),
                lambda: nn.utils.clip_grad_norm_([], 1.0),
                lambda: nn.utils.clip_grad_value_([], 1.0),
                lambda: nn.utils.parameters_to_vector([]),
                lambda: nn.utils.parameters_to_vector([1.0]),
                lambda: nn.utils.vector_to_parameters([1.0], m.parameters()),
                lambda: nn.utils.vector_to_parameters(torch.ones(2), m.parameters()),
                lambda: nn.utils.remove_weight_norm(m),
                lambda: nn.utils.remove_spectral_norm(m),
                lambda: nn.utils.parametrize.remove_parametrizations(m, "weight"),
                lambda: nn.utils.parametrize.register_parametrization(m, "nothing", nn.Identity()),
                lambda: nn.utils.parametrize.register_parametrization(m, "weight", nn.Flatten(0)),
                lambda: nn.utils.parametrizations.orthogonal(m, "nothing"),
                lambda: nn.utils.parametrizations.orthogonal(m, orthogonal_map="perhaps"),
                lambda: nn.utils.rnn.pack_padded_sequence(torch.ones(2, 2), torch.tensor([1, 2])),
                lambda: nn.utils.rnn.pack_padded_sequence(torch.ones(2, 2), torch.tensor([2, 0])),
                lambda: nn.utils.rnn.pack_padded_sequence(torch.ones(2, 2), torch.tensor([[2, 1]])),
                lambda: nn.utils.rnn.pack_padded_sequence(torch.ones(2, 2), torch.tensor([2])),
                lambda: nn.utils.rnn.pack_sequence([]),
                lambda: nn.utils.rnn.pad_sequence([]),
                lambda: nn.utils.rnn.pad_sequence([torch.ones(1), torch.ones(1, 1)]),
                lambda: nn.utils.rnn.pad_sequence([torch.ones(1)], padding_side="middle"),
                lambda: nn.utils.rnn.unpad_sequence(torch.ones(2, 2), torch.tensor([1])),
            ]
        )
        == "Too-oooAoooVoVooV---oVAToVVVVVVVooooooooV"
    )
    assert (
        refusal_kinds(
            [
                lambda: data.TensorDataset(torch.ones(2), torch.ones(3)),
                lambda: data.StackDataset(),
                lambda: data.StackDataset(two, [1]),
                lambda: data.StackDataset(two, a=two),
                lambda: data.ConcatDataset([]),
                lambda: data.ConcatDataset([two])[2],
                lambda: data.ConcatDataset([two])[-3],
                lambda: data.ConcatDataset([data.ChainDataset([])]),
                lambda: list(data.ChainDataset([two])),
                lambda: data.Subset(two, [5])[0],
                lambda: data.random_split(two, [1, 2]),
                lambda: data.random_split(two, [0.5, 0.6]),
                lambda: data.random_split(two, [-0.5, 1.5]),
                lambda: data.Dataset()[0],
                lambda: len(data.Dataset()),
                lambda: iter(data.Sampler()),
                lambda: data.RandomSampler(two, num_samples=0),
                lambda: data.RandomSampler(two, replacement=1),
                lambda: data.RandomSampler([]),
                lambda: data.WeightedRandomSampler(torch.ones(2, 2), 1),
                lambda: data.WeightedRandomSampler([1.0], 0),
                lambda: data.WeightedRandomSampler([1.0], 1, replacement=1),
                lambda: data.BatchSampler(data.SequentialSampler(two), 0, False),
                lambda: data.BatchSampler(data.SequentialSampler(two), 1, 0),
                lambda: data.DataLoader(two, batch_size=0),
                lambda: data.DataLoader(two, num_workers=-1),
                lambda: data.DataLoader(two, timeout=-1),
                lambda: data.DataLoader(two, shuffle=True, sampler=data.SequentialSampler(two)),
                lambda: data.DataLoader(two, batch_size=2, batch_sampler=[[0]]),
                lambda: data.DataLoader(two, batch_size=None, drop_last=True),
                lambda: data.DataLoader(data.ChainDataset([]), shuffle=True),
                lambda: data.DataLoader(data.ChainDataset([]), sampler=[0]),
                lambda: data.DataLoader(data.ChainDataset([]), batch_sampler=[[0]]),
                lambda: data.DataLoader(two, prefetch_factor=2),
                lambda: data.DataLoader(two, persistent_workers=True),
                lambda: setattr(data.DataLoader(two), "batch_size", 2),
                lambda: data.default_collate([]),
                lambda: data.default_collate([object()]),
                lambda: data.default_collate([torch.ones(1), torch.ones(2)]),
                lambda: data.default_collate([[1], [1, 2]]),
                lambda: data.default_collate([{"a": 1}, {"b": 1}]),
            ]
        )
        == "oVVVoIVooIVVVNTNVTVVVVVVVVVVVVVVVVVVITooK"
    )
    assert derivatives(m.double()(x.double()).exp(), x) == [
        [17.14096, 17.14096],
        [1175.25012, 1175.25012],
        [1175.25016],
    ]
