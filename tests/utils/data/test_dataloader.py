"""DataLoader in this process: PyTorch's batches and draws, and rows picked a batch at a time."""

import copy
import pickle
import sys

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.utils import data


def numbers(n=10):
    return data.TensorDataset(torch.arange(n))


def batches(loader):
    return [batch[0].tolist() for batch in loader]


def test_shuffled_batches_and_later_numbers_are_pytorchs(seed):
    loader = data.DataLoader(numbers(), batch_size=4, shuffle=True)
    assert batches(loader) == [[6, 7, 1, 4], [2, 0, 9, 8], [3, 5]]
    assert batches(loader) == [[2, 4, 7, 0], [8, 9, 5, 3], [6, 1]]
    assert torch.rand(2).tolist() == [0.455627977848053, 0.6323062777519226]


def test_a_pass_in_order_draws_a_seed_for_workers_all_the_same(seed):
    iter(data.DataLoader(numbers(), batch_size=5))
    assert torch.rand(2).tolist() == pytest.approx([0.0885, 0.1320], abs=5e-5)


def test_a_generator_is_drawn_from_instead_of_the_default_one(seed):
    generator = torch.Generator().manual_seed(1)
    loader = data.DataLoader(numbers(), batch_size=5, shuffle=True, generator=generator)
    assert batches(loader) == [[4, 6, 9, 2, 3], [1, 0, 7, 8, 5]]
    assert torch.rand(1, generator=generator).item() == pytest.approx(0.3138, abs=5e-5)
    assert torch.rand(1).item() == pytest.approx(0.4963, abs=5e-5)


class OneByOne(data.TensorDataset):
    """A data set of tensors whose samples are not just rows, as far as a loader can know."""

    def __getitem__(self, index):
        return super().__getitem__(index)


ORDERS = {
    "in order": lambda rows: {},
    "shuffled": lambda rows: {"shuffle": True},
    "repeated": lambda rows: {"sampler": data.RandomSampler(rows, num_samples=25)},
    "replaced": lambda rows: {"sampler": data.RandomSampler(rows, True, 70)},
    "weighted": lambda rows: {"sampler": data.WeightedRandomSampler([1.0] * len(rows), 9)},
    "listed": lambda rows: {"sampler": [1, -1, 0]},
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("sizes", [{"batch_size": 1}, {"batch_size": 4}, {"batch_size": None}])
@pytest.mark.parametrize("indices", [None, [3, 1, 10, -1, 0, 5], np.array([3, 1, 10, -1, 0, 5])])
def test_rows_picked_at_once_are_those_picked_one_by_one(seed, order, sizes, indices):
    x = torch.randn(11, 3)[:, ::2]
    y = torch.arange(11)
    found = []
    for kind in (data.TensorDataset, OneByOne):
        torch.manual_seed(5)
        rows = kind(x, y)
        if indices is not None:
            rows = data.Subset(data.Subset(rows, indices), [5, 0, 2])
        loader = data.DataLoader(rows, **sizes, **ORDERS[order](rows))
        found.append([[a.tolist(), b.tolist()] for a, b in loader] + [torch.rand(1).item()])
    assert found[0] == found[1]


def test_a_batch_sampler_may_give_whatever_has_indices():
    batch_sampler = [
        range(0, 5, 2),
        range(4, 1, -1),
        torch.tensor([2, 0]),
        np.array([[1, 0]]),
        (3,),
    ]
    found = batches(data.DataLoader(numbers(), batch_sampler=batch_sampler))
    assert found == [[0, 2, 4], [4, 3, 2], [2, 0], [[1, 0]], [3]]
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        list(data.DataLoader(numbers(), batch_sampler=[2]))


def test_batches_of_rows_are_memory_of_their_own():
    rows = numbers(4)
    for loader in (data.DataLoader(rows, batch_size=2), data.DataLoader(rows, sampler=[1, 2])):
        for (batch,) in loader:
            batch.zero_()
    assert rows.tensors[0].tolist() == [0, 1, 2, 3]


def test_rows_that_need_gradients_are_stacked():
    x = torch.ones(3, requires_grad=True)
    (batch,) = next(iter(data.DataLoader(data.TensorDataset(x), batch_size=2)))
    batch.sum().backward()
    assert type(batch.grad_fn).__name__ == "StackBackward0"
    assert x.grad.tolist() == [1, 1, 0]


def test_rows_beyond_the_end_are_refused():
    with pytest.raises(IndexError, match="index 4 is out of bounds for dimension 0 with size 4"):
        list(data.DataLoader(numbers(4), sampler=[1, 4]))


class Counted(data.IterableDataset):
    def __iter__(self):
        return iter(range(5))

    def __len__(self):
        return 4


def test_an_iterable_dataset_gives_batches_as_they_come():
    assert repr(list(data.DataLoader(Counted(), batch_size=2))) == (
        "[tensor([0, 1]), tensor([2, 3]), tensor([4])]"
    )
    assert len(list(data.DataLoader(Counted(), batch_size=2, drop_last=True))) == 2
    assert list(data.DataLoader(Counted(), batch_size=None)) == [0, 1, 2, 3, 4]


def test_more_samples_than_were_promised_are_warned_of():
    loader = data.DataLoader(Counted())
    assert len(loader) == 4
    with pytest.warns(UserWarning, match=r"to be 4\(when .*\), but 5 samples have been fetched. $"):
        assert len(list(loader)) == 5


def test_lengths_count_batches():
    assert len(data.DataLoader(numbers(), batch_size=3)) == 4
    assert len(data.DataLoader(numbers(), batch_size=3, drop_last=True)) == 3
    assert len(data.DataLoader(numbers(), batch_size=None)) == 10
    assert len(data.DataLoader("ab", batch_sampler=[[0, 1], [1], [0]])) == 3
    assert len(iter(data.DataLoader(numbers(), batch_size=3))) == 4


def test_a_pass_that_has_ended_stays_ended():
    batch = iter(data.DataLoader(numbers(2)))
    assert len(list(batch)) == 2
    with pytest.raises(StopIteration):
        next(batch)


def test_a_loader_has_the_private_names_that_programs_read():
    loader = data.DataLoader([1, 2, 3], batch_size=2)
    assert loader._DataLoader__initialized is True
    assert loader._DataLoader__multiprocessing_context is None
    assert not hasattr(loader, "_is_ready")


def test_a_pass_cannot_be_pickled_or_copied():
    iterator = iter(data.DataLoader([0, 1, 2, 3]))
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(NotImplementedError, match="_SingleProcessDataLoaderIter cannot be"):
            attempt(iterator)


def test_workers_are_refused_where_there_are_no_processes(monkeypatch):
    monkeypatch.setattr(sys, "platform", "emscripten")
    with pytest.raises(RuntimeError, match="cannot start 2 workers"):
        data.DataLoader(range(4), num_workers=2)
    assert len(data.DataLoader(range(4), batch_size=2)) == 2
