"""Recurrent layers and cells with each of their settings, and sequences of several lengths."""

import torch


def _filled(m):
    """Fill the parameters of a module with numbers that are known, and return it."""
    for n, p in enumerate(m.parameters()):
        p.data = torch.linspace(-1.0, 1.5 + 0.25 * n, p.numel(), dtype=torch.float64).reshape(p.shape)
    return m


def _line(*shape):
    """Return numbers in a row, in that shape, that require grad."""
    count = torch.zeros(shape).numel()
    return torch.linspace(-2.0, 3.0, count, dtype=torch.float64).reshape(shape).requires_grad_()


def _graded(out, *inputs):
    """Return the shape of a result, its sum, each element times its number, and such sums of gradients."""
    numbered = lambda x: torch.arange(1.0, x.numel() + 1, dtype=torch.float64).reshape(x.shape)
    grads = torch.autograd.grad((out * numbered(out)).sum(), inputs, retain_graph=True)
    sums = [round((x.detach() * numbered(x)).sum().item(), 4) + 0.0 for x in (out, *grads)]
    return [tuple(out.shape), *sums]


def what_recurrent_layers_hold():
    """Their weights have names, sizes and bounds of their own. Rule: op/derivatives-beyond-programs."""
    n = torch.nn
    m = n.RNN(3, 2)
    assert [(k, tuple(v.shape)) for k, v in m.named_parameters()] == [
        ("weight_ih_l0", (2, 3)),
        ("weight_hh_l0", (2, 2)),
        ("bias_ih_l0", (2,)),
        ("bias_hh_l0", (2,)),
    ]
    assert (m.mode, m.bias, m.batch_first, m.dropout, m.bidirectional, m.num_layers) == (
        "RNN_TANH",
        True,
        False,
        0.0,
        False,
        1,
    )
    m = n.LSTM(3, 2, 2, bias=False, batch_first=True, dropout=0.5, bidirectional=True)
    assert [(k, tuple(v.shape)) for k, v in m.named_parameters()] == [
        ("weight_ih_l0", (8, 3)),
        ("weight_hh_l0", (8, 2)),
        ("weight_ih_l0_reverse", (8, 3)),
        ("weight_hh_l0_reverse", (8, 2)),
        ("weight_ih_l1", (8, 4)),
        ("weight_hh_l1", (8, 2)),
        ("weight_ih_l1_reverse", (8, 4)),
        ("weight_hh_l1_reverse", (8, 2)),
    ]
    assert (m.mode, m.bias, m.batch_first, m.dropout, m.bidirectional, m.num_layers) == (
        "LSTM",
        False,
        True,
        0.5,
        True,
        2,
    )
    m = n.GRU(input_size=3, hidden_size=2, dtype=torch.float64)
    assert [(k, tuple(v.shape), v.dtype is torch.float64) for k, v in m.named_parameters()] == [
        ("weight_ih_l0", (6, 3), True),
        ("weight_hh_l0", (6, 2), True),
        ("bias_ih_l0", (6,), True),
        ("bias_hh_l0", (6,), True),
    ]
    assert (m.mode, m.input_size, m.hidden_size) == ("GRU", 3, 2)
    assert [(k, tuple(v.shape)) for k, v in n.LSTMCell(3, 2).named_parameters()] == [
        ("weight_ih", (8, 3)),
        ("weight_hh", (8, 2)),
        ("bias_ih", (8,)),
        ("bias_hh", (8,)),
    ]
    assert [(k, tuple(v.shape)) for k, v in n.GRUCell(3, 2, bias=False).named_parameters()] == [
        ("weight_ih", (6, 3)),
        ("weight_hh", (6, 2)),
    ]
    c = n.RNNCell(3, 2, nonlinearity="relu")
    assert (c.input_size, c.hidden_size, c.bias, c.nonlinearity, c.bias_hh.dtype is torch.float32) == (
        3,
        2,
        True,
        "relu",
        True,
    )
    assert n.RNNCell(3, 2, bias=False).bias_ih is None
    torch.manual_seed(0)
    found = n.LSTM(1, 100).weight_hh_l0
    assert 0.09 < found.max().item() <= 0.1 and -0.1 <= found.min().item() < -0.09
    found = n.LSTMCell(1, 100).weight_ih
    assert 0.09 < found.max().item() <= 0.1 and -0.1 <= found.min().item() < -0.09
    x = _line(2, 1, 3)
    assert _graded(_filled(n.GRU(3, 2))(x)[0], x) == [(2, 1, 2), 0.4991, 18.5599]


