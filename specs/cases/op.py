"""Refusals of ops: operands that do not go together, dimensions out of range, impossible shapes."""

import torch

from specs.case import refused


# -- operands --------------------------------------------------------------------------------------
def shapes_that_do_not_broadcast():
    """Sizes must be equal or 1, from the right. Rule: op/shapes-broadcast."""
    x = torch.tensor([1.0, 2.0, 3.0])
    y = torch.tensor([1.0, 2.0])
    with refused("op/shapes-broadcast"):
        x.add(y)
    z = x.add(torch.tensor([[1.0], [2.0]]))
    assert z.tolist() == [[2.0, 3.0, 4.0], [3.0, 4.0, 5.0]]


def arguments_of_a_wrong_type():
    """None is no operand. Rule: op/arguments."""
    x = torch.tensor([1.0, 2.0])
    with refused("op/arguments"):
        x.add(None)
    assert x.tolist() == [1.0, 2.0]


# -- dtypes and values -----------------------------------------------------------------------------
def the_mean_of_integers():
    """Integers have no mean. Rule: op/mean-dtype."""
    x = torch.tensor([1, 2])
    with refused("op/mean-dtype"):
        x.mean()
    assert x.sum().tolist() == 3


def the_norm_and_the_spread_of_integers():
    """Integers and bools have none, in whatever order. Rule: op/norm-dtype."""
    x = torch.tensor([[1, 2], [3, 4]])
    with refused("op/norm-dtype"):
        x.norm()
    with refused("op/norm-dtype"):
        x.norm(1)
    with refused("op/norm-dtype"):
        x.gt(1).norm(2, 0)
    with refused("op/norm-dtype"):
        x.var(0)
    with refused("op/norm-dtype"):
        x.std()
    assert x.tolist() == [[1, 2], [3, 4]]


def integers_take_no_float_alpha():
    """alpha=0.5 is refused for integers. Rule: op/integer-alpha."""
    x = torch.tensor([1, 2])
    with refused("op/integer-alpha"):
        x.add(x, alpha=0.5)


def integers_take_no_negative_power():
    """2 ** -1 is refused for integers. Rule: op/integer-negative-power."""
    x = torch.tensor([1, 2])
    with refused("op/integer-negative-power"):
        x.pow(-1)


def clamp_needs_a_bound():
    """clamp() alone is refused. Rule: op/clamp-bounds."""
    x = torch.tensor([1.0, 2.0])
    with refused("op/clamp-bounds"):
        x.clamp()


def clamp_stops_at_its_bounds():
    """A value on a bound gets no gradient, a value between the bounds gets all of it.

    Rule: op/clamp-stops-at-bounds.
    """
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x.clamp(1.0, 3.0).sum().backward()
    assert x.grad.tolist() == [0.0, 1.0, 0.0]
    y = torch.tensor([1.0, 2.0], requires_grad=True)
    y.clamp(max=2.0).sum().backward()
    assert y.grad.tolist() == [1.0, 0.0]


def where_needs_a_bool_condition():
    """Numbers are no condition. Rule: op/where-condition."""
    x = torch.tensor([1.0, 0.0])
    with refused("op/where-condition"):
        torch.where(x, x, x)


def a_mask_must_be_bool():
    """Integers are no mask. Rule: op/mask-dtype."""
    x = torch.tensor([1.0, 2.0])
    m = torch.tensor([1, 0])
    with refused("op/mask-dtype"):
        x.masked_fill(m, 0.0)


def masked_fill_takes_one_value():
    """A vector of values is refused, even of one. Rule: op/masked-fill-value."""
    x = torch.tensor([1.0, 2.0])
    m = torch.tensor([True, False])
    v = torch.tensor([0.0])
    with refused("op/masked-fill-value"):
        x.masked_fill(m, v)


def fill_takes_one_value():
    """A vector of values is refused, even of one. Rule: op/fill-value."""
    x = torch.tensor([1.0, 2.0])
    v = torch.tensor([0.0])
    with refused("op/fill-value"):
        x.fill_(v)
    assert x.tolist() == [1.0, 2.0] and x._version == 0


def complex_values_do_not_fit_reals():
    """1j does not go among floats. Rule: op/value-overflow."""
    x = torch.tensor([1.0, 2.0])
    with refused("op/value-overflow"):
        x[0] = 1j
    assert x.tolist() == [1.0, 2.0]


def lists_are_not_assigned():
    """An element is assigned a number or a tensor. Rule: op/assign-type."""
    x = torch.tensor([[1.0, 2.0]])
    with refused("op/assign-type"):
        x[0] = [3.0, 4.0]
    x[0] = torch.tensor([3.0, 4.0])
    assert x.tolist() == [[3.0, 4.0]]


# -- dimensions ------------------------------------------------------------------------------------
def a_dimension_out_of_range():
    """Dimensions are -2..1 in a matrix, and -1..0 in a 0-d tensor. Rule: op/dim-range."""
    x = torch.tensor([[1.0, 2.0]])
    with refused("op/dim-range"):
        x.sum(2)
    with refused("op/dim-range"):
        x.unsqueeze(3)
    y = torch.tensor(1.0)
    assert y.transpose(0, -1).tolist() == 1.0
    with refused("op/dim-range"):
        y.unbind()


def a_dimension_named_twice():
    """sum((0, -2)) names one dimension twice. Rule: op/dim-repeated."""
    x = torch.tensor([[1.0, 2.0]])
    with refused("op/dim-repeated"):
        x.sum((0, -2))


