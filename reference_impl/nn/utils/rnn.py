"""``torch.nn.utils.rnn``: padding and packing sequences of different lengths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from reference_impl.base import dtypes
from reference_impl.base.device import making_on, place_of
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.namespace.factories import as_tensor
from reference_impl.namespace.missing import loading


class PackedSequence(NamedTuple):
    """The elements of all sequences, time step by time step; at each, those that are long enough."""

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None

    def to(self, *where: Any, **more: Any) -> PackedSequence:
        """Cast or move the elements; return the sequences themselves if neither is needed."""
        data = self.data.to(*where, **more)
        return self if data is self.data else self._replace(data=data)

    def double(self) -> PackedSequence:
        """Cast the elements to float64."""
        return self.to(dtypes.float64)

    def float(self) -> PackedSequence:
        """Cast the elements to float32."""
        return self.to(dtypes.float32)

    def half(self) -> PackedSequence:
        """Cast the elements to float16."""
        return self.to(dtypes.float16)


def pad_sequence(
    sequences: Sequence[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Stack sequences of different lengths, the shorter ones padded."""
    if padding_side not in ("right", "left"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    if not len(sequences):
        raise RuntimeError("received an empty list of sequences")
    longest = max(x.shape[0] for x in sequences)
    rest = tuple(sequences[0].shape[1:])
    batch = 0 if batch_first else 1
    sizes = (len(sequences), longest) if batch_first else (longest, len(sequences))
    out = sequences[0].new_empty((*sizes, *rest)).fill_(padding_value)
    for n, x in enumerate(sequences):
        size = x.shape[0]
        out.select(batch, n).narrow(0, 0 if padding_side == "right" else longest - size, size).copy_(x)
    return out


def _lengths(lengths: Any) -> Tensor:
    given = as_tensor(lengths)
    if given.ndim != 1:
        raise RuntimeError("'lengths' argument should be a 1D CPU int64 tensor")
    return given


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack padded sequences; they must be sorted by length, the longest first, unless sorted here."""
    sizes = array_of(_lengths(lengths)).astype(np.int64)
    batch = input.shape[0 if batch_first else 1]
    if len(sizes) != batch:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(sizes)} (batch_size={batch})"
        )
    if (sizes <= 0).any():
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    order = unsorted = None
    if enforce_sorted:
        if (np.diff(sizes) > 0).any():
            raise RuntimeError(
                "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can "
                "pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this "
                "requirement if you do not need ONNX exportability."
            )
    else:
        at = np.argsort(-sizes, kind="stable")
        with making_on(place_of(input)):
            order, places = wrap(at.copy()), wrap(np.arange(batch))
        unsorted = order.new_zeros(order.shape).scatter_(0, order, places)
        input, sizes = input.index_select(0 if batch_first else 1, order), sizes[at]
    counts = [int((sizes > t).sum()) for t in range(int(sizes[0]))]
    data = input._pack_padded(counts=tuple(counts), batch_first=batch_first)
    return PackedSequence(data, wrap(np.array(counts, np.int64)), order, unsorted)


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Undo the packing; returns the padded sequences and their lengths."""
    counts = sequence.batch_sizes.tolist()
    length = len(counts) if total_length is None else total_length
    if length < len(counts):
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {len(counts)}"
        )
    rows, rest = counts[0], sequence.data.shape[1:]
    out = sequence.data.new_empty((length, rows, *rest)).fill_(padding_value)
    at = t = 0
    for count, alike in groupby(counts):  # one write for all steps of as many sequences
        steps = len(list(alike))
        part = sequence.data.narrow(0, at, steps * count).view((steps, count, *rest))
        out.narrow(0, t, steps).narrow(1, 0, count).copy_(part)
        at, t = at + steps * count, t + steps
    sizes = wrap(np.array([sum(count > n for count in counts) for n in range(rows)], np.int64))
    out = out.transpose(0, 1) if batch_first else out
    if sequence.unsorted_indices is None:
        return out, sizes
    order = sequence.unsorted_indices
    return out.index_select(0 if batch_first else 1, order), sizes.index_select(0, order)


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences of different lengths."""
    sizes = [x.shape[0] for x in sequences]
    return pack_padded_sequence(pad_sequence(sequences), sizes, enforce_sorted=enforce_sorted)


def unpad_sequence(padded_sequences: Tensor, lengths: Any, batch_first: bool = False) -> list[Tensor]:
    """Undo `pad_sequence`. NB: as PyTorch's it transposes what it is given, unless ``batch_first``."""
    if not batch_first:
        padded_sequences.transpose_(0, 1)
    places = wrap(np.arange(padded_sequences.shape[1]))
    pairs = zip(padded_sequences.unbind(0), lengths, strict=True)
    return [row[places < length] for row, length in pairs]


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Undo `pack_sequence`."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


__getattr__ = loading(__name__)
