"""An encoder and a decoder of GRU cells with attention: teacher forcing, ignored padding, greedy decoding."""

import random

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
random.seed(0)
PAD, SOS, EOS, VOCAB, HIDDEN = 0, 1, 2, 7, 6


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, HIDDEN, padding_idx=PAD)
        self.gru = nn.GRU(HIDDEN, HIDDEN, batch_first=True)

    def forward(self, x):
        return self.gru(self.embedding(x))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, HIDDEN)
        self.attn = nn.Linear(2 * HIDDEN, 1)
        self.cell = nn.GRUCell(2 * HIDDEN, HIDDEN)
        self.out = nn.Linear(HIDDEN, VOCAB)

    def forward(self, token, hidden, memory):
        query = hidden.unsqueeze(1).repeat(1, memory.size(1), 1)
        scores = self.attn(torch.cat((query, memory), dim=-1))
        weights = F.softmax(scores, dim=1).permute(0, 2, 1)
        context = torch.bmm(weights, memory).squeeze(1)
        hidden = self.cell(torch.cat([self.embedding(token), context], 1), hidden)
        return F.log_softmax(self.out(hidden), dim=1), hidden


encoder, decoder = Encoder(), Decoder()
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.01)
source = torch.tensor([[3, 4, 5, EOS], [6, 3, EOS, PAD]])
target = torch.tensor([[5, 4, 3, EOS], [3, 6, EOS, PAD]])
criterion = nn.NLLLoss(ignore_index=PAD, reduction="mean")

for step in range(2):
    optimizer.zero_grad()
    memory, hidden = encoder(source)
    hidden = hidden.squeeze(0)
    token = torch.full((2,), SOS, dtype=torch.long)
    loss = torch.zeros(())
    for t in range(target.size(1)):
        log_probs, hidden = decoder(token, hidden, memory)
        loss = loss + criterion(log_probs, target[:, t]) if (target[:, t] != PAD).any() else loss
        token = target[:, t] if random.random() < 0.5 else log_probs.topk(1)[1].squeeze(1).detach()
    loss.backward()
    nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
    optimizer.step()
    print(step, loss.item() > 0)
print(encoder.embedding.weight.grad[PAD].abs().sum())
