"""torch.linalg: derivatives of eigenvalues, singular values, triangular factors and determinants."""

import torch

from specs.cases._measures import derivatives, graded


def derivatives_of_eigenvalues_and_vectors():
    """Of symmetric matrices, of which one triangle is read. Rule: op/derivatives-beyond-programs."""
    linalg = torch.linalg
    a = torch.tensor([[2.0, 5.0, 0.0], [-1.0, 0.5, 7.0], [1.5, 0.25, -3.0]], dtype=torch.float64)
    a.requires_grad_()
    w, v = linalg.eigh(a)
    assert derivatives(w, a) == [
        [2.73318, -0.37309, 0.46634, -0.37309, 2.12157, 0.04308, 0.46634, 0.04308, 1.14524],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [2.0, 4.0, 6.0],
    ]
    assert derivatives((v * v) @ (w * w), a) == [
        [4.0, -3.0, 6.0, -3.0, 2.0, 1.25, 6.0, 1.25, -18.0],
        [16.0, -18.0, 48.0, -18.0, 16.0, 12.5, 48.0, 12.5, -216.0],
        [80.0, 17.25, 253.25],
    ]
    assert derivatives(v.square(), a) == [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    ]
    assert derivatives(linalg.eigvalsh(a, "U"), a) == [
        [2.21803, 0.5747, 0.03598, 0.5747, 2.09599, 0.7686, 0.03598, 0.7686, 1.68599],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [2.0, 4.0, 6.0],
    ]
    u = linalg.eigh(a, UPLO="U").eigenvectors
    assert derivatives(u.square() @ u.square(), a) == [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    ]
    c = torch.complex(a, a.t() * 0.5)
    w, v = linalg.eigh(c)
    assert derivatives(w, a) == [
        [2.38875, 0.02534, 0.10915, -0.56633, 2.1693, 0.29342, 0.16552, -0.26235, 1.44195],
        [0.10778, -0.11099, 0.05238, -0.05406, -0.01558, -0.04613, 0.06009, 0.02949, -0.0922],
        [2.99268, 4.00102, 5.0063],
    ]
    assert derivatives(v.abs().square(), a) == [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    ]
    b = torch.stack([a, a.t()])
    assert derivatives(linalg.eigvalsh(b), a) == [
        [7.95121, 0.20161, 0.50232, 0.20161, 7.21756, 0.81168, 0.50232, 0.81168, 5.83123],
        [0.49087, 0.1465, 0.05605, 0.1465, -0.33832, 0.31433, 0.05605, 0.31433, -0.15255],
        [11.13605, 15.50614, 15.3578, 11.93065, 13.91695, 16.1524],
    ]
    found = linalg.eigh(a)
    assert (found.eigenvalues.grad_fn.name(), found[1].stride()) == ("LinalgEighBackward0", (1, 3))


