"""Around training: autocast, loaders of data, modes around functions, and flags of factories."""

import contextlib

import torch

from specs.case import refused
from specs.cases._measures import error_kinds


def autocast_casts_products_alone():
    """Products run in half precision, losses and the like in single; grads have their leaves' dtype.

    Rules: mode/autocast-casts, leaf/op-result-is-no-leaf.
    """
    w = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    x = torch.tensor([[0.5, -1.0]])
    assert torch.is_autocast_enabled("cpu") is False
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.is_autocast_enabled("cpu") is True
        y = x @ w
        assert y.dtype == torch.bfloat16 and (x + x).dtype == torch.float32
        assert torch.nn.functional.linear(x, w).dtype == torch.bfloat16
        loss = torch.nn.functional.mse_loss(y, torch.zeros(1, 2, dtype=torch.bfloat16))
        assert loss.dtype == torch.float32
        assert (x.double() @ w.double().detach()).dtype == torch.float64
        with torch.autocast("cpu", enabled=False):
            assert (x @ w).dtype == torch.float32
        assert (x @ w).dtype == torch.bfloat16
    assert (x @ w).dtype == torch.float32 and torch.is_autocast_enabled("cpu") is False
    loss.backward()
    assert w.grad.dtype == torch.float32 and w.grad.tolist() == [[-1.25, -1.5], [2.5, 3.0]]
    half = torch.autocast("cpu", dtype=torch.float16)(lambda a: a @ a.t())
    assert (
        half(x).dtype == torch.float16
        and torch.autocast("cpu")(lambda: torch.get_autocast_dtype("cpu"))() == torch.bfloat16
    )


def autocast_casts_a_leaf_once():
    """Until the outermost block ends, so that its gradients meet in one cast; not under no_grad.

    Rule: mode/autocast-casts.
    """
    w = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    x = torch.tensor([[0.5, -1.0]])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with torch.no_grad():
            assert (x @ w).requires_grad is False
        y, z = x @ w, x @ w
    cast = lambda t: t.grad_fn.next_functions[1][0]
    assert cast(y) is cast(z) and cast(y).name() == "ToCopyBackward0"
    (y + z).sum().backward()
    assert w.grad.tolist() == [[1.0, 1.0], [-2.0, -2.0]]
    with torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False):
        y, z = x @ w, x @ w
    assert cast(y) is not cast(z)


def functions_under_autocast():
    """A custom function's backward runs as its forward did; cast_inputs casts, and turns autocast off.

    Rule: mode/autocast-casts.
    """
    seen = []
    forward = lambda ctx, x: (seen.append(("forward", (x @ x).dtype)), x * 2)[1]
    backward = lambda ctx, g: (seen.append(("backward", torch.is_autocast_enabled("cpu"))), g * 2)[1]
    fwd, bwd = torch.amp.custom_fwd, torch.amp.custom_bwd
    function = torch.autograd.Function
    plain = {
        "forward": staticmethod(fwd(device_type="cpu")(forward)),
        "backward": staticmethod(bwd(device_type="cpu")(backward)),
    }
    cast = plain | {"forward": staticmethod(fwd(device_type="cpu", cast_inputs=torch.float64)(forward))}
    x = torch.ones(2, 2, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = type("Plain", (function,), plain).apply(x)
        z = type("Cast", (function,), cast).apply(x)
    y.sum().backward()
    z.sum().backward()
    assert seen == [
        ("forward", torch.bfloat16), ("forward", torch.float64), ("backward", True), ("backward", False)
    ]  # fmt: skip
    assert z.dtype == torch.float64 and x.grad.tolist() == [[4.0, 4.0], [4.0, 4.0]]
    type("Plain", (function,), plain).apply(x).sum().backward()
    assert seen[4:] == [("forward", torch.float32), ("backward", False)]


def loaders_give_batches_in_order():
    """Of the sampler, stacked within tuples, lists and dicts; the last one is smaller, or dropped.

    Rule: nn/batches-are-stacked.
    """
    d = torch.utils.data
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0], [9.0, 0.0]])
    data = d.TensorDataset(x, torch.tensor([0, 1, 2, 3, 4]))
    assert len(data) == 5 and data[1][0].tolist() == [3.0, 4.0]
    loader = d.DataLoader(data, batch_size=2)
    batches = list(loader)
    assert len(loader) == 3 and [b[1].tolist() for b in batches] == [[0, 1], [2, 3], [4]]
    assert [tuple(b[0].shape) for b in batches] == [(2, 2), (2, 2), (1, 2)]
    dropping = d.DataLoader(data, batch_size=2, drop_last=True)
    assert len(dropping) == 2 and [b[1].tolist() for b in dropping] == [[0, 1], [2, 3]]
    assert sorted(b.item() for _, b in d.DataLoader(data, shuffle=True)) == [0, 1, 2, 3, 4]
    assert [b[1].tolist() for b in d.DataLoader(data, batch_size=2, sampler=[4, 0, 2])] == [[4, 0], [2]]
    assert [b[1].tolist() for b in d.DataLoader(data, batch_sampler=[[3], [1, 2]])] == [[3], [1, 2]]
    assert [b[1].item() for b in d.DataLoader(data, batch_size=None)] == [0, 1, 2, 3, 4]
    named = [{"a": 1, "b": (2.0, [3])}, {"a": 4, "b": (5.0, [6])}]
    batch = next(iter(d.DataLoader(named, batch_size=2)))
    assert (
        batch["a"].tolist() == [1, 4]
        and batch["b"][0].tolist() == [2.0, 5.0]
        and batch["b"][1][0].tolist() == [3, 6]
    )
    assert batch["b"][0].dtype == torch.float64 and batch["a"].dtype == torch.int64
    assert list(d.DataLoader(range(5), batch_size=2, collate_fn=sum)) == [1, 5, 4]
    assert [b.tolist() for b in d.DataLoader(d.Subset(range(10), [7, 1, 3]), batch_size=2)] == [[7, 1], [3]]
    both = d.ConcatDataset([range(2), range(10, 12)])
    assert len(both) == 4 and [both[i] for i in (0, 1, 2, 3, -1)] == [0, 1, 10, 11, 11]
    first, second = d.random_split(range(10), [7, 3])
    assert len(first) == 7 and sorted([*first, *second]) == list(range(10))
    assert list(d.BatchSampler(d.SequentialSampler(range(5)), 2, False)) == [[0, 1], [2, 3], [4]]
    assert (
        len(d.BatchSampler(range(5), 2, True)) == 2
        and len(list(d.RandomSampler(range(3), num_samples=7))) == 7
    )
    assert set(d.WeightedRandomSampler([0.0, 1.0], 4)) == {1} and sorted(d.SubsetRandomSampler([4, 2])) == [
        2,
        4,
    ]


