"""Buffers, and states by name: what a module has beside its parameters, and what is saved of it."""

import contextlib

import torch

from specs.case import refused


def buffers_are_part_of_the_state():
    """A persistent one is saved and loaded; all are moved and cast with the module, and none is trained.

    Rule: nn/buffers-belong-to-the-state.
    """
    m = torch.nn.Module()
    m.p = torch.nn.Parameter(torch.tensor([1.0]))
    m.register_buffer("b", torch.tensor([2.0]))
    m.register_buffer("t", torch.tensor([3.0]), persistent=False)
    m.register_buffer("n", None)
    m.plain = torch.tensor([4.0])
    assert list(m.state_dict()) == ["p", "b"]
    assert [name for name, _ in m.named_buffers()] == ["b", "t"] and len(list(m.parameters())) == 1
    assert m.b.requires_grad is False
    m.double()
    assert m.b.dtype == torch.float64 and m.t.dtype == torch.float64 and m.plain.dtype == torch.float32
    m.load_state_dict({"p": torch.tensor([5.0]), "b": torch.tensor([6.0])})
    assert m.p.item() == 5.0 and m.b.item() == 6.0 and m.t.item() == 3.0
    m.register_buffer("t", torch.tensor([7.0]))
    assert list(m.state_dict()) == ["p", "b", "t"]
    m.register_buffer("b", torch.tensor([8.0]), persistent=False)
    assert list(m.state_dict()) == ["p", "t"]
    m.t = torch.tensor([9.0])
    assert m.state_dict()["t"].item() == 9.0
    m.t = None
    assert list(m.state_dict()) == ["p"] and [name for name, _ in m.named_buffers()] == ["b"]
    del m.b
    assert list(m.buffers()) == []


def batch_norm_keeps_its_estimates():
    """They are in the state with the count of batches; without tracking there are none.

    Rules: nn/buffers-belong-to-the-state, nn/batch-norm-in-training.
    """
    norm = torch.nn.BatchNorm1d(2)
    assert list(norm.state_dict()) == ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]
    x = torch.tensor([[1.0, 2.0], [3.0, 8.0], [5.0, 2.0]])
    norm(x)
    norm(x)
    assert norm.num_batches_tracked.item() == 2
    assert [round(v, 6) for v in norm.running_mean.tolist()] == [0.57, 0.76]
    assert [round(v, 6) for v in norm.running_var.tolist()] == [1.57, 3.09]
    norm.eval()
    norm(x)
    assert norm.num_batches_tracked.item() == 2
    norm.reset_running_stats()
    assert norm.running_mean.tolist() == [0.0, 0.0] and norm.running_var.tolist() == [1.0, 1.0]
    assert norm.num_batches_tracked.item() == 0
    assert list(torch.nn.BatchNorm1d(2, track_running_stats=False, affine=False).state_dict()) == []
    every = torch.nn.BatchNorm1d(2, momentum=None)
    every(x)
    every(x * 3)
    assert [round(v, 6) for v in every.running_mean.tolist()] == [6.0, 8.0]


def names_of_a_state():
    """A prefix stands before them, keep_vars gives the parameters themselves; a shared one has both names.

    Rules: nn/state-is-detached, nn/state-names-each-place.
    """
    m = torch.nn.Sequential(torch.nn.Linear(1, 1, bias=False), torch.nn.BatchNorm1d(1, affine=False))
    assert list(m.state_dict(prefix="a.")) == [
        "a.0.weight", "a.1.running_mean", "a.1.running_var", "a.1.num_batches_tracked"
    ]  # fmt: skip
    assert m.state_dict(keep_vars=True)["0.weight"] is m[0].weight
    assert m.state_dict()["0.weight"].requires_grad is False
    assert m.state_dict()["0.weight"].data_ptr() == m[0].weight.data_ptr()
    tied = torch.nn.ModuleDict({"a": m[0], "b": torch.nn.Linear(1, 1, bias=False)})
    tied["b"].weight = m[0].weight
    assert list(tied.state_dict()) == ["a.weight", "b.weight"]
    assert [name for name, _ in tied.named_parameters()] == ["a.weight"]
    twice = [name for name, _ in tied.named_parameters(prefix="x", remove_duplicate=False)]
    assert twice == ["x.a.weight", "x.b.weight"]


