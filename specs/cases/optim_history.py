"""torch.optim.LBFGS: what it remembers of its steps."""

import torch


def _remembered(size):
    """Return how many changes are kept after each of six steps on a bowl, and where they end."""
    x = torch.tensor([1.0, -2.0], dtype=torch.float64, requires_grad=True)
    o = torch.optim.LBFGS([x], lr=0.25, max_iter=1, history_size=size)

    def bowl():
        o.zero_grad()
        y = (x * x * torch.tensor([1.0, 2.0], dtype=torch.float64)).sum() + x[0] * x[1]
        y.backward()
        return y

    counts = []
    for _ in range(6):
        o.step(bowl)
        counts.append(len(o.state_dict()["state"][0]["old_dirs"]))
    return counts, [round(v, 5) for v in x.tolist()]


def changes_are_kept_up_to_the_size_of_the_history():
    """Each of them until there are as many; then the oldest goes.

    Rule: optim/updates-by-its-algorithm.
    """
    assert _remembered(8) == ([0, 1, 2, 3, 4, 5], [0.35304, -0.43034])
    assert _remembered(3) == ([0, 1, 2, 3, 3, 3], [0.34779, -0.43082])
    assert _remembered(1)[0] == [0, 1, 1, 1, 1, 1]
