"""Files that are trusted: `load(weights_only=False)` reads them with Python's own unpickler."""

import io
import pickle
import zipfile
from collections import defaultdict

import numpy as np
import pytest

import tapegrad as torch
from tests.serialization import pytorch_files as files


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 3)
        self.activation = torch.nn.functional.gelu

    def forward(self, x):
        return self.activation(self.layer(x))


class Options:
    def __init__(self, rate):
        self.rate = rate

    def __setstate__(self, state):
        self.__dict__.update(state, restored=True)


def again(x, **options):
    file = io.BytesIO()
    torch.save(x, file)
    file.seek(0)
    return torch.load(file, **options)


def archive_of(program):
    """An archive whose pickle is `program`."""
    file, made = io.BytesIO(), io.BytesIO()
    torch.save(None, file)
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            new.writestr(name, program if name.endswith("data.pkl") else old.read(name))
    return made.getvalue()


@pytest.mark.parametrize("options", [{"weights_only": False}, {"pickle_module": pickle}])
def test_objects_of_a_programs_own_classes_come_back(options):
    net = Net()
    found = again({"net": net, "options": Options(0.5)}, **options)
    x = torch.ones(1, 2)
    assert type(found["net"]) is Net and found["net"](x).tolist() == net(x).tolist()
    assert vars(found["options"]) == {"rate": 0.5, "restored": True}


@pytest.mark.parametrize(
    "x", [defaultdict(list, {1: [2]}), slice(1, 2), range(3), print, np.dtype("f4"), Net]
)
def test_what_python_pickles_comes_back_only_if_the_file_is_trusted(x):
    assert again(x, weights_only=False) == x
    with pytest.raises(pickle.UnpicklingError):
        again(x)


def test_an_optimizer_comes_back_with_its_parameters_shared():
    weight = torch.nn.Parameter(torch.ones(2))
    adam = torch.optim.Adam([weight], 0.1)
    weight.sum().backward()
    adam.step()
    adam_again, weight_again = again([adam, weight], weights_only=False)
    assert adam_again.param_groups[0]["params"][0] is weight_again
    assert adam_again.state[weight_again]["exp_avg"].tolist() == pytest.approx([0.1, 0.1])


def test_a_file_names_what_it_calls():
    data = archive_of(b"\x80\x02cbuiltins\nlen\n\x8c\x03abc\x85R.")
    assert torch.load(io.BytesIO(data), weights_only=False) == 3
    with pytest.raises(pickle.UnpicklingError, match="GLOBAL len"):
        torch.load(io.BytesIO(data))


def test_another_module_of_pickles_reads_the_file():
    named = []

    class Unpickler(pickle.Unpickler):
        def find_class(self, module, name):
            named.append(name)
            return super().find_class(module, name)

    class Noted:
        pass

    Noted.Unpickler = Unpickler
    assert vars(again(Options(2), pickle_module=Noted))["rate"] == 2
    assert named == ["Options"]


def test_views_share_their_memory_and_places_are_mapped():
    x = torch.arange(4.0)
    first, second = again([x, x[1:]], weights_only=False, map_location="cpu")
    first[1] = 9
    assert second.tolist() == [9, 2, 3]


def test_a_file_in_the_format_before_the_archive_is_read():
    found = torch.load(io.BytesIO(files.LEGACY), weights_only=False)
    found["x"][2] = 9
    assert found["part"].tolist() == [9, 3]


@pytest.mark.parametrize("cut", [3, 40])
def test_a_file_that_was_cut_says_so(cut):
    with pytest.raises((RuntimeError, pickle.UnpicklingError), match=r"corrupted|truncated|EOF"):
        torch.load(io.BytesIO(files.LEGACY[:-cut]), weights_only=False)


def test_classes_of_pytorch_are_ours_whether_torch_is_served_or_not():
    found = torch.load(io.BytesIO(files.MODULE), weights_only=False)
    assert type(found) is torch.nn.Sequential and type(found[0]) is torch.nn.Linear


def test_a_module_that_is_lacking_is_named():
    data = archive_of(b"\x80\x02ctorch.nowhere\nThing\n.")
    with pytest.raises(ModuleNotFoundError, match=r"torch\.nowhere"):
        torch.load(io.BytesIO(data), weights_only=False)


def test_the_environment_decides_where_the_call_does_not(monkeypatch):
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    with pytest.warns(UserWarning, match="FORCE_NO_WEIGHTS_ONLY_LOAD detected, since the`weights"):
        assert again(Options(1)).rate == 1
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        again(Options(1), weights_only=False)


def test_an_unpickler_of_ones_own_is_not_safe():
    with pytest.raises(RuntimeError, match="explicit pickle_module"):
        again(1, weights_only=True, pickle_module=pickle)
