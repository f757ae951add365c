"""Arguments of the functions of layers that are refused, and with which kinds of errors."""

import torch

from specs.cases._measures import error_kinds, graded, wave


def functions_of_layers_refuse_arguments():
    """Convolutions, pools, norms and images that do not fit. Rule: op/derivatives-beyond-programs."""
    f = torch.nn.functional
    x, w = wave(1, 2, 4), wave(2, 2, 2)
    y, places = wave(1, 1, 3, 3), torch.zeros(1, 2, 4, dtype=torch.int64)
    assert graded(f.conv1d(x, w), x, w) == [(1, 2, 3), -44.0007, -335.4381, -277.465]
    assert (
        error_kinds(
            [
                lambda: f.conv1d(x, w, stride=0),
                lambda: f.conv1d(x, w, stride=-1),
                lambda: f.conv1d(x, w, padding=-1),
                lambda: f.conv1d(x, w, dilation=0),
                lambda: f.conv1d(x, w, groups=0),
                lambda: f.conv1d(x, w, groups=2),
                lambda: f.conv1d(x, w, stride=(1, 1)),
                lambda: f.conv1d(x, w, padding="least"),
                lambda: f.conv1d(x, w, stride=2, padding="same"),
                lambda: f.conv1d(x, w[0]),
                lambda: f.conv1d(x[0, 0], w),
                lambda: f.conv1d(x, w[:, :1]),
                lambda: f.conv1d(x, wave(2, 2, 5)),
                lambda: f.conv1d(x, w, wave(3)),
                lambda: f.conv1d(x, w.float()),
                lambda: f.conv1d(x, w, wave(2).float()),
                lambda: f.conv2d(x, w),
                lambda: f.conv1d(x, w, padding=(1, 1)),
                lambda: f.conv_transpose1d(x, w, output_padding=1),
                lambda: f.conv_transpose1d(x, w, output_padding=-1, stride=2),
                lambda: f.conv_transpose1d(x, w, stride=0),
                lambda: f.conv_transpose1d(x, wave(3, 1, 1)),
                lambda: f.conv_transpose1d(x, w, wave(3)),
                lambda: f.conv_transpose1d(x, w, dilation=0),
                lambda: f.conv_transpose1d(x, w, padding=4),
                lambda: f.max_pool1d(x, 5),
                lambda: f.max_pool1d(x, 0),
                lambda: f.max_pool1d(x, 2, 0),
                lambda: f.max_pool1d(x, 2, padding=2),
                lambda: f.max_pool1d(x, 2, padding=-1),
                lambda: f.max_pool1d(x, 2, dilation=0),
                lambda: f.avg_pool1d(x, 5),
                lambda: f.avg_pool1d(x, 2, padding=2),
                lambda: f.avg_pool2d(y, 2, divisor_override=0),
                lambda: f.max_pool2d(x[0, 0], 2),
                lambda: f.avg_pool2d(y, (2, 2, 2)),
                lambda: f.adaptive_avg_pool1d(x, (2, 2)),
                lambda: f.adaptive_max_pool2d(y, -1),
                lambda: f.max_unpool1d(x, places, 2, output_size=(3,)),
                lambda: f.max_unpool1d(x, places, 2, output_size=(1, 2, 3, 4)),
                lambda: f.max_unpool1d(x, places + 99, 2),
                lambda: f.max_unpool1d(x, places[:, :1], 2),
            ]
        )
        == "ooooooooooooooooooooooooooooooooooooooVVoo"
    )
    assert (
        error_kinds(
            [
                lambda: f.interpolate(x),
                lambda: f.interpolate(x, 2, 2),
                lambda: f.interpolate(x, 2, mode="bilinear"),
                lambda: f.interpolate(y, 2, mode="linear"),
                lambda: f.interpolate(x, 2, align_corners=True),
                lambda: f.interpolate(x[0], 2),
                lambda: f.interpolate(x, 2, mode="least"),
                lambda: f.interpolate(x, (2, 2)),
                lambda: f.interpolate(y, scale_factor=(2, 2, 2)),
                lambda: f.interpolate(x, 2, mode="linear", antialias=True),
                lambda: f.interpolate(y, 2, mode="nearest", antialias=True),
                lambda: f.grid_sample(y, wave(1, 2, 2, 2), "least"),
                lambda: f.grid_sample(y, wave(1, 2, 2, 2), padding_mode="least"),
                lambda: f.grid_sample(y, wave(1, 2, 2, 3)),
                lambda: f.grid_sample(y, wave(1, 2, 2)),
                lambda: f.grid_sample(y, wave(2, 2, 2, 2)),
                lambda: f.affine_grid(wave(1, 2, 2), (1, 1, 2, 2)),
                lambda: f.affine_grid(torch.ones(1, 2, 3, dtype=torch.int64), (1, 1, 2, 2)),
                lambda: f.affine_grid(wave(1, 2, 3), (1, 1, 2)),
                lambda: f.pad(x, (1,)),
                lambda: f.pad(x, (9, 9), "reflect"),
                lambda: f.pad(x, (1, 1), "least"),
                lambda: f.pad(x, (-5, 0)),
                lambda: f.pad(x, (1, 1, 1, 1, 1, 1, 1, 1)),
                lambda: f.pad(x, (5, 0), "circular"),
                lambda: f.layer_norm(x, (3,)),
                lambda: f.layer_norm(x, (4,), wave(3)),
                lambda: f.layer_norm(x, ()),
                lambda: f.group_norm(x, 3),
                lambda: f.group_norm(x, 2, wave(3)),
                lambda: f.batch_norm(x, None, None),
                lambda: f.batch_norm(x, wave(3), wave(2)),
                lambda: f.batch_norm(x, None, None, wave(3), training=True),
                lambda: f.instance_norm(x[:, :, :1]),
                lambda: f.instance_norm(x, use_input_stats=False),
                lambda: f.local_response_norm(x[0, 0], 2),
                lambda: f.rms_norm(x, (3,)),
                lambda: f.linear(x, wave(2, 3)),
                lambda: f.bilinear(x, x[..., :2], wave(1, 4, 3)),
                lambda: f.embedding(torch.tensor([3]), wave(3, 2)),
                lambda: f.embedding(torch.tensor([1.0]), wave(3, 2)),
                lambda: f.embedding(torch.tensor([1]), wave(3, 2), padding_idx=4),
                lambda: f.one_hot(torch.tensor([1.0])),
                lambda: f.one_hot(torch.tensor([-1])),
                lambda: f.one_hot(torch.tensor([3]), 2),
                lambda: f.dropout(x, 2.0),
                lambda: f.alpha_dropout(x, -1.0),
                lambda: f.dropout(places),
                lambda: f.rrelu(places),
                lambda: f.glu(wave(3)),
                lambda: f.softmax(x, 3),
                lambda: f.normalize(x, dim=4),
                lambda: f.cosine_similarity(x, x[..., :3]),
                lambda: f.pixel_shuffle(x, 2),
                lambda: f.fold(x, (2, 2), 2),
                lambda: f.unfold(x, 2),
            ]
        )
        == "VVNNVNNVVVVVVoooVVNooNoooooooooooVoVoooIoooooVVoNoIIooo-"
    )
