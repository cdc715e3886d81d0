"""Files that want what they must not get."""

import collections
import io
import os
import pickle
import sys
import zipfile

import numpy as np
import pytest

import tapegrad as torch
from tests.messages import raises
from tests.serialization import pytorch_files as files
from tools import hostile_files as hostile


def archive(program, storage=b"\0" * 8, level=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", level) as out:
        out.writestr("archive/data.pkl", program)
        out.writestr("archive/version", "3\n")
        out.writestr("archive/data/0", storage)
    return io.BytesIO(file.getvalue())


class Reference:
    def __init__(self, *given):
        self.given = given


class Call:
    def __init__(self, name, *args):
        self.name, self.args = name, args


class Pickler(pickle._Pickler):
    """Writes calls of any name."""

    def persistent_id(self, x):
        return x.given if isinstance(x, Reference) else None

    def reducer_override(self, x):
        if isinstance(x, Call):
            return Name(x.name), x.args
        return str(x) if isinstance(x, Name) else NotImplemented

    def save_global(self, x, name=None):
        if not isinstance(x, Name):
            return super().save_global(x, name)
        self.write(b"c" + x.name.replace(" ", "\n").encode() + b"\n")


class Name:
    def __init__(self, name):
        self.name = name

    def __call__(self):
        raise AssertionError


def program(x):
    file = io.BytesIO()
    Pickler(file, 2).dump(x)
    return file.getvalue()


def tensor(*args, key="0", place="cpu", n=2):
    storage = ("storage", Name("torch FloatStorage"), key, place, n)
    rest = (False, collections.OrderedDict())
    return archive(
        program(Call("torch._utils _rebuild_tensor_v2", Reference(*storage), *args, *rest))
    )


def test_a_function_of_the_system_is_refused_by_name():
    with pytest.raises(pickle.UnpicklingError) as caught:
        torch.load(io.BytesIO(files.SYSTEM))
    assert (
        "\n\n\nTrying to load unsupported GLOBAL posix.system whose module posix is blocked."
        in str(caught.value)
    )


@pytest.mark.parametrize("name", ["builtins eval", "builtins getattr", "pickle loads", "os system"])
def test_nothing_that_runs_code_is_let_in(name):
    file = archive(program(Call(name, "1")))
    with pytest.raises(pickle.UnpicklingError, match="GLOBAL"):
        torch.load(file)


def test_a_refused_class_says_how_to_allow_it():
    with pytest.raises(pickle.UnpicklingError) as caught:
        torch.load(archive(program(Name("a.b C"))))
    assert str(caught.value).startswith(
        "Weights only load failed. This file can still be loaded, to do so you have two options, "
    )
    assert (
        "WeightsUnpickler error: Unsupported global: GLOBAL a.b.C was not an allowed global by "
        "default. Please use `torch.serialization.add_safe_globals([a.b.C])` or the "
        "`torch.serialization.safe_globals([a.b.C])` context manager to allowlist this global if "
        "you trust this class/function.\n\nCheck the documentation" in str(caught.value)
    )
    assert "state_dict()" in caught.value.__notes__[0]


class Options:
    def __init__(self):
        self.lr = 0.5


def test_a_class_that_is_allowed_is_made():
    file = io.BytesIO()
    torch.save(Options(), file)
    name = f"{Options.__module__}.Options"
    assert torch.serialization.get_unsafe_globals_in_checkpoint(file) == [name]
    with torch.serialization.safe_globals([Options]):
        file.seek(0)
        assert torch.load(file).lr == 0.5
    assert torch.serialization.get_safe_globals() == []
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match=r"\.Options was not"):
        torch.load(file)


def test_a_sparse_tensor_is_read():
    found = torch.load(io.BytesIO(files.SPARSE))
    assert torch.is_tensor(found) and found.is_sparse and found._nnz() == found._values().numel()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((0, (3,), (1,)), "Trying to resize storage that is not resizable"),
        ((1, (2,), (1,)), "Trying to resize storage that is not resizable"),
        ((-1, (2,), (1,)), "Tensor: invalid storage offset -1"),
        ((0, (2,), (1, 1)), "unequal size length (1) and stride length (2)"),
        ((0, (2,), (-1,)), "Storage size calculation overflowed with sizes=[2] and strides=[-1]"),
        ((0, (2**40, 2**40), (0, 0)), "numel: integer multiplication overflow"),
        ((0, (-2,), (1,)), "numel: integer multiplication overflow"),
    ],
)
def test_a_tensor_lies_within_its_memory(args, message):
    with raises(RuntimeError, message):
        torch.load(tensor(*args))


