"""Meta-learning of sines: the outer loss is differentiated through an inner gradient step."""

import torch
import torch.nn.functional as F

torch.manual_seed(0)


def init_parameters(hidden=8):
    return {
        "w1": torch.randn(hidden, 1).mul_(0.5).requires_grad_(),
        "b1": torch.zeros(hidden, requires_grad=True),
        "w2": torch.randn(1, hidden).mul_(0.5).requires_grad_(),
        "b2": torch.zeros(1, requires_grad=True),
    }


def net(x, params):
    x = torch.tanh(F.linear(x, params["w1"], params["b1"]))
    return F.linear(x, params["w2"], params["b2"])


def sample_task():
    amplitude, phase = torch.rand(1) * 4 + 0.1, torch.rand(1) * torch.pi
    return lambda x: amplitude * torch.sin(x + phase)


theta = init_parameters()
meta_optimizer = torch.optim.Adam(theta.values(), lr=1e-2)
inner_lr = 0.05

for iteration in range(2):
    meta_optimizer.zero_grad()
    meta_loss = 0.0
    for _ in range(2):
        task = sample_task()
        x_support, x_query = torch.rand(5, 1) * 2, torch.rand(5, 1) * 2
        support_loss = F.mse_loss(net(x_support, theta), task(x_support))
        grads = torch.autograd.grad(support_loss, list(theta.values()), create_graph=True)
        fast = {name: p - inner_lr * g for (name, p), g in zip(theta.items(), grads)}
        meta_loss = meta_loss + F.mse_loss(net(x_query, fast), task(x_query))
    meta_loss = meta_loss / 2
    meta_loss.backward()
    meta_optimizer.step()
    print(iteration, meta_loss.item() > 0, fast["w1"].is_leaf, fast["w1"].requires_grad)
