"""A recurrent net trained on a sine by truncated backpropagation: the hidden state is detached between chunks."""

import torch
from torch import nn

torch.manual_seed(0)


class Recurrent(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.rnn = nn.RNN(1, hidden_size, nonlinearity="tanh")
        self.readout = nn.Linear(hidden_size, 1)

    def forward(self, x, hidden):
        output, hidden = self.rnn(x, hidden)
        return self.readout(output), hidden


def repackage(hidden):
    """Wrap hidden states in new tensors, to detach them from their history."""
    if isinstance(hidden, torch.Tensor):
        return hidden.detach()
    return tuple(repackage(h) for h in hidden)


wave = torch.sin(torch.linspace(0, 6, 25)).view(-1, 1, 1)
inputs, targets = wave[:-1], wave[1:]
model = Recurrent(6)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
criterion = nn.MSELoss()

hidden = torch.zeros(1, 1, 6)
losses = []
for start in range(0, len(inputs), 8):
    x, y = inputs[start : start + 8], targets[start : start + 8]
    hidden = repackage(hidden)
    optimizer.zero_grad()
    prediction, hidden = model(x, hidden)
    loss = criterion(prediction, y)
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), 1.0)
    optimizer.step()
    losses.append(loss.item())
print(len(losses), hidden.requires_grad, hidden.grad_fn is not None)
