"""`torch._utils`: lists of tensors made one, devices, errors of other processes."""

import pytest

import tapegrad as torch
from tests.needs import pytorch

utils = torch._utils


def outcome(function, *args):
    try:
        return function(*args)
    except Exception as error:
        return type(error).__name__, str(error).splitlines()[0]


def test_tensors_become_one_and_many_again():
    given = [torch.arange(2.0), torch.arange(4.0).view(2, 2).t()]
    flat = utils._flatten_dense_tensors(given)
    assert flat.tolist() == [0, 1, 0, 2, 1, 3]
    back = utils._unflatten_dense_tensors(flat, given)
    assert [x.tolist() for x in back] == [x.tolist() for x in given]


@pytest.mark.parametrize("limit", [1, 8, 12, 100])
def test_groups_are_pytorchs(limit):
    def groups(torch):
        given = [torch.ones(2), torch.ones(2, dtype=torch.int64), torch.ones(3), torch.ones(1)]
        return [[x.tolist() for x in row] for row in torch._utils._take_tensors(given, limit)]

    assert groups(torch) == groups(pytorch())


def test_tensors_in_the_order_of_others():
    a, b = torch.ones(1), torch.ones(1, dtype=torch.int64)
    found = utils._reorder_tensors_as([a, a, b], [b, a, a])
    assert [x.dtype for x in found] == [b.dtype, a.dtype, a.dtype]


@pytest.mark.parametrize(
    "args", [(0,), ("cpu",), ("cpu", False, True), (None,), (None, True), ("cuda:2",)]
)
def test_indices_are_pytorchs(args):
    expected = outcome(pytorch()._utils._get_device_index, *args)
    assert outcome(utils._get_device_index, *args) == expected


class Picky(Exception):
    def __init__(self, one, two):
        super().__init__(one, two)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (KeyError("a"), KeyError),
        (ZeroDivisionError("b"), ZeroDivisionError),
        (Picky(1, 2), RuntimeError),
    ],
)
def test_errors_are_raised_again(error, kind):
    try:
        raise error
    except Exception:
        wrapped = utils.ExceptionWrapper(where="in worker 3")
    with pytest.raises(kind) as found:
        wrapped.reraise()
    name = type(error).__name__
    assert str(found.value).startswith(f"Caught {name} in worker 3.\nOriginal Traceback (most rec")


def test_names_and_states():
    assert utils._import_dotted_name("os.path.join").__name__ == "join"
    assert utils._element_size(torch.float64) == 8
    assert utils.get_tensor_metadata(torch.ones(1, dtype=torch.complex64).conj()) == {"conj": True}

    class Thing:
        @utils.classproperty
        def name(cls):
            return cls.__name__

    assert Thing.name == "Thing"
    thing = utils._set_obj_state(Thing(), {"x": 1})
    assert thing.x == 1 and utils._get_obj_state(thing) == {"x": 1}


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_a_tensor_is_rebuilt_from_its_storage():
    storage = torch.arange(6.0).storage()
    found = utils._rebuild_tensor_v2(storage, 1, (2, 2), (2, 1), False, {})
    assert found.tolist() == [[1.0, 2.0], [3.0, 4.0]]
