"""Files: what is written, also with the pickler of another module."""

import copy
import io
import pickle
from types import SimpleNamespace

import pytest

import tapegrad as torch


class Opaque:
    """What has no state of its own accord."""

    def __init__(self, weight, words):
        self.weight, self.words = weight, words

    def __reduce_ex__(self, protocol):
        raise TypeError("only with help")


class Helping(pickle.Pickler):
    """A pickler as cloudpickle's: it says what certain objects are made of."""

    dispatch_table = {slice: lambda x: (slice, (x.start, x.stop, x.step))}  # noqa: RUF012

    def reducer_override(self, obj):
        if type(obj) is Opaque:
            return Opaque, (obj.weight, obj.words)
        return NotImplemented


HELPING = SimpleNamespace(Pickler=Helping, __name__="helping")


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_a_pickler_says_what_objects_are_made_of_and_tensors_stay_apart(protocol):
    x = torch.arange(4.0)
    file = io.BytesIO()
    given = {"own": Opaque(x, "abc"), "x": x, "part": slice(1, None)}
    torch.save(given, file, pickle_module=HELPING, pickle_protocol=protocol)
    names = torch.PyTorchFileReader(io.BytesIO(file.getvalue())).get_all_records()
    assert [name for name in names if name.startswith("data/")] == ["data/0"]
    file.seek(0)
    found = torch.load(file, weights_only=False)
    assert found["own"].words == "abc" and found["part"] == slice(1, None)
    found["x"][0] = 9
    assert found["own"].weight.tolist() == [9, 1, 2, 3]


def test_without_help_they_are_refused():
    with pytest.raises(TypeError, match="only with help"):
        torch.save(Opaque(1, 2), io.BytesIO())


def test_cloudpickle_saves_functions_and_local_layers():
    cloudpickle = pytest.importorskip("cloudpickle")

    class Twice(torch.nn.Linear):
        def forward(self, x):
            return 2 * super().forward(x)

    layer, file = Twice(2, 2), io.BytesIO()
    torch.save((layer, lambda x: x + 1), file, pickle_module=cloudpickle)
    file.seek(0)
    again, more = torch.load(file, weights_only=False, pickle_module=pickle)
    x = torch.ones(2)
    assert torch.equal(again(x), layer(x)) and more(1) == 2


def test_a_pickler_that_writes_by_itself_is_refused():
    module = SimpleNamespace(Pickler=pickle._Pickler.__base__, __name__="other")
    with pytest.raises(NotImplementedError, match="pickle_module=other"):
        torch.save(1, io.BytesIO(), pickle_module=module)


def again(obj, *allowed):
    file = io.BytesIO()
    torch.save(obj, file)
    file.seek(0)
    with torch.serialization.safe_globals(list(allowed)):
        return torch.load(file)


def test_tensors_without_memory_keep_their_layout():
    x = torch.ones(3, 2, device="meta").t()
    weight = torch.nn.Parameter(torch.ones(2, device="meta"))
    y, loaded = again([x, weight])
    assert y.is_meta and y.shape == (2, 3) and y.stride() == (1, 2) and not y.requires_grad
    assert type(loaded) is torch.nn.Parameter and loaded.is_meta and loaded.shape == (2,)


class Named(torch.Tensor):
    """A tensor of a class that has an attribute in a slot, too."""

    __slots__ = ("label", "unset")

    def new_empty(self, *size, **options):
        return super().new_empty(*size, **options).as_subclass(Named)


class Counted(torch.Tensor):
    """A tensor whose class says what its state is."""

    def __getstate__(self):
        return {"count": self.count + 1}

    def __setstate__(self, state):
        self.count = state["count"]


@pytest.mark.parametrize(
    "copied",
    [lambda x: again(x, Named), copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))],
    ids=["load", "copy", "deepcopy", "pickle"],
)
def test_tensors_of_a_class_keep_their_attributes_and_slots(copied):
    x = Named([1.0, 2.0])
    x.label, x.place = torch.zeros(2), "here"
    found = copied(x)
    assert type(found) is Named and found.tolist() == [1, 2]
    assert found.label.tolist() == [0, 0] and vars(found) == {"place": "here"}
    assert not hasattr(found, "unset")


@pytest.mark.parametrize("copied", [lambda x: again(x, Counted), copy.copy], ids=["load", "copy"])
def test_a_class_of_tensors_says_what_its_state_is(copied):
    x = torch.ones(2).as_subclass(Counted)
    x.count, x.other = 1, 3
    found = copied(x)
    assert vars(found) == {"count": 2}
