"""Data sets, samplers and loaders, with each of their settings."""

import torch

from specs.cases._measures import error_kinds


def batches_come_in_each_way():
    """By a sampler, by batches of indices, one by one, or from a stream. Rule: nn/batches-are-stacked."""
    d = torch.utils.data
    five = d.TensorDataset(torch.arange(5.0), torch.arange(5) * 10)
    assert [[x.tolist() for x in b] for b in d.DataLoader(five, 2)] == [
        [[0.0, 1.0], [0, 10]],
        [[2.0, 3.0], [20, 30]],
        [[4.0], [40]],
    ]
    assert [b[0].tolist() for b in d.DataLoader(five, batch_size=2, drop_last=True)] == [
        [0.0, 1.0],
        [2.0, 3.0],
    ]
    assert [
        len(d.DataLoader(five, 2)),
        len(d.DataLoader(five, 2, drop_last=True)),
        len(d.DataLoader(five)),
        len(d.DataLoader(five, 5)),
    ] == [3, 2, 5, 1]
    assert [b[0].tolist() for b in d.DataLoader(five, 2, sampler=[4, 0, 1])] == [[4.0, 0.0], [1.0]]
    assert [b[0].tolist() for b in d.DataLoader(five, batch_sampler=[[1, 2], [0]])] == [[1.0, 2.0], [0.0]]
    assert [
        len(d.DataLoader(five, batch_sampler=[[1, 2], [0]])),
        len(d.DataLoader(five, 2, sampler=[4, 0, 1])),
    ] == [2, 2]
    assert [b[0].item() for b in d.DataLoader(five, batch_size=None)] == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert [len(d.DataLoader(five, batch_size=None)), list(d.DataLoader(range(3), batch_size=None))] == [
        5,
        [0, 1, 2],
    ]
    assert list(d.DataLoader(range(5), 2, collate_fn=sum)) == [1, 5, 4]
    assert list(d.DataLoader(range(3), None, collate_fn=lambda x: -x)) == [0, -1, -2]
    stream = type(
        "Stream", (d.IterableDataset,), {"__iter__": lambda self: iter(range(5)), "__len__": lambda self: 5}
    )
    assert [b.tolist() for b in d.DataLoader(stream(), 2)] == [[0, 1], [2, 3], [4]]
    assert [b.tolist() for b in d.DataLoader(stream(), 2, drop_last=True)] == [[0, 1], [2, 3]]
    assert list(d.DataLoader(stream(), None)) == [0, 1, 2, 3, 4]
    assert [
        len(d.DataLoader(stream(), 2)),
        len(d.DataLoader(stream(), 2, drop_last=True)),
        len(d.DataLoader(stream(), None)),
    ] == [3, 2, 5]
    assert [b.tolist() for b in d.DataLoader(stream() + stream(), 5)] == [[0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]
    many = type(
        "Many",
        (),
        {
            "__getitems__": lambda self, at: [i * i for i in at],
            "__getitem__": lambda self, i: i,
            "__len__": lambda self: 3,
        },
    )
    assert [b.tolist() for b in d.DataLoader(many(), 2)] == [[0, 1], [4]]
    g = torch.Generator().manual_seed(3)
    orders = [[b.item() for b in d.DataLoader(range(20), shuffle=True, generator=g)] for _ in range(2)]
    assert [sorted(o) == list(range(20)) for o in orders] + [orders[0] == orders[1]] == [True, True, False]
    g.manual_seed(3)
    assert [b.item() for b in d.DataLoader(range(20), shuffle=True, generator=g)] == orders[0]
    loader = d.DataLoader(five, 2, shuffle=False)
    assert [
        loader.batch_size,
        loader.drop_last,
        loader.num_workers,
        loader.dataset is five,
        list(loader.sampler),
        [list(b) for b in loader.batch_sampler],
    ] == [2, False, 0, True, [0, 1, 2, 3, 4], [[0, 1], [2, 3], [4]]]
    assert (
        error_kinds(
            [
                lambda: d.DataLoader(five, 2, shuffle=True, sampler=[0]),
                lambda: d.DataLoader(five, 2, batch_sampler=[[0]]),
                lambda: d.DataLoader(five, batch_sampler=[[0]], shuffle=True),
                lambda: d.DataLoader(five, batch_sampler=[[0]], drop_last=True),
                lambda: d.DataLoader(five, batch_sampler=[[0]], sampler=[0]),
                lambda: d.DataLoader(five, None, drop_last=True),
                lambda: d.DataLoader(stream(), shuffle=True),
                lambda: d.DataLoader(stream(), sampler=[0]),
                lambda: d.DataLoader(stream(), batch_sampler=[[0]]),
                lambda: d.DataLoader(five, timeout=-1),
                lambda: d.DataLoader(five, num_workers=-1),
                lambda: d.DataLoader(five, persistent_workers=True),
                lambda: d.DataLoader(five, prefetch_factor=2),
                lambda: d.DataLoader(five, 0),
                lambda: d.DataLoader(five, -1),
                lambda: d.DataLoader(five, 2.5),
            ]
        )
        == "VVVVVVVVVVVVVVVV"
    )


def samplers_give_indices():
    """In order, at random, from a subset, by weight, or in batches. Rule: nn/batches-are-stacked."""
    d = torch.utils.data
    torch.manual_seed(0)
    assert [b.tolist() for b in d.DataLoader(torch.arange(3), 2)] == [[0, 1], [2]]
    assert [
        list(d.SequentialSampler(range(3))),
        len(d.SequentialSampler(range(3))),
        sorted(d.RandomSampler(range(4))),
        len(d.RandomSampler(range(4))),
    ] == [[0, 1, 2], 3, [0, 1, 2, 3], 4]
    assert [
        len(list(d.RandomSampler(range(4), num_samples=2))),
        len(list(d.RandomSampler(range(3), num_samples=8))),
        len(set(d.RandomSampler(range(4), num_samples=4))),
    ] == [2, 8, 4]
    drawn = list(d.RandomSampler(range(3), replacement=True, num_samples=50))
    assert [len(drawn), sorted(set(drawn)), len(list(d.RandomSampler(range(3), True)))] == [50, [0, 1, 2], 3]
    a, b = torch.Generator().manual_seed(7), torch.Generator().manual_seed(7)
    assert [
        list(d.RandomSampler(range(9), generator=a)) == list(d.RandomSampler(range(9), generator=b)),
        list(d.RandomSampler(range(9), generator=a)) == list(d.RandomSampler(range(9), generator=b)),
    ] == [True, True]
    assert [
        sorted(d.SubsetRandomSampler([5, 7, 9])),
        len(d.SubsetRandomSampler([5, 7])),
        list(d.SubsetRandomSampler([5, 7, 9, 1], a)) == list(d.SubsetRandomSampler([5, 7, 9, 1], b)),
    ] == [[5, 7, 9], 2, True]
    w = d.WeightedRandomSampler([0.0, 1.0, 1.0, 0.0], 40)
    assert [
        sorted(set(w)),
        len(w),
        sorted(d.WeightedRandomSampler([0.0, 1.0, 1.0], 2, replacement=False)),
        list(d.WeightedRandomSampler([1.0, 1.0], 9, True, a))
        == list(d.WeightedRandomSampler([1.0, 1.0], 9, True, b)),
    ] == [[1, 2], 40, [1, 2], True]
    assert [
        list(d.BatchSampler(d.SequentialSampler(range(5)), 2, False)),
        list(d.BatchSampler(range(5), 2, True)),
        len(d.BatchSampler(range(5), 2, False)),
        len(d.BatchSampler(range(5), 2, True)),
    ] == [[[0, 1], [2, 3], [4]], [[0, 1], [2, 3]], 3, 2]
    assert (
        error_kinds(
            [
                lambda: d.RandomSampler(range(3), num_samples=0),
                lambda: d.RandomSampler(range(3), replacement=1),
                lambda: d.RandomSampler(range(3), num_samples=1.5),
                lambda: d.WeightedRandomSampler([1.0], 0),
                lambda: d.WeightedRandomSampler([[1.0]], 1),
                lambda: d.WeightedRandomSampler([1.0], 1, 2),
                lambda: d.BatchSampler(range(3), 0, False),
                lambda: d.BatchSampler(range(3), 1, 2),
                lambda: d.BatchSampler(range(3), True, False),
                lambda: list(d.WeightedRandomSampler([1.0, 1.0], 3, False)),
            ]
        )
        == "VTVVVVVVVo"
    )


def data_sets_hold_one_another():
    """Stacked, chained, cut or split; by shares, the first parts get what is left over.

    Rule: nn/batches-are-stacked.
    """
    d = torch.utils.data
    torch.manual_seed(0)
    a = d.TensorDataset(torch.arange(4.0))
    assert [b.tolist() for b in d.DataLoader(torch.arange(3), 2)] == [[0, 1], [2]]
    c = a + d.TensorDataset(torch.arange(2.0) + 10)
    assert [
        len(c),
        c[3][0].item(),
        c[4][0].item(),
        c[-1][0].item(),
        c[-6][0].item(),
        type(c).__name__,
        c.cumulative_sizes,
    ] == [6, 3.0, 10.0, 11.0, 0.0, "ConcatDataset", [4, 6]]
    s = d.StackDataset(a, range(4))
    assert [
        len(s),
        s[1][1],
        s[2][0][0].item(),
        list(d.StackDataset(y=a, x=range(4))[3]).index("y") + d.StackDataset(x=a, y=range(4))[3]["y"],
        s.__getitems__([0, 1])[1][1],
    ] == [4, 1, 2.0, 3, 1]
    k = d.Subset(range(10, 20), [3, 5])
    assert [len(k), k[1], k.__getitems__([0, 1]), list(k)] == [2, 15, [13, 15], [13, 15]]
    g = torch.Generator().manual_seed(1)
    parts = d.random_split(range(10), [3, 7], generator=g)
    assert [[len(p) for p in parts], sorted(x for p in parts for x in p), type(parts[0]).__name__] == [
        [3, 7],
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        "Subset",
    ]
    assert list(d.random_split(range(10), [3, 7], generator=torch.Generator().manual_seed(1))[0]) == list(
        parts[0]
    )
    assert [
        [len(p) for p in d.random_split(range(n), f)]
        for n, f in (
            (10, [0.5, 0.5]),
            (11, [0.5, 0.5]),
            (10, [0.25, 0.25, 0.25, 0.25]),
            (5, [0.3, 0.3, 0.4]),
            (3, [1.0]),
            (7, [0.34, 0.33, 0.33]),
        )
    ] == [[5, 5], [6, 5], [3, 3, 2, 2], [2, 1, 2], [3], [3, 2, 2]]
    assert (
        error_kinds(
            [
                lambda: d.random_split(range(3), [1, 1]),
                lambda: d.random_split(range(3), [1.5, -0.5]),
                lambda: d.random_split(range(3), [4]),
                lambda: d.StackDataset(a, range(3)),
                lambda: d.StackDataset(a, range(5)),
                lambda: d.StackDataset(),
                lambda: d.StackDataset(a, y=a),
                lambda: d.TensorDataset(torch.ones(2), torch.ones(3)),
                lambda: d.ConcatDataset([]),
                lambda: c[6],
                lambda: c[-7],
                lambda: d.random_split(range(3), [0.5, 0.25]),
            ]
        )
        == "VVVVVVVooIVV"
    )


def samples_are_collated():
    """Numbers become tensors, texts stay, and what is nested is nested again.

    Rule: nn/batches-are-stacked.
    """
    c, v = torch.utils.data.default_collate, torch.utils.data.default_convert
    assert [
        c([torch.ones(2), torch.zeros(2)]).tolist(),
        c([1, 2]).dtype is torch.int64,
        c([1.5, 2.0]).dtype is torch.float64,
        c([True, False]).tolist(),
    ] == [[[1.0, 1.0], [0.0, 0.0]], True, True, [True, False]]
    assert [
        c(["a", "b"]),
        c([b"a"]),
        [x.tolist() for x in c([(1, 2.0), (3, 4.0)])],
        {k: x.tolist() for k, x in c([{"a": 1}, {"a": 2}]).items()},
    ] == [["a", "b"], [b"a"], [[1, 3], [2.0, 4.0]], {"a": [1, 2]}]
    assert [
        type(c([(1,), (2,)])).__name__,
        type(c([[1], [2]])).__name__,
        [[y.tolist() for y in x] for x in c([((1, 2), [3]), ((4, 5), [6])])],
    ] == ["list", "list", [[[1, 4], [2, 5]], [[3, 6]]]]
    assert [
        type(v((1, torch.ones(1)))).__name__,
        v([1, 2.5, "a"]),
        v({"a": [1]}),
        v(torch.ones(1)).tolist(),
        v(3),
        v(None),
    ] == ["list", [1, 2.5, "a"], {"a": [1]}, [1.0], 3, None]
    n = torch.ones(2).numpy()
    assert [
        c([n, n]).shape == (2, 2),
        c([n[0], n[1]]).tolist(),
        v(n).tolist(),
        c([n.astype("int32"), n.astype("int32")]).dtype is torch.int32,
        str(v(n[:1].astype("U1"))[0]),
    ] == [True, [1.0, 1.0], [1.0, 1.0], True, "1"]
    x = torch.ones(2, requires_grad=True)
    b = c([x, x * 2])
    b.sum().backward()
    assert [b.requires_grad, x.grad.tolist(), c([[], []]), c([(x, "a"), (x, "b")])[1]] == [
        True,
        [3.0, 3.0],
        [],
        ("a", "b"),
    ]
    assert (
        error_kinds(
            [
                lambda: c([None]),
                lambda: c([[1], [1, 2]]),
                lambda: c([torch.ones(1), torch.ones(2)]),
                lambda: c([object()]),
                lambda: c([n.astype("U1"), n.astype("U1")]),
                lambda: c([{"a": 1}, {"b": 1}]),
                lambda: c([]),
            ]
        )
        == "TooTTKI"
    )