def the_extreme_of_nothing():
    """The maximum of no elements is refused. Rule: op/empty-extreme."""
    x = torch.ones(0)
    with refused("op/empty-extreme"):
        x.amax()


def the_extreme_along_nothing():
    """A dimension of size 0 has no maximum; one of nothing else has. Rule: op/empty-extreme-dim."""
    x = torch.ones(0, 2)
    with refused("op/empty-extreme-dim"):
        x.amax(0)
    assert x.amax(1).tolist() == []


def a_permutation_names_each_dimension():
    """Neither too few dimensions nor one twice. Rule: op/permute-dims."""
    x = torch.tensor([[1.0, 2.0]])
    with refused("op/permute-dims"):
        x.permute(0)
    with refused("op/permute-dims"):
        x.permute(0, -2)


def t_is_for_matrices():
    """Three dimensions are too many. Rule: op/t-dims."""
    x = torch.ones(1, 2, 1)
    with refused("op/t-dims"):
        x.t()


def a_diagonal_needs_two_dimensions():
    """diagonal() of one dimension and itself is refused. Rule: op/diagonal-dims."""
    x = torch.ones(2, 2)
    with refused("op/diagonal-dims"):
        x.diagonal(0, 0, -2)


def flatten_goes_forward():
    """flatten() from dimension 1 to 0 is refused. Rule: op/flatten-order."""
    x = torch.ones(2, 2)
    with refused("op/flatten-order"):
        x.flatten(1, 0)


# -- shapes ----------------------------------------------------------------------------------------
def view_never_copies():
    """The rows of a transposed matrix are not next to each other. Rule: op/view-size."""
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    y = x.t()
    with refused("op/view-size"):
        y.view(4)
    assert y.reshape(4).tolist() == [1.0, 3.0, 2.0, 4.0] and y.view(2, 1, 2)._is_view() is True


def a_shape_holds_all_elements():
    """Four elements are not five. Rule: op/reshape-size."""
    x = torch.ones(4)
    with refused("op/reshape-size"):
        x.view(5)
    with refused("op/reshape-size"):
        x.reshape(-1, 3)


def one_size_is_inferred():
    """Two unknown sizes have no answer, and -1 beside 0 has too many. Rule: op/shape-inferred."""
    x = torch.ones(4)
    with refused("op/shape-inferred"):
        x.view(-1, -1)
    y = torch.ones(0)
    with refused("op/shape-inferred"):
        y.view(-1, 0)


def sizes_are_not_negative():
    """-2 is no size. Rule: op/shape-negative."""
    x = torch.ones(4)
    with refused("op/shape-negative"):
        x.view(-2, 2)


def expand_stretches_only_ones():
    """2 does not become 4, and no dimension is dropped. Rule: op/expand-size."""
    x = torch.ones(1, 2)
    with refused("op/expand-size"):
        x.expand(1, 4)
    with refused("op/expand-size"):
        x.expand(2)
    with refused("op/expand-size"):
        x.expand(-1, 1, 2)
    assert x.expand(3, -1).tolist() == [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]


def sum_to_size_undoes_an_expand():
    """(1, 2) is no expansion of (3,). Rule: op/sum-to-size."""
    x = torch.ones(1, 2)
    with refused("op/sum-to-size"):
        x.sum_to_size(3)


# -- reversing -------------------------------------------------------------------------------------
def flip_names_dimensions():
    """flip reverses the dimensions it is given, each once; the function takes them as a tuple only.

    Rules: op/dim-repeated, op/dim-range, op/arguments.
    """
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x.flip(0, 1)
    assert y.tolist() == [[4.0, 3.0], [2.0, 1.0]] and y.grad_fn.name() == "FlipBackward0"
    assert torch.flip(x, (1,)).tolist() == [[2.0, 1.0], [4.0, 3.0]]
    assert x.flip(()).tolist() == x.tolist()
    with refused("op/dim-repeated"):
        x.flip((0, -2))
    with refused("op/dim-range"):
        x.flip(2)
    with refused("op/arguments"):
        torch.flip(x, 0)
    with refused("op/arguments"):
        torch.permute(x, 1, 0)


def strides_of_single_rows_do_not_count():
    """A batch of one turned matrix times a vector is one product of that matrix.

    Rule: op/single-rows-fold.
    """
    m = torch.tensor([[[1.0, 2.0], [3.0, 4.0]]], requires_grad=True)
    y = m.transpose(1, 2) @ torch.tensor([1.0, 1.0])
    assert y.tolist() == [[4.0, 6.0]]
    assert y.grad_fn.next_functions[0][0].name() == "MvBackward0"


def operators_leave_foreign_operands_to_python():
    """A tensor of one integer repeats a str or a list, as an int does; nothing equals what is no number.

    Rules: op/operators-leave-what-is-foreign, op/arguments.
    """
    n = torch.tensor(2)
    assert n * "ab" == "abab" and [1.0] * n == [1.0, 1.0]
    assert (n == "ab") is False and (n != None) is True  # noqa: E711 - the operator is what is asked
    assert n.__add__("ab") is NotImplemented and n.__iadd__([]) is NotImplemented
    assert n.__lt__(None) is NotImplemented and n.__matmul__("ab") is NotImplemented
    with refused("op/arguments"):
        n + "ab"
    with refused("op/arguments"):
        n -= None
    with refused("op/arguments"):
        n.add("ab")
