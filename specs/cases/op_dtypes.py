"""Dtypes and ops: bools before promotion, ops that do not exist for a dtype, integers that require grad."""

import torch

from specs.case import refused, warned


# -- bools -----------------------------------------------------------------------------------------
def bools_are_not_subtracted():
    """True minus True is refused, minus True is, and so is what is cut off at zero.

    Rule: op/bool-arithmetic.
    """
    x = torch.tensor([True, False])
    with refused("op/bool-arithmetic"):
        x.sub(x)
    with refused("op/bool-arithmetic"):
        x.neg()
    with refused("op/bool-arithmetic"):
        x.relu()


def bools_are_not_subtracted_from_numbers():
    """A bool is not promoted to be subtracted: not a tensor, not one of no dimension, not a Python bool.

    Rule: op/bool-arithmetic.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with refused("op/bool-arithmetic"):
        x.sub(torch.tensor([True, False]))
    with refused("op/bool-arithmetic"):
        x - torch.tensor(True)
    with refused("op/bool-arithmetic"):
        x - True
    with refused("op/bool-arithmetic"):
        True - x
    assert (x + True).tolist() == [2.0, 3.0]
    assert (x * True).tolist() == [1.0, 2.0]


def a_refused_subtraction_writes_nothing():
    """Bools are looked at before shapes, before the dtype of the result, and before anything is written.

    Rule: op/bool-arithmetic.
    """
    x = torch.tensor([1, 2])
    m = torch.tensor([True, False, True])
    with refused("op/bool-arithmetic"):
        x.sub_(m)
    with refused("op/bool-arithmetic"):
        m.sub_(1)
    assert x.tolist() == [1, 2] and x._version == 0


def a_power_by_bools_has_no_gradient_for_its_base():
    """x ** True is x, but its derivative subtracts one from the exponent. Rule: op/bool-arithmetic."""
    x = torch.tensor([3.0, 2.0], requires_grad=True)
    y = x.pow(torch.tensor([True, False]))
    assert y.tolist() == [3.0, 1.0]
    with refused("op/bool-arithmetic"):
        y.sum().backward()


# -- ops that are not there ------------------------------------------------------------------------
def some_ops_are_not_there_for_bools():
    """Bools have no absolute value, no power by bools and no matrix products; nothing is promoted for them.

    Rule: op/no-kernel.
    """
    x = torch.tensor([True, False])
    with refused("op/no-kernel"):
        x.abs()
    with refused("op/no-kernel"):
        x.pow(x)
    with refused("op/no-kernel"):
        x.dot(x)
    with refused("op/no-kernel"):
        x.cumsum_(0)
    assert x.pow(2).tolist() == [1, 0]
    assert x.cumsum(0).tolist() == [1, 1]


def memory_is_looked_at_before_a_kernel_is_found():
    """An expanded tensor refuses to be written to, before it turns out that bools have no absolute value.

    Rules: write/overlap-refused, op/no-kernel.
    """
    x = torch.tensor([True, False])
    with refused("write/overlap-refused"):
        x.expand(2, 2).abs_()
    with refused("op/no-kernel"):
        x.abs_()


def complex_numbers_have_no_order():
    """Complex numbers are compared for equality only.

    Rule: op/no-kernel, op/complex-extreme, op/real-only.
    """
    x = torch.tensor([1.0 + 2.0j, 3.0])
    with refused("op/no-kernel"):
        x.gt(1.0)
    with refused("op/no-kernel"):
        x.clamp(min=0.0)
    with refused("op/complex-extreme"):
        x.maximum(x)
    with refused("op/real-only"):
        x.deg2rad()
    assert x.eq(x).tolist() == [True, True]


# -- values ----------------------------------------------------------------------------------------
def numbers_too_large_are_refused():
    """Of an integer tensor and of a float one; infinity fits a float, and -1 wraps around in uint8.

    Rule: op/value-overflow.
    """
    x = torch.tensor([1, 2])
    with refused("op/value-overflow"):
        x.masked_fill(torch.tensor([True, False]), torch.tensor(float("nan")))
    with refused("op/value-overflow"):
        torch.full((2,), 300, dtype=torch.uint8)
    with refused("op/value-overflow"):
        torch.tensor([1.0, float("inf")], dtype=torch.int64)
    assert torch.full((1,), -1, dtype=torch.uint8).tolist() == [255]
    h = torch.tensor([1.0, 2.0], dtype=torch.float16)
    with refused("op/value-overflow"):
        h.fill_(70000.0)
    h[0] = 70000.0
    assert h.tolist() == [float("inf"), 2.0]
    assert h.fill_(float("-inf")).tolist() == [float("-inf"), float("-inf")]


def any_number_fits_a_bool():
    """Any number written to bools counts as true unless it is zero, complex numbers as well.

    Rule: op/value-overflow.
    """
    x = torch.tensor([False, False, True])
    x[0] = 1j
    x.masked_fill_(torch.tensor([False, True, False]), 1j)
    x[2] = 0.0
    assert x.tolist() == [True, True, False]
    y = torch.tensor([1, 2])
    with refused("op/value-overflow"):
        y[0] = 1j
    y[0] = 3 + 0j
    with refused("op/value-overflow"):
        y[[True, False]] = torch.tensor(1j)
    assert y.tolist() == [3, 2]
    b = torch.tensor([3.0, 4.0])
    k = torch.view_as_complex(b)
    k[True] = b[0]
    assert b.tolist() == [3.0, 0.0]


def a_clamp_in_place_keeps_its_dtype():
    """Bounds of a higher kind lift the result of a clamp, which then cannot be written back.

    Rule: write/result-dtype.
    """
    x = torch.tensor([1, 2])
    assert x.clamp(max=1.5).tolist() == [1.0, 1.5]
    with refused("write/result-dtype"):
        x.clamp_(max=1.5)
    assert x.tolist() == [1, 2]


# -- integers that require grad --------------------------------------------------------------------
def writing_a_gradient_into_integers():
    """fill_ makes integers require grad, and then no op can be recorded whose result is of integers.

    Rule: op/no-history-for-integers.
    """
    x = torch.tensor(2.0, requires_grad=True)
    i = torch.tensor([1, 3])
    i.fill_(x)
    assert i.tolist() == [2, 2] and i.requires_grad
    with refused("op/no-history-for-integers"):
        i.sum()
    with refused("op/no-history-for-integers"):
        i[0]
    with refused("op/no-history-for-integers"):
        torch.tensor([1, 3]).masked_fill(torch.tensor([True, False]), x)
    assert i.mul(2.0).requires_grad


def integers_that_floats_are_summed_in():
    """Refused of what requires grad where it would be recorded. Rule: op/no-history-for-integers."""
    x = torch.tensor([1.0, 2.5], requires_grad=True)
    with refused("op/no-history-for-integers"):
        x.sum(dtype=torch.int64)
    with torch.no_grad():
        assert x.cumsum(0, dtype=torch.int64).tolist() == [1, 3]


def integers_have_no_gradient():
    """Ops on integers that require grad are recorded, but backward does not get through them.

    Rule: backward/no-gradient-of-integers.
    """
    x = torch.tensor(2.0, requires_grad=True)
    i = torch.tensor([1, 3])
    i.fill_(x)
    y = i.mul(2.0).sum()
    with refused("backward/no-gradient-of-integers"):
        y.backward(create_graph=True)
    with refused("backward/no-gradient-of-integers"):
        y.backward()
    assert x.grad is None


def an_integer_that_requires_grad_is_no_root():
    """A gradient of its own dtype is refused like any other. Rule: backward/no-gradient-of-integers."""
    x = torch.tensor(2.0, requires_grad=True)
    i = torch.tensor([1, 3])
    i.fill_(x)
    with refused("backward/no-gradient-of-integers"):
        i.backward(torch.tensor([1, 1]))
    with refused("backward/no-gradient-of-integers"):
        i.backward(torch.tensor([1.0, 1.0]))
    y = torch.zeros(2)
    y.copy_(i)
    assert y.requires_grad is True and y.tolist() == [2.0, 2.0]
    with refused("backward/no-gradient-of-integers"):
        y.sum().backward()
    assert x.grad is None and i.requires_grad is True


# -- numbers that come first -----------------------------------------------------------------------
def four_functions_take_a_number_first():
    """torch.add, sub, mul and div take a number before a tensor; no other function does.

    Rule: op/arguments.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.div(2, x)
    z = torch.sub(3, x, alpha=2)
    assert y.tolist() == [2.0, 1.0] and y.grad_fn.name() == "DivBackward0"
    assert z.tolist() == [1.0, -1.0] and z.grad_fn.name() == "SubBackward0"
    assert torch.add(1.0, x).tolist() == [2.0, 3.0]
    y.sum().backward()
    assert x.grad.tolist() == [-2.0, -0.5]
    with refused("op/arguments"):
        torch.maximum(2.0, x)
    with refused("op/arguments"):
        torch.gt(2.0, x)


