"""Operators of `torch.ops.aten` that `torch` has not, or has another one of the name."""

import copy

import pytest

import tapegrad as torch

aten = torch.ops.aten


def test_an_overload_may_have_a_function_of_its_own():
    x = torch.tensor([1.0, 2.0])
    assert aten.add.Scalar(x, 1, 2).tolist() == aten.add(x, 1, 2).tolist() == [3, 4]
    assert aten.add(x, x, alpha=3).tolist() == [4, 8]
    plain = (x.reshape(1, 2, 1), None, None, True, 0.1, 1e-5)
    assert aten._native_batch_norm_legit(*plain)[0].flatten().tolist() == [0, 0]


def test_reductions_are_numbers_there():
    x, target = torch.tensor([0.0, 2.0]), torch.tensor([0.5, 0.5])
    loss = aten.binary_cross_entropy_with_logits
    assert loss(x, target, None, None, 0).tolist() == pytest.approx([0.6931472, 1.1269280])
    assert loss(x, target).item() == pytest.approx(0.9100376)


def test_what_is_asked_of_pools_and_of_unique():
    x = torch.arange(16.0).reshape(1, 1, 4, 4)
    values, places = aten.adaptive_max_pool2d(x, [2, 2])
    assert (values.flatten().tolist(), places.flatten().tolist()) == ([5, 7, 13, 15],) * 2
    values, inverse, counts = aten._unique2(torch.tensor([3, 1, 3]), True, True)
    assert (values.tolist(), inverse.tolist(), counts.tolist()) == ([1, 3], [1, 0, 1], [])


def test_a_size_of_an_image_is_checked_against_the_factors():
    x = torch.ones(1, 1, 2, 2)
    assert aten.upsample_nearest2d.vec(x, None, [2.0, 2.0]).shape == (1, 1, 4, 4)
    assert aten.upsample_bilinear2d(x, [3, 3], False).shape == (1, 1, 3, 3)
    with pytest.raises(NotImplementedError, match=r"the size \[5, 5\] is not that of the factors"):
        aten.upsample_nearest2d(x, [5, 5], 2.0, 2.0)


def test_lists_written_in_place_give_nothing():
    x = torch.ones(2)
    assert aten._foreach_mul_.Scalar([x], 3) is None
    assert x.tolist() == [3, 3]


def test_indices_may_leave_axes_out():
    x = torch.zeros(2, 3)
    aten.index_put_(x, [None, torch.tensor([1])], torch.tensor(5.0))
    assert x.tolist() == [[0, 5, 0], [0, 5, 0]]


def test_index_put_with_whole_axes_puts_values_where_indexing_would():
    i, j = torch.tensor([0, 2]), torch.tensor([[1], [0]])
    mask = torch.tensor([True, False, True])
    for indices in (
        [None, i],
        [None, i, None],
        [i, None],
        [None, None, j, None],
        [i[:1], None, torch.tensor([1])],
        [None, mask],
        [None, i, None, i],
        [None, j, i, None],
    ):
        places = tuple(slice(None) if each is None else each for each in indices)
        x = torch.zeros(3, 3, 3, 3)
        values = torch.arange(float(x[places].numel())).reshape(x[places].shape)
        expected = x.clone()
        expected[places] = values
        assert torch.equal(aten.index_put(x, indices, values), expected)
        assert torch.equal(aten.index_put_(x, indices, values), expected)


def test_operators_are_copied_as_themselves():
    packet = torch.ops.aten.add
    assert copy.deepcopy([packet, packet.Tensor]) == [packet, packet.Tensor]
