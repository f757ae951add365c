"""Refusals of windows: convolutions, pools, images and folds whose sizes do not fit."""

import torch

from specs.cases._measures import derivatives, refusal_kinds, wave


def convolutions_and_pools_need_windows_that_fit():
    """Channels, groups, strides and kernels. Rule: op/derivatives-beyond-programs."""
    f = torch.nn.functional
    x = wave(1, 2, 4)
    i = wave(1, 2, 4, 4)
    w = wave(2, 2, 3)
    assert (
        refusal_kinds(
            [
                lambda: f.conv1d(x, wave(2, 1, 3)),
                lambda: f.conv1d(x, w, groups=2),
                lambda: f.conv1d(x, w, groups=0),
                lambda: f.conv1d(x, w, groups=3),
                lambda: f.conv1d(x, wave(3, 1, 3), groups=2),
                lambda: f.conv1d(x, wave(2, 2, 5)),
                lambda: f.conv1d(x, w, wave(3)),
                lambda: f.conv1d(x, w, stride=0),
                lambda: f.conv1d(x, w, padding=-1),
                lambda: f.conv1d(x, w, dilation=0),
                lambda: f.conv1d(x, w, padding="most"),
                lambda: f.conv1d(x, w, padding="same", stride=2),
                lambda: f.conv1d(x, w, stride=(1, 1)),
                lambda: f.conv1d(x[0, 0], w),
                lambda: f.conv1d(x, w[0]),
                lambda: f.conv1d(x, w.float()),
                lambda: f.conv2d(x, w),
                lambda: f.conv2d(i, w),
                lambda: f.conv_transpose1d(x, wave(3, 2, 3)),
                lambda: f.conv_transpose1d(x, w, output_padding=2),
                lambda: f.conv_transpose1d(x, w, output_padding=-1),
                lambda: f.conv_transpose1d(x, w, stride=0),
                lambda: f.conv_transpose1d(x, w, groups=3),
                lambda: torch.nn.Conv1d(2, 3, 1, groups=2),
                lambda: torch.nn.Conv1d(3, 2, 1, groups=2),
                lambda: torch.nn.Conv1d(2, 2, 1, groups=0),
                lambda: torch.nn.Conv1d(2, 2, 1, padding_mode="mirror"),
                lambda: torch.nn.Conv1d(2, 2, 1, padding="most"),
                lambda: torch.nn.Conv1d(2, 2, 1, padding="same", stride=2),
                lambda: torch.nn.ConvTranspose1d(2, 2, 1, padding_mode="reflect"),
                lambda: torch.nn.ConvTranspose1d(2, 2, 2)(x.float(), output_size=(9,)),
            ]
        )
        == "oooooooooooooooooooooooVVVVVVVV"
    )
    assert (
        refusal_kinds(
            [
                lambda: f.max_pool1d(x, 5),
                lambda: f.max_pool1d(x, 0),
                lambda: f.max_pool1d(x, 2, 0),
                lambda: f.max_pool1d(x, 2, padding=2),
                lambda: f.max_pool1d(x, 2, padding=-1),
                lambda: f.max_pool1d(x, 2, dilation=0),
                lambda: f.max_pool1d(x, (2, 2)),
                lambda: f.max_pool1d(x[0, 0], 2),
                lambda: f.max_pool2d(x[0], 2),
                lambda: f.max_pool2d(i, 5),
                lambda: f.max_pool2d(i, 0),
                lambda: f.max_pool2d(i, 2, 0),
                lambda: f.max_pool2d(i, 2, padding=2),
                lambda: f.max_pool2d(i, (2, 2, 2)),
                lambda: f.max_pool2d(i, 2, dilation=0),
                lambda: f.max_pool3d(i, 5),
                lambda: f.max_pool3d(x, 2),
                lambda: f.avg_pool1d(x, 5),
                lambda: f.avg_pool1d(x, 2, 0),
                lambda: f.avg_pool1d(x, 2, padding=2),
                lambda: f.avg_pool1d(x[0, 0], 2),
                lambda: f.avg_pool2d(i, 5),
                lambda: f.avg_pool2d(i, 0),
                lambda: f.avg_pool2d(i, 2, padding=2),
                lambda: f.avg_pool2d(i, 2, divisor_override=0),
                lambda: f.avg_pool3d(i, 5),
                lambda: f.avg_pool3d(x, 2),
                lambda: f.lp_pool1d(x, 2, 5),
                lambda: f.lp_pool2d(i, 2, 5),
                lambda: f.adaptive_avg_pool1d(x, -1),
                lambda: f.adaptive_avg_pool1d(x, (1, 1)),
                lambda: f.adaptive_avg_pool1d(x[0, 0], 1),
                lambda: f.adaptive_avg_pool2d(i, (1, -1)),
                lambda: f.adaptive_avg_pool2d(x[0], 1),
                lambda: f.adaptive_avg_pool3d(x, 1),
                lambda: f.adaptive_max_pool1d(x, -1),
                lambda: f.adaptive_max_pool1d(x[0, 0], 1),
                lambda: f.adaptive_max_pool2d(x[0], 1),
                lambda: f.adaptive_max_pool2d(i, (1, 1, 1)),
                lambda: f.adaptive_max_pool3d(x, 1),
                lambda: f.fractional_max_pool2d(i, 2),
                lambda: f.fractional_max_pool2d(i, 2, output_size=4),
                lambda: f.fractional_max_pool2d(i, 2, output_ratio=1.5),
                lambda: f.max_unpool1d(x, torch.zeros(1, 2, 3, dtype=torch.long), 2),
                lambda: f.max_unpool1d(x, torch.zeros(1, 2, 4), 2),
                lambda: f.max_unpool1d(x, torch.full((1, 2, 4), 99), 2),
                lambda: f.max_unpool1d(x, torch.zeros(1, 2, 4, dtype=torch.long), 2, output_size=(20,)),
                lambda: f.max_unpool2d(x, torch.zeros(1, 2, 4, dtype=torch.long), 2, output_size=(1, 2, 4)),
            ]
        )
        == "ooooooooooooooooooooooooooooooooo--oooooVoToooVV"
    )
    assert derivatives(f.conv1d(x, w), x) == [
        [7.8091, 19.18237, 12.53522, 2.10538, -4.15087, -15.33161, -18.91433, -9.13532],
        [52.54619, 203.08002, 322.11098, 285.74204],
    ]


