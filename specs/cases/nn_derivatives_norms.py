"""First and second derivatives of norms, recurrent layers, attention and embeddings."""

import torch

from specs.case import refused
from specs.cases._measures import derivatives, graded


def derivatives_of_norms():
    """Of layers, groups, channels and batches, with weights and without.

    Rule: op/derivatives-beyond-programs.
    """
    x = torch.tensor(
        [[[1.0, -2.0], [0.5, 3.0]], [[2.0, 1.0], [-1.0, 0.0]]], dtype=torch.float64, requires_grad=True
    )
    w = torch.tensor([1.5, -0.5], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    f = torch.nn.functional
    assert derivatives(f.layer_norm(x, (2,), w, b, eps=0.5), x, w, b) == [
        [0.13705, -0.13705, 0.54861, -0.54861, 4.04145, -4.04145, 5.58105, -5.58105],
        [-2.86133, 2.82719],
        [16.0, 20.0],
        [-0.99514, 0.99514, -2.2635, 2.2635, -89.40481, 89.40481, 91.76307, -91.76307],
        [91.84495, -106.87503],
        [26.86874, 34.90046, 37.25876, 45.0141, 38.02935, 39.84656, 48.19287, 47.56085],
    ]
    assert derivatives(f.layer_norm(x, (2, 2)), x) == [
        [-0.91277, 0.21298, 0.30426, 0.39553, -0.26834, -0.08945, -0.62609, 0.98387],
        [0.2767, 0.38644, -0.09223, -0.57091, -1.24798, -0.41599, -0.03201, 1.69598],
        [-1.02502, 0.23917, 0.34167, 0.44417, -0.48, -0.16, -1.11999, 1.75999],
    ]
    assert derivatives(f.rms_norm(x, (2,), w, eps=0.5), x, w) == [
        [0.52924, 0.09623, 2.06857, -0.39863, 2.02073, -2.88675, 5.25, -4.0],
        [0.01344, 6.45541],
        [4.50778, 5.01622, -3.00021, 0.05285, -27.7156, 41.32781, 98.78159, 40.28662],
        [52.24409, -86.09339],
        [0.83497, -15.02851, 2.75761, 17.26434, 2.86438, 9.23185, 7.84812, 4.0],
    ]
    assert graded(f.group_norm(x, 1, w, b), x, w, b) == [(2, 2, 2), 64.9041, -6.5394, -9.0369, 58.0]
    assert derivatives(f.group_norm(x, 1, w, b.detach()), x, w) == [
        [0.89894, 0.16458, -1.0483, -0.01522, -1.47575, 3.9802, 1.02854, -3.53299],
        [6.65419, -7.84555],
        [21.56969, 1.56195, -18.83204, -4.2996, -25.9247, 19.40329, 30.67026, -24.14885],
        [30.89888, -41.27968],
        [4.31642, -19.33811, 1.68991, -20.91613, 13.89502, 16.63158, 20.13176, 10.17722],
    ]
    assert derivatives(f.group_norm(x, 2, eps=0.5), x) == [
        [-0.05482, 0.05482, -0.0844, 0.0844, -0.3849, 0.3849, -0.3849, 0.3849],
        [-0.00984, 0.00984, 0.0259, -0.0259, -0.59259, 0.59259, 0.59259, -0.59259],
        [-0.01202, 0.01202, -0.02849, 0.02849, -0.59259, 0.59259, -0.59259, 0.59259],
    ]
    assert derivatives(f.batch_norm(x, None, None, w, b, training=True), x, w, b) == [
        [-2.83333, 0.16666, 0.88358, -0.16353, 0.5, 2.16666, -0.04882, -0.67123],
        [3.99999, -4.91948],
        [14.0, 22.0],
        [-12.77771, 7.88878, 16.92293, -3.8145, -2.33328, 7.2222, -0.4615, -12.64693],
        [17.33326, -5.04154],
        [25.00001, 15.00006, 44.23498, 28.25492, 36.99996, 34.99997, 54.882, 48.6281],
    ]
    assert derivatives(f.batch_norm(x, b.detach(), b.detach(), w, b, eps=0.5), x, w, b) == [
        [1.5, 3.0, -0.94868, -1.26491, 7.5, 9.0, -2.21359, -2.52982],
        [6.0, -23.71708],
        [14.0, 22.0],
        [12.0, 24.0, -90.0, -120.0, 60.0, 72.0, -210.0, -240.0],
        [198.0, -55.2],
        [38.5, 7.0, 89.6, 14.8, 68.5, 61.0, 135.4, 105.6],
    ]
    assert derivatives(f.instance_norm(x, weight=w, bias=b), x, w, b) == [
        [0.0, 0.0, 0.0, 0.0, -6e-05, 6e-05, 2e-05, -2e-05],
        [-1.99998, 1.99998],
        [14.0, 22.0],
        [1e-05, -1e-05, -1e-05, 1e-05, 0.00016, -0.00016, -0.00016, 0.00016],
        [0.0, 0.0],
        [24.00005, 31.99995, 40.00006, 47.99994, 24.00012, 31.99988, 40.00013, 47.99987],
    ]
    assert derivatives(f.local_response_norm(x, 2, alpha=0.5, beta=0.5, k=2.0), x) == [
        [0.48596, 1.26858, 1.91947, 0.99757, 2.52187, 3.55556, 3.58422, 5.33333],
        [-1.01437, 0.6106, -1.38541, -0.9735, -8.03146, -14.74897, 3.61153, -4.21399],
        [0.57595, 0.97656, 2.42169, 0.81395, 1.94134, 4.21399, 4.10088, 7.11111],
    ]
    assert derivatives(f.normalize(x, p=3.0, dim=1), x) == [
        [-1.17517, 0.89093, 2.35033, 0.59395, 1.76275, 0.0, 3.5255, 8.0],
        [-7.9234, -0.38361, -11.77351, -1.0201, -16.44664, -128.0, -1.82043, 0.0],
        [-1.25547, 0.60699, 5.02188, 0.26977, 0.9416, 0.0, 3.76641, 16.0],
    ]


def group_norm_has_all_second_gradients():
    """The bias has no part in the gradient of a square, and zeros for its own.

    Rule: nn/group-norm-has-all-second-gradients.
    """
    x = torch.tensor(
        [[[1.0, -2.0], [0.5, 3.0]], [[2.0, 1.0], [-1.0, 0.0]]], dtype=torch.float64, requires_grad=True
    )
    w = torch.tensor([1.5, -0.5], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    assert derivatives(torch.nn.functional.group_norm(x, 1, w, b), x, w, b) == [
        [0.89894, 0.16458, -1.0483, -0.01522, -1.47575, 3.9802, 1.02854, -3.53299],
        [6.65419, -7.84555],
        [14.0, 22.0],
        [21.56969, 1.56195, -18.83204, -4.2996, -25.9247, 19.40329, 30.67026, -24.14885],
        [30.89888, -41.27968],
        [0.0, 0.0],
        [32.31642, 8.66189, 45.68991, 23.08387, 41.89502, 44.63158, 64.13176, 54.17722],
    ]
    out = torch.nn.functional.group_norm(x, 2, w, b)
    (g,) = torch.autograd.grad(out, w, torch.ones_like(out), create_graph=True)
    zeros = torch.autograd.grad(g.sum(), (w, b))
    assert [z.tolist() for z in zeros] == [[0.0, 0.0], [0.0, 0.0]]


def derivatives_of_recurrent_layers():
    """Of one layer or two, in both directions, and of their cells. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([[[1.0]], [[-2.0]], [[0.5]]], dtype=torch.float64, requires_grad=True)
    h = torch.tensor([[[0.25]], [[-0.5]]], dtype=torch.float64, requires_grad=True)
    c = torch.tensor([[[0.5]], [[1.0]]], dtype=torch.float64, requires_grad=True)
    fill = lambda m: (
        [torch.nn.init.constant_(p, 0.25 * (n % 5) - 0.5) for n, p in enumerate(m.parameters())] and m
    )
    n = torch.nn
    rnn = fill(n.RNN(1, 1, num_layers=2, nonlinearity="relu").double())
    assert derivatives(rnn(x, h)[0], x, h) == [
        [0.0, -0.5, 0.0],
        [0.0, 0.0],
        [0.0, 0.0, 0.0],
        [0.0, 0.0],
        [0.0, 0.25, 0.0],
    ]
    assert derivatives(fill(n.RNN(1, 1, bidirectional=True).double())(x, h)[1], x, h) == [
        [0.63603, -0.04355, -0.44289],
        [-0.00334, -0.03427],
        [-0.47224, 0.03078, -0.09753],
        [0.00175, 0.00956],
        [0.41164, 0.39795],
    ]
    assert derivatives(fill(n.LSTM(1, 1, num_layers=2).double())(x, (h, c))[0], x, h, c) == [
        [-0.07438, -0.0683, -0.04458],
        [-0.03719, -0.36429],
        [0.13897, 0.43891],
        [-0.04218, -0.00974, -0.01468],
        [-0.02109, -0.11113],
        [0.03319, -0.05273],
        [0.33889, 0.11851, 0.04685],
    ]
    assert derivatives(fill(n.LSTM(1, 1, bidirectional=True).double())(x, (h, c))[1][1], x, h, c) == [
        [0.51732, -0.06039, -0.22591],
        [-0.03151, -0.08074],
        [0.12397, 0.10946],
        [0.13246, 0.00195, -0.04381],
        [0.0164, -0.01942],
        [-0.02008, 0.01517],
        [0.11422, 0.30005],
    ]
    assert derivatives(
        fill(n.GRU(1, 1, num_layers=2, batch_first=True).double())(x.transpose(0, 1), h)[0], x, h
    ) == [
        [-0.44045, 0.04988, -0.22746],
        [0.43101, 0.83639],
        [-0.34019, -0.0456, -0.05889],
        [0.20498, -0.80889],
        [0.77751, 0.40881, 0.22398],
    ]
    assert derivatives(fill(n.GRUCell(1, 1).double())(x[0], h[0]), x, h) == [
        [-0.33323, 0.0, 0.0],
        [0.32609, 0.0],
        [-0.08105, 0.0, 0.0],
        [0.00609, 0.0],
        [0.43475],
    ]
    assert derivatives(fill(n.LSTMCell(1, 1).double())(x[0], (h[0], c[0]))[1], x, h, c) == [
        [-0.21596, 0.0, 0.0],
        [-0.10798, 0.0],
        [0.4225, 0.0],
        [-0.19529, 0.0, 0.0],
        [-0.09764, 0.0],
        [0.06587, 0.0],
        [0.47362],
    ]
    assert derivatives(fill(n.RNNCell(1, 1).double())(x[0], h[0]), x, h) == [
        [-0.45418, 0.0, 0.0],
        [-0.22709, 0.0],
        [-0.15611, 0.0, 0.0],
        [-0.07805, 0.0],
        [0.51571],
    ]


def derivatives_of_attention():
    """Scaled, masked, causal, and of several heads. Rule: op/derivatives-beyond-programs."""
    q = torch.tensor([[[1.0, -1.0], [0.5, 2.0]]], dtype=torch.float64, requires_grad=True)
    k = torch.tensor([[[0.5, 1.0], [2.0, -1.0]]], dtype=torch.float64, requires_grad=True)
    v = torch.tensor([[[1.0, 0.0], [3.0, -2.0]]], dtype=torch.float64, requires_grad=True)
    f = torch.nn.functional.scaled_dot_product_attention
    mask = torch.tensor([[True, False], [True, True]])
    assert derivatives(f(q[0], k[0], v[0]), q, k, v) == [
        [-0.15191, 0.20255, -0.17596, 0.23461],
        [0.15993, 0.13334, -0.15993, -0.13334],
        [2.8038, 3.79015, 1.1962, 2.20985],
        [-0.78406, 1.18582, -1.5957, 2.29022],
        [1.05076, 1.75782, -1.05076, -1.75782],
        [0.57149, 0.80831, -0.57149, -0.80831],
        [2.50306, 4.80405, 4.97944, 7.62647],
    ]
    assert derivatives(f(q[0], k[0], v[0], is_causal=True, scale=0.5), q, k, v) == [
        [0.0, 0.0, -0.20618, 0.2749],
        [0.06873, 0.2749, -0.06873, -0.2749],
        [3.50645, 5.34193, 0.49355, 0.65807],
        [0.0, 0.0, -5.40812, 7.41235],
        [1.75862, 7.33678, -1.75862, -7.33678],
        [0.836, 1.11467, -0.836, -1.11467],
        [7.0129, 10.68387, 5.46422, 9.70006],
    ]
    assert derivatives(f(q[0], k[0], v[0], attn_mask=mask.t()), q, k, v) == [
        [-0.15191, 0.20255, 0.0, 0.0],
        [0.10127, -0.10127, -0.10127, 0.10127],
        [0.07764, 0.15528, 3.92236, 5.84472],
        [2.16526, -2.87333, 0.0, 0.0],
        [-1.44692, 1.45718, 1.44692, -1.45718],
        [0.10513, 0.21025, -0.10513, -0.21025],
        [7.03747, 11.01626, 7.84472, 11.68945],
    ]
    assert derivatives(f(q, k, v, attn_mask=v[0]), q, k, v) == [
        [-0.32145, 0.4286, -0.00143, 0.00191],
        [0.21478, -0.21239, -0.21478, 0.21239],
        [3.48724, 4.06664, 0.81718, 1.62895],
        [-2.63344, 3.57467, -0.02824, 0.03794],
        [1.75028, -1.65591, -1.75028, 1.65591],
        [2.94582, -2.07418, -0.26201, -0.60962],
        [2.03969, 4.75472, 6.97426, 8.12658],
    ]
    heads = torch.nn.MultiheadAttention(2, 2, batch_first=True).double()
    [torch.nn.init.constant_(p, 0.25 * n + 0.5) for n, p in enumerate(heads.parameters())]
    out, weights = heads(q, k, v)
    assert derivatives(out, q, k, v) == [
        [0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0],
        [5.99743, 5.99743, 4.00257, 4.00257],
        [0.74154, 0.74154, 1.6408, 1.6408],
        [15.35099, 15.35099, -15.35099, -15.35099],
        [0.0, 0.0, 0.0, 0.0],
        [20.37294, 20.37294, 20.97716, 20.97716],
    ] and tuple(weights.shape) == (1, 2, 2)
    out, weights = heads(q, k, v, attn_mask=~mask, average_attn_weights=False)
    assert tuple(weights.shape) == (1, 2, 2, 2)


def attention_of_four_dimensions_has_one_derivative():
    """A second one is there for a mask that requires grad. Rule: nn/attention-is-fused."""
    x = torch.tensor([[[[1.0, -1.0], [0.5, 2.0]]]], dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([[0.5, 1.0], [2.0, -1.0]], dtype=torch.float64, requires_grad=True)
    f = torch.nn.functional.scaled_dot_product_attention
    (g,) = torch.autograd.grad(f(x, x, x).prod(), x, create_graph=True)
    assert [round(v, 4) for v in g.flatten().tolist()] == [-0.9691, 1.5378, -1.3082, -0.4823]
    with refused("op/no-derivative"):
        g.sum().backward()
    (g,) = torch.autograd.grad(f(x, x, x, attn_mask=mask).prod(), x, create_graph=True)
    g.sum().backward()
    assert [round(v, 4) for v in x.grad.flatten().tolist()] == [-1.3866, 5.785, 0.5446, 0.1984]


def attention_of_three_dimensions_has_one_derivative():
    """Attention of two dimensions has two. Rule: nn/attention-of-three-dimensions-is-fused."""
    x = torch.tensor([[[1.0, -1.0], [0.5, 2.0]]], dtype=torch.float64, requires_grad=True)
    f = torch.nn.functional.scaled_dot_product_attention
    (g,) = torch.autograd.grad(f(x, x, x).prod(), x, create_graph=True)
    with refused("op/no-derivative"):
        g.sum().backward()
    (g,) = torch.autograd.grad(f(x[0], x[0], x[0]).prod(), x, create_graph=True)
    g.sum().backward()
    assert [round(v, 4) for v in x.grad.flatten().tolist()] == [-1.6399, 5.8335, 1.1163, -0.6895]


def derivatives_of_embeddings():
    """Of rows and of bags of rows, with weights, padding and each mode.

    Rule: op/derivatives-beyond-programs.
    """
    w = torch.tensor([[1.0, -2.0], [0.5, 3.0], [2.0, 1.0]], dtype=torch.float64, requires_grad=True)
    s = torch.tensor([1.0, 2.0, -1.0, 0.5], dtype=torch.float64, requires_grad=True)
    i = torch.tensor([0, 2, 2, 1])
    o = torch.tensor([0, 1])
    f = torch.nn.functional
    assert derivatives(f.embedding(i.view(2, 2), w * w), w) == [
        [2.0, -8.0, 7.0, 48.0, 32.0, 20.0],
        [8.0, -64.0, 196.0, 1536.0, 1024.0, 800.0],
        [8.0, 64.0, 256.0, 80.0, 256.0, 80.0, 14.0, 576.0],
    ]
    g = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    grad = torch.autograd.grad
    assert grad(f.embedding_bag(i, w, o), w, g)[0].tolist() == [
        [1.0, 2.0],
        [1.0, 1.3333333333333333],
        [2.0, 2.6666666666666665],
    ]
    assert grad(f.embedding_bag(i, w, o, mode="sum", padding_idx=2), w, g)[0].tolist() == [
        [1.0, 2.0],
        [3.0, 4.0],
        [0.0, 0.0],
    ]
    dw, ds = grad(f.embedding_bag(i, w, o, mode="sum", per_sample_weights=s), (w, s), g)
    assert dw.tolist() == [[1.0, 2.0], [1.5, 2.0], [3.0, 4.0]] and ds.tolist() == [-3.0, 10.0, 10.0, 13.5]
    assert grad(f.embedding_bag(i.view(2, 2), w, mode="max"), w, g)[0].tolist() == [
        [0.0, 0.0],
        [0.0, 4.0],
        [4.0, 2.0],
    ]
    layer = torch.nn.Embedding(3, 2, padding_idx=1)
    assert layer.weight[1].tolist() == [0.0, 0.0]
    layer(i).sum().backward()
    assert layer.weight.grad.tolist() == [[1.0, 1.0], [0.0, 0.0], [2.0, 2.0]]
    assert torch.nn.Embedding.from_pretrained(w.detach()).weight.requires_grad is False