def derivatives_of_eigenvalues_of_any_matrix():
    """They are complex, and so are the vectors. Rule: op/derivatives-beyond-programs."""
    linalg, pair = torch.linalg, torch.view_as_real
    a = torch.tensor([[2.0, 5.0, 0.0], [-1.0, 0.5, 7.0], [1.5, 0.25, -3.0]], dtype=torch.float64)
    a.requires_grad_()
    w, v = linalg.eig(a)
    assert derivatives(pair(w.pow(3).sum()), a) == [
        [-3.0, 24.0, -5.25, 37.5, -9.0, 20.625, 105.0, -52.5, 32.25],
        [861.75, 5230.125, 4.5, -7.875, -1247.0625, 4188.375, 1658.25, 698.625, -3382.3125],
        [34693.03125, 0.0],
    ]
    assert derivatives(pair(linalg.eigvals(a).exp().sum()), a) == [
        [13.29822, 3.42852, 3.34859, 26.34977, 6.84304, 6.49515, 28.99492, 7.89476, 7.03779],
        [
            1870.95594,
            796.5517,
            539.10446,
            2549.77603,
            1246.65007,
            787.67684,
            2338.95959,
            1224.13536,
            753.78918,
        ],
        [3871.39519, 0.0],
    ]
    assert derivatives(v.abs().square() @ w.abs().square(), a) == [
        [-3.85087, 5.75744, -0.49524, 14.7671, -6.50361, 6.61171, 38.88153, -15.23833, 5.60444],
        [128.45653, 302.38348, 36.45352, -554.35195, 87.59239, 223.16734, -575.60096, 139.70818, -384.90258],
        [1089.29929, 1007.36815, 383.7826],
    ]
    assert derivatives(v.abs().square().square().sum(1), a) == [
        [0.14192, -0.06068, 0.06293, -0.05684, -0.09917, 0.01784, -0.14534, -0.09127, -0.04275],
        [0.0006, -0.033, -0.00149, 0.01234, -0.00581, 0.00913, -0.01075, 0.00793, 0.00521],
        [0.13188, 0.02274, -0.01082],
    ]
    assert derivatives(pair((v * w) @ linalg.inv(v))[..., 0], a) == [
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0],
    ]
    assert (w.dtype, v.dtype) == (torch.complex128, torch.complex128)
    c = torch.complex(a, 0.5 * a.t())
    w, v = linalg.eig(c)
    assert derivatives(pair(w.square().sum()), a) == [
        [11.0, 18.5, 2.25, 3.5, 2.75, 28.375, 6.0, 11.5, -16.5],
        [121.0, 158.5, 36.0, 83.5, 30.25, 261.5, 54.75, 177.125, -181.5],
        [488.53125, 1489.5],
    ]
    assert derivatives(v.abs().square() @ w.abs().square(), a) == [
        [3.00777, 12.32535, 1.64676, -1.15653, 0.78648, 29.74679, 8.86988, 2.70742, -19.5596],
        [-4.85155, 51.09714, 41.93925, 62.54883, -4.0239, 264.27234, 132.83543, 81.36983, -262.48087],
        [320.94025, 591.91864, 511.12961],
    ]
    assert derivatives(pair(linalg.eigvals(torch.stack([a, a.t()])).square().sum(-1)), a) == [
        [16.0, -8.0, 12.0, 40.0, 4.0, 2.0, 0.0, 56.0, -24.0],
        [256.0, 640.0, 0.0, -128.0, 64.0, 896.0, 192.0, 32.0, -384.0],
        [2898.0, 0.0, 2898.0, 0.0],
    ]
    assert linalg.eig(a).eigenvalues.grad_fn.name() == "LinalgEigBackward0"


