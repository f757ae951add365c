"""Recurrent layers and cells with each of their settings, and sequences of several lengths."""

import torch


def _filled(m):
    """Fill the parameters of a module with numbers that are known, and return it."""
    for n, p in enumerate(m.parameters()):
        wave = torch.linspace(1.0, 7.0 + 0.25 * n, p.numel(), dtype=torch.float64).sin()
        p.data = wave.reshape(p.shape)
    return m


def _line(*shape):
    """Return numbers on a wave, in that shape, that require grad."""
    count = torch.zeros(shape).numel()
    wave = torch.linspace(-4.0, 5.0, count, dtype=torch.float64).sin().mul(2.5)
    return wave.reshape(shape).requires_grad_()


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
    assert _graded(_filled(n.GRU(3, 2))(x)[0], x) == [(2, 1, 2), 1.0921, 18.5761]


def recurrent_layers_take_batches_in_front():
    """Samples come first, second, or there is but one; with several states or none.

    Rule: op/derivatives-beyond-programs.
    """
    n = torch.nn
    x = _line(2, 3, 1)
    m = _filled(n.RNN(1, 2, batch_first=True))
    out, h = m(x)
    assert (tuple(out.shape), tuple(h.shape)) == ((2, 3, 2), (1, 2, 2))
    assert _graded(out, x) == [(2, 3, 2), 57.9612, 108.537]
    assert _graded(h, x, m.weight_hh_l0, m.bias_ih_l0) == [(1, 2, 2), 4.9448, 29.37, 40.2248, 12.8958]
    out, h = _filled(n.RNN(1, 2))(x)
    assert (tuple(out.shape), tuple(h.shape)) == ((2, 3, 2), (1, 3, 2))
    assert _graded(out, x) == [(2, 3, 2), 54.9752, 121.3266]
    one = _line(3, 1)
    out, h = m(one)
    assert (tuple(out.shape), tuple(h.shape)) == ((3, 2), (1, 2))
    assert _graded(out, one) == [(3, 2), 14.109, 20.5559]
    start = torch.tensor([[0.5, -0.5]], dtype=torch.float64)
    assert _graded(m(one, start)[0], one) == [(3, 2), 14.0763, 20.6062]
    m = _filled(n.LSTM(1, 2, batch_first=True, bidirectional=True))
    out, (h, c) = m(x)
    assert (tuple(out.shape), tuple(h.shape), tuple(c.shape)) == ((2, 3, 4), (2, 2, 2), (2, 2, 2))
    assert _graded(out, x) == [(2, 3, 4), -54.1488, -143.9857]
    assert _graded(h, x) == [(2, 2, 2), -12.1407, -15.8661]
    assert _graded(c, x) == [(2, 2, 2), -17.0043, -25.6743]
    out, (h, c) = m(one)
    assert (tuple(out.shape), tuple(h.shape), tuple(c.shape)) == ((3, 4), (2, 2), (2, 2))
    state = _line(2, 2)
    assert _graded(m(one, (state, state))[0], one, state) == [(3, 4), -12.644, -7.9863, 5.032]
    m = _filled(n.GRU(1, 2, 2, bidirectional=True, bias=False))
    out, h = m(x)
    assert _graded(out, x) == [(2, 3, 4), 32.5072, 53.1683]
    assert _graded(h, x) == [(4, 3, 2), 49.7193, 63.7494]
    state = _line(4, 3, 2)
    assert _graded(m(x, state)[0], x, state) == [(2, 3, 4), -198.6231, 4.0171, 3432.8871]


def cells_begin_with_zeros():
    """Without a state; a cell takes a batch or one sample. Rule: op/derivatives-beyond-programs."""
    n = torch.nn
    x = _line(3, 2)
    one = _line(2)
    state = _line(1, 2).detach().reshape(2)
    c = _filled(n.RNNCell(2, 2))
    assert _graded(c(x), x) == [(3, 2), 12.7941, 6.3957]
    assert _graded(c(one), one) == [(2,), -0.7996, 0.1513]
    assert _graded(c(one, state), one) == [(2,), -1.0002, 0.0008]
    assert _graded(_filled(n.RNNCell(2, 2, False, "relu"))(x), x) == [(3, 2), 11.5153, 0.1284]
    c = _filled(n.LSTMCell(2, 2))
    h, s = c(x)
    assert _graded(h, x) == [(3, 2), -4.0902, -5.7472]
    assert _graded(s, x) == [(3, 2), -6.0857, -13.7405]
    h, s = c(one)
    assert (tuple(h.shape), tuple(s.shape)) == ((2,), (2,))
    h, s = c(one, (state, 2 * state))
    assert _graded(h, one) == [(2,), -0.6641, -0.9507]
    assert _graded(s, one) == [(2,), -4.8536, 0.1038]
    c = _filled(n.GRUCell(2, 2))
    assert _graded(c(x), x) == [(3, 2), 5.6836, 1.6166]
    assert _graded(c(one, state), one) == [(2,), -0.7823, 3.3306]


