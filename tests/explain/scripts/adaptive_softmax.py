"""A language model with a clustered softmax, and a profile of its second step."""

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function

torch.manual_seed(0)
vocabulary, width = 24, 8


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.softmax = nn.AdaptiveLogSoftmaxWithLoss(width, vocabulary, cutoffs=[4, 12], div_value=2.0)

    def forward(self, tokens, targets):
        states, _ = self.rnn(self.embedding(tokens))
        return self.softmax(states.flatten(0, 1), targets.flatten())


model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
text = torch.tensor([[0, 3, 5, 20, 1], [13, 2, 2, 7, 0]])
tokens, targets = text[:, :-1], text[:, 1:]

for step in range(2):
    optimizer.zero_grad()
    out = model(tokens, targets)
    out.loss.backward()
    optimizer.step()

with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
    with record_function("evaluation"), torch.no_grad():
        states, _ = model.rnn(model.embedding(tokens))
        scores = model.softmax.log_prob(states[0])
        guesses = model.softmax.predict(states[0])
    prof.step()
total = scores.exp().sum(1)
events = len(prof.key_averages().table(sort_by="cpu_time_total")) > 0
