"""`map`, `shuffle`, `concat`, `zip`, `batch` of samples with an index."""

import copy
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tapegrad.core.errors import value_error, warn
from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils.data.datapipes._decorator import functional_datapipe
from tapegrad.utils.data.datapipes._paths import hand_out
from tapegrad.utils.data.datapipes.datapipe import DataChunk, IterDataPipe, MapDataPipe
from tapegrad.utils.data.datapipes.iter.combinatorics import drawn_seed
from tapegrad.utils.data.datapipes.utils.common import _check_unpickable_fn

__all__ = [
    "BatcherMapDataPipe", "ConcaterMapDataPipe", "MapperMapDataPipe", "SequenceWrapperMapDataPipe",
    "ShufflerIterDataPipe", "ZipperMapDataPipe",
]  # fmt: skip


class SequenceWrapperMapDataPipe(MapDataPipe):
    """A sequence, or a dictionary, as a pipe; copied unless `deepcopy` is False."""

    def __init__(self, sequence: Sequence | Mapping, deepcopy: bool = True) -> None:
        self.sequence = sequence
        if deepcopy:
            try:
                self.sequence = copy.deepcopy(sequence)
            except TypeError:
                warn(
                    "The input sequence can not be deepcopied, please be aware of in-place "
                    "modification would affect source data"
                )

    def __getitem__(self, index: Any) -> Any:
        return self.sequence[index]

    def __len__(self) -> int:
        return len(self.sequence)


def default_fn(data: Any) -> Any:
    """The sample itself."""
    return data


@functional_datapipe("map")
class MapperMapDataPipe(MapDataPipe):
    """`fn` of each sample."""

    def __init__(self, datapipe: MapDataPipe, fn: Callable = default_fn) -> None:
        _check_unpickable_fn(fn)
        self.datapipe, self.fn = datapipe, fn

    def __len__(self) -> int:
        return len(self.datapipe)

    def __getitem__(self, index: Any) -> Any:
        return self.fn(self.datapipe[index])


class ShufflerIterDataPipe(IterDataPipe):
    """The samples of all indices, or of `indices`, in random order, one after the other."""

    def __init__(self, datapipe: MapDataPipe, *, indices: list | None = None) -> None:
        self.datapipe = datapipe
        self.indices: list = list(range(len(datapipe))) if indices is None else indices
        self._enabled = True
        self._seed: int | None = None
        self._rng = random.Random()
        self._shuffled_indices: list = self.indices

    def set_shuffle(self, shuffle: bool = True) -> "ShufflerIterDataPipe":
        """Whether to shuffle."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed: int) -> "ShufflerIterDataPipe":
        """The seed of the next pass."""
        self._seed = seed
        return self

    def __iter__(self) -> Iterator[Any]:
        if not self._enabled:
            for i in self.indices:
                yield self.datapipe[i]
            return
        while self._shuffled_indices:
            yield self.datapipe[self._shuffled_indices.pop()]

    def reset(self) -> None:
        if self._enabled:
            self._rng.seed(drawn_seed() if self._seed is None else self._seed)
            self._seed = None
            self._shuffled_indices = self._rng.sample(self.indices, len(self.indices))

    def __len__(self) -> int:
        return len(self.datapipe)


MapDataPipe.register_datapipe_as_function("shuffle", ShufflerIterDataPipe)


class _Several(MapDataPipe):
    datapipes: tuple[Any, ...]

    def __init__(self, *datapipes: MapDataPipe) -> None:
        if not datapipes:
            raise value_error("Expected at least one DataPipe, but got nothing", "Give pipes.")
        if not all(isinstance(each, MapDataPipe) for each in datapipes):
            raise TypeError("Expected all inputs to be `MapDataPipe`")
        if not all(hasattr(type(each), "__len__") for each in datapipes):
            raise TypeError("Expected all inputs to be `Sized`")
        self.datapipes = datapipes


@functional_datapipe("concat")
class ConcaterMapDataPipe(_Several):
    """The samples of the first pipe, then of the second, and so on."""

    def __getitem__(self, index: int) -> Any:
        offset = 0
        for each in self.datapipes:
            if index - offset < len(each):
                return each[index - offset]
            offset += len(each)
        raise IndexError(f"Index {index} is out of range.")

    def __len__(self) -> int:
        return sum(map(len, self.datapipes))


@functional_datapipe("zip")
class ZipperMapDataPipe(_Several):
    """Tuples of the samples of all pipes with the same index."""

    def __getitem__(self, index: int) -> tuple:
        found = []
        for each in self.datapipes:
            try:
                found.append(each[index])
            except IndexError as error:
                raise IndexError(
                    f"Index {index} is out of range for one of the input MapDataPipes {each}."
                ) from error
        return tuple(found)

    def __len__(self) -> int:
        return min(map(len, self.datapipes))


@functional_datapipe("batch")
class BatcherMapDataPipe(MapDataPipe):
    """Lists of `batch_size` samples; the last may be shorter, or is left out by `drop_last`."""

    def __init__(
        self,
        datapipe: MapDataPipe,
        batch_size: int,
        drop_last: bool = False,
        wrapper_class: type[DataChunk] = DataChunk,
    ) -> None:
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        self.datapipe, self.batch_size, self.drop_last = datapipe, batch_size, drop_last
        self.wrapper_class = wrapper_class

    def __getitem__(self, index: int) -> Any:
        batch: list = []
        first = index * self.batch_size
        try:
            for i in range(first, first + self.batch_size):
                batch.append(self.datapipe[i])
        except IndexError as error:
            if not batch or self.drop_last:
                raise IndexError(f"Index {index} is out of bound.") from error
        return self.wrapper_class(batch)

    def __len__(self) -> int:
        n = len(self.datapipe)
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


hand_out(
    __name__,
    callable="MapperMapDataPipe default_fn",
    combinatorics="ShufflerIterDataPipe",
    combining="ConcaterMapDataPipe ZipperMapDataPipe",
    grouping="BatcherMapDataPipe",
    utils="SequenceWrapperMapDataPipe",
)

__getattr__ = _refuses(__name__)
