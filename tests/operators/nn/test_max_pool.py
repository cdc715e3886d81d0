"""Max pooling: which element wins, where it is, what is refused."""

import math

import numpy as np
import pytest

import tapegrad as torch
import tapegrad.nn.functional as F
from tapegrad.arrays.numpy import max_pool
from tests.messages import raises
from tests.operators.gradient import assert_equal_numbers

nan, inf = math.nan, math.inf


X = [[[1.0, 5, 3, 3], [7, 7, -2, 0], [nan, 4, 6, 8], [2, 9, 8, 8]]]


def test_of_equal_elements_the_first_wins_and_nan_is_the_largest():
    values, indices = F.max_pool2d(torch.tensor(X), 2, return_indices=True)
    assert_equal_numbers(values.flatten().tolist(), [7, 3, nan, 8])
    assert indices.tolist() == [[[4, 2], [8, 11]]]


def test_the_last_of_several_nans_is_the_one_found():
    x = torch.tensor([[[1.0, nan], [nan, 3.0]]])
    assert F.max_pool2d(x, 2, return_indices=True)[1].item() == 2


def test_padding_never_wins():
    x = torch.full((1, 4, 4), -inf)
    values, indices = F.max_pool2d(x, 2, 2, 1, return_indices=True)
    assert values.flatten().tolist() == [-inf] * 9
    assert indices.tolist() == [[[0, 1, 3], [4, 5, 7], [12, 13, 15]]]


def test_windows_overlap_and_reach_over_the_edge():
    values, indices = F.max_pool2d(torch.tensor(X)[:, :2], 3, 1, 1, return_indices=True)
    assert values.tolist() == [[[7.0, 7.0, 7.0, 3.0]] * 2]
    assert indices.tolist() == [[[4, 4, 5, 2]] * 2]


def test_the_gradient_of_ties_goes_to_the_first():
    x = torch.zeros(1, 3, 4, requires_grad=True)
    F.max_pool2d(x, 2, 1).sum().backward()
    assert x.grad.tolist() == [[[1, 1, 1, 0], [1, 1, 1, 0], [0, 0, 0, 0]]]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_many_images_are_pooled_as_each_of_them(n):
    rng = np.random.default_rng(0)
    x = torch.from_numpy(rng.standard_normal((40, 20, *(20, 10, 6)[:n])))
    pool = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[n - 1]
    values, indices = pool(x, 3, 2, 1, return_indices=True)
    each = [pool(x[i], 3, 2, 1, return_indices=True) for i in range(40)]
    assert (values == torch.stack([v for v, _ in each])).all()
    assert (indices == torch.stack([i for _, i in each])).all()


@pytest.mark.parametrize("window", [(2, 2, 0, 1), (3, 2, 1, 1), (3, 1, 1, 1), (2, 3, 1, 2)])
def test_few_windows_are_pooled_as_many(window, monkeypatch):
    x = torch.from_numpy(np.random.default_rng(0).integers(-2, 3, (2, 3, 7, 5)).astype("f4"))
    values, indices = F.max_pool2d(x, *window, return_indices=True)
    monkeypatch.setattr(max_pool, "_FEW", 0)
    others = F.max_pool2d(x, *window, return_indices=True)
    assert (values == others[0]).all()
    assert (indices == others[1]).all()


def test_integers_are_pooled_and_truth_values_are_not():
    x = torch.tensor([[[1, 2], [-3, -4]]])
    assert F.max_pool2d(x, (2, 1)).tolist() == [[[1, 2]]]
    with raises(NotImplementedError, "\"max_pool2d\" not implemented for 'Bool'"):
        F.max_pool2d(x > 0, 2)


def test_nodes_are_named_and_linked_as_in_pytorch():
    x = torch.randn(2, 3, 8, requires_grad=True)
    node = F.max_pool1d(x, 2).grad_fn
    assert type(node).__name__ == "SqueezeBackward1"
    assert type(node.next_functions[0][0]).__name__ == "MaxPool2DWithIndicesBackward0"


