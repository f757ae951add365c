"""First and second derivatives of products of matrices, and of linear algebra."""

import torch

from specs.cases._measures import derivatives


def derivatives_of_added_products():
    """beta weighs what is added, alpha the product. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([2.0, -1.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([0.5, 3.0], dtype=torch.float64, requires_grad=True)
    a = torch.tensor([[1.0, 2.0], [-1.0, 0.5]], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([[0.5, -2.0], [1.0, 3.0]], dtype=torch.float64, requires_grad=True)
    assert derivatives(x.addmm(a, b, beta=0.5, alpha=2), x, a, b) == [
        [2.0, 3.0],
        [-7.0, 14.0, -13.0, 30.0],
        [-4.0, -4.0, 7.0, 12.0],
        [-48.0, 124.0, -112.0, 276.0],
        [-184.0, -264.0, 416.0, 592.0],
        [84.0, 307.0, 126.0, 507.0],
    ]
    assert derivatives(x.addmm(a.t(), b.t(), alpha=0.5), a, b) == [
        [1.25, 2.75, 2.0, 3.0],
        [3.5, 0.25, 5.0, 0.0],
        [13.5, 30.5, 0.25, 0.75],
        [9.5, 11.0, 13.5, 16.0],
        [-0.125, 12.25, 2.5, 21.75],
    ]
    assert derivatives(x.addmv(a, y, beta=0.5, alpha=2), x, a, y) == [
        [0.5, 1.0],
        [1.0, 6.0, 2.0, 12.0],
        [-2.0, 6.0],
        [-8.0, 24.0, -16.0, 48.0],
        [20.0, 120.0],
        [114.5, 169.0],
    ]
    assert derivatives(a.addr(x, y, beta=0.5, alpha=2), a, x, y) == [
        [0.5, 1.0, 1.5, 2.0],
        [13.0, 27.0],
        [-2.0, 0.0],
        [-8.0, -24.0],
        [376.0, 536.0],
        [10.5, 157.0, 63.5, 326.0],
    ]
    c, d = torch.stack([a, b]), torch.stack([b * b, a])
    assert derivatives(torch.baddbmm(x, c, d, beta=0.5, alpha=2), x, a, b) == [
        [8.0, 10.0],
        [35.5, 60.0, 55.5, 102.0],
        [30.0, 12.0, 60.0, 66.0],
        [2016.0, 6288.0, 1680.0, 10176.0],
        [2478.0, -1322.0, 7522.0, 20658.0],
        [1363.5, 5714.0, 591.5, 5554.0, -293.0, -422.0, 792.0, 2086.0],
    ]
    assert derivatives(torch.addbmm(x, c, d, beta=0.5, alpha=2), x, a, b) == [
        [2.0, 3.0],
        [23.5, 48.0, 47.5, 94.0],
        [6.0, 16.0, 36.0, 70.0],
        [-32.0, 4272.0, -48.0, 8832.0],
        [1046.0, -3106.0, 4698.0, 16762.0],
        [444.5, 4635.0, 1073.5, 6991.0],
    ]


def derivatives_of_matrix_products():
    """Of vectors, matrices and batches of these, in each pairing; of sums that are written as letters.

    Rule: op/derivatives-beyond-programs.
    """
    x = torch.tensor([2.0, -1.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([0.5, 3.0], dtype=torch.float64, requires_grad=True)
    a = torch.tensor([[1.0, 2.0], [-1.0, 0.5]], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([[0.5, -2.0], [1.0, 3.0]], dtype=torch.float64, requires_grad=True)
    assert derivatives(a.mm(b), a, b) == [
        [-3.5, 7.0, -6.5, 15.0],
        [-2.0, -2.0, 3.5, 6.0],
        [-12.0, 31.0, -28.0, 69.0],
        [-46.0, -66.0, 104.0, 148.0],
        [20.5, 76.0, 31.0, 126.0],
    ]
    assert derivatives(a.mv(x), a, x) == [
        [2.0, -1.0, 4.0, -2.0],
        [-1.0, 3.0],
        [-2.0, 6.0, -4.0, 12.0],
        [20.0, -10.0],
        [20.0, 25.0],
    ]
    assert derivatives(x.dot(y), x, y) == [[0.5, 3.0], [2.0, -1.0], [4.0, -2.0], [1.0, 6.0], [28.5]]
    assert derivatives(torch.stack([a, b]).bmm(torch.stack([b, a])), a, b) == [
        [6.0, 18.0, 4.5, 27.0],
        [15.0, -4.0, 26.5, 3.0],
        [535.0, 669.0, 60.0, 183.0],
        [315.0, 429.0, 570.0, 783.0],
        [178.0, 88.0, 55.0, 155.0, 26.0, -34.0, 86.0, 307.0],
    ]
    assert derivatives(x @ a, x, a) == [
        [5.0, 0.0],
        [2.0, 4.0, -1.0, -2.0],
        [20.0, -10.0],
        [10.0, 20.0, 0.0, 0.0],
        [20.0, 40.0],
    ]
    assert derivatives(torch.stack([a, b]) @ x, a, b, x) == [
        [2.0, -1.0, 4.0, -2.0],
        [6.0, -3.0, 8.0, -4.0],
        [4.5, 9.0],
        [9.0, 18.0, 18.0, 36.0],
        [27.0, 54.0, 36.0, 72.0],
        [120.0, -60.0],
        [55.0, 20.0, -1.5, 103.0],
    ]
    assert derivatives(x @ torch.stack([a, b]), a, b, x) == [
        [2.0, 4.0, -1.0, -2.0],
        [6.0, 8.0, -3.0, -4.0],
        [-1.5, 15.0],
        [-3.0, -6.0, 30.0, 60.0],
        [-9.0, -12.0, 90.0, 120.0],
        [120.0, -60.0],
        [-23.0, 29.0, 58.5, 136.0],
    ]
    assert derivatives(torch.stack([a, b]) @ a, a, b) == [
        [12.5, 9.0, 25.5, 17.0],
        [17.0, -2.0, 23.0, -3.0],
        [731.0, 945.0, 205.0, 389.0],
        [233.0, 459.0, 319.0, 629.0],
        [134.0, 145.0, 17.5, 118.0, -51.5, 7.0, 230.0, 209.0],
    ]
    assert derivatives(x.outer(y), x, y) == [
        [6.5, 13.5],
        [-1.0, 0.0],
        [-2.0, -6.0],
        [94.0, 134.0],
        [2.5, 39.0, 15.5, 81.0],
    ]
    assert derivatives(torch.einsum("ij,kj,i->ki", a, b, x), a, b, x) == [
        [7.0, 14.0, -5.0, -8.0],
        [4.0, 3.0, 10.0, 10.0],
        [17.5, -1.0],
        [258.5, 377.0, -106.0, -108.0],
        [87.0, 156.0, 237.0, 438.0],
        [445.0, -228.0],
        [-180.5, -19.0, 561.0, 67.0],
    ]
    assert derivatives(torch.einsum("ii->i", a) * x, a, x) == [
        [2.0, 0.0, 0.0, -2.0],
        [1.0, 1.0],
        [2.0, 0.0, 0.0, 4.0],
        [4.0, -8.0],
        [10.0, 5.0],
    ]
    assert derivatives(torch.einsum("bij,bjk->ik", torch.stack([a, b]), torch.stack([b, a])), a, b) == [
        [0.0, 12.0, 0.5, 23.0],
        [3.0, -2.0, 14.5, 5.0],
        [91.0, 177.0, 28.0, 159.0],
        [51.0, 97.0, 258.0, 419.0],
        [96.0, 18.0, 77.0, 370.0],
    ]
    assert derivatives(torch.nn.functional.linear(a, b, x), a, b, x) == [
        [2.5, 4.0, 5.5, 6.0],
        [-2.0, 3.5, -2.0, 6.0],
        [4.0, 6.0],
        [-12.0, 31.0, -28.0, 69.0],
        [38.0, 44.0, 54.0, 64.0],
        [4.5, 61.0, -3.0, 69.0],
    ]
    assert derivatives(torch.nn.functional.bilinear(a, b, torch.stack([a, b]), x), a, b, x) == [
        [2.5, -23.5, 1.5, 42.0],
        [1.0, -5.0, -0.5, 6.75],
        [4.0, 6.0],
        [179.0, -318.0, -321.0, 1954.5],
        [-1.0, -218.5, 373.5, 2645.0],
        [-207.5, 222.75, 312.375, 930.5],
    ]
    assert derivatives(a.t().matmul(b).trace(), a, b) == [
        [0.5, -2.0, 1.0, 3.0],
        [1.0, 2.0, -1.0, 0.5],
        [2.0, 4.0, -2.0, 1.0],
        [1.0, -4.0, 2.0, 6.0],
        [41.0],
    ]
    assert derivatives((a * a).tril(-1) + (b * b).triu(1), a, b) == [
        [0.0, 0.0, -6.0, 0.0],
        [0.0, -8.0, 0.0, 0.0],
        [0.0, 0.0, -72.0, 0.0],
        [0.0, -64.0, 0.0, 0.0],
        [0.0, 64.0, 24.0, 0.0],
    ]


def derivatives_of_linear_algebra():
    """Of inverses, determinants, solutions, factors and norms. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([2.0, -1.0], dtype=torch.float64, requires_grad=True)
    a = torch.tensor([[2.0, 1.0], [-1.0, 0.5]], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([[0.5, -2.0], [1.0, 3.0]], dtype=torch.float64, requires_grad=True)
    linalg = torch.linalg
    assert derivatives(linalg.inv(a), a) == [
        [0.8125, -3.375, 0.875, -4.25],
        [14.77734, -68.38281, 25.64844, -118.07812],
        [-1.16406, -2.79688, 5.29688, 13.15625],
    ]
    assert derivatives(linalg.det(a), a) == [[0.5, 1.0, -1.0, 2.0], [4.0, 2.0, -2.0, 1.0], [12.5]]
    assert derivatives(linalg.solve(a, x), a, x) == [
        [-1.25, 0.0, -1.5, 0.0],
        [1.25, 1.5],
        [0.28125, -10.625, 6.4375, -12.75],
        [1.90625, -3.8125],
        [-1.75, 8.5],
    ]
    assert derivatives(linalg.solve(a, b), a, b) == [
        [5.65625, -7.1875, 6.9375, -9.125],
        [1.75, 2.5, 2.5, 3.0],
        [134.11621, -409.31445, 376.33398, -783.80078],
        [21.76953, 27.86719, 98.02344, 125.64062],
        [-10.08008, -21.03125, 45.87109, 98.4375],
    ]
    assert derivatives(linalg.solve_triangular(a, b, upper=True), a, b) == [
        [4.375, -7.0, 0.0, -46.0],
        [0.5, 1.0, 5.0, 6.0],
        [572.46875, -1291.375, 0.0, -17429.25],
        [-2.1875, -4.375, 938.375, 1140.75],
        [-176.21875, -503.5, 388.0, 1128.0],
    ]
    assert derivatives(linalg.solve_triangular(a, b, upper=False), a, b) == [
        [4.125, 0.0, 6.5, -47.0],
        [3.5, 5.0, 6.0, 8.0],
        [497.46875, 0.0, 1134.1875, -18416.625],
        [510.5625, 679.375, 1128.0, 1504.0],
        [2.46875, 9.125, 492.4375, 828.25],
    ]
    assert derivatives(linalg.cholesky(a @ a.t()), a) == [
        [-0.17889, 2.59384, 0.89443, 4.91935],
        [-3.936, -3.648, -10.56, 1.92],
        [2.0, 0.0, 7.92, 9.44],
    ]
    assert derivatives(linalg.cross(torch.cat([x, x[:1]]), torch.cat([a[0], b[0, :1]])), x, a) == [
        [5.0, -5.5],
        [7.0, 4.0, 0.0, 0.0],
        [44.0, -42.0],
        [53.0, 20.0, 0.0, 0.0],
        [-31.5, 43.0, 62.0],
    ]
    assert derivatives(linalg.vector_norm(a, 3.0, dim=1), a) == [
        [0.92448, 0.23112, -1.84896, 0.46224],
        [0.09496, -0.18993, -0.7597, -1.51941],
        [1.81617, 3.63233],
    ]
    assert derivatives(linalg.matrix_norm(a), a) == [[0.8, 0.4, -0.4, 0.2], [0.0, 0.0, 0.0, 0.0], [2.0]]
    assert derivatives(linalg.multi_dot([a, b, a]), a, b) == [
        [4.0, 8.0, 16.5, 19.0],
        [-2.0, 1.0, 9.0, -0.5],
        [18.5, 769.0, -328.5, 1274.0],
        [354.0, -66.0, 528.0, 196.5],
        [8.0, 41.5, 205.0, 223.25],
    ]
    assert derivatives(linalg.matrix_power(a, 3), a) == [
        [1.5, -7.0, 28.25, -9.0],
        [1107.75, 938.25, -129.5, 876.0],
        [365.25, -29.5, 210.125, 231.0],
    ]