def derivatives_of_singular_values_and_vectors():
    """Of square, tall, wide and complex matrices. Rule: op/derivatives-beyond-programs."""
    linalg = torch.linalg
    a = torch.tensor([[2.0, 5.0, 0.0], [-1.0, 0.5, 7.0]], dtype=torch.float64, requires_grad=True)
    u, s, v = linalg.svd(a, full_matrices=False)
    assert derivatives(s, a) == [
        [0.74809, 1.85399, -0.03791, -0.15201, 0.04351, 0.98826],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [2.0, 4.0],
    ]
    assert derivatives(u.square() @ s.square(), a) == [
        [4.0, 10.0, 0.0, -4.0, 2.0, 28.0],
        [16.0, 40.0, 0.0, -32.0, 16.0, 224.0],
        [232.0, 804.0],
    ]
    assert derivatives(s @ v.square(), a) == [
        [0.05865, 1.98154, -0.07866, 0.12057, 0.02807, 3.00764],
        [-0.12653, 0.05056, -0.02211, -0.0784, 0.03076, -0.01336],
        [-0.60952, 4.1207, 6.12093],
    ]
    assert derivatives(u @ v, a) == [
        [0.14485, -0.05995, -0.2296, 0.45224, 0.08986, 0.05963],
        [-0.10579, 0.01523, 0.01813, -0.11848, -0.02208, -0.07984],
        [0.05122, -0.02113, -0.07281, 0.13098, 0.03443, 0.01671],
    ]
    u, s, v = linalg.svd(a.t(), full_matrices=False)
    assert derivatives(u @ v, a) == [
        [0.09471, -0.03751, 0.06309, 0.15162, -0.11051, 0.02929],
        [-0.06263, 0.01932, -0.02881, -0.06088, 0.02968, -0.02113],
        [0.03516, 0.0419, -0.01395, -0.03275, 0.02105, 0.00824],
    ]
    assert derivatives(u.square() @ s, a) == [
        [0.05865, 1.98154, -0.07866, 0.12057, 0.02807, 3.00764],
        [-0.12653, 0.05056, -0.02211, -0.0784, 0.03076, -0.01336],
        [-0.60952, 4.1207, 6.12093],
    ]
    assert derivatives(s.pow(3) @ v.square(), a) == [
        [32.13219, 80.86341, 1.2435, -42.1765, 22.15411, 297.72253],
        [2047.88021, 5240.0616, 280.84252, -7155.75912, 3818.60172, 50651.99886],
        [15144.93981, 90908.81019],
    ]
    u, s, v = linalg.svd(a[:, :2] * a[:, 1:])
    assert derivatives(u @ v, a) == [
        [0.01622, 0.00649, -0.43806, 0.04381, -0.0649, 0.00162],
        [-0.16836, 0.0095, 0.57903, -0.06939, -0.11204, -0.01726],
        [0.0124, -0.33468, 0.33468, 0.0124],
    ]
    assert derivatives(linalg.svdvals(a.t() @ a + 1), a) == [
        [7.80528, 19.99557, -0.99496, -2.75039, 0.14571, 14.04224],
        [64.41083, 160.04452, -3.84742, -9.0388, 1.35142, 55.3806],
        [401.43233, 464.61228, 0.7846],
    ]
    c = torch.complex(a, 0.5 * a.square())
    u, s, v = linalg.svd(c, full_matrices=False)
    assert derivatives(s, a) == [
        [0.87384, 9.81146, 0.00986, -0.06123, 0.00809, 6.99848],
        [-4.37101, 40.59904, 0.11813, 0.20579, -0.15333, 14.0221],
        [97.95644, 97.03275],
    ]
    assert derivatives(torch.view_as_real(u @ v), a) == [
        [0.19255, -0.17677, 0.12663, 0.00108, 0.24267, -0.2633],
        [-0.02896, -0.01358, -0.06918, 0.01893, 0.02253, -0.04038],
        [
            0.04508,
            0.07212,
            0.01537,
            -0.02505,
            0.00998,
            -0.01229,
            -0.00666,
            0.00117,
            0.02127,
            0.00249,
            0.01885,
            -0.00605,
        ],
    ]
    assert derivatives(u.abs().square() @ s.square(), a) == [
        [12.0, 135.0, 0.0, -6.0, 2.25, 714.0],
        [336.0, 20790.0, 0.0, -120.0, 24.75, 425544.0],
        [36738.0, 509837.0625],
    ]
    assert derivatives(s @ v.abs().square(), a) == [
        [0.0188, 10.0201, 0.01717, 0.05802, 0.01433, 21.02229],
        [-0.41943, 39.96826, -0.08374, -0.64128, -0.10686, 125.7513],
        [-4.72565, 102.38138, 294.88303],
    ]
    assert [tuple(x.shape) for x in linalg.svd(a)] == [(2, 2), (2,), (3, 3)]
    assert [x.stride() for x in linalg.svd(a)] == [(1, 2), (1,), (1, 3)]
    assert linalg.svd(a).S.grad_fn.name() == "LinalgSvdBackward0"


def derivatives_of_triangular_factors():
    """Of tall and square matrices, and of complex ones. Rule: op/derivatives-beyond-programs."""
    linalg = torch.linalg
    a = torch.tensor([[2.0, 5.0], [-1.0, 0.5], [3.0, 1.0]], dtype=torch.float64, requires_grad=True)
    q, r = linalg.qr(a)
    assert derivatives(q.square(), a) == [
        [-0.08347, 0.00639, 0.43405, -0.03321, 0.20033, -0.01533],
        [0.08331, -0.01113, -0.20155, 0.04014, -0.27972, 0.03281],
        [-0.0477, 0.06894, -0.12401, -0.15535, 0.17171, 0.08641],
    ]
    assert derivatives(r.square(), a) == [
        [-7.47959, 32.85714, -6.97449, 7.57143, 11.9949, -2.71429],
        [-288.7298, 612.15743, -88.72548, 154.4519, 71.93445, -79.58017],
        [112.0, -13.89395, 0.0, 675.32252],
    ]
    assert derivatives((q @ r.abs()).square(), a) == [
        [4.0, 20.0, -6.0, 4.0, 30.0, 12.0],
        [16.0, 160.0, -72.0, 64.0, 600.0, 288.0],
        [32.0, 400.0, 24.0, 8.0, 360.0, 48.0],
    ]
    q, r = linalg.qr(a[:2], "complete")
    assert derivatives(q.square() + r.square(), a) == [
        [-5.12, 24.8, -20.24, 11.6, 0.0, 0.0],
        [-693.9008, 588.928, -596.0576, 436.096, 0.0, 0.0],
        [25.408, -112.48, 14.592, 631.68],
    ]
    q, r = linalg.qr(torch.complex(a, a.flip(0)))
    assert derivatives(q.abs().square(), a) == [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    ]
    assert derivatives(r.abs().square(), a) == [
        [-14.95918, 65.71429, -13.94898, 15.14286, 23.9898, -5.42857],
        [-1154.9192, 2448.62974, -354.90192, 617.80758, 287.73782, -318.3207],
        [448.0, -55.5758, 0.0, 2701.29009],
    ]
    assert [tuple(x.shape) for x in linalg.qr(a, "complete")] == [(3, 3), (3, 2)]
    assert [tuple(x.shape) for x in linalg.qr(a.t())] == [(2, 2), (2, 3)]
    assert [x.stride() for x in linalg.qr(a)] == [(1, 3), (1, 2)]
    assert linalg.qr(a).R.grad_fn.name() == "LinalgQrBackward0"


