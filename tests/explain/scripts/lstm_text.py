"""A recurrent classifier of token sequences: embedding with padding, LSTM, gradient clipping."""

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

torch.manual_seed(0)

sentences = ["the cat sat", "a dog ran far away", "the dog sat", "a cat ran"]
labels = torch.tensor([0.0, 1.0, 0.0, 1.0])
words = sorted({word for sentence in sentences for word in sentence.split()})
vocabulary = {word: i + 1 for i, word in enumerate(words)}
encoded = [torch.tensor([vocabulary[w] for w in s.split()]) for s in sentences]
lengths = torch.tensor([len(s) for s in encoded])
padded = pad_sequence(encoded, batch_first=True, padding_value=0)


class Classifier(nn.Module):
    def __init__(self, vocab_size, embed_dim, hidden_dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim, padding_idx=0)
        self.lstm = nn.LSTM(embed_dim, hidden_dim, num_layers=2, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden_dim, 1)

    def forward(self, tokens, lengths):
        embedded = self.embedding(tokens)
        output, (hidden, cell) = self.lstm(embedded)
        mask = torch.arange(tokens.size(1)).unsqueeze(0) < lengths.unsqueeze(1)
        summed = (output * mask.unsqueeze(-1)).sum(dim=1)
        return self.out(summed / lengths.unsqueeze(1)).squeeze(1)


model = Classifier(len(vocabulary) + 1, 5, 4)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.RMSprop(model.parameters(), lr=0.01, alpha=0.9)

for step in range(2):
    optimizer.zero_grad()
    loss = criterion(model(padded, lengths), labels)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.25)
    optimizer.step()
    print(step, loss.item() > 0, norm.item() > 0)

print(model.embedding.weight.grad[0].abs().sum().item())
print(model.lstm)