def dropout_between_recurrent_layers():
    """Is there in training, behind each layer but the last. Rule: nn/dropout-in-training-only."""
    n = torch.nn
    x = _line(4, 1, 1)
    m = _filled(n.RNN(1, 1, 2, dropout=1.0))
    dropped = [round(v, 4) for v in m(x)[0].flatten().tolist()]
    assert dropped == [0.9332, 0.9857, 0.9869, 0.987]
    assert [round(v, 4) for v in m.eval()(x)[0].flatten().tolist()] == [0.9872, 0.9955, 0.9976, 0.9941]
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
    assert _graded(p, a, b) == [(3, 2, 2), -22.7904, 191.0, 5.0]
    p = u.pad_sequence([b, a], batch_first=True, padding_value=0.5)
    assert tuple(p.shape) == (2, 3, 2)
    assert _graded(p, a, b) == [(2, 3, 2), -11.3272, 217.0, 5.0]
    assert _graded(u.pad_sequence((b, a), True, -1.0, "left"), a, b) == [(2, 3, 2), -32.3484, 217.0, 17.0]
    k = u.pack_padded_sequence(p, [1, 3], batch_first=True, enforce_sorted=False)
    assert (k.batch_sizes.tolist(), k.sorted_indices.tolist(), k.unsorted_indices.tolist()) == (
        [2, 1, 1],
        [1, 0],
        [1, 0],
    )
    assert _graded(k.data, a, b) == [(4, 2), -16.3497, 127.0, 11.0]
    out, sizes = u.pad_packed_sequence(k)
    assert (tuple(out.shape), sizes.tolist()) == ((3, 2, 2), [1, 3])
    out, sizes = u.pad_packed_sequence(k, batch_first=True, padding_value=2.0, total_length=4)
    assert (tuple(out.shape), sizes.tolist()) == ((2, 4, 2), [1, 3])
    assert _graded(out, a, b) == [(2, 4, 2), 105.308, 259.0, 5.0]
    s = u.pack_sequence([a, b])
    assert (s.batch_sizes.tolist(), s.sorted_indices, s.unsorted_indices) == ([2, 1, 1], None, None)
    assert _graded(s.data, a, b) == [(4, 2), -16.3497, 127.0, 11.0]
    assert u.pack_sequence([b, a], enforce_sorted=False).sorted_indices.tolist() == [1, 0]
    t = u.pack_padded_sequence(p.transpose(0, 1), torch.tensor([1, 3]), enforce_sorted=False)
    assert t.data.equal(k.data)
    assert [tuple(x.shape) for x in u.unpad_sequence(p, torch.tensor([1, 3]), True)] == [(1, 2), (3, 2)]
    assert k.to(torch.float32).data.dtype is torch.float32 and k.double() is k
    m = _filled(torch.nn.Conv1d(2, 1, 1))
    assert _graded(m(out.transpose(1, 2)), a, b) == [(2, 1, 4), 75.4898, 98.7363, 2.1554]


def layers_run_packed_sequences():
    """Each to its own end; those that ended keep their states. Rule: op/derivatives-beyond-programs."""
    n, u = torch.nn, torch.nn.utils.rnn
    a, b, c = _line(3, 1), _line(1, 1), _line(2, 1)
    k = u.pack_sequence([b, a, c], enforce_sorted=False)
    m = _filled(n.RNN(1, 2))
    out, h = m(k)
    assert out.batch_sizes.tolist() == k.batch_sizes.tolist() and out.sorted_indices.tolist() == [1, 2, 0]
    assert _graded(out.data, a, b, c) == [(6, 2), 52.0152, 42.9736, 0.0514, 23.4118]
    assert _graded(h, a, b, c) == [(1, 3, 2), 9.7933, 12.9907, 0.0139, 13.5282]
    m = _filled(n.LSTM(1, 1, bidirectional=True))
    out, (h, s) = m(k)
    assert _graded(out.data, a, b, c) == [(6, 2), -24.1034, -2.9676, -0.6905, 1.1481]
    assert _graded(h, a, b, c) == [(2, 3, 1), -11.1985, -0.8502, -0.3823, -0.5016]
    assert _graded(s, a, b, c) == [(2, 3, 1), -15.0225, -1.2143, -0.5512, -0.4095]
    start = _line(2, 3, 1)
    out, (h, s) = m(k, (start, start))
    assert _graded(out.data, a, b, c, start) == [(6, 2), -23.663, -4.3066, -0.0222, -1.4963, 18.4627]
    assert _graded(h, a, b, c, start) == [(2, 3, 1), -11.2034, -1.0389, -0.152, -0.3471, 3.9742]
    m = _filled(n.GRU(1, 1, 2))
    out, h = m(u.pack_sequence([a, c, b]))
    assert _graded(out.data, a, b, c) == [(6, 1), 20.4849, 0.112, 0.0078, 0.0893]
    assert _graded(h, a, b, c) == [(2, 3, 1), 19.2, 1.5105, 0.1103, 2.0775]
    m = _filled(n.RNN(1, 1, 2, dropout=1.0))
    assert [round(v, 4) for v in m(u.pack_sequence([a, b]))[0].data.flatten().tolist()] == [
        0.9332,
        0.9332,
        0.9857,
        0.9869,
    ]
