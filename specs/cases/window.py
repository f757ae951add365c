"""Windows on memory: as_strided, and complex numbers as pairs of reals."""

import numpy as np
import torch

from specs.case import refused


def window_sees_what_its_tensor_does_not():
    """as_strided of a part gives any window on the whole storage; what it shares gets a gradient.

    Rule: window/on-the-storage.
    """
    m = torch.tensor([1.0, 2.0, 3.0, 4.0])
    part = m[1:3].detach().requires_grad_()
    window = part.as_strided((4,), (1,), 0)
    assert window.tolist() == [1.0, 2.0, 3.0, 4.0] and window._base is part
    window.backward(torch.tensor([10.0, 20.0, 30.0, 40.0]))
    assert part.grad.tolist() == [20.0, 30.0]


def window_has_its_own_offset():
    """Without one, as_strided begins where its tensor does. Rule: window/on-the-storage."""
    m = torch.tensor([1.0, 2.0, 3.0, 4.0])
    assert m[2:].as_strided((2,), (1,)).tolist() == [3.0, 4.0]
    assert m[2:].as_strided((2,), (1,), 1).tolist() == [2.0, 3.0]


def repeated_elements_get_the_sum():
    """A sliding window shows the middle twice. Rule: window/sums-what-it-repeats."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    slides = x.as_strided((2, 2), (1, 1))
    assert slides.tolist() == [[1.0, 2.0], [2.0, 3.0]]
    slides.backward(torch.tensor([[1.0, 2.0], [4.0, 8.0]]))
    assert x.grad.tolist() == [1.0, 6.0, 8.0]


def what_the_base_repeats_is_divided():
    """Both rows of the base are one in memory, and share its gradient. Rule: window/sums-what-it-repeats."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    rows = x.expand(2, 2)
    rows.retain_grad()
    window = rows.as_strided((2,), (1,), 0)
    window.backward(torch.tensor([4.0, 6.0]))
    assert rows.grad.tolist() == [[2.0, 3.0], [2.0, 3.0]]
    assert x.grad.tolist() == [4.0, 6.0]


def windows_are_refused():
    """Strides that do not fit, and windows beyond the memory, are refused.

    Rules: window/strides, view/window-outside-base.
    """
    x = torch.tensor([1.0, 2.0, 3.0])
    with refused("window/strides"):
        x.as_strided((2, 2), (1,))
    with refused("window/strides"):
        x.as_strided((2,), (-1,))
    with refused("view/window-outside-base"):
        x.as_strided((4,), (1,))
    with refused("view/window-outside-base"):
        x.as_strided((1,), (1,), -1)
    assert x.as_strided((0,), (1,), 60).tolist() == []


def write_through_a_window_rewrites_the_base():
    """A window is a view like any other. Rules: write/rewrites-the-base, window/on-the-storage."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    y.as_strided((2,), (2,)).mul_(10)
    assert y.tolist() == [20.0, 4.0, 60.0] and y.grad_fn.name() == "torch::autograd::CopySlices"
    y.sum().backward()
    assert x.grad.tolist() == [20.0, 2.0, 20.0]


def reals_of_complex_numbers_are_a_view():
    """Writing to them writes the complex numbers; real numbers have no such view.

    Rule: window/reals-of-complex.
    """
    z = torch.tensor([1.0 + 2.0j, 3.0 - 1.0j], requires_grad=True)
    pairs = torch.view_as_real(z)
    assert pairs.tolist() == [[1.0, 2.0], [3.0, -1.0]] and pairs._base is z
    pairs.sum().backward()
    assert z.grad.tolist() == [1.0 + 1.0j, 1.0 + 1.0j]
    with refused("window/reals-of-complex"):
        torch.view_as_real(z.real)


def real_part_of_real_numbers_is_themselves():
    """A real tensor has no imaginary part. Rule: window/imaginary-of-complex."""
    x = torch.tensor([1.0, 2.0])
    assert x.real is x
    with refused("window/imaginary-of-complex"):
        x.imag  # noqa: B018
    z = torch.tensor([1.0 + 2.0j])
    assert z.imag.tolist() == [2.0] and z.imag.storage_offset() == 1


def pairs_of_reals_as_complex_numbers():
    """A view where they lie side by side, each pair at an even place, and refused elsewhere.

    Rule: window/pairs-side-by-side.
    """
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    z = torch.view_as_complex(x)
    assert z.tolist() == [1.0 + 2.0j, 3.0 + 4.0j] and z._base is x
    z.backward(torch.tensor([2.0 - 1.0j, 1.0j]))
    assert x.grad.tolist() == [[2.0, -1.0], [0.0, 1.0]]
    turned = x.t()
    between = x.flatten()[1:3]
    single = x[:, :1]
    alone = x[0, 0]
    with refused("window/pairs-side-by-side"):
        torch.view_as_complex(turned)
    with refused("window/pairs-side-by-side"):
        torch.view_as_complex(between)
    with refused("window/pairs-side-by-side"):
        torch.view_as_complex(single)
    with refused("window/pairs-side-by-side"):
        torch.view_as_complex(alone)
    with refused("window/pairs-side-by-side"):
        torch.view_as_complex(z)


def strides_are_as_many_as_sizes_and_not_negative():
    """In any dimension. Rule: window/strides."""
    x = torch.tensor([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    with refused("window/strides"):
        x.as_strided((2,), (-1,), 3)
    with refused("window/strides"):
        x.as_strided((2, 2), (1, -1), 3)
    with refused("window/strides"):
        x.as_strided((2, 2), (1,))
    with refused("window/strides"):
        x.as_strided((2,), (1, 1))


def a_window_begins_where_the_tensor_does():
    """as_strided() and as_strided_() keep the offset, unless told another. Rule: window/on-the-storage."""
    x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    seen = []
    v = x[1:]
    w = v.as_strided((2,), (2,))
    seen.append((w.tolist(), w.storage_offset()))
    v.as_strided_((2,), (2,))
    seen.append((v.tolist(), v.storage_offset()))
    v.as_strided_((2,), (1,), 0)
    seen.append((v.tolist(), v.storage_offset()))
    assert seen == [([2.0, 4.0], 1), ([2.0, 4.0], 1), ([1.0, 2.0], 0)]


def windows_on_memory_of_numpys_begin_where_the_array_does():
    """They reach what the array's strides span, whether or not it shows all of that.

    Rules: view/window-outside-base, window/on-the-storage.
    """
    x = torch.from_numpy(np.arange(6.0).reshape(2, 3).T)
    assert x.stride() == (1, 3) and x.as_strided((2,), (1,)).tolist() == [0.0, 1.0]
    assert x.as_strided((2, 2), (1, 3)).tolist() == [[0.0, 3.0], [1.0, 4.0]]
    y = torch.from_numpy(np.arange(6.0)[::2])
    reached = []
    reached += y.as_strided((5,), (1,)).tolist()
    with refused("view/window-outside-base"):
        reached += y.as_strided((7,), (1,)).tolist()
    assert y.stride() == (2,) and reached == [0.0, 1.0, 2.0, 3.0, 4.0]
