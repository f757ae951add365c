"""REINFORCE on a two-armed world: actions sampled from a Categorical, returns normalised, saved log-probabilities."""

from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

torch.manual_seed(0)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 8)
        self.dropout = nn.Dropout(p=0.1)
        self.affine2 = nn.Linear(8, 2)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        x = F.relu(self.dropout(self.affine1(x)))
        return F.softmax(self.affine2(x), dim=1)


class World:
    """A world whose state drifts towards the action that was taken."""

    def reset(self):
        self.state = torch.zeros(4)
        return self.state

    def step(self, action):
        self.state = 0.9 * self.state + (0.1 if action else -0.1)
        return self.state, float(self.state.sum() > 0)


policy, world = Policy(), World()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
eps = torch.finfo(torch.float32).eps


def select_action(state):
    probs = policy(state.unsqueeze(0))
    m = Categorical(probs)
    action = m.sample()
    policy.saved_log_probs.append(m.log_prob(action))
    return action.item()


def finish_episode(gamma=0.99):
    R = 0
    returns = deque()
    for r in policy.rewards[::-1]:
        R = r + gamma * R
        returns.appendleft(R)
    returns = torch.tensor(list(returns))
    returns = (returns - returns.mean()) / (returns.std() + eps)
    policy_loss = []
    for log_prob, R in zip(policy.saved_log_probs, returns):
        policy_loss.append(-log_prob * R)
    optimizer.zero_grad()
    policy_loss = torch.cat(policy_loss).sum()
    policy_loss.backward()
    optimizer.step()
    policy.rewards.clear()
    policy.saved_log_probs.clear()
    return policy_loss.item()


for episode in range(2):
    state = world.reset()
    for t in range(4):
        action = select_action(state)
        state, reward = world.step(action)
        policy.rewards.append(reward)
    finish_episode()
    print(episode, policy.affine1.weight.grad is not None)
