"""The texts of modules and optimizers, as people read them."""

import torch

from specs.cases._measures import graded, wave


def modules_tell_their_settings():
    """Layer by layer; those of one kind that follow one another are counted in lists.

    Rule: op/derivatives-beyond-programs.
    """
    n = torch.nn
    x = wave(2, 2)
    assert graded(n.Softmax(1)(x), x) == [(2, 2), 4.0273, 0.0269]
    assert [
        repr(m)
        for m in (
            n.Linear(2, 3),
            n.Linear(2, 3, bias=False),
            n.ReLU(),
            n.ReLU(True),
            n.Identity(),
            n.Flatten(),
            n.Unflatten(1, (2, 3)),
        )
    ] == [
        "Linear(in_features=2, out_features=3, bias=True)",
        "Linear(in_features=2, out_features=3, bias=False)",
        "ReLU()",
        "ReLU(inplace=True)",
        "Identity()",
        "Flatten(start_dim=1, end_dim=-1)",
        "Unflatten(dim=1, unflattened_size=(2, 3))",
    ]
    assert [
        repr(m)
        for m in (
            n.Conv1d(1, 2, 3),
            n.Conv2d(2, 2, 1, 2, 1, 2, 2),
            n.Conv1d(1, 1, 1, bias=False),
            n.Conv1d(1, 1, 1, padding="same"),
            n.ConvTranspose1d(1, 1, 2),
            n.ConvTranspose2d(1, 1, 2, 2, 1, 1),
            n.Conv1d(1, 1, 3, padding=1, padding_mode="circular"),
        )
    ] == [
        "Conv1d(1, 2, kernel_size=(3,), stride=(1,))",
        "Conv2d(2, 2, kernel_size=(1, 1), stride=(2, 2), padding=(1, 1), dilation=(2, 2), groups=2)",
        "Conv1d(1, 1, kernel_size=(1,), stride=(1,), bias=False)",
        "Conv1d(1, 1, kernel_size=(1,), stride=(1,), padding=same)",
        "ConvTranspose1d(1, 1, kernel_size=(2,), stride=(1,))",
        "ConvTranspose2d(1, 1, kernel_size=(2, 2), stride=(2, 2), padding=(1, 1), output_padding=(1, 1))",
        "Conv1d(1, 1, kernel_size=(3,), stride=(1,), padding=(1,), padding_mode=circular)",
    ]
    assert [
        repr(m)
        for m in (
            n.RMSNorm(2),
            n.LocalResponseNorm(2),
        )
    ] == [
        "RMSNorm((2,), eps=None, elementwise_affine=True)",
        "LocalResponseNorm(2, alpha=0.0001, beta=0.75, k=1.0)",
    ]
    assert [
        repr(m)
        for m in (
            n.Dropout(),
            n.Dropout2d(0.25, True),
            n.Embedding(3, 2),
            n.Embedding(3, 2, 0, 1.0, 1.0),
            n.EmbeddingBag(3, 2),
            n.EmbeddingBag(3, 2, mode="sum", padding_idx=1),
        )
    ] == [
        "Dropout(p=0.5, inplace=False)",
        "Dropout2d(p=0.25, inplace=True)",
        "Embedding(3, 2)",
        "Embedding(3, 2, padding_idx=0, max_norm=1.0, norm_type=1.0)",
        "EmbeddingBag(3, 2, mode='mean')",
        "EmbeddingBag(3, 2, mode='sum', padding_idx=1)",
    ]
    assert [
        repr(m)
        for m in (
            n.MaxPool1d(2),
            n.MaxPool2d(2, 1, 1, 2, True),
            n.AvgPool1d(2),
            n.AvgPool2d(3, 2),
            n.AdaptiveAvgPool1d(2),
            n.LPPool1d(2, 3),
            n.MaxUnpool1d(2),
        )
    ] == [
        "MaxPool1d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)",
        "MaxPool2d(kernel_size=2, stride=1, padding=1, dilation=2, ceil_mode=False)",
        "AvgPool1d(kernel_size=(2,), stride=(2,), padding=(0,))",
        "AvgPool2d(kernel_size=3, stride=2, padding=0)",
        "AdaptiveAvgPool1d(output_size=2)",
        "LPPool1d(norm_type=2, kernel_size=3, stride=None, ceil_mode=False)",
        "MaxUnpool1d(kernel_size=(2,), stride=(2,), padding=(0,))",
    ]
    assert [
        repr(m)
        for m in (
            n.RNN(1, 2),
            n.LSTM(1, 2, 2, bidirectional=True, batch_first=True),
            n.GRU(1, 2, bias=False, dropout=0.0),
            n.RNNCell(1, 2),
            n.LSTMCell(1, 2, False),
            n.RNNCell(1, 2, nonlinearity="relu"),
        )
    ] == [
        "RNN(1, 2)",
        "LSTM(1, 2, num_layers=2, batch_first=True, bidirectional=True)",
        "GRU(1, 2, bias=False)",
        "RNNCell(1, 2)",
        "LSTMCell(1, 2, bias=False)",
        "RNNCell(1, 2, nonlinearity=relu)",
    ]
    assert [
        repr(m)
        for m in (
            n.Softmax(1),
            n.LeakyReLU(),
            n.ELU(),
            n.Threshold(1.0, 2.0),
            n.Hardtanh(),
            n.GELU(),
            n.PReLU(),
            n.Softplus(),
            n.LogSoftmax(0),
            n.CosineSimilarity(),
            n.PairwiseDistance(),
            n.GLU(),
        )
    ] == [
        "Softmax(dim=1)",
        "LeakyReLU(negative_slope=0.01)",
        "ELU(alpha=1.0)",
        "Threshold(threshold=1.0, value=2.0)",
        "Hardtanh(min_val=-1.0, max_val=1.0)",
        "GELU(approximate='none')",
        "PReLU(num_parameters=1)",
        "Softplus(beta=1.0, threshold=20.0)",
        "LogSoftmax(dim=0)",
        "CosineSimilarity()",
        "PairwiseDistance()",
        "GLU(dim=-1)",
    ]
    assert [
        repr(m)
        for m in (
            n.Upsample(2),
            n.Upsample(scale_factor=2, mode="bilinear"),
            n.PixelShuffle(2),
            n.ZeroPad2d(1),
            n.ConstantPad1d(1, 2.0),
            n.ReflectionPad1d((1, 2)),
            n.Fold(2, 1),
            n.Unfold(2),
            n.Bilinear(1, 2, 3),
        )
    ] == [
        "Upsample(size=2, mode='nearest')",
        "Upsample(scale_factor=2.0, mode='bilinear')",
        "PixelShuffle(upscale_factor=2)",
        "ZeroPad2d((1, 1, 1, 1))",
        "ConstantPad1d(padding=(1, 1), value=2.0)",
        "ReflectionPad1d((1, 2))",
        "Fold(output_size=2, kernel_size=1, dilation=1, padding=0, stride=1)",
        "Unfold(kernel_size=2, dilation=1, padding=0, stride=1)",
        "Bilinear(in1_features=1, in2_features=2, out_features=3, bias=True)",
    ]
    assert [
        repr(m)
        for m in (
            n.MSELoss(),
            n.CrossEntropyLoss(),
            n.HuberLoss(),
            n.CTCLoss(),
            n.ParameterList(),
            n.ModuleList(),
            n.ModuleDict(),
            n.Sequential(),
        )
    ] == [
        "MSELoss()",
        "CrossEntropyLoss()",
        "HuberLoss()",
        "CTCLoss()",
        "ParameterList()",
        "ModuleList()",
        "ModuleDict()",
        "Sequential()",
    ]
    assert repr(n.Sequential(n.Linear(1, 2), n.Sequential(n.ReLU(), n.Tanh()))).splitlines() == [
        "Sequential(",
        "  (0): Linear(in_features=1, out_features=2, bias=True)",
        "  (1): Sequential(",
        "    (0): ReLU()",
        "    (1): Tanh()",
        "  )",
        ")",
    ]
    assert repr(n.ModuleList([n.ReLU(), n.ReLU(), n.Tanh(), n.ReLU()])).splitlines() == [
        "ModuleList(",
        "  (0-1): 2 x ReLU()",
        "  (2): Tanh()",
        "  (3): ReLU()",
        ")",
    ]
    assert repr(n.ModuleDict({"a": n.ReLU(), "b": n.Linear(1, 1)})).splitlines() == [
        "ModuleDict(",
        "  (a): ReLU()",
        "  (b): Linear(in_features=1, out_features=1, bias=True)",
        ")",
    ]
    assert repr(n.ParameterList([torch.ones(2), torch.ones(1, 2)])).splitlines() == [
        "ParameterList(",
        "    (0): Parameter containing: [torch.float32 of size 2]",
        "    (1): Parameter containing: [torch.float32 of size 1x2]",
        ")",
    ]
    assert repr(n.ParameterDict({"a": torch.ones(2)})).splitlines() == [
        "ParameterDict(  (a): Parameter containing: [torch.FloatTensor of size 2])"
    ]
    assert repr(n.MultiheadAttention(2, 1)).splitlines() == [
        "MultiheadAttention(",
        "  (out_proj): NonDynamicallyQuantizableLinear(in_features=2, out_features=2, bias=True)",
        ")",
    ]


