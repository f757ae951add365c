"""Learning-rate schedules side by side, and the warm-up that many scripts write by hand."""

import torch
from torch import nn
from torch.optim import SGD, Adam
from torch.optim.lr_scheduler import (
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiStepLR,
    OneCycleLR,
    ReduceLROnPlateau,
    SequentialLR,
    StepLR,
)

makers = {
    "step": lambda opt: StepLR(opt, step_size=2, gamma=0.1),
    "multi": lambda opt: MultiStepLR(opt, milestones=[1, 3], gamma=0.5),
    "exponential": lambda opt: ExponentialLR(opt, gamma=0.9),
    "cosine": lambda opt: CosineAnnealingLR(opt, T_max=4, eta_min=0.01),
    "restarts": lambda opt: CosineAnnealingWarmRestarts(opt, T_0=2, T_mult=2),
    "lambda": lambda opt: LambdaLR(opt, lambda epoch: 0.95**epoch),
    "one cycle": lambda opt: OneCycleLR(opt, max_lr=0.5, total_steps=6),
    "linear": lambda opt: LinearLR(opt, start_factor=0.5, total_iters=3),
    "sequential": lambda opt: SequentialLR(
        opt, [LinearLR(opt, start_factor=0.1, total_iters=2), ExponentialLR(opt, gamma=0.5)], milestones=[2]
    ),
}

for name, make in makers.items():
    w = nn.Parameter(torch.ones(2))
    optimizer = SGD([w], lr=0.1, momentum=0.9)
    scheduler = make(optimizer)
    rates = []
    for epoch in range(5):
        optimizer.zero_grad()
        (w**2).sum().backward()
        optimizer.step()
        scheduler.step()
        rates.append(round(scheduler.get_last_lr()[0], 5))
    print(name, rates)

w = nn.Parameter(torch.ones(2))
optimizer = Adam([{"params": [w], "lr": 0.1}])
plateau = ReduceLROnPlateau(optimizer, mode="min", factor=0.5, patience=1)
for val_loss in [1.0, 0.9, 0.95, 0.96, 0.97, 0.5]:
    plateau.step(val_loss)
print(optimizer.param_groups[0]["lr"], plateau.num_bad_epochs)

state = plateau.state_dict()
other = ReduceLROnPlateau(optimizer)
other.load_state_dict(state)
print(other.best)
