"""Tensors like another one."""

import numpy as np
import pytest

import tapegrad as torch
from tests.messages import raises


def test_shape_dtype_and_strides_are_those_of_the_other():
    x = torch.ones(2, 3, 4, 5, dtype=torch.int32).permute(2, 0, 3, 1)
    for made in (torch.zeros_like(x), torch.ones_like(x), torch.empty_like(x)):
        assert (made.shape, made.dtype, made.stride()) == (x.shape, x.dtype, (5, 60, 1, 20))
    assert torch.empty_like(x, memory_format=torch.contiguous_format).is_contiguous()
    assert torch.zeros_like(torch.ones(2, 3, 4, 5), memory_format=torch.channels_last).stride() == (
        (60, 1, 15, 3)
    )


def test_holes_and_repetition_are_not_copied():
    assert torch.empty_like(torch.ones(2, 3)[:, ::2]).stride() == (2, 1)
    assert torch.empty_like(torch.ones(3, 1).expand(3, 4)).stride() == (4, 1)


def test_requires_grad_is_not_inherited():
    x = torch.ones(2, requires_grad=True)
    assert not torch.zeros_like(x).requires_grad
    assert torch.zeros_like(x, requires_grad=True).is_leaf


def test_full_like_converts_its_value():
    assert torch.full_like(torch.tensor([1, 2]), 7.5).tolist() == [7, 7]
    assert torch.full_like(torch.ones(2), torch.tensor(7)).tolist() == [7, 7]
    with raises(RuntimeError, "value cannot be converted to type float without overflow"):
        torch.full_like(torch.ones(2), 1j)


def test_only_tensors_have_a_like():
    with raises(TypeError, "zeros_like(): argument 'input' (position 1) must be Tensor, not list"):
        torch.zeros_like([1])


def test_new_tensors_have_the_dtype_of_the_old():
    x = torch.tensor([1, 2], dtype=torch.int32)
    assert x.new_zeros(3, 2).dtype is torch.int32
    assert x.new_ones((3,)).tolist() == [1, 1, 1]
    assert x.new_ones(3, dtype=torch.float32, requires_grad=True).requires_grad
    assert x.new_empty(size=(3, 0)).shape == (3, 0)
    assert x.new_full((3,), 7.5).tolist() == [7, 7, 7]
    assert x.new_tensor([1, 2.5]).tolist() == [1, 2]
    assert x.new_tensor(np.ones(2, np.float32)).dtype is torch.int32
    assert x.new_empty_strided((3, 2), (1, 3)).stride() == (1, 3)
    assert x.new([2, 3]).tolist() == [2, 3] and x.new(2, 3).shape == (2, 3)
    message = "new_full(): argument 'size' (position 1) must be tuple of ints, not int"
    with raises(TypeError, message):
        x.new_full(3, 2)


def test_new_tensor_of_a_tensor_warns():
    with pytest.warns(UserWarning, match=r"rather than tensor.new_tensor\(sourceTensor\)"):
        torch.ones(2).new_tensor(torch.ones(2))


def test_fill_gives_a_new_tensor_and_takes_gradients_of_its_value():
    x = torch.zeros(2, 3, requires_grad=True)
    value = torch.tensor(3.0, requires_grad=True)
    assert type(torch.fill(x, 3).grad_fn).__name__ == "FillBackward0"
    y = torch.fill(x, value)
    assert type(y.grad_fn).__name__ == "FillBackward1" and len(y.grad_fn.next_functions) == 2
    (y * 2).sum().backward()
    assert x.grad.tolist() == [[0] * 3] * 2 and value.grad.item() == 12
