"""Other memory for the same tensor."""

import os

import numpy as np
import pytest

import tapegrad as torch
from tests.messages import raises


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
    with pytest.raises(RuntimeError, match="are out of bounds for storage of size 24"):
        torch.ones(2).set_(line, 4, (3,), (1,))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_shared_memory_is_seen_by_a_child():
    x = torch.zeros(2).share_memory_()
    assert x.is_shared() and not torch.zeros(2).is_shared()
    child = os.fork()
    if child == 0:
        x[0] = 7
        os._exit(0)
    os.waitpid(child, 0)
    assert x.tolist() == [7, 0]


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
