"""Memory as elements of a dtype, against what PyTorch 2.13 did."""

import copy
import io
import pickle
import warnings

import pytest

import tapegrad as torch
from tests.messages import raises_beginning


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "TypedStorage is deprecated")
        yield


def test_the_first_use_warns():
    torch.storage._reset_warn_typed_storage_removal()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        torch.FloatStorage(3)
        torch.ones(2).storage()
    assert [str(each.message)[:45] for each in found] == [
        "TypedStorage is deprecated. It will be remove"
    ]
    assert found[0].filename == __file__
    torch.storage._set_always_warn_typed_storage_removal(True)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        s = torch.ones(2).storage()
        s.fill_(0)
        assert s.dtype is torch.float32
        len(s)
    torch.storage._set_always_warn_typed_storage_removal(False)
    assert [each.filename for each in found] == [__file__] * 4
    assert not torch.storage._get_always_warn_typed_storage_removal()


def test_elements_are_those_of_the_tensor_and_its_views():
    x = torch.arange(4.0)
    s = x.storage()
    assert x.storage().data_ptr() == x.view(2, 2).storage().data_ptr() == x.data_ptr()
    assert (len(s), s.size(), s.nbytes(), s.element_size()) == (4, 4, 16, 4)
    assert s.dtype is torch.float32 and s.type() == "torch.FloatStorage"
    assert (s[0], s[-1], list(s)) == (0.0, 3.0, [0.0, 1.0, 2.0, 3.0])
    s[0] = 5
    s[1:3] = 7
    assert x.tolist() == [5, 7, 7, 3] and x._version == 0
    assert s.fill_(1) is s and x.tolist() == [1, 1, 1, 1]
    assert s.untyped() is x.untyped_storage() and s._cdata == x.untyped_storage()._cdata
    assert s != x.storage()
    assert repr(torch.arange(2).storage()) == (
        " 0\n 1\n[torch.storage.TypedStorage(dtype=torch.int64, device=cpu) of size 2]"
    )
    s.resize_(2)
    assert x.storage().size() == 2


def test_what_is_not_an_index_or_an_element():
    s = torch.FloatStorage([1, 2])
    with raises_beginning(RuntimeError, "slices are only supported in UntypedStorage.__getitem__"):
        s[0:1]
    with raises_beginning(IndexError, "index 2 out of range for storage of size 2"):
        s[2]
    with raises_beginning(
        RuntimeError, "can't index a <class 'torch.storage.TypedStorage'> with <class"
    ):
        s["a"]
    with raises_beginning(
        TypeError, "can't index a <class 'torch.storage.TypedStorage'> with <class 'bool"
    ):
        s[True]
    with raises_beginning(
        RuntimeError, "cannot set item with value type <class 'torch.storage.TypedStor"
    ):
        s.fill_(s)
    with raises_beginning(TypeError, "can't assign a str to a torch.FloatTensor"):
        s[0] = "a"
    assert s.tolist() == [1, 2]


def test_made_of_a_size_elements_or_memory():
    assert torch.FloatStorage().size() == 0 and torch.LongStorage(3).size() == 3
    assert torch.DoubleStorage((1, 2.5)).tolist() == [1.0, 2.5]
    assert torch.TypedStorage([1, 2], dtype=torch.int16).tolist() == [1, 2]
    memory = torch.ones(2).untyped_storage()
    assert torch.FloatStorage(wrap_storage=memory).untyped() is memory
    assert torch.IntStorage(wrap_storage=memory).tolist() == [1065353216] * 2
    made = torch.FloatStorage(2)
    assert type(made) is torch.TypedStorage and isinstance(made, torch.FloatStorage)
    assert not isinstance(made, torch.LongStorage) and issubclass(torch.FloatStorage, type(made))
    assert torch.FloatStorage.dtype is torch.float32


def test_what_a_storage_is_not_made_of():
    memory = torch.UntypedStorage(4)
    typed = torch.FloatStorage(1)
    for call, kind, last in (
        (lambda: torch.FloatStorage(device="cpu"), RuntimeError, "Keyword argument 'device'"),
        (lambda: torch.FloatStorage(0, 0), RuntimeError, "Too many positional arguments"),
        (lambda: torch.FloatStorage(torch.ones(1)), TypeError, "Argument type not recognized"),
        (lambda: torch.FloatStorage(0, wrap_storage=memory), RuntimeError, "No positional argum"),
        (lambda: torch.FloatStorage(wrap_storage=typed), TypeError, "Argument 'wrap_storage' must"),
        (lambda: torch.TypedStorage(wrap_storage=memory), RuntimeError, "Argument 'dtype' must be"),
    ):
        with pytest.raises(kind, match="received an invalid combination of arguments") as caught:
            call()
        assert str(caught.value).splitlines()[-1].startswith(last)
    with raises_beginning(
        TypeError, "TypedStorage.__new__() got an unexpected keyword argument 'other'"
    ):
        torch.FloatStorage(other=1)
    with raises_beginning(TypeError, "new(): invalid data type 'str'"):
        torch.FloatStorage("a")
    with raises_beginning(RuntimeError, "Only child classes of _LegacyStorage can be instantiated"):
        torch.storage._LegacyStorage()
    with raises_beginning(
        RuntimeError, "torch.UntypedStorage(): Storage device not recognized: xla"
    ):
        torch.TypedStorage(dtype=torch.float, device="xla")


