"""The order in memory of results, by rule; the strides are PyTorch's."""

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.core import result_order
from tapegrad.core.memory_format import axes_by_stride


def turned(*shape):
    """A tensor whose first axis is the innermost."""
    return torch.ones(*reversed(shape)).permute(*range(len(shape) - 1, -1, -1))


@pytest.mark.parametrize(
    ("make", "strides"),
    [
        (lambda x, y: x + y, (1, 2, 6)),
        (lambda x, y: y + x, (12, 4, 1)),
        (lambda x, y: x * 2, (1, 2, 6)),
        (lambda x, y: x.exp(), (1, 2, 6)),
        (lambda x, y: x > y, (1, 2, 6)),
        (lambda x, y: x.int() + 1, (1, 2, 6)),
        (lambda x, y: x.double() * y, (1, 2, 6)),
        (lambda x, y: y[0] + x, (1, 8, 2)),
        (lambda x, y: torch.lerp(x, y, y), (1, 2, 6)),
        (lambda x, y: torch.where(y > 0, x, y), (12, 4, 1)),
        (lambda x, y: x[:, :1].expand(2, 3, 4) * 1, (1, 2, 6)),
        (lambda x, y: torch.rsub(x, y), (12, 4, 1)),
    ],
)
def test_elementwise_results_follow_the_first_operand_that_takes_steps(make, strides):
    assert make(turned(2, 3, 4), torch.ones(2, 3, 4)).stride() == strides


def test_a_result_of_contiguous_operands_is_not_looked_at():
    x = np.ones((2, 3))
    assert result_order.in_operands_order(x, [np.ones((2, 3)), 2.0, None]) is x


def test_axes_of_several_operands_are_sorted_by_the_first_that_has_both():
    row, column = np.ones((1, 3)), np.ones((2, 3)).T.copy().T
    assert axes_by_stride(row, column) == (1, 0)
    assert axes_by_stride(np.ones((2, 3)), column) == (0, 1)


@pytest.mark.parametrize(
    ("make", "strides"),
    [
        (lambda x: x.roll(1, 0), (12, 4, 1)),
        (lambda x: torch.stack([x, x]), (24, 12, 4, 1)),
        (lambda x: x.index_select(0, torch.tensor([1])), (12, 4, 1)),
        (lambda x: x.sum(0), (4, 1)),
        (lambda x: x.softmax(0), (12, 4, 1)),
        (lambda x: x.masked_fill(x > 0, 0.0), (12, 4, 1)),
        (lambda x: x.flip(0), (1, 2, 6)),
        (lambda x: x.sort(0)[0], (1, 2, 6)),
        (lambda x: x.index_fill(0, torch.tensor([1]), 2.0), (1, 2, 6)),
        (lambda x: x[:, torch.tensor([2, 1, 0])], (1, 2, 6)),
    ],
)
def test_other_operators_have_a_rule_of_their_own(make, strides):
    assert make(turned(2, 3, 4)).stride() == strides


def test_matrices_of_lapack_lie_column_by_column():
    a = 3 * torch.eye(3).expand(2, 3, 3)
    assert torch.linalg.inv(a).stride() == (9, 1, 3)
    assert torch.linalg.inv(a).mT.is_contiguous()
    values, vectors = torch.linalg.eigh(a)
    assert (values.stride(), vectors.stride()) == ((3, 1), (9, 1, 3))
    assert torch.linalg.solve(a, torch.ones(2, 3)).stride() == (1, 2)


def test_images_keep_their_channels_innermost():
    x = torch.ones(2, 3, 4, 4).contiguous(memory_format=torch.channels_last)
    pool = torch.nn.functional.max_pool2d
    for y in (x + 1, pool(x, 2), torch.nn.functional.batch_norm(x, None, None, training=True)):
        assert y.is_contiguous(memory_format=torch.channels_last)
    assert torch.cat([x, x]).is_contiguous(memory_format=torch.channels_last)
    assert torch.cat([x, torch.ones(2, 3, 4, 4)]).is_contiguous()


def test_patches_keep_the_holes_between_elements():
    x = torch.zeros(4, 6)[:, ::2]
    assert x.select_scatter(torch.ones(3), 0, 1).stride() == (6, 2)


def test_copies_of_expanded_tensors_follow_the_dimensions_that_take_steps():
    x = torch.ones(4, 1, 3).expand(4, 4, 3)
    assert x.clone().stride() == (12, 3, 1)
    assert torch.fill(turned(2, 2), 1.0).stride() == (1, 2)


def test_images_cut_out_of_channels_last_ones_count_as_such():
    x = torch.ones(2, 4, 5, 5).contiguous(memory_format=torch.channels_last)[:, :, 1:]
    y = torch.nn.functional.conv2d(x, torch.ones(3, 4, 2, 2))
    assert y.is_contiguous(memory_format=torch.channels_last)


def test_neighbours_of_narrow_numbers_follow_the_first_operand():
    x = turned(2, 3).bfloat16()
    assert torch.nextafter(x, x + 1).stride() == (1, 2)