def recurrent_layers_take_batches_in_front():
    """Samples come first, second, or there is but one; with several states or none.

    Rule: op/derivatives-beyond-programs.
    """
    n = torch.nn
    x = _line(2, 3, 1)
    m = _filled(n.RNN(1, 2, batch_first=True))
    out, h = m(x)
    assert (tuple(out.shape), tuple(h.shape)) == ((2, 3, 2), (1, 2, 2))
    assert _graded(out, x) == [(2, 3, 2), 8.1031, -5.4306]
    assert _graded(h, x, m.weight_hh_l0, m.bias_ih_l0) == [(1, 2, 2), 2.1415, -0.6989, 0.1523, 0.2685]
    out, h = _filled(n.RNN(1, 2))(x)
    assert (tuple(out.shape), tuple(h.shape)) == ((2, 3, 2), (1, 3, 2))
    assert _graded(out, x) == [(2, 3, 2), 7.616, -3.9661]
    one = _line(3, 1)
    out, h = m(one)
    assert (tuple(out.shape), tuple(h.shape)) == ((3, 2), (1, 2))
    assert _graded(out, one) == [(3, 2), 3.7342, -0.247]
    start = torch.tensor([[0.5, -0.5]], dtype=torch.float64)
    assert _graded(m(one, start)[0], one) == [(3, 2), 2.9768, 0.6562]
    m = _filled(n.LSTM(1, 2, batch_first=True, bidirectional=True))
    out, (h, c) = m(x)
    assert (tuple(out.shape), tuple(h.shape), tuple(c.shape)) == ((2, 3, 4), (2, 2, 2), (2, 2, 2))
    assert _graded(out, x) == [(2, 3, 4), 51.6292, -77.1545]
    assert _graded(h, x) == [(2, 2, 2), 11.7274, -10.9747]
    assert _graded(c, x) == [(2, 2, 2), 13.6674, -13.8052]
    out, (h, c) = m(one)
    assert (tuple(out.shape), tuple(h.shape), tuple(c.shape)) == ((3, 4), (2, 2), (2, 2))
    state = _line(2, 2)
    assert _graded(m(one, (state, state))[0], one, state) == [(3, 4), 29.5494, -0.1778, 42.7535]
    m = _filled(n.GRU(1, 2, 2, bidirectional=True, bias=False))
    out, h = m(x)
    assert _graded(out, x) == [(2, 3, 4), 12.8591, 106.7545]
    assert _graded(h, x) == [(4, 3, 2), -51.3276, 153.2318]
    state = _line(4, 3, 2)
    assert _graded(m(x, state)[0], x, state) == [(2, 3, 4), 471.1232, 107.3642, 6511.2083]


def cells_begin_with_zeros():
    """Without a state; a cell takes a batch or one sample. Rule: op/derivatives-beyond-programs."""
    n = torch.nn
    x = _line(3, 2)
    one = _line(2)
    state = _line(1, 2).detach().reshape(2)
    c = _filled(n.RNNCell(2, 2))
    assert _graded(c(x), x) == [(3, 2), 4.0218, -0.3341]
    assert _graded(c(one), one) == [(2,), 1.5379, -1.0486]
    assert _graded(c(one, state), one) == [(2,), 2.8483, -0.3739]
    assert _graded(_filled(n.RNNCell(2, 2, False, "relu"))(x), x) == [(3, 2), 43.1667, 104.6667]
    c = _filled(n.LSTMCell(2, 2))
    h, s = c(x)
    assert _graded(h, x) == [(3, 2), 1.283, -1.5415]
    assert _graded(s, x) == [(3, 2), 1.6069, -0.674]
    h, s = c(one)
    assert (tuple(h.shape), tuple(s.shape)) == ((2,), (2,))
    h, s = c(one, (state, 2 * state))
    assert _graded(h, one) == [(2,), 1.0257, 0.0242]
    assert _graded(s, one) == [(2,), 8.5635, 0.4666]
    c = _filled(n.GRUCell(2, 2))
    assert _graded(c(x), x) == [(3, 2), 2.6203, 1.2694]
    assert _graded(c(one, state), one) == [(2,), 4.3415, 0.0425]


def dropout_between_recurrent_layers():
    """Is there in training, behind each layer but the last. Rule: nn/dropout-in-training-only."""
    n = torch.nn
    x = _line(4, 1, 1)
    m = _filled(n.RNN(1, 1, 2, dropout=1.0))
    dropped = [round(v, 4) for v in m(x)[0].flatten().tolist()]
    assert dropped == [-0.964, -0.7763, -0.8407, -0.8208]
    assert [round(v, 4) for v in m.eval()(x)[0].flatten().tolist()] == [-0.964, -0.1045, -0.722, -0.2717]
    k = _filled(n.RNN(1, 1, 2, dropout=0.0))
    assert k(x)[0].equal(m(x)[0])
    assert n.Dropout(0.5).eval()(x) is x