# -- half precision --------------------------------------------------------------------------------
def half_precision_rounds_once_an_op():
    """bfloat16 has eight bits: 257 is none of its numbers, and what adds up to 258 gets there all the same.

    Rule: op/half-rounds-once.
    """
    x = torch.tensor([256.0, 1.0, 1.0], dtype=torch.bfloat16, requires_grad=True)
    assert (x[0] + x[1]).item() == 256.0
    y = x.sum()
    assert y.item() == 258.0 and y.dtype == torch.bfloat16
    assert x.cumsum(0).tolist() == [256.0, 256.0, 258.0]
    assert x.dot(torch.ones_like(x)).item() == 258.0
    assert ((x[0] + x[1]) + x[2]).item() == 256.0
    y.backward()
    assert x.grad.tolist() == [1.0, 1.0, 1.0]


def a_rounded_result_without_elements_has_strides_by_rows():
    """As any other result does. Rule: op/half-rounds-once."""
    empty = torch.zeros(0, 0, dtype=torch.float16)
    assert empty.exp().stride() == (1, 1)
    assert empty.exp().dtype is torch.float16


def a_factor_is_not_rounded_to_half_precision():
    """1.00390625 is half-way between two bfloat16: what is added is rounded to 1, three times it is not 3.

    Rules: op/half-factor-is-not-rounded, op/half-rounds-once.
    """
    x = torch.tensor([3.0], dtype=torch.bfloat16, requires_grad=True)
    y = x * 1.00390625
    assert y.tolist() == [3.015625]
    assert (x * torch.tensor(1.00390625)).tolist() == [3.015625]
    assert (x * torch.tensor([1.00390625], dtype=torch.bfloat16)).tolist() == [3.0]
    assert torch.mul(1.00390625, x).tolist() == [3.0]
    assert (x - 1.00390625).tolist() == [2.0]
    y.backward()
    assert x.grad.tolist() == [1.0]


