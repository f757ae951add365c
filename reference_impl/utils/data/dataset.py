"""Datasets: samples by index, or one after the other; and those made of others."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, Generic, TypeVar

from reference_impl.core.tensor import Tensor
from reference_impl.namespace.random import Generator, default_generator, randperm

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """Samples by index; subclasses define ``__getitem__``, and ``__len__`` where they can."""

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[T_co]) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co]):
    """Samples one after the other; subclasses define ``__iter__``."""

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")

    def __add__(self, other: Any) -> Any:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Rows of tensors that have as many of them."""

    def __init__(self, *tensors: Tensor) -> None:
        if any(x.size(0) != tensors[0].size(0) for x in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(x[index] for x in self.tensors)  # type: ignore[index]

    def __len__(self) -> int:
        return int(self.tensors[0].size(0))


class StackDataset(Dataset[Any]):
    """The samples of several datasets side by side, as a tuple or by name."""

    def __init__(self, *datasets: Any, **named: Any) -> None:
        if bool(datasets) == bool(named):
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output, "
                "but both types are given."
                if datasets
                else "At least one dataset should be passed"
            )
        every = [*datasets, *named.values()]
        if any(len(dataset) != len(every[0]) for dataset in every):
            raise ValueError("Size mismatch between datasets")
        self.datasets: Any = datasets or named
        self._length = len(every[0])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices: list[int]) -> list[Any]:
        """The samples at several indices."""
        return [self[index] for index in indices]

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[T_co]):
    """Datasets one behind the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(accumulate(map(len, self.datasets)))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        which = bisect_right(self.cumulative_sizes, index)
        return self.datasets[which][index - (self.cumulative_sizes[which - 1] if which else 0)]


class ChainDataset(IterableDataset[Any]):
    """Iterable datasets one behind the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        super().__init__()
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self.datasets)


class Subset(Dataset[T_co]):
    """The samples of a dataset at the given indices."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list[Any]:
        """The samples at several indices."""
        if callable(several := getattr(self.dataset, "__getitems__", None)):
            found: list[Any] = several([self.indices[i] for i in indices])
            return found
        return [self.dataset[self.indices[i]] for i in indices]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Any, lengths: Sequence[float], generator: Generator | None = default_generator
) -> list[Subset[Any]]:
    """Split a dataset at random into parts of the given lengths, or of fractions that sum to 1."""
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        if any(not 0 <= part <= 1 for part in lengths):
            at = next(i for i, part in enumerate(lengths) if not 0 <= part <= 1)
            raise ValueError(f"Fraction at index {at} is not between 0 and 1")
        sizes = [math.floor(len(dataset) * part) for part in lengths]
        for i in range(len(dataset) - sum(sizes)):
            sizes[i % len(sizes)] += 1
    else:
        sizes = list(lengths)  # type: ignore[arg-type]  # whole numbers by now
    if sum(sizes) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    indices = randperm(sum(sizes), generator=generator).tolist()
    return [Subset(dataset, indices[a:b]) for a, b in pairwise([0, *accumulate(sizes)])]