def what_is_missing_is_told():
    """Without strict, names that are missing or unknown are returned; sizes are compared all the same.

    Rules: nn/state-that-does-not-fit-refused, nn/state-is-copied-in.
    """
    m = torch.nn.Linear(1, 1)
    keys = m.load_state_dict({"weight": torch.tensor([[4.0]]), "other": torch.tensor([1.0])}, strict=False)
    assert keys.missing_keys == ["bias"] and keys.unexpected_keys == ["other"]
    assert m.weight.tolist() == [[4.0]] and m.weight.requires_grad is True
    with refused("nn/state-that-does-not-fit-refused"):
        m.load_state_dict({"weight": torch.ones(2, 2)}, strict=False)
    with refused("nn/state-that-does-not-fit-refused"):
        m.load_state_dict({"weight": torch.ones(1, 1), "bias": torch.ones(1), "other": torch.ones(1)})
    assert m.weight.tolist() == [[1.0]] and m.bias.tolist() == [1.0]
    keys = m.load_state_dict({"weight": torch.ones(1, 1, dtype=torch.float64), "bias": torch.zeros(1)})
    assert m.weight.dtype == torch.float32 and keys.missing_keys == [] and keys.unexpected_keys == []


def parameters_are_found_once_and_in_order():
    """Own ones first, then those of submodules; each name leads to its module, and fn goes to children first.

    Rule: nn/assigned-parameters-are-found.
    """
    inner = torch.nn.Linear(1, 1)
    m = torch.nn.Module()
    m.body = torch.nn.Sequential(inner, torch.nn.Tanh(), inner)
    m.w = torch.nn.Parameter(torch.zeros(1))
    assert [name for name, _ in m.named_parameters()] == ["w", "body.0.weight", "body.0.bias"]
    assert [name for name, _ in m.named_parameters(prefix="m", recurse=False)] == ["m.w"]
    assert [name for name, _ in m.named_modules()] == ["", "body", "body.0", "body.1"]
    assert [name for name, _ in m.body.named_children()] == ["0", "1"]
    assert m.get_submodule("body.2") is inner and m.get_parameter("body.2.bias") is inner.bias
    visited = []
    assert m.apply(lambda module: visited.append(type(module).__name__)) is m
    assert visited == ["Linear", "Tanh", "Sequential", "Module"]
    m.body.training = False
    assert m.training is True and m.train().body.training is True
    m.w = None
    assert [name for name, _ in m.named_parameters()] == ["body.0.weight", "body.0.bias"]
    del m.body
    assert list(m.parameters()) == [] and hasattr(m, "body") is False


def containers_hold_their_modules():
    """By position or by name; what is put in, taken out or replaced counts among the parameters.

    Rule: nn/assigned-parameters-are-found.
    """
    a, b, c = torch.nn.Linear(1, 2), torch.nn.Linear(2, 3), torch.nn.Linear(3, 4)
    s = torch.nn.Sequential(a, b)
    s.append(c)
    assert s[2] is c and s[-1] is c and len(s) == 3 and list(s[1:]) == [b, c]
    assert [tuple(p.shape) for p in s[1:].parameters()] == [(3, 2), (3,), (4, 3), (4,)]
    s.insert(1, torch.nn.Tanh())
    assert list(s)[0] is a and list(s)[2] is b
    del s[1]
    assert s.pop(2) is c and list(s) == [a, b]
    s[0] = torch.nn.Linear(1, 2, bias=False)
    assert [name for name, _ in s.named_parameters()] == ["0.weight", "1.weight", "1.bias"]
    m = torch.nn.ModuleList([a])
    m.extend([b, c])
    m.insert(0, c)
    assert list(m) == [c, a, b, c] and len(m) == 4
    assert m.pop(-1) is c and list(m[1:]) == [a, b] and list(m + [c])[3] is c
    d = torch.nn.ModuleDict({"x": a})
    d["y"] = b
    d.update({"x": c})
    assert (
        list(d) == ["x", "y"] and d["x"] is c and "z" not in d and d.pop("y") is b and list(d.keys()) == ["x"]
    )
    p = torch.nn.ParameterList([torch.zeros(1), torch.nn.Parameter(torch.zeros(2))])
    p.append(torch.zeros(3))
    assert [tuple(x.shape) for x in p.parameters()] == [(1,), (2,), (3,)] and p[-1] is p[2]
    assert all(x.requires_grad for x in p) and len(p) == 3
    q = torch.nn.ParameterDict({"k": torch.nn.Parameter(torch.zeros(1))})
    q["l"] = torch.nn.Parameter(torch.zeros(2))
    assert [name for name, _ in q.named_parameters()] == ["k", "l"] and "k" in q and len(q) == 2


