"""`batch`, `unbatch`, `groupby`: samples together."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from tapegrad.core.missing import refuses as _refuses
from tapegrad.utils.data.datapipes._decorator import functional_datapipe
from tapegrad.utils.data.datapipes.datapipe import DataChunk, IterDataPipe
from tapegrad.utils.data.datapipes.utils.common import _check_unpickable_fn, length_of

__all__ = ["BatcherIterDataPipe", "GrouperIterDataPipe", "UnBatcherIterDataPipe"]


@functional_datapipe("batch")
class BatcherIterDataPipe(IterDataPipe):
    """Lists of `batch_size` samples; the last may be shorter, or is left out by `drop_last`."""

    def __init__(
        self,
        datapipe: IterDataPipe,
        batch_size: int,
        drop_last: bool = False,
        wrapper_class: type[DataChunk] = DataChunk,
    ) -> None:
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        self.datapipe, self.batch_size, self.drop_last = datapipe, batch_size, drop_last
        self.wrapper_class = wrapper_class

    def __iter__(self) -> Iterator[Any]:
        batch: list[Any] = []
        for x in self.datapipe:
            batch.append(x)
            if len(batch) == self.batch_size:
                yield self.wrapper_class(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.wrapper_class(batch)

    def __len__(self) -> int:
        n = length_of(self, self.datapipe)
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


@functional_datapipe("unbatch")
class UnBatcherIterDataPipe(IterDataPipe):
    """The samples of batches, of batches of batches at `unbatch_level` 2; -1: of all lists."""

    def __init__(self, datapipe: IterDataPipe, unbatch_level: int = 1) -> None:
        self.datapipe, self.unbatch_level = datapipe, unbatch_level

    def __iter__(self) -> Iterator[Any]:
        for x in self.datapipe:
            yield from self._taken_apart(x, self.unbatch_level)

    def _taken_apart(self, x: Any, level: int) -> Iterator[Any]:
        if level < -1:
            raise ValueError("unbatch_level must be -1 or >= 0")
        is_batch = isinstance(x, (list, DataChunk))
        if level == 0 or (level == -1 and not is_batch):
            yield x
        elif not is_batch:
            raise IndexError(
                f"unbatch_level {self.unbatch_level} exceeds the depth of the DataPipe"
            )
        else:
            for each in x:
                yield from self._taken_apart(each, level if level == -1 else level - 1)


@functional_datapipe("groupby")
class GrouperIterDataPipe(IterDataPipe):
    """Lists of samples for which `group_key_fn` gives the same.

    Args:
        datapipe: gives the samples.
        group_key_fn: of a sample: what it is grouped by.
        keep_key: give pairs of that and the list.
        buffer_size: how many samples wait; where there are more, the largest group is given.
        group_size: samples of a group; all if None.
        guaranteed_group_size: the fewest samples of a group that is given because others wait.
        drop_remaining: leave such a group out if it is smaller, instead of failing.
    """

    def __init__(
        self,
        datapipe: IterDataPipe,
        group_key_fn: Callable,
        *,
        keep_key: bool = False,
        buffer_size: int = 10000,
        group_size: int | None = None,
        guaranteed_group_size: int | None = None,
        drop_remaining: bool = False,
    ) -> None:
        _check_unpickable_fn(group_key_fn)
        self.datapipe, self.group_key_fn, self.keep_key = datapipe, group_key_fn, keep_key
        self.max_buffer_size, self.group_size = buffer_size, group_size
        self.guaranteed_group_size: int | None = None
        self.drop_remaining = drop_remaining
        if group_size is not None and buffer_size is not None:
            if not 0 < group_size <= buffer_size:
                raise AssertionError("group_size must be > 0 and <= buffer_size")
            self.guaranteed_group_size = group_size
        if guaranteed_group_size is not None:
            if group_size is None or not 0 < guaranteed_group_size <= group_size:
                raise AssertionError(
                    "guaranteed_group_size must be > 0 and <= group_size and group_size must be set"
                )
            self.guaranteed_group_size = guaranteed_group_size
        self.wrapper_class = DataChunk

    def __iter__(self) -> Iterator[Any]:
        groups: dict[Any, list[Any]] = defaultdict(list)
        n_waiting = 0
        for x in self.datapipe:
            key = self.group_key_fn(x)
            groups[key].append(x)
            n_waiting += 1
            if self.group_size is not None and len(groups[key]) == self.group_size:
                n_waiting -= self.group_size
                yield self._given(key, groups.pop(key))
            if n_waiting == self.max_buffer_size:
                largest = max(groups, key=lambda each: len(groups[each]))
                found = groups.pop(largest)
                n_waiting -= len(found)
                if len(found) >= (self.guaranteed_group_size or 0):
                    yield self._given(largest, found)
                elif not self.drop_remaining:
                    raise RuntimeError("Failed to group items", str(found))
        for key in list(groups):
            yield self._given(key, groups.pop(key))

    def _given(self, key: Any, samples: list[Any]) -> Any:
        group = self.wrapper_class(samples)
        return (key, group) if self.keep_key else group


__getattr__ = _refuses(__name__)
