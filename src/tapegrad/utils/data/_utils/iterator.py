"""One pass over a DataLoader, in this process."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from tapegrad.autograd.mode import MODE
from tapegrad.utils.data._utils.fetch import IterableFetcher, MapFetcher, runs_of
from tapegrad.utils.data.sampler import drawn_seed


class LoaderIterator:
    """What passes have in common: the order of samples, the seed of workers, the warnings."""

    in_workers = False
    _span = "_SingleProcessDataLoaderIter"  # what a profile calls it

    def __init__(self, loader: Any) -> None:
        self._dataset = loader.dataset
        self._is_iterable = loader._is_iterable
        self._index_sampler = loader._index_sampler
        self._begin(loader)
        # Drawn for every pass, with workers or without: what is drawn afterwards is the same.
        self._base_seed = drawn_seed(loader.generator)
        if loader.pin_memory:
            _warn_of_pinning(loader.pin_memory_device)

    def _begin(self, loader: Any) -> None:
        self._indices = self._index_batches(loader)
        self._n_yielded = 0
        self._promised = loader._IterableDataset_len_called

    def _index_batches(self, loader: Any) -> Iterator[Any]:
        return iter(self._index_sampler)

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
        warnings.warn(text, UserWarning, stacklevel=3)


class SingleProcessIterator(LoaderIterator):
    """Batches made when they are asked for."""

    def __init__(self, loader: Any) -> None:
        self._fetcher: Any
        if loader._is_iterable:
            self._fetcher = IterableFetcher(
                loader.dataset, loader._auto_collation, loader.collate_fn, loader.drop_last
            )
        else:
            self._fetcher = MapFetcher(loader.dataset, loader._auto_collation, loader.collate_fn)
        super().__init__(loader)

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
        warnings.warn(
            "pin_memory_device is deprecated, the current accelerator will be used as the device,"
            f"ignore pin_memory_device='{device}'.",
            UserWarning,
            stacklevel=5,
        )
    warnings.warn(
        "'pin_memory' argument is set as true but no accelerator is found, then device pinned "
        "memory won't be used.",
        UserWarning,
        stacklevel=5,
    )