@pytest.mark.parametrize(
    ("storage", "message"),
    [
        (("0", "cpu", 3), "record size .8 bytes. does not match expected size .12 bytes"),
        (("0", "cpu", 2**50), "does not match expected size"),
        (("1", "cpu", 2), "failed locating file data/1: file not found"),
        (("../data.pkl", "cpu", 2), r"failed locating file data/\.\./data\.pkl: file not found"),
        (("0", "cuda:0", 2), "Attempting to deserialize object on a CUDA device"),
        (("0", "nowhere", 2), "don't know how to restore data location .*tagged with nowhere"),
    ],
)
def test_memory_is_a_record_of_its_size(storage, message):
    key, place, n = storage
    with pytest.raises(RuntimeError, match=message):
        torch.load(tensor(0, (2,), (1,), key=key, place=place, n=n))


def test_memory_from_elsewhere_is_placed_as_asked():
    for place in ("cpu", torch.device("cpu"), {"cuda:0": "cpu"}, lambda storage, place: storage):
        file = tensor(0, (2,), (1,), place="cuda:0")
        assert torch.load(file, map_location=place).tolist() == [0, 0]


@pytest.mark.parametrize(
    "code",
    [
        b"",
        b"\x80\x02",
        b"\x80\x02R.",
        b"\x80\x02h\x05.",
        b"\x80\x02\xff.",
        b"\x80\x02X\xff\xff\xff\xffabc.",  # a text of 4 GB
        b"\x80\x05\x96\xff\xff\xff\xff\xff\xff\xff\x7f.",  # a bytearray of 8 EB
        b"\x80\x02ccollections\nOrderedDict\n]\x81.",
        b"\x80\x02(icollections\nOrderedDict\n.",
        b"\x80\x02cbuiltins\nbytearray\nJ\xff\xff\xff\x7f\x85R.",  # bytearray(2**31 - 1)
        b"\x80\x02ctorch\nTensor\nJ\xff\xff\xff\x7f\x85R.",
        b"\x80\x02ctorch\nTensor\n)\x81.",
        b"\x80\x02ctorch\nSize\n]K\x01a\x85R}X\x01\x00\x00\x00ab.",
        b"\x80\x02}]Ns.",
        b"\x80\x02cbuiltins\nset\n]]a\x85R.",
        b"\x80\x02K\x01K\x02a.",
    ],
)
def test_a_pickle_that_makes_no_sense_is_refused(code):
    with pytest.raises(pickle.UnpicklingError):
        torch.load(archive(code))


def test_keys_are_hashed_only_if_that_is_quick():
    deep = b"\x80\x02}" + b")" + b"\x85" * 500_000 + b"Ns."
    doubling = b"\x80\x02})" + b"q\x00h\x00\x86" * 64 + b"Ns."
    for code in (deep, doubling):
        with pytest.raises(pickle.UnpicklingError, match="a key has too many parts"):
            torch.load(archive(code))


@pytest.mark.parametrize("container", [dict.fromkeys, set])
def test_keys_of_one_hash_are_few(container):
    prime = sys.hash_info.modulus
    keys = [prime * i for i in range(3000)]
    assert {hash(key) for key in keys} == {0}
    with pytest.raises(pickle.UnpicklingError, match="too many keys of the pickle have one hash"):
        torch.load(archive(pickle.dumps(container(keys), 4)))
    few = container(keys[:900] + list(range(1, 3000)))
    assert torch.load(archive(pickle.dumps(few, 4))) == few


def test_a_large_index_of_the_memo_and_deep_lists_cost_nothing():
    assert torch.load(archive(b"\x80\x02K\x01r\xff\xff\xff\xff.")) == 1
    x = torch.load(archive(b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b"."))
    assert len(x) == 1


def test_packed_records_are_refused():
    file = archive(program(list(range(10_000))), level=zipfile.ZIP_DEFLATED)
    with pytest.raises(RuntimeError, match="compressed or encrypted"):
        torch.load(file)


def test_no_file_of_torch_is_refused():
    with raises(RuntimeError, "Invalid magic number; corrupt file?"):
        torch.load(io.BytesIO(b"hello world"))
    with raises(RuntimeError, "Invalid magic number; corrupt file?"):
        torch.load(io.BytesIO(pickle.dumps({"a": 1}, 2)))
    with pytest.raises(EOFError):
        torch.load(io.BytesIO())
    with raises(
        AttributeError,
        "'int' object has no attribute 'seek'. You can only torch.load from a file that is "
        "seekable. Please pre-load the data into a buffer like io.BytesIO and try to load from it "
        "instead.",
    ):
        torch.load(5)


def refused(code, *memory, **options):
    """Whether the archive of a pickle is refused for what it would take."""
    with pytest.raises(pickle.UnpicklingError, match="much larger than the file"):
        torch.load(io.BytesIO(hostile.archive(hostile.PROTO + code + b".", *memory)), **options)


def test_what_is_said_once_and_copied_often_is_refused():
    found = {name: code for name, code, *_ in hostile.copies()}
    for name in ("a text encoded", "states", "attributes", "tensors"):
        refused(found[name])


