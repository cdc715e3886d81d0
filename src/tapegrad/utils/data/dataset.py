"""Data sets: samples that have indices (`Dataset`), or come in turn (`IterableDataset`)."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, TypeVar

from tapegrad.core import errors
from tapegrad.core.annotations import Source
from tapegrad.core.errors import deprecated, warn
from tapegrad.operators.random.rand_randint_randperm import randperm
from tapegrad.random import default_generator
from tapegrad.tensors.tensor import Tensor

__all__ = [
    "ChainDataset", "ConcatDataset", "Dataset", "IterableDataset", "StackDataset", "Subset",
    "TensorDataset", "random_split",
]  # fmt: skip

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """Samples that are found by an index: derive a class with `__getitem__` and `__len__`.

    A class may also have `__getitems__(indices)`, which gives the samples of a batch in one call.

    >>> class Squares(torch.utils.data.Dataset):
    ...     def __len__(self):
    ...         return 4
    ...     def __getitem__(self, i):
    ...         return i * i
    >>> list(torch.utils.data.DataLoader(Squares(), batch_size=2))
    [tensor([0, 1]), tensor([4, 9])]
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset) -> Any:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """Samples that come one after the other: derive a class with `__iter__`.

    Each worker of a DataLoader has a copy and gives all of it, unless `__iter__` asks
    `get_worker_info()` which part is its own.

    >>> class Letters(torch.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter("abc")
    >>> list(torch.utils.data.DataLoader(Letters(), batch_size=2))
    [['a', 'b'], ['c']]
    """

    def __add__(self, other: Dataset) -> Any:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """The rows of tensors: sample `i` is `(a[i], b[i], ...)`.

    A DataLoader picks the rows of a whole batch at once, which gives the same and takes a fraction
    of the time.

    Args:
        tensors: of any shapes `(N, ...)` with the same `N`.

    >>> x, y = torch.arange(6).reshape(3, 2), torch.tensor([7, 8, 9])
    >>> torch.utils.data.TensorDataset(x, y)[1]
    (tensor([2, 3]), tensor(8))
    """

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensor.size(0) != tensors[0].size(0) for tensor in tensors):
            raise errors.assertion_error(
                "Size mismatch between tensors",
                "Dimension 0 counts the samples: it is the same for all tensors.",
            )
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class Subset(Dataset[T_co]):
    """The samples of a data set at given indices.

    >>> part = torch.utils.data.Subset("abcdef", [4, 0, 2])
    >>> len(part), part[0]
    (3, 'e')
    """

    dataset: Any
    indices: Sequence[int]

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list) -> list:
        picked = [self.indices[i] for i in indices]
        if callable(getattr(self.dataset, "__getitems__", None)):
            return self.dataset.__getitems__(picked)
        return [self.dataset[i] for i in picked]

    def __len__(self) -> int:
        return len(self.indices)


