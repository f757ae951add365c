"""Refusals of indexing: positions, slices, masks and index tensors that do not fit."""

import torch

from specs.case import refused, warned


def an_index_out_of_range():
    """Neither 2 nor -3 is an index into two elements; where nothing is read nobody asks.

    Rule: op/index-range.
    """
    x = torch.tensor([1.0, 2.0])
    with refused("op/index-range"):
        x[2]
    with refused("op/index-range"):
        x.select(0, -3)
    with refused("op/index-range"):
        x[torch.tensor([0, 2])]
    assert x[-2].tolist() == 1.0
    y = torch.tensor([[], []])
    assert y[[2]].shape == (1, 0)
    with refused("op/index-range"):
        y[:, [0]]


def a_scalar_has_no_items():
    """A 0-d tensor is neither indexed nor sliced, but x[...] is a view of it.

    Rule: op/scalar-has-no-items.
    """
    x = torch.tensor(1.0)
    with refused("op/scalar-has-no-items"):
        x[0]
    with refused("op/scalar-has-no-items"):
        x[:]
    with refused("op/scalar-has-no-items"):
        x[:1] = 2.0
    with refused("op/scalar-has-no-items"):
        x.select(0, 0)
    y = x[...]
    assert y._base is x


def a_scalar_has_no_pieces():
    """A 0-d tensor is not split, chunked or narrowed. Rule: op/scalar-has-no-pieces."""
    x = torch.tensor(1.0)
    with refused("op/scalar-has-no-pieces"):
        x.split(1)
    with refused("op/scalar-has-no-pieces"):
        x.chunk(1)
    with refused("op/scalar-has-no-pieces"):
        x.narrow(0, 0, 1)


def narrow_does_not_clamp():
    """A slice past the end is shorter; a narrow is refused. Rule: op/narrow-length."""
    x = torch.tensor([1.0, 2.0])
    with refused("op/narrow-length"):
        x.narrow(0, 1, 2)
    assert x[1:3].tolist() == [2.0]


def pieces_use_up_the_dimension():
    """1 + 2 is not 4, and pieces of nothing never end. Rule: op/split-size."""
    x = torch.ones(4)
    with refused("op/split-size"):
        x.split((1, 2))
    with refused("op/split-size"):
        x.split(0)
    with refused("op/split-size"):
        x.split(-1)


def chunk_makes_pieces():
    """Into no pieces is refused. Rule: op/chunk-count."""
    x = torch.ones(4)
    with refused("op/chunk-count"):
        x.chunk(0)


def slices_step_forward():
    """Unlike numpy's. Rule: op/slice-step."""
    x = torch.tensor([1.0, 2.0])
    with refused("op/slice-step"):
        x[::-1]
    with refused("op/slice-step"):
        x[::-1] = 0.0
    assert x[::2].tolist() == [1.0] and x._version == 0


def too_many_indices():
    """Two indices into a vector. Rule: op/index-count."""
    x = torch.tensor([1.0, 2.0])
    with refused("op/index-count"):
        x[0, 0]
    assert x[0, None].tolist() == [1.0]


def a_float_is_no_index():
    """A float is refused as an index, even if it is a whole number. Rule: op/index-kind."""
    x = torch.tensor([1.0, 2.0])
    with refused("op/index-kind"):
        x[1.0]


def floats_are_no_indices():
    """A tensor of floats does not index. Rule: op/index-dtype-in-brackets."""
    x = torch.tensor([1.0, 2.0])
    i = torch.tensor([0.0])
    with refused("op/index-dtype-in-brackets"):
        x[i]


def index_tensors_broadcast():
    """Two indices beside three. Rule: op/index-shapes."""
    x = torch.ones(2, 3)
    i = torch.tensor([0, 1])
    j = torch.tensor([0, 1, 2])
    with refused("op/index-shapes"):
        x[i, j]
    assert x[i, torch.tensor([0])].tolist() == [1.0, 1.0]


def a_mask_has_the_sizes_it_covers():
    """A mask of three for a dimension of two. Rule: op/mask-shape."""
    x = torch.tensor([1.0, 2.0])
    m = torch.tensor([True, False, True])
    with refused("op/mask-shape"):
        x[m]


