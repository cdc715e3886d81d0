"""Tensors like another one."""

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
