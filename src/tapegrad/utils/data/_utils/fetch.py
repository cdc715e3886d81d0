"""Batches from a data set: by a list of indices, by as many of the next samples, or by rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from tapegrad.autograd.mode import MODE
from tapegrad.core.errors import not_implemented, warn
from tapegrad.core.tensor_base import wrap
from tapegrad.tensors.tensor import Tensor
from tapegrad.utils.data._utils import collate
from tapegrad.utils.data.dataset import Subset, TensorDataset
from tapegrad.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    SequentialSampler,
    WeightedRandomSampler,
    drawn_seed,
)

_WITH_RUNS = (SequentialSampler, RandomSampler, WeightedRandomSampler)


class MapFetcher:
    """Batches of a data set with indices.

    Rows of a `TensorDataset`, or of a `Subset` of one, are picked for the whole batch at once where
    that gives what stacking the samples would.
    """

    def __init__(self, dataset: Any, is_batched: bool, collate_fn: Callable) -> None:
        self.dataset, self.is_batched = dataset, is_batched
        self.collate_fn = collate_fn
        self.takes_rows = (
            is_batched and collate_fn is collate.default_collate and _has_rows(dataset)
        )

    def fetch(self, index: Any) -> Any:
        """The batch of a list of indices, or the sample of one index where there are no batches."""
        if self.takes_rows and type(index) is list and set(map(type, index)) == {int}:
            found = _rows(self.dataset, index)
            if found is not None:
                return found
        if not self.is_batched:
            return self.collate_fn(self.dataset[index])
        if getattr(self.dataset, "__getitems__", None):
            samples = self.dataset.__getitems__(index)
        else:
            samples = [self.dataset[i] for i in index]
        return self.collate_fn(samples)

    def fetch_run(self, run: Any) -> Any:
        """The batch of a piece of a run of indices: of a range or of an array of ints."""
        found = _rows(self.dataset, run)
        return self.fetch(_listed(run)) if found is None else found


class IterableFetcher:
    """Batches of a data set without indices; `StopIteration` when it has no more samples."""

    takes_rows = False

    def __init__(
        self, dataset: Any, is_batched: bool, collate_fn: Callable, drop_last: bool
    ) -> None:
        self.samples = iter(dataset)
        self.is_batched, self.collate_fn = is_batched, collate_fn
        self.drop_last = drop_last
        self.has_ended = False

    def fetch(self, index: Any) -> Any:
        """The next batch, of as many samples as `index` has entries; or the next sample."""
        if self.has_ended:
            raise StopIteration
        if not self.is_batched:
            return self.collate_fn(next(self.samples))
        batch = []
        for _ in index:
            try:
                batch.append(next(self.samples))
            except StopIteration:
                self.has_ended = True
                break
        if not batch or (self.drop_last and len(batch) < len(index)):
            raise StopIteration
        return self.collate_fn(batch)


class _MapDatasetFetcher(MapFetcher):
    """The same as PyTorch calls it."""

    def __init__(
        self, dataset: Any, auto_collation: bool, collate_fn: Callable, drop_last: bool
    ) -> None:
        super().__init__(dataset, auto_collation, collate_fn)
        self.auto_collation, self.drop_last = auto_collation, drop_last


class _IterableDatasetFetcher(IterableFetcher):
    """The same as PyTorch calls it."""

    def __init__(
        self, dataset: Any, auto_collation: bool, collate_fn: Callable, drop_last: bool
    ) -> None:
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self.dataset, self.auto_collation = dataset, auto_collation


class DatasetKind:
    """Whether a data set has indices, as PyTorch numbers it: `loader._dataset_kind`."""

    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(
        kind: int, dataset: Any, auto_collation: bool, collate_fn: Callable, drop_last: bool
    ) -> MapFetcher | IterableFetcher:
        """What makes batches of such a data set."""
        fetcher = _MapDatasetFetcher if kind == DatasetKind.Map else _IterableDatasetFetcher
        return fetcher(dataset, auto_collation, collate_fn, drop_last)


# --- rows --------------------------------------------------------------------------------------


def _has_rows(dataset: Any) -> bool:
    """Whether sample i of `dataset` is row i of some tensors, whatever class it is of."""
    kind = type(dataset)
    while isinstance(dataset, Subset):
        same = Subset.__getitem__, Subset.__getitems__
        if (kind.__getitem__, getattr(kind, "__getitems__", None)) != same:
            return False
        dataset = dataset.dataset
        kind = type(dataset)
    return (
        isinstance(dataset, TensorDataset)
        and kind.__getitem__ is TensorDataset.__getitem__
        and not hasattr(dataset, "__getitems__")
    )


def _rows(dataset: Any, index: object) -> list | None:
    """The collated batch of rows `index`; None where stacking has more to do, or to complain of."""
    if type(MODE.get()) is not bool:
        return None
    if collate.default_collate_fn_map.get(Tensor) is not collate.collate_tensor_fn:
        return None
    while isinstance(dataset, Subset):
        index = _places(dataset.indices, _listed(index))
        if index is None:
            return None
        dataset = dataset.dataset
    tensors = dataset.tensors
    for x in tensors:
        if type(x) is not Tensor or type(x._array) is not np.ndarray or x.requires_grad:
            return None
    if isinstance(index, range):
        return [wrap(x._array[index.start : index.stop].copy()) for x in tensors]
    try:
        return [wrap(x._array.take(index, axis=0)) for x in tensors]
    except (IndexError, OverflowError, TypeError):
        return None


def _places(indices: Any, chosen: list[int]) -> Any:
    """The chosen of the indices of a subset; None if they are no plain integers."""
    try:
        if type(indices) is np.ndarray and indices.ndim == 1 and indices.dtype.kind == "i":
            return indices[chosen]
        found = [indices[i] for i in chosen]
    except (IndexError, KeyError, TypeError):
        return None
    return found if set(map(type, found)) == {int} else None


def _listed(run: Any) -> list[int]:
    return run.tolist() if isinstance(run, np.ndarray) else list(run)


def runs_of(batches: Any) -> Iterator[Any] | None:
    """The batches of a sampler as arrays or ranges of indices; None for a sampler of other kind.

    They are drawn when the sampler itself would draw them.
    """
    sampler: Any = batches.sampler if type(batches) is BatchSampler else None
    if type(sampler) not in _WITH_RUNS:
        return None
    return _cut(sampler._runs(), batches.batch_size, batches.drop_last)


def _cut(runs: Iterable[Any], size: int, drop_last: bool) -> Iterator[Any]:
    """Runs of indices cut into batches of `size`."""
    held: list = []  # pieces of runs, fewer than `size` indices together
    n_held = 0
    for run in runs:
        start = 0
        while n_held + len(run) - start >= size:
            stop = start + size - n_held
            yield _joined([*held, run[start:stop]])
            held, n_held, start = [], 0, stop
        if start < len(run):
            held.append(run[start:])
            n_held += len(run) - start
    if held and not drop_last:
        yield _joined(held)


def _joined(pieces: list) -> Any:
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


class LoaderIterator:
    """What passes have in common: the order of samples, the seed of workers, the warnings."""

    in_workers = False
    _span = "_SingleProcessDataLoaderIter"  # what a profile calls it

    def __init__(self, loader: Any) -> None:
        self._dataset = loader.dataset
        self._dataset_kind = loader._dataset_kind
        self._is_iterable = loader._dataset_kind == DatasetKind.Iterable
        self._auto_collation, self._collate_fn = loader._auto_collation, loader.collate_fn
        self._drop_last, self._num_workers = loader.drop_last, loader.num_workers
        self._index_sampler = loader._index_sampler
        self._begin(loader)
        # Drawn for every pass, with workers or without: what is drawn afterwards is the same.
        self._base_seed = drawn_seed(loader.generator)
        if loader.pin_memory:
            _warn_of_pinning(loader.pin_memory_device)

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        """Begin another pass."""
        self._begin(loader)

    def _begin(self, loader: Any) -> None:
        self._own_indices: Iterator[Any] | None = None
        self._indices = self._index_batches(loader)
        self._n_yielded = 0
        self._promised = loader._IterableDataset_len_called

    def __getstate__(self) -> Any:
        text = f"{self._span} cannot be pickled"
        raise not_implemented(text, "Pickle the loader, and begin a pass of it there.")

    def _index_batches(self, loader: Any) -> Iterator[Any]:
        return iter(self._index_sampler)

    @property
    def _sampler_iter(self) -> Iterator[Any]:
        """Indices for classes that take them by themselves, in `_next_data`."""
        if self._own_indices is None:
            self._own_indices = iter(self._index_sampler)
        return self._own_indices

    def _next_index(self) -> Any:
        return next(self._sampler_iter)

    @property
    def _num_yielded(self) -> int:
        return self._n_yielded

    def _next_data(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say where batches come from")

    def __iter__(self) -> LoaderIterator:
        return self

    def __next__(self) -> Any:
        if type(MODE.get()) is bool:
            batch = self._next_data()
        else:
            from tapegrad.autograd.profiler import record_function

            with record_function(f"enumerate(DataLoader)#{self._span}.__next__"):
                batch = self._next_data()
        self._n_yielded += 1
        if self._is_iterable and self._promised is not None and self._n_yielded > self._promised:
            self._warn_of_length()
        return batch

    def __len__(self) -> int:
        return len(self._index_sampler)

    def _warn_of_length(self) -> None:
        text = (
            f"Length of IterableDataset {self._dataset} was reported to be {self._promised}"
            f"(when accessing len(dataloader)), but {self._n_yielded} samples have been fetched. "
        )
        if self.in_workers:
            text += (
                "For multiprocessing data-loading, this could be caused by not properly "
                "configuring the IterableDataset replica at each worker. Please see "
                "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for "
                "examples."
            )
        warn(text, 3)


class SingleProcessIterator(LoaderIterator):
    """Batches made when they are asked for."""

    def __init__(self, loader: Any) -> None:
        self._fetcher: Any
        if loader._dataset_kind == DatasetKind.Iterable:
            self._fetcher = IterableFetcher(
                loader.dataset, loader._auto_collation, loader.collate_fn, loader.drop_last
            )
        else:
            self._fetcher = MapFetcher(loader.dataset, loader._auto_collation, loader.collate_fn)
        super().__init__(loader)

    @property
    def _dataset_fetcher(self) -> Any:
        return self._fetcher

    def _index_batches(self, loader: Any) -> Iterator[Any]:
        runs = runs_of(self._index_sampler) if self._fetcher.takes_rows else None
        if runs is not None:
            self._fetch = self._fetcher.fetch_run
            return runs
        self._fetch = self._fetcher.fetch
        return iter(self._index_sampler)

    def _next_data(self) -> Any:
        return self._fetch(next(self._indices))


def _warn_of_pinning(device: str) -> None:
    if device:
        warn(
            "pin_memory_device is deprecated, the current accelerator will be used as the device,"
            f"ignore pin_memory_device='{device}'.",
            6,
        )
    warn(
        "'pin_memory' argument is set as true but no accelerator is found, then device pinned "
        "memory won't be used.",
        6,
    )