@pytest.mark.parametrize("code", [b"\x8f", b"]", b"}", b"}NNs"])
def test_empty_containers_by_the_million_are_refused(code):
    refused(b"N" + code * (2_000_000 // len(code)))


def test_objects_that_people_save_are_loaded_by_the_hundred_thousand():
    words = {f"word {i}": i for i in range(100_000)}
    records = [{"a": i} for i in range(150_000)]
    rows = list(torch.ones(10_000, 2))
    file = io.BytesIO()
    torch.save([words, records, rows, [None] * 1_000_000], file)
    file.seek(0)
    found = torch.load(file)
    assert found[0] == words and found[1] == records and len(found[2]) == 10_000


@pytest.mark.parametrize("names", [("conj",), ("neg",), ("conj", "neg")])
def test_a_number_seen_often_is_conjugated_once(names):
    memory = hostile.storage(1, "ComplexFloatStorage")
    sizes, strides = hostile.shape(2**30, 2**20), hostile.shape(0, 0)
    code = hostile.tensor(memory, 0, sizes, strides, hostile.flags(*names))
    data = hostile.archive(hostile.PROTO + code + b".", np.array([1 + 2j], "c8").tobytes())
    found = torch.load(io.BytesIO(data))
    assert found.shape == (2**30, 2**20) and found.stride() == (0, 0)
    expected = 1 - 2j if "conj" in names else 1 + 2j
    assert found[5, 7].item() == (-expected if "neg" in names else expected)


def test_overlapping_elements_are_conjugated_once():
    memory = hostile.storage(3, "ComplexFloatStorage")
    shapes = (hostile.shape(2, 2), hostile.shape(1, 1))
    code = hostile.tensor(memory, 0, *shapes, hostile.flags("conj"))
    data = hostile.archive(hostile.PROTO + code + b".", np.array([1j, 2j, 3j], "c8").tobytes())
    assert torch.load(io.BytesIO(data)).tolist() == [[-1j, -2j], [-2j, -3j]]


EITHER = pickle.UnpicklingError, RuntimeError


def test_integers_of_any_size_where_sizes_belong_are_refused():
    for name, code, *_ in hostile.numbers():
        if "huge" in name or "0x8000000000000000" in name:
            if name.startswith(("slice", "key", "complex 0x", "device 0x7")):
                continue  # they may be of any size, or nearly
            file = io.BytesIO(hostile.archive(hostile.PROTO + code + b"."))
            huge = "huge" in name
            with pytest.raises(pickle.UnpicklingError if huge else EITHER):
                torch.load(file)


def test_integers_of_more_than_255_bytes_are_no_part_of_weights():
    for code in (b"](" + hostile.number(hostile.HUGE) + b"e", hostile.number(-hostile.HUGE)):
        file = io.BytesIO(hostile.archive(hostile.PROTO + code + b"."))
        with pytest.raises(pickle.UnpicklingError, match="Unsupported operand 139"):
            torch.load(file)
        file.seek(0)
        assert torch.load(file, weights_only=False) in ([hostile.HUGE], -hostile.HUGE)


def test_keys_of_thousands_of_digits_are_refused():
    code = b"}" + hostile.number(2**1200) + b"Ns"
    with pytest.raises(pickle.UnpicklingError, match="too many digits"):
        torch.load(io.BytesIO(hostile.archive(hostile.PROTO + code + b".")))


def test_a_function_of_nn_functional_that_is_allowed_is_found():
    layer = torch.nn.TransformerEncoderLayer(4, 2, 4, activation=torch.nn.functional.relu)
    file = io.BytesIO()
    torch.save(layer, file)
    classes = [torch.nn.TransformerEncoderLayer, torch.nn.MultiheadAttention]
    classes += [type(layer.self_attn.out_proj), torch.nn.Linear, torch.nn.Dropout]
    classes += [torch.nn.LayerNorm]
    file.seek(0)
    with (
        torch.serialization.safe_globals(classes),
        pytest.raises(pickle.UnpicklingError, match=r"torch\.nn\.functional\.relu was not"),
    ):
        torch.load(file)
    file.seek(0)
    with torch.serialization.safe_globals([*classes, torch.nn.functional.relu]):
        assert torch.load(file).activation is torch.nn.functional.relu


@pytest.mark.parametrize("made", [b"s", b"(K\x01K\x02u", b"(K\x01\x90", b"a", b"(K\x01e"])
def test_what_a_refused_call_would_have_made_takes_any_items(made):
    code = b"\x80\x04cfoo\nBar\n)R" + (b"K\x01" * (2 if made == b"s" else made == b"a")) + made
    names = torch.serialization.get_unsafe_globals_in_checkpoint(archive(code + b"."))
    assert names == ["foo.Bar"]


def test_a_blocked_module_is_so_for_what_is_allowed_too():
    file = io.BytesIO()
    torch.save(os.execv, file)
    file.seek(0)
    with torch.serialization.safe_globals([os.execv]):
        with pytest.raises(pickle.UnpicklingError, match="whose module posix is blocked"):
            torch.load(file)
