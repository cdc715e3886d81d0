"""Memory as bytes, against what PyTorch 2.13 did."""

import copy
import gc
import pickle
import sys

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.core import storage
from tests.messages import raises_beginning


def test_a_storage_is_one_object_for_a_tensor_and_its_views():
    x = torch.arange(4.0)
    memory = x.untyped_storage()
    assert memory is x[1:].untyped_storage() is x.detach().view(2, 2).untyped_storage()
    assert memory is not x.clone().untyped_storage()
    assert memory._cdata == x[2:].untyped_storage()._cdata != x.clone().untyped_storage()._cdata
    assert (memory.nbytes(), len(memory), memory.size(), memory.element_size()) == (16, 16, 16, 1)
    assert memory.device == torch.device("cpu") and not memory.is_cuda
    assert torch.is_storage(memory) and memory.data_ptr() == x.data_ptr()
    memory.mark = "kept"
    assert x.untyped_storage().mark == "kept"


def test_writes_reach_all_tensors_and_no_version():
    x = torch.tensor([1, 2], dtype=torch.uint8)
    row = x[1:]
    memory = x.untyped_storage()
    memory[1] = 300
    assert row.tolist() == [44] and list(memory) == [1, 44] and memory[-1] == 44
    memory[0:2] = 7
    assert x.tolist() == [7, 7]
    assert memory.fill_(-1) is memory and row.tolist() == [255]
    memory.copy_(torch.tensor([3, 4], dtype=torch.uint8).untyped_storage())
    assert x.tolist() == [3, 4] and x._version == 0
    memory[0:1].fill_(9)
    assert x.tolist() == [3, 4]  # a slice is a copy


def test_what_is_not_an_index_or_a_byte():
    memory = torch.UntypedStorage([1, 2])
    with raises_beginning(IndexError, "index 2 out of range for storage of size 2"):
        memory[2]
    with raises_beginning(TypeError, "can't index a torch.UntypedStorage with str"):
        memory["a"]
    with raises_beginning(RuntimeError, "Trying to slice with a step of 2, but only a step of 1"):
        memory[::2]
    with raises_beginning(RuntimeError, "out of bounds"):
        memory[2] = 1
    with raises_beginning(RuntimeError, "can't index a torch.UntypedStorage with str"):
        memory["a"] = 1
    with raises_beginning(
        RuntimeError, "can only set storage content with a int types, but got float"
    ):
        memory[0] = 1.5
    with raises_beginning(RuntimeError, "fill_ expects int, but got float"):
        memory.fill_(1.5)
    with raises_beginning(
        RuntimeError, "size does not match, self was 2 bytes but src was 1 bytes"
    ):
        memory.copy_(torch.UntypedStorage(1))
    with raises_beginning(TypeError, "copy_(): argument 'src' (position 1) must be torch.Storage"):
        memory.copy_(torch.ones(2))
    assert memory.tolist() == [1, 2]


def test_made_of_a_size_or_of_bytes():
    assert len(torch.UntypedStorage()) == 0 and len(torch.UntypedStorage(3)) == 3
    assert torch.UntypedStorage((1, 300)).tolist() == [1, 44]
    assert repr(torch.UntypedStorage([1, 2])) == (
        " 1\n 2\n[torch.storage.UntypedStorage(device=cpu) of size 2]"
    )
    assert repr(torch.UntypedStorage()) == (
        " \n[torch.storage.UntypedStorage(device=cpu) of size 0]"
    )
    with raises_beginning(
        RuntimeError, "torch.UntypedStorage(): Expected a sequence type, but got float"
    ):
        torch.UntypedStorage(3.5)
    message = (
        "torch.UntypedStorage(): tried to construct a storage from a sequence (list), but one of "
        "the items was of type float instead of int"
    )
    with raises_beginning(RuntimeError, message):
        torch.UntypedStorage([1.5])
    with raises_beginning(
        TypeError, "torch.UntypedStorage() received an invalid combination of arguments"
    ):
        torch.UntypedStorage(1, 2)
    with raises_beginning(
        RuntimeError, "[enforce fail at alloc_cpu.cpp:98] ((ptrdiff_t)nbytes) >= 0."
    ):
        torch.UntypedStorage(-1)


def test_tensors_follow_memory_of_another_size():
    x = torch.arange(4.0)
    row = x[:2]
    memory = x.untyped_storage()
    memory.resize_(32)
    assert x.tolist() == [0, 1, 2, 3] and row.data_ptr() == x.data_ptr() == memory.data_ptr()
    row.fill_(9)
    assert x.tolist() == [9, 9, 2, 3] and x.untyped_storage() is memory
    memory.resize_(8)
    assert row.tolist() == [9, 9]
    message = (
        "setStorage: sizes [4], strides [1], storage offset 0, and itemsize 4 requiring a storage "
        "size of 16 are out of bounds for storage of size 8"
    )
    for use in (torch.sum, torch.neg, lambda x: x + 1, lambda x: x[0], repr, lambda x: x.fill_(1)):
        with raises_beginning(RuntimeError, message):
            use(x)
    memory.resize_(0)
    assert memory.nbytes() == 0 and row.shape == (2,) and x.untyped_storage() is memory
    memory.resize_(16).fill_(0)
    assert x.tolist() == [0, 0, 0, 0] and row.data_ptr() == x.data_ptr()


