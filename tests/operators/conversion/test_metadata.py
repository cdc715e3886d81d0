"""Questions about tensors, against what PyTorch 2.13 answered."""

import pytest

import tapegrad as torch
from tests.messages import raises


def test_sizes_and_strides():
    x = torch.ones(2, 3)
    assert x.size() == torch.Size([2, 3]) and type(x.size()) is torch.Size
    assert (x.size(-1), x.size(dim=0), x.stride(), x.stride(0)) == (3, 2, (3, 1), 3)
    assert (x.dim(), x.ndimension(), x.numel(), x.nelement()) == (2, 2, 6, 6)
    assert (x.element_size(), x.itemsize, x.nbytes) == (4, 4, 24)
    assert torch.zeros(0, 3).stride() == (3, 1) and torch.zeros(2, 0).stride() == (1, 1)
    message = "Dimension out of range (expected to be in range of [-2, 1], but got 2)"
    with raises(IndexError, message):
        x.size(2)
    with raises(IndexError, "Dimension specified as 0 but tensor has no dimensions"):
        torch.tensor(3).size(0)
    with raises(TypeError, "size(): argument 'dim' (position 1) must be int, not str"):
        x.size("a")


def test_kinds_of_elements():
    x = torch.ones(2)
    assert x.is_floating_point() and torch.is_floating_point(x) and x.is_signed()
    assert not x.is_complex() and torch.is_complex(torch.tensor(1j))
    assert not torch.is_signed(torch.tensor(True))
    message = "is_floating_point(): argument 'input' (position 1) must be Tensor, not int"
    with raises(TypeError, message):
        torch.is_floating_point(3)


def test_what_a_tensor_is_not():
    x = torch.ones(2)
    names = "is_cuda is_sparse is_sparse_csr is_quantized is_meta is_mps is_mkldnn is_nested is_xpu"
    assert not any(getattr(x, name) for name in names.split())
    assert x.is_cpu and x.layout is torch.strided and x.get_device() == -1
    assert not torch.is_distributed(x)
    assert not (x.is_conj() or x.is_neg() or x.is_distributed() or x.is_inference())
    assert (x.dense_dim(), x.sparse_dim()) == (1, 0)
    with pytest.raises(RuntimeError, match="expected sparse coordinate tensor layout but got"):
        x.is_coalesced()


def test_questions_about_any_object():
    assert torch.is_tensor(torch.ones(2)) and not torch.is_tensor(3)
    assert torch.is_storage(torch.ones(2).untyped_storage()) and not torch.is_storage(3)
    assert torch.typename(torch.ones(2)) == "torch.FloatTensor"
    assert (torch.typename(3), torch.typename("a")) == ("int", "str")
    assert torch.is_nonzero(torch.tensor([1.0]))
    assert torch.is_same_size(torch.ones(2), torch.zeros(2))
    assert not torch.ones(2).is_same_size(torch.ones(3))


def test_two_tensors_that_are_the_same_memory():
    x = torch.ones(2, 3)
    assert x.is_set_to(x.view(2, 3)) and not x.is_set_to(x.t())
    assert not x.is_set_to(torch.ones(2, 3))


def test_order_in_memory():
    x = torch.ones(2, 3)
    assert x.is_contiguous() and not x.t().is_contiguous()
    assert x.is_contiguous(memory_format=torch.preserve_format)
    assert not x.is_contiguous(memory_format=torch.channels_last)
    assert torch.ones(1, 1, 4, 4).is_contiguous(memory_format=torch.channels_last)


def test_an_empty_part_has_the_strides_of_the_whole():
    x = torch.zeros(2, 3, 4, 5)
    assert x[:, :, :, 1][:, 1:1].stride() == (60, 20, 5)
    assert torch.zeros(3, 4)[::2, 4:].stride() == (8, 1)
    assert torch.zeros(2, 3)[:0].t().stride() == (1, 3)


def test_two_tensors_without_elements_are_not_the_same_memory():
    x = torch.tensor([])
    assert x.is_set_to(x.detach()) and not x.is_set_to(torch.tensor([]))


def test_a_step_along_an_inserted_dimension_goes_across_the_next_one():
    x = torch.ones(2, 3)
    assert x.unsqueeze(0).stride() == x[None].stride() == (6, 3, 1)
    assert x.unsqueeze(1).stride() == (3, 3, 1)
    assert x.unsqueeze(-1).stride() == (3, 1, 1)
    assert torch.ones(3, 1).expand(3, 4)[None].stride() == (3, 1, 0)
