"""What was scripted is saved with its numbers, and the names of its classes."""

import io

import pytest

import tapegrad as torch
from tapegrad import nn


class Net(nn.Module):
    def __init__(self, activation=nn.functional.gelu):
        super().__init__()
        self.layer = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
        self.activation = activation

    def forward(self, x):
        return self.activation(self.layer(x))


@torch.jit.script
def doubled(x):
    return x * 2


def saved(thing, **options):
    file = io.BytesIO()
    torch.jit.save(thing, file, **options)
    return io.BytesIO(file.getvalue())


def test_a_module_comes_back(tmp_path):
    net = torch.jit.script(Net().eval())
    x = torch.randn(4, 2)
    net.save(tmp_path / "net.pt")
    for other in (torch.jit.load(saved(net)), torch.jit.load(tmp_path / "net.pt")):
        assert torch.equal(other(x), net(x)) and not other.layer.training
        assert repr(other) == repr(net)


def test_a_function_comes_back():
    assert torch.jit.load(saved(doubled)) is doubled


def test_files_beside_it_come_back():
    wanted = {"a": "", "b": "", "c": ""}
    torch.jit.load(saved(doubled, _extra_files={"a": b"1", "b": "2"}), _extra_files=wanted)
    assert wanted == {"a": b"1", "b": b"2", "c": b""}


def test_what_is_not_scripted_has_no_save():
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'save'"):
        torch.jit.save(Net(), io.BytesIO())


def test_a_class_without_a_place_cannot_be_saved():
    class Inside(nn.Module):
        pass

    with pytest.raises(RuntimeError, match="saved by reference"):
        torch.jit.save(torch.jit.script(Inside()), io.BytesIO())


def test_hooks_are_not_saved():
    net = torch.jit.script(Net())
    net.register_forward_hook(lambda *_: None)
    with pytest.raises(RuntimeError, match="Net has hooks"):
        torch.jit.save(net, io.BytesIO())


def test_a_class_that_is_not_imported_is_named(monkeypatch):
    file = saved(torch.jit.script(Net()))
    monkeypatch.delitem(globals(), "Net")
    with pytest.raises(RuntimeError, match="which is not imported here"):
        torch.jit.load(file)


def test_files_of_others_are_refused(tmp_path):
    with pytest.raises(ValueError, match="does not exist"):
        torch.jit.load(tmp_path / "nothing.pt")
    with pytest.raises(ValueError, match="is a directory"):
        torch.jit.load(tmp_path)
    torch.save({"weight": torch.ones(2)}, tmp_path / "state.pt")
    with pytest.raises(RuntimeError, match="no scripted or traced module"):
        torch.jit.load(tmp_path / "state.pt")


def test_compiled_torchscript_is_refused(tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "script.pt", "w") as file:
        file.writestr("script/constants.pkl", b"")
    with pytest.raises(NotImplementedError, match="compiled TorchScript"):
        torch.jit.load(tmp_path / "script.pt")