def norms_tell_whether_they_have_a_bias():
    """Each with a weight has one, unless it is left out. Rule: nn/norms-may-lack-a-bias."""
    n = torch.nn
    assert [
        repr(m)
        for m in (
            n.BatchNorm1d(2),
            n.LayerNorm(2),
            n.LayerNorm((2, 3), 0.5, False),
            n.GroupNorm(1, 2),
            n.InstanceNorm1d(2),
            n.GroupNorm(1, 2, bias=False),
        )
    ] == [
        "BatchNorm1d(2, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)",
        "LayerNorm((2,), eps=1e-05, elementwise_affine=True, bias=True)",
        "LayerNorm((2, 3), eps=0.5, elementwise_affine=False, bias=False)",
        "GroupNorm(1, 2, eps=1e-05, affine=True, bias=True)",
        "InstanceNorm1d(2, eps=1e-05, momentum=0.1, affine=False, bias=False, track_running_stats=False)",
        "GroupNorm(1, 2, eps=1e-05, affine=True, bias=False)",
    ]
    assert repr(n.TransformerEncoderLayer(2, 1, 3)).splitlines() == [
        "TransformerEncoderLayer(",
        "  (self_attn): MultiheadAttention(",
        "    (out_proj): NonDynamicallyQuantizableLinear(in_features=2, out_features=2, bias=True)",
        "  )",
        "  (linear1): Linear(in_features=2, out_features=3, bias=True)",
        "  (dropout): Dropout(p=0.1, inplace=False)",
        "  (linear2): Linear(in_features=3, out_features=2, bias=True)",
        "  (norm1): LayerNorm((2,), eps=1e-05, elementwise_affine=True, bias=True)",
        "  (norm2): LayerNorm((2,), eps=1e-05, elementwise_affine=True, bias=True)",
        "  (dropout1): Dropout(p=0.1, inplace=False)",
        "  (dropout2): Dropout(p=0.1, inplace=False)",
        ")",
    ]


