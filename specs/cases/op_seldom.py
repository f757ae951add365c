"""Calls that are seldom made: lists of tensors, copies of views, second differences, extremes."""

import torch

from specs.cases._measures import derivatives, refusal_kinds


def lists_of_tensors_are_computed_one_by_one():
    """In place or not, with operands beside each. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([3.0], dtype=torch.float64, requires_grad=True)
    both = torch._foreach_mul([x, y], [y, y])
    assert [derivatives(each, x if at == 0 else y) for at, each in enumerate(both)] == [
        [[3.0, 6.0], [18.0, 36.0]],
        [[6.0], [24.0], [72.0]],
    ]
    assert derivatives(torch.cat(torch._foreach_exp([x, x * 2])), x) == [
        [17.95841, 451.56331],
        [1230.80145, 802291.19406],
        [59.21683, 6673.2533, 195.2641, 98618.08593],
    ]
    assert derivatives(torch.stack(torch._foreach_norm([x, y])), x) == [
        [0.24254, 0.97014],
        [0.0, 0.0],
        [2.0, 0.0],
    ]
    assert [each.tolist() for each in torch._foreach_add([x.detach(), y.detach()], 2.0)] == [
        [2.5, 4.0],
        [5.0],
    ]
    assert [each.tolist() for each in torch._foreach_lerp([x.detach()], [x.detach() + 1], 0.5)] == [
        [1.0, 2.5]
    ]
    assert derivatives(torch._foreach_addcmul([x], [x], [x], value=2.0)[0], x) == [
        [3.0, 18.0],
        [24.0, 288.0],
        [18.0, 324.0],
    ]
    z = [x.detach().clone(), y.detach().clone()]
    torch._foreach_mul_(z, 3.0)
    torch._foreach_sqrt_(z)
    torch._foreach_clamp_max_(z, 2.0)
    assert [each.tolist() for each in z] == [[1.224744871391589, 2.0], [2.0]]
    torch._foreach_copy_(z, [torch.zeros(2), torch.ones(1)])
    torch._foreach_neg_(z)
    assert [each.tolist() for each in z] == [[-0.0, -0.0], [-1.0]]
    torch._foreach_zero_(z)
    assert [(each.sum().item(), each._version) for each in z] == [(0.0, 6), (0.0, 6)]
    assert refusal_kinds([lambda: torch._foreach_zero_([x]), lambda: torch._foreach_add([x], [y, y])]) == "oo"


def copies_of_views_have_memory_of_their_own():
    """Named like the view, or taken for copies. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=torch.float64, requires_grad=True)
    w = x.detach()
    assert derivatives(torch.permute_copy(x, (1, 0)) ** 2, x) == [
        [2.0, 12.0, 30.0, 16.0, 40.0, 72.0],
        [8.0, 144.0, 600.0, 128.0, 640.0, 1728.0],
        [8.0, 256.0, 96.0, 800.0, 360.0, 1728.0],
    ]
    assert derivatives(torch.diagonal_copy(x) ** 2, x) == [
        [2.0, 0.0, 0.0, 0.0, 20.0, 0.0],
        [8.0, 0.0, 0.0, 0.0, 160.0, 0.0],
        [8.0, 400.0],
    ]
    assert [each.data_ptr() == w.data_ptr() for each in torch.unbind_copy(w)] == [False, False]
    assert [tuple(each.shape) for each in torch.split_copy(w, 2, 1)] == [(2, 2), (2, 1)]
    assert [tuple(each.shape) for each in torch.split_with_sizes_copy(w, [1, 2], 1)] == [(2, 1), (2, 2)]
    assert (torch.view_copy(w, (3, 2)).tolist(), torch.view_copy(w, torch.int64).shape) == (
        [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
        torch.Size([2, 3]),
    )
    assert torch.expand_copy(w[:, :1], (2, 2)).tolist() == [[1.0, 1.0], [4.0, 4.0]]
    assert torch.slice_copy(w, 1, 1, 3).tolist() == [[2.0, 3.0], [5.0, 6.0]]
    assert torch.select_copy(w, 1, 2).tolist() == [3.0, 6.0]
    assert torch.unfold_copy(w, 1, 2, 1).tolist() == [[[1.0, 2.0], [2.0, 3.0]], [[4.0, 5.0], [5.0, 6.0]]]
    assert torch.narrow_copy(w, 1, 1, 2).tolist() == [[2.0, 3.0], [5.0, 6.0]]
    assert torch.t_copy(w).is_contiguous(), torch.transpose_copy(w, 0, 1).is_contiguous()
    assert torch.squeeze_copy(w[:1]).tolist() == [1.0, 2.0, 3.0]
    assert torch.unsqueeze_copy(w, 0).shape == (1, 2, 3)
    assert torch.alias_copy(w).data_ptr() != w.data_ptr()
    u = x * 1
    first, second = u.unsafe_chunk(2)
    first.mul_(2)
    assert [first._is_view(), u._version, first.data_ptr() == u.data_ptr()] == [False, 0, True]
    assert [tuple(each.shape) for each in w.unsafe_split(2, 1)] == [(2, 2), (2, 1)]
    assert [tuple(each.shape) for each in w.unsafe_split_with_sizes([1, 2], 1)] == [(2, 1), (2, 2)]
    assert (second.tolist(), first.grad_fn.name()) == ([[4.0, 5.0, 6.0]], "MulBackward0")


def differences_at_places_of_second_order():
    """The ends take three samples. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([1.0, 4.0, 9.0, 25.0], dtype=torch.float64, requires_grad=True)
    p = torch.tensor([1.0, 2.0, 3.0, 5.0], dtype=torch.float64)
    assert derivatives(torch.gradient(x, spacing=(p,), edge_order=2)[0] ** 2, x) == [
        [-14.0, 37.33333, -96.0, 72.66667],
        [-698.0, 4082.96296, -6322.66667, 2937.7037],
        [1149.33333, -656.0, -1458.66667, 9177.77778],
    ]
    assert derivatives(torch.gradient(x, spacing=(p,))[0] ** 2, x) == [
        [-14.0, -18.0, -6.0, 38.0],
        [0.0, -138.66667, -68.0, 206.66667],
        [-48.0, 64.0, 368.0, 704.0],
    ]
    assert derivatives(torch.gradient(x, spacing=2.0, edge_order=2)[0] ** 2, x) == [
        [-3.5, 15.625, -84.5, 72.375],
        [-77.625, 685.6875, -2362.875, 1754.8125],
        [157.5, -162.0, 297.9375, 6135.5625],
    ]
    m = torch.stack([x, x * x, x + 1])
    found = torch.gradient(m, spacing=(p[:3], p), edge_order=2)
    assert derivatives(found[0] + found[1], x) == [
        [-58.0, -5.33333, -432.0, -376.66667],
        [6148.0, 113.77778, 41472.0, 12304.44444],
        [
            352.66667,
            -523.33333,
            -29926.44444,
            -73165.55556,
            7953.33333,
            -7660.0,
            -13996.88889,
            -8117.77778,
            816.66667,
            -224.66667,
            28825.55556,
            74487.77778,
        ],
    ]
    assert (
        refusal_kinds(
            [
                lambda: torch.gradient(x, spacing="1"),
                lambda: torch.gradient(x, edge_order=3),
                lambda: torch.gradient(x[:2], edge_order=2),
                lambda: torch.gradient(x, spacing=(p.reshape(2, 2),)),
                lambda: torch.gradient(x, spacing=(p[:3],)),
                lambda: torch.gradient(m, spacing=(1.0, 2.0, 3.0)),
                lambda: torch.gradient(m, dim=(0, 0)),
                lambda: torch.gradient(m, dim=2),
            ]
        )
        == "Tooo-ooI"
    )


def extremes_and_pairs_with_tangents():
    """The tangent goes where the extreme is.

    Rules: op/derivatives-beyond-programs, op/aminmax-has-a-derivative.
    """
    fw = torch.autograd.forward_ad
    x = torch.tensor([[3.0, 1.0, 2.0], [0.5, 4.0, 4.0]], dtype=torch.float64, requires_grad=True)
    t = torch.tensor([[1.0, 10.0, 100.0], [2.0, 20.0, 200.0]], dtype=torch.float64)
    with fw.dual_level():
        low, high = torch.aminmax(fw.make_dual(x, t), dim=1)
        assert [fw.unpack_dual(each).tangent.tolist() for each in (low, high)] == [[10.0, 2.0], [1.0, 110.0]]
        assert fw.unpack_dual(torch.frexp(fw.make_dual(x, t)).mantissa).tangent.tolist() == [
            [0.25, 5.0, 25.0],
            [2.0, 2.5, 25.0],
        ]
    low, high = torch.aminmax(x, dim=0, keepdim=True)
    assert derivatives(low * high, x) == [
        [0.5, 8.0, 12.0, 3.0, 2.0, 6.0],
        [6.0, 8.0, 36.0, 1.0, 32.0, 72.0],
        [18.5, 68.0, 120.0],
    ]
    assert derivatives(torch.aminmax(x).max ** 2, x) == [
        [0.0, 0.0, 0.0, 0.0, 4.0, 4.0],
        [0.0, 0.0, 0.0, 0.0, 8.0, 8.0],
        [64.0],
    ]
    assert (
        refusal_kinds([lambda: torch.aminmax(torch.ones(0)), lambda: torch.aminmax(torch.ones(2, 0), dim=1)])
        == "oI"
    )
    assert derivatives(torch.addr(x, x[:, 0], x[0]), x) == [
        [17.0, 10.5, 15.0, 33.0, 5.0, 6.0],
        [464.0, 398.0, 498.0, 421.0, 0.0, 0.0],
        [238.0, 118.0, 188.0, 281.0, 86.5, 159.0],
    ]
    y = x.detach().clone()
    y.addr_(torch.tensor([1, 2]), torch.tensor([1, 0, 1]), beta=2.0, alpha=3.0)
    assert y.tolist() == [[9.0, 2.0, 7.0], [7.0, 8.0, 14.0]]
    assert y.float_power_(2).tolist() == [[81.0, 4.0, 49.0], [49.0, 64.0, 196.0]]
    assert (
        refusal_kinds(
            [
                lambda: x.detach().float().float_power_(2),
                lambda: y.float_power_(1j),
                lambda: y.long().addr_(torch.ones(2), torch.ones(3)),
                lambda: y.long().logit_(),
                lambda: y.long().nan_to_num_(1.5),
            ]
        )
        == "oooo-"
    )


def zeros_keep_their_signs_where_they_are_equal():
    """The first of two equals is taken. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([0.0, -0.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([-0.0, 0.0], dtype=torch.float64)
    made = [x.maximum(y), x.minimum(y), x.clamp(-0.0, 0.0), x.clamp_min(0.0), x.clamp_max(-0.0), x.relu()]
    made += [x.clamp(y, y), x.clamp_min(y), x.clamp_max(y), torch.max(x, y), torch.min(y, x)]
    assert [each.reciprocal().gt(0).tolist() for each in made] == [
        [True, False],
        [True, False],
        [True, False],
        [True, False],
        [True, False],
        [True, False],
        [True, False],
        [True, False],
        [True, False],
        [True, False],
        [False, True],
    ]
    assert derivatives(x.add(1.0).softmax(0), x) == [[-0.25, 0.25], [0.0, 0.0], [-0.25, 0.25]]
