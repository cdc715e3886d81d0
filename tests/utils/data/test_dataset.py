"""Data sets: samples by index or in turn, joined and divided."""

import pytest

import tapegrad as torch
from tapegrad.utils import data


class Counted(data.IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return iter(range(self.n))

    def __len__(self):
        return self.n


def numbers(n=10):
    return data.TensorDataset(torch.arange(n))


def test_a_tensor_dataset_takes_what_tensors_take():
    rows = numbers()
    assert rows[-1][0].item() == 9
    assert rows[2:4][0].tolist() == [2, 3]
    assert rows[[5, 1]][0].tolist() == [5, 1]
    with pytest.raises(IndexError, match="index 10 is out of bounds for dimension 0 with size 10"):
        rows[10]


def test_tensors_of_a_tensor_dataset_have_as_many_rows():
    with pytest.raises(AssertionError, match=r"(?m)^Size mismatch between tensors$"):
        data.TensorDataset(torch.ones(2), torch.ones(3))


def test_concatenated_datasets_count_on():
    joined = numbers() + numbers(3)
    assert type(joined) is data.ConcatDataset
    assert joined.cumulative_sizes == [10, 13]
    assert [joined[i][0].item() for i in (9, 10, 12, -1, -13)] == [9, 0, 2, 2, 0]
    with pytest.raises(ValueError, match="absolute value of index should not exceed dataset"):
        joined[-14]
    with pytest.raises(IndexError, match="list index out of range"):
        joined[13]
    with pytest.warns(FutureWarning, match="`cummulative_sizes` attribute is renamed"):
        assert joined.cummulative_sizes == [10, 13]


def test_a_concatenation_is_of_datasets_with_indices():
    with pytest.raises(AssertionError, match="datasets should not be an empty iterable"):
        data.ConcatDataset([])
    with pytest.raises(AssertionError, match="ConcatDataset does not support IterableDataset"):
        data.ConcatDataset([Counted(2)])


def test_chained_datasets_come_in_turn():
    chain = Counted(2) + Counted(3)
    assert type(chain) is data.ChainDataset
    assert list(chain) == [0, 1, 0, 1, 2]
    assert len(chain) == 5
    with pytest.raises(AssertionError, match="ChainDataset only supports IterableDataset"):
        list(data.ChainDataset([Counted(1), numbers()]))


class Tens(data.Dataset):
    """Ten times the index, and a note of how batches were asked for."""

    def __init__(self):
        self.asked = []

    def __len__(self):
        return 4

    def __getitem__(self, i):
        return i * 10

    def __getitems__(self, indices):
        self.asked.append(indices)
        return [i * 10 for i in indices]


class Short(Tens):
    def __getitems__(self, indices):
        return [1]


def test_a_subset_renumbers_and_asks_for_batches_at_once():
    tens = Tens()
    part = data.Subset(tens, [3, 1, 2])
    assert (len(part), part[0]) == (3, 30)
    assert part.__getitems__([0, 2]) == [30, 20]
    assert tens.asked == [[3, 2]]
    with pytest.raises(IndexError):
        part[3]


def test_stacked_datasets_give_tuples_or_dictionaries():
    assert data.StackDataset(range(3), "abc")[1] == (1, "b")
    both = data.StackDataset(a=Tens(), b="wxyz")
    assert both[1] == {"a": 10, "b": "x"}
    assert both.__getitems__([2, 0]) == [{"a": 20, "b": "y"}, {"a": 0, "b": "w"}]
    assert len(both) == 4
    with pytest.raises(
        ValueError, match=r"Nested dataset's output size mismatch. Expected 2, got 1"
    ):
        data.StackDataset(Short()).__getitems__([0, 1])


@pytest.mark.parametrize(
    "args, kwargs, message",
    [
        (("ab",), {"b": "ab"}, "Supported either ``tuple``"),
        ((), {}, "At least one dataset should be passed"),
        (("ab", "abc"), {}, "Size mismatch between datasets"),
    ],
)
def test_stacked_datasets_go_together(args, kwargs, message):
    with pytest.raises(ValueError, match=message):
        data.StackDataset(*args, **kwargs)


def test_a_random_split_is_pytorchs():
    generator = torch.Generator().manual_seed(3)
    parts = data.random_split(range(10), [0.31, 0.33, 0.36], generator=generator)
    assert [list(part) for part in parts] == [[6, 0, 3, 7], [8, 5, 1], [9, 2, 4]]
    generator.manual_seed(3)
    parts = data.random_split(range(10), [10, 0], generator=generator)
    assert [list(part) for part in parts] == [[6, 0, 3, 7, 8, 5, 1, 9, 2, 4], []]


def test_a_part_of_nothing_is_warned_of():
    generator = torch.Generator().manual_seed(3)
    with pytest.warns(UserWarning, match="Length of split at index 3 is 0."):
        parts = data.random_split(range(3), [0.3, 0.3, 0.3, 0.1], generator=generator)
    assert [list(part) for part in parts] == [[1], [0], [2], []]


@pytest.mark.parametrize("lengths", [[3, 3], [0.5, 0.6], [0.5, -0.1]])
def test_parts_add_up_to_the_whole(lengths):
    with pytest.raises(ValueError, match="Sum of input lengths does not equal the length of the"):
        data.random_split(range(10), lengths)
