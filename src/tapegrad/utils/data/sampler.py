"""Samplers: in which order the samples of a data set are taken.

The samplers here know their indices in whole runs (`_runs`): iteration gives them one by one, and a
DataLoader that picks rows of tensors takes the runs as they are.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

import numpy as np

from tapegrad import as_tensor, empty
from tapegrad.core import errors
from tapegrad.core.annotations import Source
from tapegrad.core.dtype import float64, int64
from tapegrad.core.generator import Generator
from tapegrad.operators.random.multinomial import multinomial
from tapegrad.operators.random.rand_randint_randperm import randint, randperm

__all__ = [
    "BatchSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler",
    "WeightedRandomSampler",
]  # fmt: skip

T_co = TypeVar("T_co", covariant=True)

_DRAWN_AT_ONCE = 32  # indices of a draw with replacement


class Sampler(Generic[T_co]):
    """An order of samples: derive a class with `__iter__`, which gives indices (or lists of them).

    >>> class Odd(torch.utils.data.Sampler):
    ...     def __iter__(self):
    ...         return iter([1, 3])
    >>> list(torch.utils.data.DataLoader("abcd", sampler=Odd()))
    [['b'], ['d']]
    """

    def __iter__(self) -> Iterator[T_co]:
        raise errors.advised(NotImplementedError(), "A sampler defines __iter__().")


class SequentialSampler(Sampler[int]):
    """The indices of a data set in order.

    >>> list(torch.utils.data.SequentialSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def _runs(self) -> Iterator[range]:
        yield range(len(self.data_source))

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class _Drawing(Sampler[int]):
    """Draws `num_samples` indices, in runs."""

    num_samples: Any

    def _runs(self) -> Iterator[np.ndarray]:
        raise NotImplementedError

    def __iter__(self) -> Iterator[int]:
        for run in self._runs():
            yield from run.tolist()

    def __len__(self) -> int:
        return self.num_samples


class RandomSampler(_Drawing):
    """The indices of a data set in random order, or drawn with replacement.

    Without a generator each pass seeds one of its own with a number of the default generator.

    Args:
        num_samples: how many are drawn; the length of the data set by default.

    >>> _ = torch.manual_seed(0)
    >>> list(torch.utils.data.RandomSampler("abcde"))
    [1, 3, 4, 2, 0]
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Source = None,
    ) -> None:
        self.data_source, self.replacement = data_source, replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise errors.type_error(
                f"replacement should be a boolean value, but got replacement={replacement}",
                "Say whether a sample may be drawn twice.",
            )
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise _no_count(self.num_samples)

    @property
    def num_samples(self) -> int:
        """How many indices a pass gives."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def _runs(self) -> Iterator[np.ndarray]:
        n, generator = len(self.data_source), self.generator
        if generator is None:
            generator = Generator().manual_seed(drawn_seed(None))
        n_whole, n_rest = divmod(self.num_samples, _DRAWN_AT_ONCE if self.replacement else n)
        if self.replacement:
            for n_drawn in itertools.chain(itertools.repeat(_DRAWN_AT_ONCE, n_whole), [n_rest]):
                yield randint(high=n, size=(n_drawn,), generator=generator)._array
            return
        for _ in range(n_whole):
            yield randperm(n, generator=generator)._array
        yield randperm(n, generator=generator)._array[:n_rest]


class SubsetRandomSampler(Sampler[int]):
    """Given indices in random order.

    >>> _ = torch.manual_seed(0)
    >>> list(torch.utils.data.SubsetRandomSampler([5, 6, 7, 8]))
    [5, 6, 8, 7]
    """

    def __init__(self, indices: Sequence[int], generator: Source = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        for i in randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(_Drawing):
    """Indices 0 to `len(weights)` - 1, each as often as its weight says.

    >>> _ = torch.manual_seed(0)
    >>> list(torch.utils.data.WeightedRandomSampler([0.1, 0.9, 0.4], 5))
    [2, 1, 1, 2, 1]
    """

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: Source = None,
    ) -> None:
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise _no_count(num_samples)
        if not isinstance(replacement, bool):
            raise errors.value_error(
                f"replacement should be a boolean value, but got replacement={replacement}",
                "Say whether an index may be drawn twice.",
            )
        self.weights = as_tensor(weights, dtype=float64)
        if self.weights.ndim != 1:
            raise errors.value_error(
                "weights should be a 1d sequence but given weights have shape "
                f"{tuple(self.weights.shape)}",
                "Pass one number for each sample.",
            )
        self.num_samples, self.replacement = num_samples, replacement
        self.generator = generator

    def _runs(self) -> Iterator[np.ndarray]:
        yield multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )._array


class BatchSampler(Sampler[list[int]]):
    """The indices of another sampler in lists of `batch_size`.

    >>> list(torch.utils.data.BatchSampler(range(5), batch_size=2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(
        self, sampler: Sampler[int] | Iterable[int], batch_size: int, drop_last: bool
    ) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise errors.value_error(
                f"batch_size should be a positive integer value, but got batch_size={batch_size}",
                "Say how many samples make a batch.",
            )
        if not isinstance(drop_last, bool):
            raise errors.value_error(
                f"drop_last should be a boolean value, but got drop_last={drop_last}",
                "Say whether a last batch of fewer samples is left out.",
            )
        self.sampler, self.batch_size = sampler, batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield batch

    def __len__(self) -> int:
        n: int = len(self.sampler)  # type: ignore[arg-type]
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


def _no_count(num_samples: Any) -> ValueError:
    return errors.value_error(
        f"num_samples should be a positive integer value, but got num_samples={num_samples}",
        "Say how many indices a pass gives; an empty data set has none to draw from.",
    )


def drawn_seed(generator: Source) -> int:
    """A number from 0 to 2**63 - 1 of `generator`, or of the default one."""
    return empty((), dtype=int64).random_(generator=generator).item()
