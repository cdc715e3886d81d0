"""Weights from an address, models of a folder, and where downloads go."""

import hashlib
import os
import sys
import zipfile

import pytest

import tapegrad as torch
from tapegrad import hub


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    for name in ("TORCH_HUB", "TORCH_MODEL_ZOO", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(hub, "_hub_dir", None)
    return tmp_path / "home"


@pytest.fixture
def weights(tmp_path):
    torch.save({"w": torch.ones(2)}, tmp_path / "net.pth")
    return tmp_path / "net.pth"


def test_weights_are_downloaded_once(weights, home, capsys):
    address = weights.as_uri()
    for said in (f'Downloading: "{address}" to {home}/hub/checkpoints/net.pth\n', ""):
        found = hub.load_state_dict_from_url(address, progress=False)
        assert found["w"].tolist() == [1.0, 1.0]
        assert capsys.readouterr().out == said


def test_a_hash_in_the_name_is_checked_if_one_asks(weights, home, capsys):
    digits = hashlib.sha256(weights.read_bytes()).hexdigest()
    good = weights.with_name(f"net-{digits[:8]}.pth")
    bad = weights.with_name("net-deadbeef.pth")
    for path in (good, bad):
        path.write_bytes(weights.read_bytes())
    load = hub.load_state_dict_from_url
    assert load(good.as_uri(), check_hash=True, progress=False).keys() == {"w"}
    with pytest.raises(RuntimeError, match=f'expected "deadbeef", got "{digits}"'):
        load(bad.as_uri(), check_hash=True, progress=False)
    assert sorted(os.listdir(home / "hub/checkpoints")) == [good.name]
    assert load(bad.as_uri(), progress=False).keys() == {"w"}
    other = load(weights.as_uri(), home / "other", torch.device("cpu"), False, file_name="x.pth")
    assert other.keys() == {"w"} and os.listdir(home / "other") == ["x.pth"]


def test_a_zipped_file_of_old(weights, home):
    path = weights.with_suffix(".zip")
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(weights, "old.pth")
    with pytest.warns(FutureWarning, match="Falling back to the old format < 1.6"):
        found = hub.load_state_dict_from_url(path.as_uri(), progress=False, weights_only=True)
    assert found["w"].tolist() == [1.0, 1.0]
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(weights, "../old.pth")
    with pytest.warns(FutureWarning), pytest.raises(RuntimeError, match="in a folder"):
        hub.load_state_dict_from_url(path.as_uri(), home / "again", progress=False)


def test_where_downloads_go(home, monkeypatch):
    assert hub.get_dir() == f"{home}/hub"
    hub.set_dir("~/elsewhere")
    assert hub.get_dir() == os.path.expanduser("~/elsewhere")
    hub._hub_dir = None
    monkeypatch.delenv("TORCH_HOME")
    assert hub.get_dir() == os.path.expanduser("~/.cache/torch/hub")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert hub.get_dir() == "/cache/torch/hub"
    monkeypatch.setenv("TORCH_HUB", "/of/old")
    with pytest.warns(UserWarning, match="TORCH_HUB is deprecated, please use env TORCH_HOME"):
        assert hub.get_dir() == "/cache/torch/hub"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "hubconf.py").write_text(
        "from beside import half\ndependencies = ['os']\nx = 3\n"
        "def net(a, b=2):\n    return a, half(b)\n"
    )
    (tmp_path / "beside.py").write_text("def half(x):\n    return x / 2\n")
    yield tmp_path
    sys.modules.pop("beside", None)


def test_a_model_of_a_folder(folder):
    before = list(sys.path)
    assert hub.load(str(folder), "net", 1, b=4, source="local") == (1, 2.0)
    assert sys.path == before


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        (("net", 1, 2, 3), TypeError, "takes from 1 to 2 positional arguments"),
        (("nope",), RuntimeError, "Cannot find callable nope in hubconf"),
        (("x",), RuntimeError, "Cannot find callable x in hubconf"),
        ((3,), ValueError, "model should be a string of function name"),
    ],
)
def test_what_a_folder_has_not(folder, given, error, text):
    with pytest.raises(error, match=text):
        hub.load(str(folder), *given, source="local")


def test_what_cannot_be_loaded(tmp_path):
    with pytest.raises(FileNotFoundError):
        hub.load(str(tmp_path), "net", source="local")
    (tmp_path / "hubconf.py").write_text("dependencies = ['no_such', 'nor_such']\n")
    with pytest.raises(RuntimeError, match="Missing dependencies: no_such, nor_such"):
        hub.load(str(tmp_path), "net", source="local")
    with pytest.raises(ValueError, match=r'Unknown source: "there"\. Allowed values: "github"'):
        hub.load(str(tmp_path), "net", source="there")


def test_github_is_refused_by_name():
    for call in (lambda: hub.load("a/b", "net"), lambda: hub.list("a/b"), lambda: hub.help("a", 1)):
        with pytest.raises(NotImplementedError, match=r"no torch\.hub.* of repositories on GitHub"):
            call()
