"""A transformer encoder on sequences: positional encoding, padding mask, warm-up schedule."""

import math

import torch
import torch.nn as nn

torch.manual_seed(0)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, dropout=0.1, max_len=50):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, d_model)
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(0))

    def forward(self, x):
        return self.dropout(x + self.pe[:, : x.size(1)])


class Model(nn.Module):
    def __init__(self, ntoken=9, d_model=8, nhead=2):
        super().__init__()
        self.d_model = d_model
        self.encoder = nn.Embedding(ntoken, d_model, padding_idx=0)
        self.pos = PositionalEncoding(d_model)
        layer = nn.TransformerEncoderLayer(d_model, nhead, dim_feedforward=16, dropout=0.1, batch_first=True)
        self.transformer = nn.TransformerEncoder(layer, num_layers=2)
        self.decoder = nn.Linear(d_model, 2)

    def forward(self, src):
        mask = src == 0
        x = self.pos(self.encoder(src) * math.sqrt(self.d_model))
        x = self.transformer(x, src_key_padding_mask=mask)
        x = x.masked_fill(mask.unsqueeze(-1), 0.0)
        return self.decoder(x.sum(1) / (~mask).sum(1, keepdim=True))


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
scheduler = torch.optim.lr_scheduler.LambdaLR(
    optimizer, lr_lambda=lambda step: 8**-0.5 * min((step + 1) ** -0.5, (step + 1) * 4**-1.5)
)
tokens = torch.tensor([[1, 2, 3, 0], [4, 5, 6, 7], [8, 1, 0, 0]])
labels = torch.tensor([0, 1, 0])

model.train()
for step in range(2):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(tokens), labels)
    loss.backward()
    optimizer.step()
    scheduler.step()
    print(step, scheduler.get_last_lr())

attention = nn.MultiheadAttention(8, 2, batch_first=True)
query = torch.randn(2, 3, 8)
causal = torch.triu(torch.ones(3, 3, dtype=torch.bool), diagonal=1)
out, weights = attention(query, query, query, attn_mask=causal)
print(out.shape, weights.shape, weights[0, 0, 1:].sum().item())
