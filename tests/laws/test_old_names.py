"""Names of PyTorch that old code has."""

import pytest

import tapegrad as torch
from tests.messages import raises


def test_older_names():
    x = torch.arange(6.0).reshape(2, 3)
    assert torch.slice_copy(x, 1, 0, 2).tolist() == [[0, 1], [3, 4]]
    assert torch.view_as_real_copy(torch.tensor([1j])).tolist() == [[0, 1]]
    assert torch.norm_except_dim(torch.ones(2, 4), 2, 0).tolist() == [[2], [2]]
    assert torch.detach(x.requires_grad_()).requires_grad is False
    assert x.dim_order() == (0, 1) and x.t().dim_order() == (1, 0)
    one_channel = torch.ones(1, 2, 2, 2)
    assert one_channel.dim_order(ambiguity_check=[torch.contiguous_format]) == (0, 1, 2, 3)
    for wanted in (True, [torch.channels_last]):
        with pytest.raises(RuntimeError, match="The tensor does not have unique dim order"):
            one_channel.dim_order(ambiguity_check=wanted)
    text = "The ambiguity_check argument must be a bool or a list of memory formats."
    with raises(TypeError, text):
        one_channel.dim_order(ambiguity_check="ILLEGAL_STR")
    assert reversed(torch.arange(3)).tolist() == [2, 1, 0]
    with pytest.warns(UserWarning, match="non-inplace resize is deprecated"):
        assert torch.arange(4).resize(2, 2).tolist() == [[0, 1], [2, 3]]
    with (
        pytest.warns(UserWarning, match="deprecated"),
        raises(
            RuntimeError,
            "requested resize to (3, 3) ((3, 3) elements in total), but the given tensor has a "
            "size of 4 (4 elements). autograd's resize can only change the shape of a given "
            "tensor, while preserving the number of elements. ",
        ),
    ):
        torch.arange(4).resize(3, 3)


def test_native_dropout_gives_the_mask_too(seed):
    x = torch.arange(1.0, 7).reshape(2, 3).requires_grad_()
    y, mask = torch.native_dropout(x, 0.5, True)
    assert mask.tolist() == [[False, False, True], [False, False, False]]
    assert y.tolist() == [[0, 0, 6], [0, 0, 0]]
    assert type(y.grad_fn).__name__ == "NativeDropoutBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [[0, 0, 2], [0, 0, 0]]
    y, mask = torch.native_dropout(x, 0.5, None)
    assert mask.tolist() == [[True, True, False], [True, True, True]]
    y, mask = torch.native_dropout(x, 0.5, False)
    assert torch.equal(y, x) and mask.all()
    y, mask = torch.native_dropout(x, 1.0, True)
    assert not y.any() and not mask.any()
    with pytest.raises(RuntimeError, match=r"^bernoulli_ expects p to be in \[0, 1\], but got p=-"):
        torch.native_dropout(x, 1.5, True)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired outpu"):
        torch.native_dropout(torch.tensor([1, 2]), 0.5, True)


def test_native_group_norm_gives_the_moments_too():
    x = torch.arange(24.0).reshape(2, 4, 3).requires_grad_()
    weight, bias = torch.ones(4, requires_grad=True), torch.zeros(4, requires_grad=True)
    y, mean, rstd = torch.native_group_norm(x, weight, bias, 2, 4, 3, 2, 1e-5)
    assert mean.tolist() == [[2.5, 8.5], [14.5, 20.5]] and not mean.requires_grad
    assert rstd.flatten().tolist() == pytest.approx([0.585540] * 4, abs=1e-5)
    assert type(y.grad_fn).__name__ == "NativeGroupNormBackward0"
    assert torch.equal(y, torch.group_norm(x, 2, weight, bias, 1e-5))
    y.pow(2).sum().backward()
    assert weight.grad.tolist() == pytest.approx([12.0] * 4, abs=1e-3)


def test_parts_that_are_no_views_of_what_was_split():
    x = torch.arange(12.0).reshape(4, 3).requires_grad_()
    first, second = torch.unsafe_split_with_sizes(x, [1, 3])
    assert (first.shape, second.shape) == ((1, 3), (3, 3)) and not first._is_view()
    assert type(first.grad_fn).__name__ == "UnsafeSplitWithSizesBackward0"
    (2 * second).sum().backward()
    assert x.grad[:, 0].tolist() == [0, 2, 2, 2]
    assert [part.shape for part in x.unsafe_split_with_sizes((2, 1), 1)] == [(4, 2), (4, 1)]
    with pytest.raises(RuntimeError, match="split_with_sizes expects split_sizes to sum exactly"):
        torch.unsafe_split_with_sizes(x, [1, 1])


def test_a_copy_without_history():
    x = torch.ones(2, requires_grad=True)
    copy = torch.detach_copy(x)
    assert copy.requires_grad and type(copy.grad_fn).__name__ == "NotImplemented"
    with pytest.raises(RuntimeError, match="derivative for aten::detach_copy is not implemented"):
        copy.sum().backward()
    with torch.no_grad():
        copy = torch.detach_copy(x)
        copy.zero_()
    assert x.tolist() == [1, 1] and not copy.requires_grad
