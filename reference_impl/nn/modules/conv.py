"""``torch.nn.modules.conv``: the base by which scripts find convolutions."""

from reference_impl.nn.convolutions import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d

_ConvNd = Conv2d.__mro__[2]

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d"]