def _turns(ends):
    try:
        yield
        return 7
    finally:
        ends.append(torch.is_grad_enabled())


def _passed_on(turns, ends):
    ends.append((yield from turns))


def modes_around_generators():
    """The body runs in the mode at each turn, also where an error is thrown in; the caller never does.

    Rules: mode/decorator, mode/restored-at-exit.
    """
    seen = []
    note = lambda made: (seen.append(torch.is_grad_enabled()), made)[1]
    counting = (note(n) for n in [1, 2, 3])
    off = torch.no_grad()(lambda: next(counting))
    assert off() == 1 and seen == [False] and torch.is_grad_enabled() is True
    assert next(counting) == 2 and seen == [False, True]
    on = torch.enable_grad()(lambda: next(counting))
    with torch.no_grad():
        assert on() == 3 and seen == [False, True, True] and torch.is_grad_enabled() is False
    each = torch.set_grad_enabled(False)(lambda: torch.is_grad_enabled())
    assert torch.is_grad_enabled() is True and each() is False and torch.is_grad_enabled() is True
    inference = torch.inference_mode()(lambda: torch.ones(1).is_inference())
    assert inference() is True and torch.is_inference_mode_enabled() is False
    turns = torch.no_grad()(lambda: [(yield torch.is_grad_enabled()), (yield torch.is_grad_enabled())])
    given = turns()
    assert next(given) is False and torch.is_grad_enabled() is True and given.send("word") is False
    ended = turns()
    assert next(ended) is False
    with contextlib.suppress(ValueError):
        ended.throw(ValueError("thrown in"))
    assert list(ended) == [] and torch.is_grad_enabled() is True
    assert torch.device("cpu") != torch.device("cpu:0") and torch.device("cpu", 1) == torch.device("cpu:1")
    ends = []
    thrown = torch.no_grad()(_turns)(ends)
    next(thrown)
    with torch.enable_grad(), contextlib.suppress(SystemExit):
        thrown.throw(SystemExit())
    left = torch.no_grad()(_turns)(ends)
    with torch.enable_grad():
        next(left)
        left.close()
    assert ends == [False, False]
    assert list(_passed_on(torch.no_grad()(_turns)(ends), ends)) == [None] and ends[2:] == [False, 7]
    with torch.inference_mode(), torch.inference_mode(False):
        assert torch.ones(1).is_inference() is False and torch.is_grad_enabled() is True
    with torch.set_grad_enabled(False), torch.set_grad_enabled(True), torch.no_grad(), torch.enable_grad():
        assert torch.is_grad_enabled() is True
    assert torch.is_grad_enabled() is True


