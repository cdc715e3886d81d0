"""Copies side by side."""

import sys

import pytest

import tapegrad as torch
from tests.messages import raises

HUGE = 2**62


@pytest.mark.parametrize("counts", [(4, HUGE, 0), (HUGE, 4), (HUGE,), (0, HUGE, HUGE)])
def test_more_copies_than_64_bits_count_are_refused(counts):
    x = torch.ones(2)
    sizes = [*counts[:-1], 2 * counts[-1]]
    for repeated in (x.repeat, x.tile):
        with raises(RuntimeError, f"Storage size calculation overflowed with sizes={sizes}"):
            repeated(*counts)


@pytest.mark.skipif(sys.maxsize < 2**40, reason="there are no such addresses")
@pytest.mark.parametrize("counts", [(2**40, 0), (0, 2**40), (2**40, 2, 0), (2, 0, 2)])
def test_no_copies_along_one_axis_take_no_memory(counts):
    x = torch.ones(2, 3, requires_grad=True)
    sizes = (1,) * (len(counts) - 2) + (2, 3)
    y = x.repeat(*counts)
    assert y.shape == tuple(n * m for n, m in zip(counts, sizes, strict=True))
    y.sum().backward()
    assert x.grad.tolist() == [[0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize("counts", [[HUGE] * 4, [HUGE, HUGE], [2**61, 1]])
def test_counts_whose_sum_64_bits_do_not_hold_are_refused(counts):
    counts = torch.tensor(counts)
    message = f"Storage size calculation overflowed with sizes=[{sum(counts.tolist())}]"
    with raises(RuntimeError, message):
        torch.repeat_interleave(counts)
    with raises(RuntimeError, message):
        torch.repeat_interleave(torch.ones(counts.numel()), counts)


def test_one_count_that_64_bits_do_not_hold_is_refused():
    with raises(RuntimeError, f"Storage size calculation overflowed with sizes=[{2**63}]"):
        torch.repeat_interleave(torch.ones(2), HUGE)