def test_a_leaf_is_differentiated_in_its_new_memory():
    x = torch.ones(2, requires_grad=True)
    view = x.detach()[1:]
    x.untyped_storage().resize_(100)
    with torch.no_grad():
        view.fill_(3)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2, 6]


def test_a_view_keeps_its_history_when_its_memory_moves():
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    row = y[1:]
    y.untyped_storage().resize_(64)
    y.mul_(5)
    row.sum().backward()
    assert x.grad.tolist() == [0, 10, 10]


def test_memory_that_belongs_to_others_keeps_its_size():
    x = torch.from_numpy(torch.ones(2).numpy())
    assert not x.untyped_storage().resizable() and torch.ones(2).untyped_storage().resizable()
    with raises_beginning(RuntimeError, "Trying to resize storage that is not resizable"):
        x.untyped_storage().resize_(64)
    assert x.untyped_storage().resize_(8).nbytes() == 8


def test_memory_that_numpy_has_seen_keeps_its_size():
    x = torch.zeros(6)
    part = x[1:3]
    part.numpy()
    assert not x.untyped_storage().resizable() and x.resize_(2).shape == (2,)
    with raises_beginning(RuntimeError, "Trying to resize storage that is not resizable"):
        x.resize_(7)
    with raises_beginning(RuntimeError, "Trying to resize storage that is not resizable"):
        x.untyped_storage().resize_(64)
    assert x.shape == (2,) and x.clone().untyped_storage().resizable()
    for seen in (np.asarray, np.add.reduce, lambda x: x.detach().numpy(force=True)):
        y = torch.zeros(3, requires_grad=True).detach()
        seen(y)
        assert not y.untyped_storage().resizable()
    y = torch.zeros(3)
    assert y.tolist() == [0, 0, 0] and repr(y) and y.untyped_storage().resizable()


def test_memory_is_forgotten_with_its_tensor():
    before = len(storage._LENT)
    x = torch.zeros(3)
    x.numpy()
    assert len(storage._LENT) == before + 1
    del x
    assert len(storage._LENT) == before


def test_shared_memory_takes_all_tensors_along():
    x = torch.arange(3)
    row = x[1:]
    memory = x.untyped_storage()
    assert not memory.is_shared() and memory.share_memory_() is memory
    assert x.is_shared() and row.is_shared() and row.data_ptr() == x.data_ptr() + 8
    row.fill_(7)
    assert x.tolist() == [0, 7, 7]


def test_a_file_is_not_shared_in_a_browser(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"\5\6")
    monkeypatch.setattr(sys, "platform", "emscripten")
    with raises_beginning(RuntimeError, f"file <{path}> cannot be shared: a browser does not map"):
        torch.UntypedStorage.from_file(path, True, 2)
    assert torch.UntypedStorage.from_file(path, False, 2).tolist() == [5, 6]


@pytest.mark.skipif(sys.platform == "emscripten", reason="a browser does not map files into memory")
def test_files_are_memory(tmp_path):
    path = tmp_path / "file"
    shared = torch.UntypedStorage.from_file(path, True, 4)
    shared.fill_(5)
    private = torch.UntypedStorage.from_file(str(path), False, 4)
    private[0] = 9
    assert path.read_bytes() == b"\5\5\5\5" and private.tolist() == [9, 5, 5, 5]
    assert shared.filename == str(path) and private.filename is None
    assert shared.is_shared() and not private.is_shared() and not shared.resizable()
    message = f"file <{path}> size <4> is smaller than the required mapping size <5>"
    with raises_beginning(RuntimeError, message):
        torch.UntypedStorage.from_file(path, False, 5)
    message = f"unable to open file <{path}x> in read-only mode: No such file or directory (2)"
    with raises_beginning(RuntimeError, message):
        torch.UntypedStorage.from_file(f"{path}x", False, 5)


def test_copies_have_memory_of_their_own():
    x = torch.arange(3, dtype=torch.uint8)
    memory = x.untyped_storage()
    for copied in (memory.clone(), copy.copy(memory), pickle.loads(pickle.dumps(memory))):
        assert copied.tolist() == [0, 1, 2] and copied.data_ptr() != memory.data_ptr()
    tensor, shared = copy.deepcopy([x, memory])
    assert tensor.untyped_storage() is shared is not memory


def test_byteswap_turns_each_element_around():
    memory = torch.UntypedStorage([0, 1, 2, 3])
    memory.byteswap(torch.int16)
    assert memory.tolist() == [1, 0, 3, 2]
    memory.byteswap(torch.float32)
    assert memory.tolist() == [2, 3, 0, 1]


@pytest.mark.parametrize(
    "given, message",
    [
        ({}, "argument 'dtype' cannot be None"),
        ({"dtype": torch.int16}, "function missing required argument 'byte_order' (pos 2)"),
    ],
)
def test_a_buffer_needs_a_dtype_and_an_order(given, message):
    with raises_beginning(RuntimeError, message):
        torch.UntypedStorage.from_buffer(bytearray(4), **given)


def test_a_storage_is_freed_with_its_last_tensor():
    from tapegrad.core import untyped_storage

    gc.collect()
    before = len(untyped_storage._STORAGES)
    x = torch.ones(3)
    memory = x.untyped_storage()
    assert len(untyped_storage._STORAGES) == before + 1
    del memory, x
    assert len(untyped_storage._STORAGES) == before
