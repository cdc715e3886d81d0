"""Data sets made of others: side by side, one behind the other, one after the other."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from tapegrad.core import errors
from tapegrad.utils.data.dataset import Dataset, IterableDataset, T_co


class StackDataset(Dataset):
    """Data sets side by side: sample `i` holds sample `i` of each, in a tuple or a dictionary.

    >>> pairs = torch.utils.data.StackDataset(number=range(3), letter="abc")
    >>> pairs[2]
    {'number': 2, 'letter': 'c'}
    """

    datasets: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
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
        import warnings

        warnings.warn(
            "`cummulative_sizes` attribute is renamed to `cumulative_sizes`",
            FutureWarning,
            stacklevel=2,
        )
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