class StackDataset(Dataset):
    """Data sets side by side: sample `i` holds sample `i` of each, in a tuple or a dictionary.

    >>> pairs = torch.utils.data.StackDataset(number=range(3), letter="abc")
    >>> pairs[2]
    {'number': 2, 'letter': 'c'}
    """

    datasets: Any

    def __init__(self, *args: object, **kwargs: object) -> None:
        if args and kwargs:
            raise errors.value_error(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like "
                "input/output, but both types are given.",
                "Name all data sets or none.",
            )
        if not args and not kwargs:
            raise errors.value_error(
                "At least one dataset should be passed",
                "StackDataset(a, b) gives tuples, StackDataset(x=a, y=b) dictionaries.",
            )
        self.datasets = kwargs or args
        members = self._members()
        self._length = len(members[0])
        if any(len(dataset) != self._length for dataset in members):
            raise errors.value_error(
                "Size mismatch between datasets", "Take a Subset of the longer ones."
            )

    def _members(self) -> list:
        datasets = self.datasets
        return list(datasets.values() if isinstance(datasets, dict) else datasets)

    def _combined(self, values: Iterable) -> Any:
        if isinstance(self.datasets, dict):
            return dict(zip(self.datasets, values, strict=True))
        return tuple(values)

    def __getitem__(self, index: Any) -> Any:
        return self._combined([dataset[index] for dataset in self._members()])

    def __getitems__(self, indices: list) -> list:
        columns = [self._picked(dataset, indices) for dataset in self._members()]
        return [self._combined(row) for row in zip(*columns, strict=True)]

    @staticmethod
    def _picked(dataset: Any, indices: list) -> list:
        if not callable(getattr(dataset, "__getitems__", None)):
            return [dataset[index] for index in indices]
        samples = dataset.__getitems__(indices)
        if len(samples) != len(indices):
            raise errors.value_error(
                "Nested dataset's output size mismatch. "
                f"Expected {len(indices)}, got {len(samples)}",
                f"{type(dataset).__name__}.__getitems__ gives one sample for each index.",
            )
        return samples

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[T_co]):
    """Data sets one behind the other.

    >>> both = torch.utils.data.ConcatDataset([range(3), range(10, 12)])
    >>> len(both), both[3], both[-1]
    (5, 10, 11)
    """

    datasets: list
    cumulative_sizes: list[int]

    @staticmethod
    def cumsum(sequence: Iterable) -> list[int]:
        """Where each of the data sets ends."""
        return list(itertools.accumulate(map(len, sequence)))

    def __init__(self, datasets: Iterable) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise errors.assertion_error(
                "datasets should not be an empty iterable", "Pass a list of data sets."
            )
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise errors.assertion_error(
                "ConcatDataset does not support IterableDataset", "ChainDataset joins those."
            )
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> Any:
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, idx)
        start = self.cumulative_sizes[which - 1] if which else 0
        return self.datasets[which][idx - start]

    @property
    def cummulative_sizes(self) -> list[int]:
        """The old spelling of `cumulative_sizes`."""

        deprecated("`cummulative_sizes` attribute is renamed to `cumulative_sizes`")
        return self.cumulative_sizes


class ChainDataset(IterableDataset):
    """Iterable data sets one after the other.

    >>> class Letters(torch.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter("ab")
    >>> list(Letters() + Letters())
    ['a', 'b', 'a', 'b']
    """

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets = datasets

    def _checked(self) -> Iterator:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise errors.assertion_error(
                    "ChainDataset only supports IterableDataset",
                    "ConcatDataset joins data sets that have indices.",
                )
            yield dataset

    def __iter__(self) -> Iterator:
        for dataset in self._checked():
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self._checked())


def random_split(
    dataset: Any, lengths: Sequence[int | float], generator: Source = default_generator
) -> list:
    """Parts of a data set that have no sample in common, drawn at random.

    Args:
        lengths: how many samples each part has; or fractions that add up to 1, whose remainder goes
            round the parts one by one.

    >>> _ = torch.manual_seed(0)
    >>> train, test = torch.utils.data.random_split(range(5), [0.8, 0.2])
    >>> list(train), list(test)
    ([4, 0, 1, 3], [2])
    """
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _counts(len(dataset), lengths)
    if sum(lengths) != len(dataset):
        raise errors.value_error(
            "Sum of input lengths does not equal the length of the input dataset!",
            f"The data set has {len(dataset)} samples: pass counts of this sum, or fractions of 1.",
        )
    order = randperm(sum(lengths), generator=generator).tolist()
    ends = accumulate(lengths)
    return [Subset(dataset, order[end - n : end]) for end, n in zip(ends, lengths, strict=True)]


def _counts(n: int, fractions: Sequence[int | float]) -> list[int]:
    """How many of `n` samples each fraction gets."""
    for i, fraction in enumerate(fractions):
        if not 0 <= fraction <= 1:
            raise errors.value_error(
                f"Fraction at index {i} is not between 0 and 1",
                "Fractions are shares of the data set.",
            )
    counts = [math.floor(n * fraction) for fraction in fractions]
    for i in range(n - sum(counts)):
        counts[i % len(counts)] += 1
    for i, count in enumerate(counts):
        if not count:
            warn(f"Length of split at index {i} is 0. This might result in an empty dataset.", 3)
    return counts