def sequences_are_padded_and_packed():
    """The steps of all sequences lie behind one another; gradients come back to each.

    Rule: op/derivatives-beyond-programs.
    """
    u = torch.nn.utils.rnn
    a, b = _line(3, 2), _line(1, 2)
    p = u.pad_sequence([b, a])
    assert (tuple(p.shape), p.grad_fn is not None) == ((3, 2, 2), True)
    assert _graded(p, a, b) == [(3, 2, 2), 60.0, 191.0, 5.0]
    p = u.pad_sequence([b, a], batch_first=True, padding_value=0.5)
    assert tuple(p.shape) == (2, 3, 2)
    assert _graded(p, a, b) == [(2, 3, 2), 59.0, 217.0, 5.0]
    assert _graded(u.pad_sequence((b, a), True, -1.0, "left"), a, b) == [(2, 3, 2), 44.0, 217.0, 17.0]
    k = u.pack_padded_sequence(p, [1, 3], batch_first=True, enforce_sorted=False)
    assert (k.batch_sizes.tolist(), k.sorted_indices.tolist(), k.unsorted_indices.tolist()) == (
        [2, 1, 1],
        [1, 0],
        [1, 0],
    )
    assert _graded(k.data, a, b) == [(4, 2), 46.0, 127.0, 11.0]
    out, sizes = u.pad_packed_sequence(k)
    assert (tuple(out.shape), sizes.tolist()) == ((3, 2, 2), [1, 3])
    out, sizes = u.pad_packed_sequence(k, batch_first=True, padding_value=2.0, total_length=4)
    assert (tuple(out.shape), sizes.tolist()) == ((2, 4, 2), [1, 3])
    assert _graded(out, a, b) == [(2, 4, 2), 184.0, 259.0, 5.0]
    s = u.pack_sequence([a, b])
    assert (s.batch_sizes.tolist(), s.sorted_indices, s.unsorted_indices) == ([2, 1, 1], None, None)
    assert _graded(s.data, a, b) == [(4, 2), 46.0, 127.0, 11.0]
    assert u.pack_sequence([b, a], enforce_sorted=False).sorted_indices.tolist() == [1, 0]
    t = u.pack_padded_sequence(p.transpose(0, 1), torch.tensor([1, 3]), enforce_sorted=False)
    assert t.data.equal(k.data)
    assert [tuple(x.shape) for x in u.unpad_sequence(p, torch.tensor([1, 3]), True)] == [(1, 2), (3, 2)]
    assert k.to(torch.float32).data.dtype is torch.float32 and k.double() is k
    m = _filled(torch.nn.Conv1d(2, 1, 1))
    assert _graded(m(out.transpose(1, 2)), a, b) == [(2, 1, 4), 16.5, 56.0, 2.0]


def layers_run_packed_sequences():
    """Each to its own end; those that ended keep their states. Rule: op/derivatives-beyond-programs."""
    n, u = torch.nn, torch.nn.utils.rnn
    a, b, c = _line(3, 1), _line(1, 1), _line(2, 1)
    k = u.pack_sequence([b, a, c], enforce_sorted=False)
    m = _filled(n.RNN(1, 2))
    out, h = m(k)
    assert out.batch_sizes.tolist() == k.batch_sizes.tolist() and out.sorted_indices.tolist() == [1, 2, 0]
    assert _graded(out.data, a, b, c) == [(6, 2), 13.2676, -0.3624, -2.4763, -1.319]
    assert _graded(h, a, b, c) == [(1, 3, 2), 3.6986, -0.0099, -0.1588, -0.0008]
    m = _filled(n.LSTM(1, 1, bidirectional=True))
    out, (h, s) = m(k)
    assert _graded(out.data, a, b, c) == [(6, 2), 10.1267, -3.0791, 2.0787, 0.8538]
    assert _graded(h, a, b, c) == [(2, 3, 1), 5.0014, 0.3931, 1.1745, 1.438]
    assert _graded(s, a, b, c) == [(2, 3, 1), 6.4146, -0.2282, 0.7507, 0.8996]
    start = _line(2, 3, 1)
    out, (h, s) = m(k, (start, start))
    assert _graded(out.data, a, b, c, start) == [(6, 2), 36.6097, 2.251, -0.7995, 0.1515, 49.2026]
    assert _graded(h, a, b, c, start) == [(2, 3, 1), 12.6634, 0.3287, -0.2538, 0.1537, 12.9736]
    m = _filled(n.GRU(1, 1, 2))
    out, h = m(u.pack_sequence([a, c, b]))
    assert _graded(out.data, a, b, c) == [(6, 1), 3.6676, -0.2818, -0.0649, -0.19]
    assert _graded(h, a, b, c) == [(2, 3, 1), 3.2931, -0.0353, 0.8145, 0.2655]
    m = _filled(n.RNN(1, 1, 2, dropout=1.0))
    assert [round(v, 4) for v in m(u.pack_sequence([a, b]))[0].data.flatten().tolist()] == [
        -0.964,
        -0.964,
        -0.7763,
        -0.8407,
    ]