def derivatives_of_the_logarithm_of_a_determinant():
    """And of its sign, where that is complex. Rule: op/derivatives-beyond-programs."""
    linalg = torch.linalg
    a = torch.tensor([[2.0, 5.0], [-1.0, 0.5]], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([[0.5, 1.0], [2.0, -1.0]], dtype=torch.float64, requires_grad=True)
    assert derivatives(linalg.slogdet(a).logabsdet, a) == [
        [0.08333, 0.16667, -0.83333, 0.33333],
        [-0.02894, -0.00231, 1.34491, -0.53241],
        [1.68056],
    ]
    assert derivatives(linalg.slogdet(torch.stack([a, b]))[1], a, b) == [
        [0.08333, 0.16667, -0.83333, 0.33333],
        [0.8, 1.6, 0.8, -0.4],
        [-0.02894, -0.00231, 1.34491, -0.53241],
        [-2.56, -5.12, -0.64, 0.32],
        [1.68056, 4.0],
    ]
    assert torch.linalg.slogdet(torch.stack([a, b])).sign.tolist() == [1.0, -1.0]
    c = torch.complex(a, b)
    sign, log = linalg.slogdet(c)
    assert derivatives(log, a, b) == [
        [0.07987, 0.15973, -0.16905, 0.0619],
        [0.01664, 0.03328, 0.33145, -0.1371],
        [-0.00975, -0.00884, 0.05506, -0.01873],
        [-0.00114, -0.00229, -0.10753, 0.04264],
        [0.38869],
    ]
    assert derivatives(torch.view_as_real(sign), a, b) == [
        [-0.03369, -0.06738, -0.67114, 0.27762],
        [0.16172, 0.32344, -0.34231, 0.12533],
        [-0.05238, -0.0611, -0.0217, 0.02555],
        [0.05494, 0.10988, -0.56711, 0.22105],
        [0.61737, 0.48815],
    ]
    assert derivatives(torch.view_as_real(sign) * log, a, b) == [
        [-0.16396, -0.32792, -1.59651, 0.66802],
        [0.40756, 0.81512, -1.21048, 0.45815],
        [-0.02209, 0.2646, -0.55697, 0.31407],
        [0.38524, 0.77049, -2.4739, 0.93492],
        [4.00182, 3.63427],
    ]
    assert derivatives(torch.logdet(a), a) == [
        [0.08333, 0.16667, -0.83333, 0.33333],
        [-0.02894, -0.00231, 1.34491, -0.53241],
        [1.68056],
    ]
    assert derivatives(torch.view_as_real(torch.logdet(c)), a, b) == [
        [0.04659, 0.09318, -0.83195, 0.33611],
        [0.17637, 0.35275, -0.00666, -0.01331],
        [-0.04873, -0.04421, 0.27529, -0.09367],
        [-0.00571, -0.01143, -0.53766, 0.21321],
        [0.38869, 0.77737],
    ]
    assert torch.logdet(b).isnan().item() is True
    assert graded(torch.logdet(a @ a.t()), a) == [(), 3.5835, -1.5]
    assert (sign.grad_fn.name(), torch.slogdet(a).logabsdet.grad_fn.name()) == (
        "LinalgSlogdetBackward0",
        "LinalgSlogdetBackward0",
    )
    assert [round(v.item(), 5) for v in torch.slogdet(b)] == [-1.0, 0.91629]