def test_ceil_mode_keeps_the_last_window_that_begins_inside():
    x = torch.arange(5.0).reshape(1, 5)
    assert F.max_pool1d(x, 2, 2).tolist() == [[1, 3]]
    assert F.max_pool1d(x, 2, 2, ceil_mode=True).tolist() == [[1, 3, 4]]
    assert F.max_pool1d(x, 1, 3, ceil_mode=True).tolist() == [[0, 3]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda x: F.max_pool2d(x, 2, padding=2),
            "pad should be at most half of effective kernel size, but got pad=2, kernel_size=2 and "
            "dilation=1",
        ),
        (lambda x: F.max_pool2d(x, 2, 0), "stride should not be zero"),
        (
            lambda x: F.max_pool2d(x, 8),
            "Given input size: (1x4x4). Calculated output size: (1x0x0). Output size is too small",
        ),
        (
            lambda x: F.max_pool2d(x[0, 0], 2),
            "non-empty 3D or 4D (batch mode) tensor expected for input",
        ),
        (
            lambda x: F.max_pool2d(x, (2, 2, 2)),
            "max_pool2d: kernel_size must either be a single int, or a tuple of two ints",
        ),
        (lambda x: F.max_pool1d(x[0], 8), "max_pool1d() Invalid computed output size: 0"),
        (
            lambda x: F.adaptive_max_pool2d(x, (2, -2)),
            "Trying to create tensor with negative dimension -2: [1, 1, 2, -2]",
        ),
    ],
)
def test_what_makes_no_windows_is_refused_in_pytorchs_words(call, message):
    with raises(RuntimeError, message):
        call(torch.zeros(1, 1, 4, 4))


def test_a_pooled_line_is_a_view_only_where_a_graph_is_recorded():
    x = torch.ones(1, 2, 4)
    assert not F.max_pool1d(x, 2)._is_view()
    assert F.max_pool1d(x.requires_grad_(), 2)._is_view()


@pytest.mark.parametrize(
    ("n", "pool", "place"), [(1, F.max_pool1d, 3), (2, F.max_pool2d, 12), (3, F.max_pool3d, 39)]
)
def test_a_window_in_padding_alone_has_minus_infinity_from_behind_the_input(n, pool, place):
    x = torch.arange(3.0**n).reshape(1, 1, *[3] * n).requires_grad_()
    values, places = pool(x, 2, 2, 1, 4, return_indices=True)
    assert (values.flatten().tolist(), places.flatten().tolist()) == ([-inf], [place])
    values.exp().sum().backward()
    assert x.grad.eq(0).all()


def test_least_integers_stand_in_padding_alone():
    x = torch.tensor([[1, 2]])
    for dtype, least in ((torch.int64, -(2**63)), (torch.uint8, 0)):
        values = F.max_pool1d(x.to(dtype), 2, 1, 1, 3, return_indices=True)[0]
        assert values.tolist() == [[least]]


def test_padding_is_at_most_half_of_a_window_not_dilated():
    text = "pad should be smaller than or equal to half of kernel size, but got "
    with raises(RuntimeError, text + "padW = 2, padH = 2, kW = 3, kH = 3"):
        F.max_pool2d(torch.ones(1, 9, 9), 3, 1, 2, 2)
    with raises(RuntimeError, text + "kT: 3 kW: 3 kH: 3 padT: 2 padW: 2 padH: 2"):
        F.max_pool3d(torch.ones(1, 9, 9, 9), 3, 1, 2, 2)


def test_an_error_with_indices_is_of_what_is_wrong():
    """The native function of this name has no `return_indices`: that is not what is wrong."""
    with pytest.raises(RuntimeError, match="pad must be non-negative, but got pad: -1"):
        F.max_pool2d(torch.ones(1, 4, 4), 2, padding=-1, return_indices=True)


def test_empty_volumes_are_refused_in_the_words_of_pytorch():
    message = r"shape of \[2, 1, 0, 1, 2\] and non-batch dimension 0 has length zero!"
    with pytest.raises(RuntimeError, match=message):
        torch.nn.functional.max_pool3d(torch.ones(2, 1, 0, 1, 2), 1)
