"""Other memory for the same tensor."""

import os
import warnings

import numpy as np
import pytest

import tapegrad as torch
from tests.messages import raises, raises_beginning


def test_resize_sees_the_same_memory_in_another_shape():
    x = torch.arange(6)
    assert x.resize_(2, 2) is x and x.tolist() == [[0, 1], [2, 3]]
    assert torch.arange(6).view(2, 3).t().resize_(2, 2).tolist() == [[0, 1], [2, 3]]
    grown = torch.arange(2).resize_(3, 2)
    assert grown.shape == (3, 2) and grown[0].tolist() == [0, 1]
    assert torch.ones(4).resize_as_(torch.ones(1, 2)).shape == (1, 2)
    with raises(RuntimeError, "cannot resize variables that require grad"):
        torch.ones(2, requires_grad=True).resize_(3)


def test_resize_lays_dimensions_out_in_a_memory_format():
    x = torch.arange(24.0).resize_(1, 2, 3, 4, memory_format=torch.channels_last)
    assert x.stride() == (24, 1, 8, 2)
    like = torch.ones(1, 2, 3, 4).to(memory_format=torch.channels_last)
    same = torch.arange(24.0).resize_as_(like, memory_format=torch.preserve_format)
    assert same.stride() == (24, 1, 8, 2)
    with raises(RuntimeError, "required rank 4 tensor to use channels_last format"):
        torch.arange(24.0).resize_(2, 12, memory_format=torch.channels_last)


def test_memory_of_an_array_cannot_grow():
    array = np.zeros(2)
    x = torch.from_numpy(array)
    with raises(RuntimeError, "Trying to resize storage that is not resizable"):
        x.resize_(3)
    with (
        raises(RuntimeError, "Trying to resize storage that is not resizable"),
        pytest.warns(UserWarning, match="An output with one or more elements was resized"),
    ):
        torch.add(torch.zeros(3, dtype=torch.float64), 1, out=x)
    x.resize_(1).fill_(5)
    assert array.tolist() == [5, 0]


def test_set_takes_the_memory_of_another_tensor():
    x, y = torch.ones(2), torch.zeros(3)
    x.set_(y)
    x[0] = 5
    assert y.tolist() == [5, 0, 0]
    line = torch.arange(6.0)
    part = torch.ones(2).set_(line, 1, (2, 2), (2, 1))
    assert part.tolist() == [[1, 2], [3, 4]] and part.storage_offset() == 1
    same = torch.ones(2).set_(line.untyped_storage(), 1, (2, 2), (2, 1))
    assert same.tolist() == [[1, 2], [3, 4]]
    assert torch.ones(2).set_().shape == (0,)
    with raises(RuntimeError, "Could not set tensor of type int to a tensor of type float"):
        torch.ones(2).set_(torch.ones(2, dtype=torch.int32))
    with raises_beginning(RuntimeError, "setStorage: sizes [3], strides [1], storage offset 4"):
        torch.ones(3).set_(line, 4, (3,))  # of the size it has
    assert torch.ones(2).set_(line, 4, (3,)).shape == (3,)
    assert line.untyped_storage().nbytes() == 28 and line.tolist() == [0, 1, 2, 3, 4, 5]
    with raises(RuntimeError, "Tensor: invalid storage offset -1"):
        torch.ones(2).set_(line, -1, (3,), (1,))
    with raises_beginning(
        RuntimeError, "Storage size calculation overflowed with sizes=[2] and strides="
    ):
        torch.ones(2).set_(line, 0, (2,), (-1,))


def test_set_takes_a_storage_of_the_same_dtype_or_of_none():
    line = torch.arange(3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert torch.ones(1).set_(line.storage()).tolist() == [0, 1, 2]
        with raises(
            RuntimeError,
            "Expected a Storage of type float or an UntypedStorage, but got type Long for "
            "argument 1 'storage'",
        ):
            torch.ones(1).set_(torch.arange(3).storage())
    assert torch.ones(1).set_(line.untyped_storage()).data_ptr() == line.data_ptr()
    with raises_beginning(TypeError, "set_() received an invalid combination of arguments"):
        torch.ones(1).set_(line.untyped_storage(), 1)


def test_set_counts_as_a_write_and_has_no_derivative():
    x = torch.ones(2)
    row = x.view(2)
    x.set_(torch.zeros(3))
    assert x._version == row._version == 1 and row.tolist() == [1, 1]
    leaf = torch.ones(2, requires_grad=True)
    with raises_beginning(
        RuntimeError, "a leaf Variable that requires grad is being used in an in-place"
    ):
        leaf.set_(torch.zeros(3))
    with torch.no_grad():
        leaf.set_(torch.zeros(3))
    (leaf * 2).sum().backward()
    assert leaf.grad.tolist() == [2, 2, 2]
    with raises(NotImplementedError, "the derivative for 'set_' is not implemented."):
        (leaf * 2).set_(torch.zeros(3))


def test_the_size_it_has_is_no_write():
    x = torch.empty(2, 3).t()
    assert x.resize_(3, 2) is x and x.stride() == (1, 3) and x._version == 0
    x.resize_as_(torch.empty(3, 2))
    assert x._version == 0
    assert x.resize_(3, 2, memory_format=torch.contiguous_format).stride() == (2, 1)
    assert x._version == 0 and x.resize_(1)._version == 1


def test_nothing_leads_to_a_leaf_from_what_was_computed_before_it_was_set():
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    with torch.no_grad():
        x.set_(torch.zeros(2))
    with pytest.raises(RuntimeError, match="to not have been used in the graph"):
        torch.autograd.grad(y.sum(), x)
    (g,) = torch.autograd.grad(x.exp().sum(), x)
    assert g.tolist() == [1, 1]


def test_views_move_with_the_memory_that_grows():
    x = torch.arange(2)
    row = x[1:]
    x.resize_(4)
    assert row.data_ptr() == x.data_ptr() + 8 and row.tolist() == [1]
    x[1] = 5
    assert row.tolist() == [5]
    assert row.untyped_storage() is x.untyped_storage()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_shared_memory_is_seen_by_a_child():
    x = torch.zeros(2)
    row = x[:1]
    assert x.share_memory_() is x and row.is_shared()
    assert x.is_shared() and not torch.zeros(2).is_shared()
    child = os.fork()
    if child == 0:
        x[0] = 7
        os._exit(0)
    os.waitpid(child, 0)
    assert x.tolist() == [7, 0] and row.tolist() == [7]


def test_there_is_no_memory_to_pin():
    assert not torch.ones(2).is_pinned()
    with raises(RuntimeError, "Cannot access accelerator device when none is available."):
        torch.ones(2).pin_memory()


def test_storage_is_shared_by_views():
    x = torch.ones(2, 3)
    row = x[1]
    assert row.storage_offset() == 3
    assert row.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    assert x.untyped_storage().nbytes() == 24
    assert row.data_ptr() == x.data_ptr() + 12
    assert repr(torch.tensor([1], dtype=torch.uint8).untyped_storage()) == (
        " 1\n[torch.storage.UntypedStorage(device=cpu) of size 1]"
    )
