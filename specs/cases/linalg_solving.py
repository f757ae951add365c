"""torch.linalg: derivatives of solutions and products, and linear algebra under older names."""

import torch

from specs.cases._measures import derivatives, error_kinds, graded, wave


def derivatives_of_solutions():
    """From the left and the right, of triangular ones too. Rule: op/derivatives-beyond-programs."""
    linalg = torch.linalg
    a = torch.tensor([[2.0, 1.0], [-1.0, 0.5]], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([[0.5, -2.0], [1.0, 3.0]], dtype=torch.float64, requires_grad=True)
    assert derivatives(linalg.solve(a, b, left=False), a, b) == [
        [1.53125, -7.4375, 1.4375, -8.125],
        [-0.75, 2.5, -1.25, 5.5],
        [62.35059, -324.8457, 106.93945, -546.27734],
        [-11.51953, 62.52344, -25.07422, 135.78906],
        [-20.37695, -48.40234, 35.06641, 85.17969],
    ]
    assert derivatives(linalg.solve_triangular(a, b, upper=True, left=False), a, b) == [
        [1.625, -5.0, 0.0, -22.0],
        [-1.5, 4.0, -2.5, 8.0],
        [181.21875, -405.875, 0.0, -4360.25],
        [-153.5625, 352.0, -307.9375, 704.0],
        [-1.90625, -371.1875, -3.3125, 488.625],
    ]
    assert derivatives(linalg.solve_triangular(a, b, upper=False, left=False), a, b) == [
        [-4.375, 0.0, -7.0, -46.0],
        [0.5, 5.0, 1.5, 11.0],
        [-771.78125, 0.0, -1394.625, -17769.25],
        [2.1875, 938.375, 6.5625, 2079.125],
        [-393.15625, -716.0, 632.8125, 1148.0],
    ]
    assert derivatives(linalg.solve_triangular(a, b, upper=True, unitriangular=True), a, b) == [
        [0.0, -7.0, 0.0, 0.0],
        [1.0, 2.0, 2.0, 2.0],
        [0.0, -12.0, 0.0, 0.0],
        [0.0, 0.0, 14.0, 28.0],
        [12.0, 42.0, 4.0, 4.0],
    ]
    assert derivatives(linalg.solve_triangular(a, b, upper=False, unitriangular=True), a, b) == [
        [0.0, 0.0, 6.5, 0.0],
        [4.0, 6.0, 3.0, 4.0],
        [0.0, 0.0, -72.0, 0.0],
        [-39.0, -52.0, 0.0, 0.0],
        [8.0, 12.0, 7.5, 46.0],
    ]
    assert derivatives(linalg.cholesky(a @ a.t(), upper=True), a) == [
        [0.0, 2.23607, 0.0, 4.47214],
        [-2.4, -3.2, -8.0, 0.0],
        [2.0, 5.6, 0.0, 9.2],
    ]
    assert derivatives(linalg.matrix_exp(a), a) == [
        [1.4771, 0.1885, 16.01825, 1.75984],
        [302.68415, 144.89048, 198.52537, 221.11302],
        [79.53112, 29.10174, 75.96165, 39.5444],
    ]
    assert derivatives(linalg.matrix_power(a, -2), a) == [
        [2.53125, -5.9375, 2.8125, -6.375],
        [102.67432, -320.94043, 174.78809, -501.7832],
        [-6.40039, -15.94922, 19.85547, 39.78906],
    ]
    assert derivatives(linalg.matrix_power(a, -1), a) == [
        [0.8125, -3.375, 0.875, -4.25],
        [14.77734, -68.38281, 25.64844, -118.07812],
        [-1.16406, -2.79688, 5.29688, 13.15625],
    ]
    assert derivatives(linalg.matrix_power(a, 2) + linalg.matrix_power(a, 1), a) == [
        [4.0, 2.0, 15.5, 7.0],
        [117.0, 199.0, 86.0, 213.0],
        [67.0, 36.0, 86.5, 55.0],
    ]
    assert graded(linalg.matrix_power(a, 5), a) == [(2, 2), -39.5625, -250.9375]
    assert graded(linalg.matrix_power(a, 6), a) == [(2, 2), -47.6562, -519.2188]
    assert linalg.matrix_power(a, 0).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert graded(linalg.matrix_power(a, 0), a) == [(2, 2), 5.0, 0.0]
    assert derivatives(linalg.lstsq(a, b).solution, a, b) == [
        [5.65625, -7.1875, 6.9375, -9.125],
        [1.75, 2.5, 2.5, 3.0],
        [134.11621, -409.31445, 376.33398, -783.80078],
        [21.76953, 27.86719, 98.02344, 125.64063],
        [-10.08008, -21.03125, 45.87109, 98.4375],
    ]


def solutions_that_say_if_there_is_one():
    """Beside each stands a zero. Rule: op/derivatives-beyond-programs."""
    linalg = torch.linalg
    a = torch.tensor([[2.0, 1.0], [-1.0, 0.5]], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([[0.5, -2.0], [1.0, 3.0]], dtype=torch.float64, requires_grad=True)
    inverse, info = linalg.inv_ex(a)
    assert derivatives(inverse, a) == [
        [0.8125, -3.375, 0.875, -4.25],
        [14.77734, -68.38281, 25.64844, -118.07812],
        [-1.16406, -2.79688, 5.29688, 13.15625],
    ]
    assert (info.dtype, info.tolist(), info.requires_grad) == (torch.int32, 0, False)
    factor, info = linalg.cholesky_ex(torch.stack([a @ a.t(), b @ b.t()]), upper=True)
    assert derivatives(factor, a, b) == [
        [0.0, 2.23607, 0.0, 4.47214],
        [16.05015, -1.14134, 9.21635, -3.88057],
        [-2.4, -3.2, -8.0, 0.0],
        [-38.10299, 224.38429, 57.57785, 136.7474],
        [2.0, 5.6, 0.0, 9.2, 10.0, 37.19031, 0.0, 55.58478],
    ]
    assert info.tolist() == [0, 0]
    assert derivatives(linalg.cholesky_ex(a @ a.t()).L, a) == [
        [-0.17889, 2.59384, 0.89443, 4.91935],
        [-3.936, -3.648, -10.56, 1.92],
        [2.0, 0.0, 7.92, 9.44],
    ]
    found = linalg.solve_ex(a, b, left=False)
    assert derivatives(found.result, a, b) == [
        [1.53125, -7.4375, 1.4375, -8.125],
        [-0.75, 2.5, -1.25, 5.5],
        [62.35059, -324.8457, 106.93945, -546.27734],
        [-11.51953, 62.52344, -25.07422, 135.78906],
        [-20.37695, -48.40234, 35.06641, 85.17969],
    ]
    assert found.info.tolist() == 0 and linalg.inv_ex(a).inverse.grad_fn.name() == "LinalgInvExBackward0"


def derivatives_of_least_squares():
    """Of tall, wide and square systems; the driver decides what is told beside the solution.

    Rule: op/derivatives-beyond-programs.
    """
    lstsq = torch.linalg.lstsq
    a = torch.tensor([[2.0, 1.0], [-1.0, 0.5], [3.0, -2.0]], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([[0.5, -2.0], [1.0, 3.0], [0.25, 1.5]], dtype=torch.float64, requires_grad=True)
    x = lstsq(a, b)
    assert derivatives(x.solution, a, b) == [
        [1.20026, 2.61207, 2.00784, 4.64879, 0.19188, 0.49758],
        [1.57746, 2.29108, 0.08451, 0.07512, -0.69014, -0.83568],
        [-31.27209, -72.37107, -0.82821, -2.90101, 12.07067, 27.64329],
        [-4.01902, -5.70614, 9.21753, 13.05111, 4.46478, 6.32756],
        [1.7257, 6.38029, 4.18072, 14.80062],
    ]
    assert (x.rank.item(), x.rank.dtype, x.residuals.numel(), x[3].numel()) == (2, torch.int64, 0, 0)
    assert derivatives(lstsq(a.t(), b[:2]).solution, a, b) == [
        [-1.1709, 1.20697, 0.56517, 4.76612, 1.57697, 0.52741],
        [0.74648, 1.09859, -0.78873, -0.58216, 0.0, 0.0],
        [-11.71769, -43.29151, -7.48852, -6.01784, 4.61066, 35.77361],
        [4.72221, 6.06449, 13.85096, 17.72435, 0.0, 0.0],
        [-0.06556, 0.56417, 2.70667, 5.21008, 2.10325, 3.69451],
    ]
    assert derivatives(lstsq(a, b[:, 0]).solution, a, b) == [
        [-0.11363, -0.17878, 0.26827, 0.61447, 0.12645, 0.25906],
        [1.14554, 0.0, 0.03756, 0.0, -0.41784, 0.0],
        [-1.09266, -2.47727, -0.05732, -0.07512, 0.39588, 0.91571],
        [0.41255, 0.0, 0.91265, 0.0, 0.14447, 0.0],
        [0.73862, 1.69647],
    ]
    y = lstsq(torch.stack([a, b]), b[:, :1].expand(2, 3, 1), driver="gelsd")
    assert derivatives(y.solution, a, b) == [
        [-0.11363, -0.17878, 0.26827, 0.61447, 0.12645, 0.25906],
        [1.14554, 0.0, 0.03756, 0.0, -0.41784, 0.0],
        [-1.09266, -2.47727, -0.05732, -0.07512, 0.39588, 0.91571],
        [0.41255, 0.0, 0.91265, 0.0, 0.14447, 0.0],
        [0.73862, 1.69647, 0.0, 0.0],
    ]
    assert derivatives(y.residuals, a, b) == [
        [-0.01691, -0.02836, -0.23676, -0.39699, -0.06765, -0.11343],
        [0.14554, 0.0, 2.03756, 0.0, 0.58216, 0.0],
        [-0.17535, -0.28468, -0.74182, -1.11308, -0.17099, -0.24934],
        [1.66684, 0.0, 8.59314, 0.0, 2.10266, 0.0],
        [9.48785, 0.0],
    ]
    assert derivatives(lstsq(a, b, driver="gels").residuals, a, b) == [
        [0.45151, 0.94905, 6.3212, 13.28672, 1.80606, 3.7962],
        [0.14554, 0.86385, 2.03756, 12.0939, 0.58216, 3.4554],
        [-104.27374, -221.48331, -17.17438, -68.401, 34.84219, 64.00677],
        [-33.6679, -180.19502, -6.32807, 237.40354, 11.00462, 143.87878],
        [-5.6937, 401.57889],
    ]
    assert [[tuple(each.shape) for each in lstsq(a, b, driver=d)[1:]] for d in ("gels", "gelss")] == [
        [(2,), (0,), (0,)],
        [(2,), (), (2,)],
    ]
    assert [tuple(each.shape) for each in lstsq(a.t(), b[:2], driver="gelsd")] == [(3, 2), (0,), (), (2,)]
    assert y.rank.tolist() == [2, 2]
    assert [round(v, 5) for v in y[3][0].tolist()] == [3.98763, 1.82997]
    assert graded(lstsq(a, b.detach()).solution, a) == [(2, 2), -4.9096, 34.9879]
    assert graded(lstsq(a.detach(), b).solution, b) == [(2, 2), -4.9096, -1.7512]
    assert (x.residuals.grad_fn.name(), y.singular_values.requires_grad) == ("LinalgLstsqBackward0", False)
    assert error_kinds([lambda: lstsq(a, b, driver="gelx")]) == "o"


def derivatives_of_systems_of_more_dimensions():
    """Unknowns and equations are tensors there. Rule: op/derivatives-beyond-programs."""
    linalg = torch.linalg
    a = torch.eye(6, dtype=torch.float64).reshape(2, 3, 6).add(wave(2, 3, 6).detach()).requires_grad_()
    b = wave(2, 3)
    assert graded(linalg.tensorsolve(a.reshape(2, 3, 3, 2), b), a, b) == [
        (3, 2),
        39.248,
        19184.9199,
        -316.139,
    ]
    assert graded(linalg.tensorsolve(a.reshape(2, 3, 2, 3), b, dims=(0,)), a, b) == [
        (3, 2),
        -140.8328,
        -62692.9557,
        -547.2089,
    ]
    assert graded(linalg.tensorsolve(a.reshape(2, 3, 2, 3), b.t(), dims=(-4,)), a, b) == [
        (3, 2),
        265.711,
        122471.3554,
        -21.8798,
    ]
    assert graded(linalg.tensorsolve(a.reshape(2, 3, 3, 2), b.t(), (0, 2)), a, b) == [
        (2, 3),
        -0.157,
        164.8165,
        -142.0614,
    ]
    assert graded(linalg.tensorinv(a.reshape(2, 3, 6)), a) == [(6, 2, 3), -378.6084, -166097.4449]
    assert graded(linalg.tensorinv(a.reshape(6, 3, 2), ind=1), a) == [(3, 2, 6), -378.6084, -166097.4449]
    assert graded(linalg.vander(b[0]), b) == [(3, 3), 41.6711, -53.7292]
    assert graded(linalg.vander(b, N=4), b) == [(2, 3, 4), 158.9153, 3814.6395]
    assert linalg.vander(torch.tensor([1, 2])).tolist() == [[1, 1], [1, 2]]
    assert (
        error_kinds(
            [
                lambda: linalg.tensorsolve(a.reshape(2, 3, 3, 2), b[0]),
                lambda: linalg.tensorinv(a),
                lambda: linalg.tensorinv(a, 0),
                lambda: linalg.tensorinv(a, ind=1),
                lambda: linalg.vander(b, N=1),
            ]
        )
        == "o-ooo"
    )
    assert "-" not in error_kinds(
        [lambda: linalg.vander(b.half()), lambda: linalg.vander(b.bfloat16()), lambda: linalg.vander(b > 0)]
    )