def images_and_folds_need_sizes_that_fit():
    """Channels that divide, sizes or scales, known words. Rule: op/derivatives-beyond-programs."""
    f = torch.nn.functional
    x = wave(1, 4, 2)
    i = wave(1, 4, 2, 2)
    g = torch.zeros(1, 2, 2, 2, dtype=torch.float64)
    assert (
        refusal_kinds(
            [
                lambda: f.pixel_shuffle(i, 3),
                lambda: f.pixel_shuffle(i, 0),
                lambda: f.pixel_shuffle(x[0], 2),
                lambda: f.pixel_unshuffle(i, 3),
                lambda: f.pixel_unshuffle(i, 0),
                lambda: f.pixel_unshuffle(x[0], 2),
                lambda: f.channel_shuffle(i, 3),
                lambda: f.channel_shuffle(i, 0),
                lambda: f.channel_shuffle(x[0], 2),
                lambda: f.interpolate(x),
                lambda: f.interpolate(x, 4, 2.0),
                lambda: f.interpolate(x, (4, 4)),
                lambda: f.interpolate(x, scale_factor=(2.0, 2.0)),
                lambda: f.interpolate(x, 0),
                lambda: f.interpolate(x, 4, mode="sharp"),
                lambda: f.interpolate(x, 4, mode="bilinear"),
                lambda: f.interpolate(i, 4, mode="linear"),
                lambda: f.interpolate(i, 4, mode="trilinear"),
                lambda: f.interpolate(x, 4, mode="bicubic"),
                lambda: f.interpolate(x, 4, align_corners=True),
                lambda: f.interpolate(x, 4, mode="linear", antialias=True),
                lambda: f.interpolate(i, 4, recompute_scale_factor=True),
                lambda: f.interpolate(x[0], 4),
                lambda: f.grid_sample(i, g[0]),
                lambda: f.grid_sample(i, g.float()),
                lambda: f.grid_sample(i, g[..., :1]),
                lambda: f.grid_sample(i, torch.cat([g, g]), align_corners=True),
                lambda: f.grid_sample(i, g, mode="sharp"),
                lambda: f.grid_sample(i, g, padding_mode="most"),
                lambda: f.grid_sample(x, g),
                lambda: f.affine_grid(g, (1, 1, 2, 2)),
                lambda: f.affine_grid(torch.ones(1, 2, 3), (1, 1, 2)),
                lambda: f.affine_grid(torch.ones(1, 2, 3), (1, 1, 0, 2)),
                lambda: f.affine_grid(torch.ones(1, 2, 3, dtype=torch.long), (1, 1, 2, 2)),
                lambda: f.affine_grid(torch.ones(1, 3, 3), (1, 1, 2, 2)),
                lambda: f.affine_grid(torch.ones(2, 2, 3), (1, 1, 2, 2)),
                lambda: f.unfold(x, 1),
                lambda: f.unfold(i, 3),
                lambda: f.unfold(i, 0),
                lambda: f.unfold(i, 1, stride=0),
                lambda: f.unfold(i, 1, dilation=0),
                lambda: f.unfold(i, 1, padding=-1),
                lambda: f.unfold(i, (1, 1, 1)),
                lambda: f.fold(x, 3, 2),
                lambda: f.fold(x, 2, 0),
                lambda: f.fold(x, 2, 2, stride=0),
                lambda: f.fold(x, 2, 2, dilation=0),
                lambda: f.fold(x, 2, 2, padding=-1),
                lambda: f.fold(x, (2, 2, 2), 2),
                lambda: f.fold(i, 2, 2),
                lambda: f.fold(x[:, :3], 2, 2),
                lambda: x.unfold(2, 3, 1),
                lambda: x.unfold(2, 1, 0),
                lambda: x.unfold(3, 1, 1),
                lambda: x.unfold(2, -1, 1),
            ]
        )
        == "oooooooooVVVVoNNNNNVVVNooooVVoVNVVVo-ooooooooooooooooIo"
    )
    assert derivatives(f.interpolate(x, 3, mode="linear"), x) == [
        [2.0, 4.0, 6.5, 8.5, 11.0, 13.0, 15.5, 17.5],
        [4.0, 6.0, 8.0, 13.0, 15.0, 17.0, 22.0, 24.0, 26.0, 31.0, 33.0, 35.0],
    ]


