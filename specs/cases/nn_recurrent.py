"""Recurrent layers and cells with each of their settings, and sequences of several lengths."""

import torch

from specs.cases._measures import filled, graded, wave


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
    x = wave(2, 1, 3)
    assert graded(filled(n.GRU(3, 2))(x)[0], x) == [(2, 1, 2), 1.0921, 18.5761]


def recurrent_layers_take_batches_in_front():
    """Samples come first, second, or there is but one; with several states or none.

    Rule: op/derivatives-beyond-programs.
    """
    n = torch.nn
    x = wave(2, 3, 1)
    m = filled(n.RNN(1, 2, batch_first=True))
    out, h = m(x)
    assert (tuple(out.shape), tuple(h.shape)) == ((2, 3, 2), (1, 2, 2))
    assert graded(out, x) == [(2, 3, 2), 57.9612, 108.537]
    assert graded(h, x, m.weight_hh_l0, m.bias_ih_l0) == [(1, 2, 2), 4.9448, 29.37, 40.2248, 12.8958]
    out, h = filled(n.RNN(1, 2))(x)
    assert (tuple(out.shape), tuple(h.shape)) == ((2, 3, 2), (1, 3, 2))
    assert graded(out, x) == [(2, 3, 2), 54.9752, 121.3266]
    one = wave(3, 1)
    out, h = m(one)
    assert (tuple(out.shape), tuple(h.shape)) == ((3, 2), (1, 2))
    assert graded(out, one) == [(3, 2), 14.109, 20.5559]
    start = torch.tensor([[0.5, -0.5]], dtype=torch.float64)
    assert graded(m(one, start)[0], one) == [(3, 2), 14.0763, 20.6062]
    m = filled(n.LSTM(1, 2, batch_first=True, bidirectional=True))
    out, (h, c) = m(x)
    assert (tuple(out.shape), tuple(h.shape), tuple(c.shape)) == ((2, 3, 4), (2, 2, 2), (2, 2, 2))
    assert graded(out, x) == [(2, 3, 4), -54.1488, -143.9857]
    assert graded(h, x) == [(2, 2, 2), -12.1407, -15.8661]
    assert graded(c, x) == [(2, 2, 2), -17.0043, -25.6743]
    out, (h, c) = m(one)
    assert (tuple(out.shape), tuple(h.shape), tuple(c.shape)) == ((3, 4), (2, 2), (2, 2))
    state = wave(2, 2)
    assert graded(m(one, (state, state))[0], one, state) == [(3, 4), -12.644, -7.9863, 5.032]
    m = filled(n.GRU(1, 2, 2, bidirectional=True, bias=False))
    out, h = m(x)
    assert graded(out, x) == [(2, 3, 4), 32.5072, 53.1683]
    assert graded(h, x) == [(4, 3, 2), 49.7193, 63.7494]
    state = wave(4, 3, 2)
    assert graded(m(x, state)[0], x, state) == [(2, 3, 4), -198.6231, 4.0171, 3432.8871]


def cells_begin_with_zeros():
    """Without a state; a cell takes a batch or one sample. Rule: op/derivatives-beyond-programs."""
    n = torch.nn
    x = wave(3, 2)
    one = wave(2)
    state = wave(1, 2).detach().reshape(2)
    c = filled(n.RNNCell(2, 2))
    assert graded(c(x), x) == [(3, 2), 12.7941, 6.3957]
    assert graded(c(one), one) == [(2,), -0.7996, 0.1513]
    assert graded(c(one, state), one) == [(2,), -1.0002, 0.0008]
    assert graded(filled(n.RNNCell(2, 2, False, "relu"))(x), x) == [(3, 2), 11.5153, 0.1284]
    c = filled(n.LSTMCell(2, 2))
    h, s = c(x)
    assert graded(h, x) == [(3, 2), -4.0902, -5.7472]
    assert graded(s, x) == [(3, 2), -6.0857, -13.7405]
    h, s = c(one)
    assert (tuple(h.shape), tuple(s.shape)) == ((2,), (2,))
    h, s = c(one, (state, 2 * state))
    assert graded(h, one) == [(2,), -0.6641, -0.9507]
    assert graded(s, one) == [(2,), -4.8536, 0.1038]
    c = filled(n.GRUCell(2, 2))
    assert graded(c(x), x) == [(3, 2), 5.6836, 1.6166]
    assert graded(c(one, state), one) == [(2,), -0.7823, 3.3306]


def dropout_between_recurrent_layers():
    """Is there in training, behind each layer but the last. Rule: nn/dropout-in-training-only."""
    n = torch.nn
    x = wave(4, 1, 1)
    m = filled(n.RNN(1, 1, 2, dropout=1.0))
    dropped = [round(v, 4) for v in m(x)[0].flatten().tolist()]
    assert dropped == [0.9332, 0.9857, 0.9869, 0.987]
    assert [round(v, 4) for v in m.eval()(x)[0].flatten().tolist()] == [0.9872, 0.9955, 0.9976, 0.9941]
    k = filled(n.RNN(1, 1, 2, dropout=0.0))
    assert k(x)[0].equal(m(x)[0])
    assert n.Dropout(0.5).eval()(x) is x


