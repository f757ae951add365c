"""Features by Fourier transforms: a learnt frequency, a spectral layer, the spectrum of images."""

import math

import torch
import torch.nn as nn

torch.manual_seed(0)
t = torch.linspace(0, 1, 32)
freq = torch.tensor(5.0, requires_grad=True)
signal = torch.sin(2 * math.pi * freq * t)
spectrum = torch.fft.rfft(signal)
power = spectrum.abs() ** 2
loss = (power * torch.arange(17)).sum() / power.sum()
loss.backward()
print(freq.grad)


class FNOBlock(nn.Module):
    def __init__(self, channels, modes):
        super().__init__()
        self.modes = modes
        self.weight = nn.Parameter(torch.randn(channels, channels, modes, dtype=torch.cfloat) / channels)
        self.w = nn.Conv1d(channels, channels, 1)

    def forward(self, x):
        ft = torch.fft.rfft(x)
        out = torch.zeros_like(ft)
        out[:, :, : self.modes] = torch.einsum("bim,iom->bom", ft[:, :, : self.modes], self.weight)
        return torch.fft.irfft(out, n=x.size(-1)) + self.w(x)


model = nn.Sequential(
    nn.Conv1d(1, 4, 1), FNOBlock(4, 5), nn.GELU(), FNOBlock(4, 5), nn.GELU(), nn.Conv1d(4, 1, 1)
)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
x = torch.randn(2, 1, 16)
y = torch.cumsum(x, -1) / 16
for i in range(2):
    opt.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    print(i, round(loss.item(), 4))

img = torch.randn(2, 3, 8, 8, requires_grad=True)
f = torch.fft.fftshift(torch.fft.fft2(img, norm="ortho"))
mag = torch.log1p(f.abs())
mag.mean().backward()
print(img.grad.shape, f.dtype)
back = torch.fft.ifft(torch.fft.fft(x)).real
print(torch.allclose(back, x, atol=1e-5), torch.fft.rfftfreq(8), torch.fft.fftfreq(4, d=0.5))
window = torch.hann_window(8)
print(window)
