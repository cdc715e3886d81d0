"""The iterators of a DataLoader under PyTorch's names, as packages subclass and call them."""

import itertools

import pytest

import tapegrad as torch
from tapegrad.utils.data import DataLoader, IterableDataset, _utils
from tapegrad.utils.data._utils.pin_memory import pin_memory
from tapegrad.utils.data.dataloader import (
    _BaseDataLoaderIter,
    _DatasetKind,
    _MultiProcessingDataLoaderIter,
    _SingleProcessDataLoaderIter,
)


class Numbers(IterableDataset):
    def __iter__(self):
        return iter(range(5))


def test_an_iterator_of_its_own_takes_indices_and_fetches():
    class Noted(_SingleProcessDataLoaderIter):
        def _next_data(self):
            index = self._next_index()
            return index, self._dataset_fetcher.fetch(index)

    class Loader(DataLoader):
        def _get_iterator(self):
            return Noted(self)

    loader = Loader(torch.arange(5) * 10, batch_size=2)
    seen = [(index, x.tolist()) for index, x in loader]
    assert seen == [([0, 1], [0, 10]), ([2, 3], [20, 30]), ([4], [40])]


def test_iterators_know_their_loader():
    batches = iter(DataLoader([1, 2, 3], batch_size=2, drop_last=True))
    assert isinstance(batches, _BaseDataLoaderIter)
    next(batches)
    assert (batches._num_yielded, batches._num_workers, batches._drop_last) == (1, 0, True)
    assert batches._dataset_kind == _DatasetKind.Map == 0
    loader = DataLoader([1, 2, 3], batch_size=2)
    batches._reset(loader)
    assert batches._num_yielded == 0
    assert len(list(batches)) == 1


@pytest.mark.parametrize("n_workers", [0, 1])
def test_a_loader_that_is_no_data_loader(n_workers):
    class Fake(Numbers):  # as fastai has one
        _IterableDataset_len_called, _auto_collation, collate_fn = None, False, staticmethod(abs)
        drop_last, generator, prefetch_factor = False, None, 2
        _index_sampler, in_order, pin_memory, pin_memory_device = itertools.count(), True, False, ""
        _dataset_kind = _DatasetKind.Iterable
        worker_init_fn = multiprocessing_context = None
        timeout, persistent_workers, num_workers = 0, False, n_workers

        @property
        def dataset(self):
            return Numbers()

    kind = _MultiProcessingDataLoaderIter if n_workers else _SingleProcessDataLoaderIter
    assert list(kind(Fake())) == [0, 1, 2, 3, 4]


def test_workers_are_shut_down():
    loader = DataLoader([1, 2, 3], num_workers=1, persistent_workers=True)
    batches = iter(loader)
    workers = batches._workers
    assert [x.item() for x in batches] == [1, 2, 3]
    assert [worker.is_alive() for worker in workers] == [True]
    batches._shutdown_workers()
    assert [worker.is_alive() for worker in workers] == [False]
    assert [x.item() for x in loader] == [1, 2, 3]  # with others
    loader._iterator._shutdown_workers()


def test_fetchers_are_made_by_kind():
    fetcher = _DatasetKind.create_fetcher(_DatasetKind.Map, [1, 2, 3], True, sum, False)
    assert fetcher.fetch([0, 2]) == 4
    fetcher = _DatasetKind.create_fetcher(_DatasetKind.Iterable, Numbers(), True, sum, True)
    assert fetcher.fetch([0] * 4) == 6
    with pytest.raises(StopIteration):
        fetcher.fetch([0] * 4)
    assert isinstance(fetcher, _utils.fetch._IterableDatasetFetcher)


def test_pinned_containers():
    class Own:
        def pin_memory(self):
            return "pinned"

    assert pin_memory({"a": [Own(), 1], "b": ("x", b"y")}) == {"a": ["pinned", 1], "b": ["x", b"y"]}
