"""The state of modules: what it names, and what does not fit."""

import torch

from specs.case import refused


def state_that_does_not_fit_is_refused():
    """A state of other sizes or names is refused, and what fits is copied all the same.

    Rules: nn/state-that-does-not-fit-refused, nn/state-is-copied-in.
    """
    m = torch.nn.Sequential(torch.nn.Linear(2, 2, bias=False), torch.nn.Linear(2, 1, bias=False))
    state = {"0.weight": torch.ones(2, 2), "1.weight": torch.ones(3, 3)}
    with refused("nn/state-that-does-not-fit-refused"):
        m.load_state_dict(state)
    assert m[0].weight.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    with refused("nn/state-that-does-not-fit-refused"):
        m.load_state_dict({"0.weight": torch.zeros(2, 2)})
    assert m[0].weight.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def shared_module_is_in_the_state_twice():
    """Its parameter is listed once, and loaded twice. Rule: nn/state-names-each-place."""
    inner = torch.nn.Linear(2, 2, bias=False)
    m = torch.nn.Sequential(inner, inner)
    assert list(m.state_dict()) == ["0.weight", "1.weight"]
    assert len(list(m.parameters())) == 1
    before = inner.weight._version
    m.load_state_dict(m.state_dict())
    assert inner.weight._version == before + 2


def a_state_has_the_very_sizes():
    """As many elements in another shape do not do, nor what would broadcast.

    Rule: nn/state-that-does-not-fit-refused.
    """
    m = torch.nn.Linear(2, 3, bias=False)
    with refused("nn/state-that-does-not-fit-refused"):
        torch.nn.Linear(2, 1, bias=False).load_state_dict({"weight": torch.zeros(2)})
    with torch.no_grad():
        m.weight.fill_(7.0)
    with refused("nn/state-that-does-not-fit-refused"):
        m.load_state_dict({"weight": torch.zeros(2, 3)})
    with refused("nn/state-that-does-not-fit-refused"):
        m.load_state_dict({"weight": torch.zeros(6)})
    with refused("nn/state-that-does-not-fit-refused"):
        m.load_state_dict({"weight": torch.zeros(1)})
    with refused("nn/state-that-does-not-fit-refused"):
        m.load_state_dict({"weight": 1.0})
    assert m.weight.tolist() == [[7.0, 7.0]] * 3
    m.register_buffer("count", torch.tensor(1.0))
    m.load_state_dict({"weight": torch.ones(3, 2), "count": torch.tensor([2.0])})
    assert m.count.item() == 2.0 and m.count.ndim == 0 and m.weight.tolist() == [[1.0, 1.0]] * 3
    with refused("nn/state-that-does-not-fit-refused"):
        m.load_state_dict({"weight": torch.ones(3, 2), "count": torch.tensor([2.0, 3.0])})