def half_precision_promotes():
    """Neither half holds the other: both go into float32; numbers and 0-d tensors take the dtype they meet.

    Rule: grad/casts-to-leaf-dtype. Source: docs: torch.result_type.
    """
    x = torch.tensor([1.0, 2.0], dtype=torch.bfloat16, requires_grad=True)
    y = torch.tensor([0.5, 0.25], dtype=torch.float16, requires_grad=True)
    z = x * y
    assert z.dtype == torch.float32
    z.sum().backward()
    assert x.grad.dtype == torch.bfloat16 and x.grad.tolist() == [0.5, 0.25]
    assert y.grad.dtype == torch.float16 and y.grad.tolist() == [1.0, 2.0]
    assert (x + 1.5).dtype == torch.bfloat16
    assert (x + torch.tensor(1.5)).dtype == torch.bfloat16
    assert (x + torch.tensor([1.5])).dtype == torch.float32


def bfloat16_and_a_complex_number_are_complex64():
    """There was no narrower one. Rule: op/bfloat16-meets-complex."""
    x = torch.tensor([1.0, 2.0], dtype=torch.bfloat16)
    assert (x + 1j).dtype == torch.complex64


def an_extreme_of_no_complex_numbers_is_not_recorded():
    """With elements it is not there at all, without them it is, as long as no gradient is asked for.

    Rule: op/no-history-for-complex.
    """
    x = torch.zeros((2, 0), dtype=torch.complex128)
    assert x.amax(0).shape == (0,)
    x.requires_grad_()
    with refused("op/no-history-for-complex"):
        x.amax(0)


def complex_numbers_do_not_become_their_absolute_values():
    """abs() gives real ones, abs_() would have to change the tensor's dtype.

    Rule: op/abs-in-place-is-real.
    """
    x = torch.tensor([complex(3.0, 4.0)])
    with refused("op/abs-in-place-is-real"):
        x.abs_()
    y = torch.tensor([-2.0])
    assert y.abs_().tolist() == [2.0] and x.tolist() == [complex(3.0, 4.0)]


def complex_numbers_are_written_into_half_precision():
    """Their real parts are; two halves of one number are no pair. Rule: data/complex-to-real-warns."""
    c = torch.tensor([1 + 2j, 3j])
    b = torch.zeros(2, dtype=torch.bfloat16)
    with warned("data/complex-to-real-warns"):
        b.copy_(c)
    assert b.tolist() == [1.0, 0.0]
    h = torch.zeros(2, dtype=torch.float16)
    with warned("data/complex-to-real-warns"):
        h.copy_(c)
    assert h.tolist() == [1.0, 0.0]
    i = torch.zeros(2, dtype=torch.bool)
    i.copy_(c)
    assert i.tolist() == [True, True]