def a_mask_is_looked_at_before_what_is_filled_in():
    """One value for one mask is filled in, and must be a number of that dtype; for two masks it is put.

    Rules: op/mask-shape, op/value-overflow, op/index-put-dtype.
    """
    x = torch.ones(2)
    one = torch.tensor([complex(1.0, 2.0)])
    with refused("op/mask-shape"):
        x[[True]] = one
    with refused("op/value-overflow"):
        x[[True, False]] = one
    y = torch.ones(2, 2)
    with refused("op/index-put-dtype"):
        y[[True, False], [True, False]] = one
    assert y.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def a_list_of_lists_is_taken_for_a_tuple():
    """A list of two lists means rows and columns, not two rows of positions. Rule: op/list-as-tuple-warns."""
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    with warned("op/list-as-tuple-warns"):
        y = x[[[0, 1], [1, 0]]]
    assert y.tolist() == [2.0, 3.0]
    with warned("op/list-as-tuple-warns"):
        x[[[True, False]]] = 5.0
    assert x.tolist() == [[5.0, 5.0], [3.0, 4.0]]


def nothing_lies_in_a_dimension_without_elements():
    """A position there is out of range, which is told before the values' shape. Rule: op/index-range."""
    x = torch.tensor([])
    with refused("op/index-range"):
        x[[0]] = torch.tensor([1.0, 2.0])


def values_go_where_tensors_point():
    """Two values do not go into three places. Rule: op/index-put-shape."""
    x = torch.ones(3)
    i = torch.tensor([0, 1, 2])
    v = torch.tensor([5.0, 6.0])
    with refused("op/index-put-shape"):
        x[i] = v
    assert x.tolist() == [1.0, 1.0, 1.0] and x._version == 0


def indexed_assignment_does_not_cast():
    """float64 goes into a float32 slice, but not where tensors point. Rule: op/index-put-dtype."""
    x = torch.ones(2)
    i = torch.tensor([0, 1])
    v = torch.tensor([5.0, 6.0], dtype=torch.float64)
    with refused("op/index-put-dtype"):
        x[i] = v
    x[:] = v
    assert x.tolist() == [5.0, 6.0] and x.dtype == torch.float32


def index_select_takes_integers():
    """Floats are no positions. Rule: op/index-dtype."""
    x = torch.ones(2)
    i = torch.tensor([0.0])
    with refused("op/index-dtype"):
        x.index_select(0, i)
    with refused("op/index-dtype"):
        x.gather(0, i)


def index_select_takes_a_vector():
    """A matrix of positions is refused. Rule: op/index-vector."""
    x = torch.ones(2)
    i = torch.tensor([[0]])
    with refused("op/index-vector"):
        x.index_select(0, i)


def index_select_does_not_count_from_the_end():
    """-1 is out of range. Rules: op/index-range, op/index-select-range."""
    x = torch.ones(2, 2)
    i = torch.tensor([-1])
    with refused("op/index-range"):
        x.index_select(0, i)
    with refused("op/index-select-range"):
        x.index_select(1, i)


def a_scalar_is_selected_once():
    """Two positions in a 0-d tensor are refused. Rule: op/index-of-scalar."""
    x = torch.tensor(1.0)
    i = torch.tensor([0, 0])
    with refused("op/index-of-scalar"):
        x.index_select(0, i)


def gather_does_not_count_from_the_end():
    """-1 is out of range. Rule: op/gather-range."""
    x = torch.ones(2)
    i = torch.tensor([-1])
    with refused("op/gather-range"):
        x.gather(0, i)


def gather_does_not_broadcast():
    """The index has the tensor's dimensions, and no larger sizes outside the gathered one.

    Rule: op/gather-shape.
    """
    x = torch.ones(2, 2)
    i = torch.tensor([0])
    with refused("op/gather-shape"):
        x.gather(0, i)
    j = torch.tensor([[0, 0, 0]])
    with refused("op/gather-shape"):
        x.gather(0, j)
    assert x.gather(1, j).tolist() == [[1.0, 1.0, 1.0]]


# -- out of tensors --------------------------------------------------------------------------------
def item_of_several():
    """Two elements are no number. Rule: op/item-size."""
    x = torch.tensor([1.0, 2.0])
    with refused("op/item-size"):
        x.item()


def len_of_a_scalar():
    """A 0-d tensor has no length. Rule: op/len-of-scalar."""
    x = torch.tensor(1.0)
    with refused("op/len-of-scalar"):
        x.__len__()


def truth_of_several():
    """Two elements are neither true nor false. Rule: op/bool-of-many."""
    x = torch.tensor([1.0, 2.0])
    with refused("op/bool-of-many"):
        x.__bool__()


def positions_in_lists_are_kept_for_the_gradient():
    """Each of several lists is, and none may be out of range. Rule: op/index-range."""
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x[[0, 1], [1, 0]]
    y.backward(torch.tensor([5.0, 7.0]))
    assert x.grad.tolist() == [[0.0, 5.0], [7.0, 0.0]]
    with refused("op/index-range"):
        x[[0], [2]]
