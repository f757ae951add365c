"""Advantage actor-critic with a Gaussian policy: two heads, an entropy bonus, a detached advantage."""

import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(3)


class ActorCritic(nn.Module):
    def __init__(self, obs=3, act=1):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, 8), nn.Tanh())
        self.mu = nn.Linear(8, act)
        self.log_std = nn.Parameter(torch.zeros(act))
        self.value = nn.Linear(8, 1)

    def forward(self, x):
        h = self.body(x)
        dist = Normal(self.mu(h), self.log_std.exp().expand_as(self.mu(h)))
        return dist, self.value(h)


model = ActorCritic()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
gamma = 0.95

for update in range(2):
    log_probs, values, rewards, masks = [], [], [], []
    entropy = 0
    state = torch.randn(2, 3)
    for step in range(3):
        dist, value = model(state)
        action = dist.sample()
        reward = -(action.squeeze(1) ** 2)
        entropy += dist.entropy().mean()
        log_probs.append(dist.log_prob(action))
        values.append(value)
        rewards.append(reward.unsqueeze(1))
        masks.append(torch.ones(2, 1))
        state = 0.5 * state + action
    with torch.no_grad():
        _, next_value = model(state)
    R = next_value
    returns = []
    for step in reversed(range(3)):
        R = rewards[step] + gamma * R * masks[step]
        returns.insert(0, R)
    log_probs, returns, values = torch.cat(log_probs), torch.cat(returns).detach(), torch.cat(values)
    advantage = returns - values
    actor_loss = -(log_probs * advantage.detach()).mean()
    critic_loss = advantage.pow(2).mean()
    loss = actor_loss + 0.5 * critic_loss - 0.001 * entropy
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    print(update, returns.requires_grad, advantage.requires_grad)
