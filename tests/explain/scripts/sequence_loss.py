"""A recogniser of sequences by CTC: convolution, both directions of a GRU, targets padded and in a row."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
T, N, C = 12, 3, 6
S = 4


class CRNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(5, 8, 3, padding=1)
        self.rnn = nn.GRU(8, 8, bidirectional=True)
        self.fc = nn.Linear(16, C)

    def forward(self, x):
        x = F.relu(self.conv(x))  # N, 8, T
        x = x.permute(2, 0, 1)  # T, N, 8
        x, _ = self.rnn(x)
        return self.fc(x).log_softmax(2)


model = CRNN()
ctc = nn.CTCLoss(blank=0, zero_infinity=True)
opt = torch.optim.RMSprop(model.parameters(), lr=1e-2)
images = torch.randn(N, 5, T)
targets = torch.randint(1, C, (N, S), dtype=torch.long)
input_lengths = torch.full((N,), T, dtype=torch.long)
target_lengths = torch.tensor([4, 3, 2], dtype=torch.long)
for step in range(3):
    log_probs = model(images)
    loss = ctc(log_probs, targets, input_lengths, target_lengths)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, round(loss.item(), 4))
flat = torch.cat([t[:n] for t, n in zip(targets, target_lengths)])
none = F.ctc_loss(model(images), flat, (T, T, T), (4, 3, 2), reduction="none")
none.sum().backward()
print(none.shape, none.grad_fn)
best = log_probs.argmax(2).t()
decoded = [[int(c) for c in torch.unique_consecutive(row) if c != 0] for row in best]
print(len(decoded))
