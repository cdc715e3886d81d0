"""DataLoader: batches of a data set, in order or shuffled, made here or by worker processes."""

import multiprocessing
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from tapegrad.core import errors
from tapegrad.core.annotations import Source
from tapegrad.core.errors import warn
from tapegrad.core.threads import n_cores
from tapegrad.utils.data._utils.collate import default_collate, default_convert
from tapegrad.utils.data._utils.fetch import DatasetKind, LoaderIterator, SingleProcessIterator
from tapegrad.utils.data._utils.pipes import begin_pass, is_pipe
from tapegrad.utils.data._utils.worker import MultiProcessIterator, get_worker_info
from tapegrad.utils.data.dataset import Dataset, IterableDataset
from tapegrad.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

_T = TypeVar("_T")
_collate_fn_t = Callable[[list[_T]], Any]

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]


def check_workers(num_workers: int, timeout: float, prefetch: Any, is_persistent: bool) -> None:
    reason = ""
    if num_workers < 0:
        reason = (
            "num_workers option should be non-negative; use num_workers=0 to disable "
            "multiprocessing."
        )
    elif timeout < 0:
        reason = "timeout option should be non-negative"
    elif num_workers == 0 and prefetch is not None:
        reason = (
            "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 "
            "to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    elif prefetch is not None and prefetch < 0:
        reason = "prefetch_factor option should be non-negative"
    elif is_persistent and num_workers == 0:
        reason = "persistent_workers option needs num_workers > 0"
    if reason:
        raise errors.value_error(reason, "num_workers=0 makes batches in this process.")
    if num_workers and sys.platform == "emscripten":
        raise errors.runtime_error(
            f"DataLoader cannot start {num_workers} workers: a browser has no processes",
            "num_workers=0 makes batches in this one.",
        )


def check_iterable(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    given = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
    for name, value in given.items():
        if value is not None:
            raise errors.value_error(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but "
                f"got {name}={value}",
                "Such a data set has an order of its own: shuffle in its __iter__.",
            )


def check_order(
    batch_size: Any, shuffle: Any, sampler: Any, batch_sampler: Any, drop_last: Any
) -> None:
    reason = ""
    if sampler is not None and shuffle:
        reason = "sampler option is mutually exclusive with shuffle"
    elif batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            reason = (
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and "
                "drop_last"
            )
    elif batch_size is None and drop_last:
        reason = (
            "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
        )
    if reason:
        raise errors.value_error(reason, "Leave one of them away.")


def as_context(context: object, num_workers: int) -> Any:
    if num_workers == 0:
        raise errors.value_error(
            "multiprocessing_context can only be used with multi-process loading "
            f"(num_workers > 0), but got {num_workers=}",
            "Leave it away, or pass num_workers.",
        )
    methods = multiprocessing.get_all_start_methods()
    if isinstance(context, str):
        if context not in methods:
            raise errors.value_error(
                "multiprocessing_context option should specify a valid start method in "
                f"{methods}, but got multiprocessing_context='{context}'",
                "Leave it away to start workers in the way that is usual here.",
            )
        return multiprocessing.get_context(context)
    if not isinstance(context, multiprocessing.context.BaseContext):
        raise errors.type_error(
            "multiprocessing_context option should be a valid context object or a string "
            f"specifying the start method, but got multiprocessing_context={context}",
            f"Pass one of {methods}.",
        )
    return context


_BaseDataLoaderIter = LoaderIterator
_SingleProcessDataLoaderIter = SingleProcessIterator
_MultiProcessingDataLoaderIter = MultiProcessIterator
_DatasetKind = DatasetKind

T_co = TypeVar("T_co", covariant=True)

_FIXED = frozenset(
    ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
)


class _InfiniteConstantSampler(Sampler[None]):
    """None, for ever: the indices of a data set that has none."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class DataLoader(Generic[T_co]):
    """Batches of a data set, one pass for each `for` loop.

    Args:
        dataset: has `__getitem__` and `__len__`, or is an `IterableDataset`.
        batch_size: samples in a batch; None: single samples, as `collate_fn` makes them.
        shuffle: take the samples in random order, another one in each pass.
        sampler: gives the indices in their order; instead of `shuffle`.
        batch_sampler: gives lists of indices; instead of all the above and `drop_last`.
        num_workers: processes that make batches; 0: this one does.
        collate_fn: makes a batch of a list of samples: `default_collate` by default.
        pin_memory: accepted; there is no accelerator to pin memory for, and a warning says so.
        drop_last: leave out a last batch that is not full.
        timeout: seconds to wait for a batch of a worker; 0: any time.
        worker_init_fn: called in each worker with its number, after it was seeded.
        multiprocessing_context: how workers are started: "fork", "spawn", "forkserver", a context.
        generator: the source of the random order and of the workers' seeds.
        prefetch_factor: batches that each worker makes in advance: 2 by default.
        persistent_workers: keep the workers from one pass to the next.
        in_order: give batches in the order of their indices, not as they arrive.

    >>> _ = torch.manual_seed(0)
    >>> data = torch.utils.data.TensorDataset(torch.arange(5), torch.arange(5) * 10)
    >>> for x, y in torch.utils.data.DataLoader(data, batch_size=2, shuffle=True):
    ...     print(x, y)
    tensor([1, 4]) tensor([10, 40])
    tensor([2, 3]) tensor([20, 30])
    tensor([0]) tensor([0])
    """

    __initialized = False  # PyTorch's name, which programs read
    __multiprocessing_context: Any = None

    def __init__(
        self,
        dataset: Dataset[T_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler | Iterable | None = None,
        batch_sampler: Sampler[list] | Iterable[list] | None = None,
        num_workers: int = 0,
        collate_fn: Callable | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Source = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset, self.num_workers = dataset, num_workers
        is_iterable = isinstance(dataset, IterableDataset)
        self._dataset_kind = DatasetKind.Iterable if is_iterable else DatasetKind.Map
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.timeout, self.worker_init_fn = timeout, worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        if is_pipe(dataset, "IterDataPipe"):
            from tapegrad.utils.data.graph_settings import apply_shuffle_settings

            apply_shuffle_settings(dataset, shuffle=shuffle)
            shuffle = None
        if self._is_iterable:
            check_iterable(shuffle, sampler, batch_sampler)
        check_order(batch_size, shuffle, sampler, batch_sampler, drop_last)
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        order: Any = sampler
        if order is None:
            if self._is_iterable:
                order = _InfiniteConstantSampler()
            elif shuffle:
                order = RandomSampler(dataset, generator=generator)  # type: ignore[arg-type]
            else:
                order = SequentialSampler(dataset)  # type: ignore[arg-type]
        if batch_size is not None:
            batch_sampler = BatchSampler(order, batch_size, drop_last)
        if collate_fn is None:
            collate_fn = default_convert if batch_sampler is None else default_collate
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler = order
        self.batch_sampler, self.generator = batch_sampler, generator
        self.collate_fn, self.persistent_workers = collate_fn, persistent_workers
        self._IterableDataset_len_called: int | None = None
        self._iterator: Any = None
        self.__initialized = True
        self.check_worker_number_rationality()

    def __setattr__(self, name: str, value: object) -> None:
        if name in _FIXED and self.__initialized:
            kind = type(self).__name__
            raise errors.value_error(
                f"{name} attribute should not be set after {kind} is initialized",
                f"Make another {kind}.",
            )
        super().__setattr__(name, value)

    @property
    def _is_iterable(self) -> bool:
        """Whether the data set has no indices."""
        return self._dataset_kind == DatasetKind.Iterable

    @property
    def multiprocessing_context(self) -> Any:
        """How workers are started; None: in the way that is usual on this system."""
        return self.__multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context: object) -> None:
        self.__multiprocessing_context = (
            context if context is None else as_context(context, self.num_workers)
        )

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def _get_iterator(self) -> Any:
        begin_pass(self)
        if not self.num_workers:
            return SingleProcessIterator(self)
        return MultiProcessIterator(self)

    def __iter__(self) -> Any:
        if self._iterator is not None and self._iterator.is_usable:
            self._iterator.begin_again(self)
            return self._iterator
        self.check_worker_number_rationality()
        batches = self._get_iterator()
        if self.persistent_workers:
            self._iterator = batches
        return batches

    def __len__(self) -> int:
        if not self._is_iterable:
            return len(self._index_sampler)
        n = self._IterableDataset_len_called = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is None:
            return n
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)

    def check_worker_number_rationality(self) -> None:
        """Warn if there are to be more workers than cores."""
        if not self.num_workers:
            return
        if self.num_workers > n_cores():
            warn(
                f"This DataLoader will create {self.num_workers} worker processes in total. Our "
                f"suggested max number of worker in current system is {n_cores()}, which is "
                "smaller than what this DataLoader is going to create. Please be aware that "
                "excessive worker creation might get DataLoader running slow or even freeze, lower "
                "the worker number to avoid potential slowness/freeze if necessary.",
                3,
            )