def sequences_are_padded_and_packed():
    """The steps of all sequences lie behind one another; gradients come back to each.

    Rule: op/derivatives-beyond-programs.
    """
    u = torch.nn.utils.rnn
    a, b = wave(3, 2), wave(1, 2)
    p = u.pad_sequence([b, a])
    assert (tuple(p.shape), p.grad_fn is not None) == ((3, 2, 2), True)
    assert graded(p, a, b) == [(3, 2, 2), -22.7904, 191.0, 5.0]
    p = u.pad_sequence([b, a], batch_first=True, padding_value=0.5)
    assert tuple(p.shape) == (2, 3, 2)
    assert graded(p, a, b) == [(2, 3, 2), -11.3272, 217.0, 5.0]
    assert graded(u.pad_sequence((b, a), True, -1.0, "left"), a, b) == [(2, 3, 2), -32.3484, 217.0, 17.0]
    k = u.pack_padded_sequence(p, [1, 3], batch_first=True, enforce_sorted=False)
    assert (k.batch_sizes.tolist(), k.sorted_indices.tolist(), k.unsorted_indices.tolist()) == (
        [2, 1, 1],
        [1, 0],
        [1, 0],
    )
    assert graded(k.data, a, b) == [(4, 2), -16.3497, 127.0, 11.0]
    out, sizes = u.pad_packed_sequence(k)
    assert (tuple(out.shape), sizes.tolist()) == ((3, 2, 2), [1, 3])
    out, sizes = u.pad_packed_sequence(k, batch_first=True, padding_value=2.0, total_length=4)
    assert (tuple(out.shape), sizes.tolist()) == ((2, 4, 2), [1, 3])
    assert graded(out, a, b) == [(2, 4, 2), 105.308, 259.0, 5.0]
    s = u.pack_sequence([a, b])
    assert (s.batch_sizes.tolist(), s.sorted_indices, s.unsorted_indices) == ([2, 1, 1], None, None)
    assert graded(s.data, a, b) == [(4, 2), -16.3497, 127.0, 11.0]
    assert u.pack_sequence([b, a], enforce_sorted=False).sorted_indices.tolist() == [1, 0]
    t = u.pack_padded_sequence(p.transpose(0, 1), torch.tensor([1, 3]), enforce_sorted=False)
    assert t.data.equal(k.data)
    assert [tuple(x.shape) for x in u.unpad_sequence(p, torch.tensor([1, 3]), True)] == [(1, 2), (3, 2)]
    assert k.to(torch.float32).data.dtype is torch.float32 and k.double() is k
    m = filled(torch.nn.Conv1d(2, 1, 1))
    assert graded(m(out.transpose(1, 2)), a, b) == [(2, 1, 4), 75.4898, 98.7363, 2.1554]


def layers_run_packed_sequences():
    """Each to its own end; those that ended keep their states. Rule: op/derivatives-beyond-programs."""
    n, u = torch.nn, torch.nn.utils.rnn
    a, b, c = wave(3, 1), wave(1, 1), wave(2, 1)
    k = u.pack_sequence([b, a, c], enforce_sorted=False)
    m = filled(n.RNN(1, 2))
    out, h = m(k)
    assert out.batch_sizes.tolist() == k.batch_sizes.tolist() and out.sorted_indices.tolist() == [1, 2, 0]
    assert graded(out.data, a, b, c) == [(6, 2), 52.0152, 42.9736, 0.0514, 23.4118]
    assert graded(h, a, b, c) == [(1, 3, 2), 9.7933, 12.9907, 0.0139, 13.5282]
    m = filled(n.LSTM(1, 1, bidirectional=True))
    out, (h, s) = m(k)
    assert graded(out.data, a, b, c) == [(6, 2), -24.1034, -2.9676, -0.6905, 1.1481]
    assert graded(h, a, b, c) == [(2, 3, 1), -11.1985, -0.8502, -0.3823, -0.5016]
    assert graded(s, a, b, c) == [(2, 3, 1), -15.0225, -1.2143, -0.5512, -0.4095]
    start = wave(2, 3, 1)
    out, (h, s) = m(k, (start, start))
    assert graded(out.data, a, b, c, start) == [(6, 2), -23.663, -4.3066, -0.0222, -1.4963, 18.4627]
    assert graded(h, a, b, c, start) == [(2, 3, 1), -11.2034, -1.0389, -0.152, -0.3471, 3.9742]
    m = filled(n.GRU(1, 1, 2))
    out, h = m(u.pack_sequence([a, c, b]))
    assert graded(out.data, a, b, c) == [(6, 1), 20.4849, 0.112, 0.0078, 0.0893]
    assert graded(h, a, b, c) == [(2, 3, 1), 19.2, 1.5105, 0.1103, 2.0775]
    m = filled(n.RNN(1, 1, 2, dropout=1.0))
    assert [round(v, 4) for v in m(u.pack_sequence([a, b]))[0].data.flatten().tolist()] == [
        0.9332,
        0.9332,
        0.9857,
        0.9869,
    ]