def spectra_need_windows_that_fit():
    """A window no longer than the transform, of its own kind. Rule: op/derivatives-beyond-programs."""
    x = wave(8)
    c = torch.complex(x.detach(), x.detach())
    s = torch.stft(x.detach(), 4, return_complex=True)
    one = torch.ones(4, dtype=torch.float64)
    assert (
        refusal_kinds(
            [
                lambda: torch.stft(x, 4, win_length=5, return_complex=True),
                lambda: torch.stft(x, 4, win_length=0, return_complex=True),
                lambda: torch.stft(x, 4, window=torch.ones(3), return_complex=True),
                lambda: torch.stft(x, 4, hop_length=0, return_complex=True),
                lambda: torch.stft(x, 16, center=False, return_complex=True),
                lambda: torch.stft(x, 32, return_complex=True),
                lambda: torch.stft(x, 0, return_complex=True),
                lambda: torch.stft(x.reshape(2, 2, 2), 4, return_complex=True),
                lambda: torch.stft(c, 4, onesided=True, return_complex=True),
                lambda: torch.stft(c, 4),
                lambda: torch.stft(x, 4, pad_mode="mirror", return_complex=True),
                lambda: torch.stft(
                    x, 4, window=torch.ones(4, dtype=torch.complex128), onesided=True, return_complex=True
                ),
                lambda: torch.istft(s, 4),
                lambda: torch.istft(s, 4, window=one),
                lambda: torch.istft(s, 4, window=one * 0),
                lambda: torch.istft(s, 4, window=one, win_length=5),
                lambda: torch.istft(s, 4, window=one, hop_length=5),
                lambda: torch.istft(s, 8),
                lambda: torch.istft(s, 4, onesided=False),
                lambda: torch.istft(s, 4, return_complex=True),
                lambda: torch.istft(s[:, :0], 4),
                lambda: torch.istft(s, 4, center=False),
                lambda: torch.istft(s, 4, length=99),
                lambda: torch.hann_window(-1),
                lambda: torch.hann_window(3, dtype=torch.long),
                lambda: torch.kaiser_window(-2),
            ]
        )
        == "ooooooooo-No--ooooooo--ooo"
    )
    assert derivatives(torch.view_as_real(torch.stft(x, 4, return_complex=True))[..., 0], x) == [
        [28.0, 29.0, 48.0, 22.0, 26.0, 12.0, 34.0, -19.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [
            268.0,
            268.0,
            254.0,
            250.0,
            216.0,
            188.0,
            106.0,
            122.0,
            122.0,
            40.0,
            0.0,
            -40.0,
            14.0,
            44.0,
            20.0,
            -16.0,
            62.0,
            0.0,
            36.0,
            -36.0,
            50.0,
            -46.0,
            80.0,
            -52.0,
            134.0,
            -150.0,
            150.0,
        ],
    ]