def factories_and_flags():
    """New tensors require grad if they are told to, whatever they are made like.

    Rules: leaf/no-history-without-requires-grad, requires_grad/float-or-complex-only.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    made = []
    made += [
        torch.zeros_like(x),
        x.new_ones(2),
        torch.full_like(x, 3.0),
        x.new_tensor([1.0]),
        torch.empty_like(x),
    ]
    assert [t.requires_grad for t in made] == [False] * 5
    given = [
        torch.zeros_like(x, requires_grad=True), x.new_ones(2, requires_grad=True),
        torch.full((1,), 2.0, requires_grad=True), torch.arange(2.0, requires_grad=True),
        torch.linspace(0, 1, 3, requires_grad=True), torch.eye(2, requires_grad=True),
        torch.rand(2, requires_grad=True), torch.randn_like(x, requires_grad=True),
        torch.empty(1, requires_grad=True), torch.ones(1, requires_grad=True),
    ]  # fmt: skip
    assert all(t.requires_grad and t.is_leaf and t.grad_fn is None for t in given)
    with refused("requires_grad/float-or-complex-only"):
        torch.zeros(2, dtype=torch.int64, requires_grad=True)
    assert (x.detach() * 2).requires_grad is False and torch.as_tensor(x) is x
    with torch.no_grad():
        assert torch.ones(1, requires_grad=True).requires_grad is True


def autocast_keeps_its_casts_through_nested_blocks():
    """Until the outermost block ends. Rule: mode/autocast-casts."""
    w = torch.ones(2, 2, requires_grad=True)
    x = torch.ones(2, 2)
    made = []
    with torch.autocast("cpu", dtype=torch.bfloat16):
        made.append(x @ w)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            made.append(x @ w)
        made.append(x @ w)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        made.append(x @ w)
    casts = [y.grad_fn.next_functions[1][0] for y in made]
    assert casts[0] is casts[1] and casts[1] is casts[2] and casts[3] is not casts[0]
    made[0].sum().backward()
    assert w.grad.dtype is torch.float32 and w.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def negative_seeds_count_down():
    """From 2**64, which no seed reaches; a bool is no seed. Rule: checkpoint/draws-the-same-again."""
    g = torch.Generator()
    assert g.manual_seed(-3).initial_seed() == 2**64 - 3
    a = torch.rand(4, generator=g)
    assert torch.equal(torch.rand(4, generator=g.manual_seed(2**64 - 3)), a)
    assert not torch.equal(torch.rand(4, generator=g.manual_seed(3)), a)
    assert torch.manual_seed(-1).initial_seed() == torch.initial_seed() == 2**64 - 1
    assert error_kinds([
        lambda: g.manual_seed(2**64), lambda: g.manual_seed(-(2**63) - 1), lambda: g.manual_seed(True),
    ]) == "VVo"  # fmt: skip
    assert g.initial_seed() == 3
    x = torch.ones(2, requires_grad=True)
    y = torch.utils.checkpoint.checkpoint(lambda a: a * torch.rand(2), x, use_reentrant=False)
    y.sum().backward()
    assert torch.equal(x.grad, y.detach())


def multithreading_is_a_flag():
    """It is stored at once, and given back at the end of a block. Rule: mode/must-be-bool."""
    a = torch.autograd
    states = []
    mode = a.set_multithreading_enabled(False)
    states.append(a.is_multithreading_enabled())
    with mode:
        states.append(a.is_multithreading_enabled())
    states.append(a.is_multithreading_enabled())
    assert states == [False, False, True]
    with refused("mode/must-be-bool"):
        a.set_multithreading_enabled(1)


def checkpoints_compute_in_half_precision_again():
    """The backward may be called outside of autocast. Rule: checkpoint/casts-the-same-again."""
    checkpoint = torch.utils.checkpoint.checkpoint
    w = torch.ones(2, 2, requires_grad=True)
    x = torch.ones(2, 2, requires_grad=True)
    seen = []
    product = lambda x: (seen.append((x @ w).dtype), x.mul(2) @ w)[1]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = checkpoint(product, x, use_reentrant=True)
        z = checkpoint(product, x, use_reentrant=False)
    assert torch.is_autocast_enabled("cpu") is False
    y.float().sum().backward()
    z.float().sum().backward()
    assert x.grad.tolist() == [[8.0, 8.0], [8.0, 8.0]]
    assert seen == [torch.bfloat16] * 4