def optimizers_tell_their_groups():
    """Each with the settings of all its groups, by name. Rule: op/derivatives-beyond-programs."""
    x = wave(2)
    assert graded(x.softmax(0), x) == [(2,), 1.0135, 0.0133]
    assert repr(torch.optim.SGD([x], lr=0.5, momentum=0.9)).splitlines() == [
        "SGD (",
        "Parameter Group 0",
        "    dampening: 0",
        "    differentiable: False",
        "    foreach: None",
        "    fused: None",
        "    lr: 0.5",
        "    maximize: False",
        "    momentum: 0.9",
        "    nesterov: False",
        "    weight_decay: 0",
        ")",
    ]
    o = torch.optim.Adam([{"params": [x], "lr": 0.5}, {"params": [wave(1)]}], weight_decay=0.1)
    assert repr(o).splitlines() == [
        "Adam (",
        "Parameter Group 0",
        "    amsgrad: False",
        "    betas: (0.9, 0.999)",
        "    capturable: False",
        "    decoupled_weight_decay: False",
        "    differentiable: False",
        "    eps: 1e-08",
        "    foreach: None",
        "    fused: None",
        "    lr: 0.5",
        "    maximize: False",
        "    weight_decay: 0.1",
        "",
        "Parameter Group 1",
        "    amsgrad: False",
        "    betas: (0.9, 0.999)",
        "    capturable: False",
        "    decoupled_weight_decay: False",
        "    differentiable: False",
        "    eps: 1e-08",
        "    foreach: None",
        "    fused: None",
        "    lr: 0.001",
        "    maximize: False",
        "    weight_decay: 0.1",
        ")",
    ]