def modules_are_moved_whole():
    """Floating-point parameters and buffers are cast, with grads; integers and flags stay.

    Rule: nn/to-swaps-data.
    """
    m = torch.nn.Linear(1, 1)
    m.register_buffer("count", torch.tensor([1, 2]))
    m.bias.requires_grad_(False)
    w = m.weight
    m(torch.ones(1, 1)).sum().backward()
    g = w.grad
    assert m.to(torch.float64) is m and m.weight is w
    assert (
        w.dtype == torch.float64 and w.grad is g and g.dtype == torch.float64 and m.count.dtype == torch.int64
    )
    assert m.bias.requires_grad is False and w.requires_grad is True and w.grad_fn is None
    assert m.half().weight.dtype == torch.float16 and m.bfloat16().bias.dtype == torch.bfloat16
    assert m.float().weight is w and w.grad.dtype == torch.float32 and m.double().count.dtype == torch.int64
    assert m.to("cpu").weight is w and w.dtype == torch.float64
    assert m.cpu().to("cpu", torch.float32).bias.dtype == torch.float32


def instances_move_estimates_by_their_mean():
    """Each sample moves them, and the mean of these is kept. Rule: nn/batch-norm-in-training."""
    x = torch.tensor([[[1.0, 3.0]], [[5.0, 9.0]]])
    mean = torch.zeros(1)
    var = torch.ones(1)
    torch.nn.functional.instance_norm(x, mean, var, momentum=0.5)
    assert mean.tolist() == [2.25] and var.tolist() == [3.0]
    n = torch.nn.InstanceNorm1d(1, track_running_stats=True, momentum=0.5)
    n(x)
    assert n.running_mean.tolist() == [2.25] and n.running_var.tolist() == [3.0]
    n.eval()
    y = n(x)
    z = (x - 2.25) / (3.0 + 1e-5) ** 0.5
    assert [round(v, 4) for v in y.reshape(-1).tolist()] == [round(v, 4) for v in z.reshape(-1).tolist()]


def instances_without_estimates_need_their_own():
    """Without either there is nothing to normalise by. Rule: nn/batch-norm-in-training."""
    x = torch.tensor([[[1.0, 3.0]]])
    made = []
    with contextlib.suppress(RuntimeError):
        made.append(torch.nn.functional.instance_norm(x, use_input_stats=False))
    y = torch.nn.functional.instance_norm(x, torch.tensor([1.0]), torch.tensor([4.0]), use_input_stats=False)
    assert made == [] and [round(v, 4) for v in y.reshape(-1).tolist()] == [0.0, 1.0]


def a_buffer_keeps_the_flag():
    """It requires grad if what it is made of does, and is a leaf. Rule: nn/buffers-belong-to-the-state."""
    b = torch.nn.Buffer(torch.ones(2, requires_grad=True) * 2)
    assert b.requires_grad is True and b.is_leaf is True and b.tolist() == [2.0, 2.0]
    m = torch.nn.Module()
    m.b = torch.nn.Buffer(torch.ones(2))
    assert m.b.requires_grad is False and list(m.state_dict()) == ["b"] and list(m.parameters()) == []
