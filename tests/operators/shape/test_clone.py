"""Copies and their order in memory."""

import tapegrad as torch
from tests.messages import raises


def test_a_clone_has_memory_of_its_own_and_a_place_in_the_graph():
    x = torch.ones(2, requires_grad=True)
    y = x.clone()
    assert repr(y) == "tensor([1., 1.], grad_fn=<CloneBackward0>)"
    assert y.data_ptr() != x.data_ptr()
    (y * 2).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_a_clone_lies_in_memory_as_the_original_does_unless_asked():
    x = torch.ones(2, 3).t()
    assert x.clone().stride() == (1, 3)
    assert x.clone(memory_format=torch.contiguous_format).stride() == (2, 1)
    assert torch.ones(3, 1).expand(3, 4).clone().stride() == (4, 1)
    assert torch.ones(4).expand(3, 4).clone().stride() == (4, 1)
    image = torch.ones(2, 3, 4, 5)
    assert image.clone(memory_format=torch.channels_last).stride() == (60, 1, 15, 3)
    with raises(RuntimeError, "required rank 4 tensor to use channels_last format"):
        x.clone(memory_format=torch.channels_last)


def test_contiguous_copies_only_where_it_must():
    x = torch.ones(2, 3, requires_grad=True)
    assert x.contiguous() is x
    y = x.t().contiguous()
    assert type(y.grad_fn).__name__ == "CloneBackward0" and y.is_contiguous()
    image = torch.ones(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    assert image.is_contiguous(memory_format=torch.channels_last) and not image.is_contiguous()
    assert image.contiguous(memory_format=torch.channels_last) is image
    assert image.tolist() == torch.ones(2, 3, 4, 5).tolist()


def test_only_tensors_are_cloned():
    with raises(TypeError, "clone(): argument 'input' (position 1) must be Tensor, not int"):
        torch.clone(3)
