"""Samplers: PyTorch's order for a seed, and the same numbers drawn on the way."""

import itertools

import pytest

import tapegrad as torch
from tapegrad.utils import data


def seeded(number=1):
    return torch.Generator().manual_seed(number)


def test_a_permutation_is_repeated_until_there_are_enough():
    sampler = data.RandomSampler(range(10), num_samples=13, generator=seeded())
    assert list(sampler) == [5, 6, 1, 2, 0, 8, 9, 3, 7, 4, 2, 3, 1]
    assert len(sampler) == 13


def test_draws_with_replacement_leave_the_generator_where_pytorch_leaves_it():
    generator = seeded()
    sampler = data.RandomSampler(range(5), True, num_samples=40, generator=generator)
    assert list(sampler) == [
        *[0, 4, 4, 3, 3, 3, 1, 1, 4, 2, 3, 4, 1, 3, 3, 0, 2, 1, 2, 1],
        *[0, 3, 1, 4, 3, 1, 4, 2, 4, 4, 3, 1, 2, 3, 2, 3, 3, 1, 2, 0],
    ]
    assert torch.rand(1, generator=generator).item() == pytest.approx(0.9906, abs=5e-5)


def test_a_pass_without_end_draws_what_is_asked_for():
    sampler = data.RandomSampler(range(5), True, num_samples=10**18, generator=seeded())
    assert list(itertools.islice(sampler, 3)) == [0, 4, 4]


def test_without_a_generator_a_seed_of_the_default_one_is_drawn(seed):
    assert list(data.RandomSampler(range(10))) == [6, 9, 0, 7, 3, 5, 4, 2, 1, 8]
    assert torch.rand(2).tolist() == pytest.approx([0.0885, 0.1320], abs=5e-5)


def test_a_subset_is_shuffled_as_pytorch_does(seed):
    assert list(data.SubsetRandomSampler([5, 6, 7, 8])) == [5, 6, 8, 7]
    assert torch.rand(1).item() == pytest.approx(0.1320, abs=5e-5)


def test_weights_are_drawn_as_pytorch_does(seed):
    assert list(data.WeightedRandomSampler([0.1, 0.9, 0.4], 5)) == [2, 1, 1, 2, 1]
    assert torch.rand(1).item() == pytest.approx(0.3489, abs=5e-5)
    torch.manual_seed(0)
    assert list(data.WeightedRandomSampler([0.1, 0.9, 0.4], 3, replacement=False)) == [1, 2, 0]


def test_batches_are_lists_and_the_last_may_be_left_out():
    assert list(data.BatchSampler(range(5), 2, False)) == [[0, 1], [2, 3], [4]]
    assert list(data.BatchSampler(range(5), 2, True)) == [[0, 1], [2, 3]]
    assert (
        len(data.BatchSampler(range(5), 2, False)),
        len(data.BatchSampler(range(5), 2, True)),
    ) == (3, 2)


@pytest.mark.parametrize(
    "options, shares",
    [
        ({}, [[8, 5, 0, 3], [7, 6, 4, 8], [1, 9, 2, 7]]),
        ({"shuffle": False}, [[0, 3, 6, 9], [1, 4, 7, 0], [2, 5, 8, 1]]),
        ({"drop_last": True}, [[8, 5, 0], [7, 6, 4], [1, 9, 2]]),
        ({"seed": 3}, [[1, 6, 0, 7], [4, 3, 2, 1], [9, 5, 8, 4]]),
    ],
)
def test_processes_share_a_dataset_as_in_pytorch(options, shares):
    samplers = [data.DistributedSampler(range(10), 3, rank, **options) for rank in range(3)]
    for sampler in samplers:
        sampler.set_epoch(2)
    assert [list(sampler) for sampler in samplers] == shares
    assert [len(sampler) for sampler in samplers] == [len(shares[0])] * 3


@pytest.mark.parametrize(
    "make, error, message",
    [
        (
            lambda: data.RandomSampler("ab", replacement=3),
            TypeError,
            "replacement should be a boolean value, but got replacement=3",
        ),
        (
            lambda: data.RandomSampler([]),
            ValueError,
            "num_samples should be a positive integer value, but got num_samples=0",
        ),
        (
            lambda: data.WeightedRandomSampler([0.1], True),
            ValueError,
            "num_samples should be a positive integer value, but got num_samples=True",
        ),
        (
            lambda: data.WeightedRandomSampler([[0.1]], 1),
            ValueError,
            r"weights should be a 1d sequence but given weights have shape \(1, 1\)",
        ),
        (
            lambda: data.BatchSampler("ab", 1.5, False),
            ValueError,
            "batch_size should be a positive integer value, but got batch_size=1.5",
        ),
        (
            lambda: data.BatchSampler("ab", 1, 1),
            ValueError,
            "drop_last should be a boolean value, but got drop_last=1",
        ),
        (
            lambda: data.DistributedSampler("ab", 2, 2),
            ValueError,
            r"Invalid rank 2, rank should be in the interval \[0, 1\]",
        ),
        (lambda: data.Sampler([1]), TypeError, r"Sampler\(\) takes no arguments"),
        (lambda: len(data.Sampler()), TypeError, r"object of type 'Sampler' has no len\(\)"),
    ],
)
def test_arguments_are_refused_in_pytorchs_words(make, error, message):
    with pytest.raises(error, match=f"(?m)^{message}$"):
        make()


def test_shares_are_those_of_the_process_group_unless_said_otherwise():
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        data.DistributedSampler(range(5))
    torch.distributed.init_process_group(
        "gloo", store=torch.distributed.HashStore(), rank=0, world_size=1
    )
    try:
        assert list(data.DistributedSampler(range(5))) == [4, 0, 1, 3, 2]
    finally:
        torch.distributed.destroy_process_group()