def test_tensors_are_made_on_storages():
    x = torch.arange(3)
    assert torch.tensor(x.storage(), dtype=torch.int64).data_ptr() == x.data_ptr()
    assert torch.tensor(x.untyped_storage(), dtype=torch.int64).tolist() == [0, 1, 2]
    assert torch.FloatTensor(torch.FloatStorage([1, 2])).tolist() == [1, 2]
    message = "Expected a Storage of type Float or an UntypedStorage, but got Long"
    with raises_beginning(RuntimeError, message):
        torch.tensor(x.storage())
    with raises_beginning(
        RuntimeError, message.replace("got", "got type") + " for argument 1 'storage'"
    ):
        torch.Tensor(x.storage())
    assert x.storage_type() is torch.LongStorage


def test_elements_in_another_dtype():
    s = torch.IntStorage([-1, 0, 2])
    assert s.float().type() == "torch.FloatStorage" and s.float().tolist() == [-1, 0, 2]
    assert s.byte().tolist() == [255, 0, 2] and s.bool().tolist() == [True, False, True]
    assert s.int().data_ptr() != s.data_ptr()
    assert torch.UntypedStorage([1, 2]).float().tolist() == [1.0, 2.0]
    assert s.complex_double().tolist() == [-1, 0, 2]


def test_buffers_and_files(tmp_path):
    given = bytearray([1, 2, 3, 4])
    assert torch.ShortStorage.from_buffer(given, "big").tolist() == [258, 772]
    assert torch.ShortStorage.from_buffer(given, "little").tolist() == [513, 1027]
    assert torch.ByteStorage.from_buffer(given, offset=1, count=2).tolist() == [2, 3]
    assert torch.BoolStorage.from_buffer(bytearray([0, 5]), "big").tolist() == [False, True]
    with raises_beginning(ValueError, "buffer size (3) must be a multiple of element size (2)"):
        torch.ShortStorage.from_buffer(bytearray(3), "little")
    with raises_beginning(
        ValueError, "buffer has only 4 elements after offset 0, but specified a size of 8"
    ):
        torch.ByteStorage.from_buffer(given, count=8)
    with raises_beginning(
        ValueError, "invalid byte_order 'foo' (expected 'big', 'little', or 'native')"
    ):
        torch.ShortStorage.from_buffer(given, "foo")
    path = str(tmp_path / "file")
    s = torch.FloatStorage.from_file(path, True, 2)
    x = torch.FloatTensor(s).fill_(3)
    assert s.data_ptr() == x.data_ptr() and s.filename == path
    assert torch.from_file(path, size=2).tolist() == [3, 3]
    with raises_beginning(RuntimeError, "from_file can only be called on derived classes"):
        torch.TypedStorage.from_file(path, False, 2)


def test_copies_and_files_of_storages():
    x = torch.arange(3)
    s = x.storage()
    for copied in (copy.copy(s), copy.deepcopy(s), pickle.loads(pickle.dumps(s)), s.clone()):
        assert copied.tolist() == [0, 1, 2] and copied.data_ptr() != s.data_ptr()
    tensor, shared = copy.deepcopy([x, s])
    assert tensor.data_ptr() == shared.data_ptr()
    file = io.BytesIO()
    torch.save([x, s], file)
    file.seek(0)
    tensor, shared = torch.load(file)
    assert type(shared) is torch.TypedStorage and shared.tolist() == [0, 1, 2]
    assert tensor.data_ptr() == shared.data_ptr()


def test_storage_of_bytes_without_a_warning(recwarn):
    assert torch.ByteStorage._from_buffer(b"abc").dtype is torch.uint8
    recwarn.clear()
    storage = torch.FloatStorage._from_buffer(b"abcdefgh", byte_order="native")
    assert not recwarn.list
    assert storage._tensor().tolist() == [1.6777999408082104e22, 4.371022013021617e24]
