"""What stays of an old file when a new one takes its place."""

import os
import shutil
import stat
import tempfile

import pytest

import tapegrad as torch
from tapegrad.serialization import replacement
from tests.messages import raises

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions of POSIX")
DENIED = (
    "[enforce fail at inline_container.cc:747] . open file failed with strerror: Permission denied"
)


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.fixture
def path(tmp_path):
    torch.save(1, tmp_path / "x.pt")
    return tmp_path / "x.pt"


@pytest.fixture
def folder():
    """A folder of a user whom permissions concern: not root."""
    found = tempfile.mkdtemp()
    root = os.geteuid() == 0
    torch.save(0, os.path.join(found, "first"))  # what is imported later may not be readable
    assert torch.load(os.path.join(found, "first")) == 0
    os.remove(os.path.join(found, "first"))
    if root:
        os.chown(found, 65534, 65534)
        os.seteuid(65534)
    yield found
    os.chmod(found, 0o700)
    if root:
        os.seteuid(0)
    shutil.rmtree(found)


def failing():
    """Something of which the first bytes are written, and then no more."""
    raise OSError(28, "No space left on device")


def test_what_is_written_meanwhile_is_never_wider_than_the_old_file(path):
    os.chmod(path, 0o600)
    with replacement.replacing(path) as file:
        file.write(b"secret")
        file.flush()
        (hidden,) = set(os.listdir(path.parent)) - {"x.pt"}
        assert mode_of(path.parent / hidden) == 0o600
    assert mode_of(path) == 0o600 and path.read_bytes() == b"secret"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o755, 0o400 | 0o200])
def test_permissions_stay(path, mode):
    os.chmod(path, mode)
    torch.save(2, path)
    assert mode_of(path) == mode and torch.load(path) == 2


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o007])
def test_a_new_file_gets_what_the_umask_leaves(tmp_path, mask):
    before = os.umask(mask)
    try:
        with replacement.replacing(tmp_path / "new") as file:
            file.write(b"1")
            file.flush()
            (hidden,) = os.listdir(tmp_path)
            assert mode_of(tmp_path / hidden) == 0o666 & ~mask
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "new") == 0o666 & ~mask


def test_the_other_names_of_a_file_see_what_is_saved(path):
    os.link(path, path.parent / "other")
    torch.save(list(range(1000)), path)
    torch.save(2, path)
    assert torch.load(path.parent / "other") == 2 and os.stat(path).st_nlink == 2
    assert sorted(os.listdir(path.parent)) == ["other", "x.pt"]


def test_a_link_to_nothing_yet_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    torch.save(1, tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and torch.load(tmp_path / "target") == 1


@pytest.mark.parametrize("n_names", [1, 2])
def test_a_failure_while_writing_leaves_the_old_file(path, n_names):
    if n_names == 2:
        os.link(path, path.parent / "other")
    before, names = path.read_bytes(), os.listdir(path.parent)
    for n in (10, 100_000):
        with pytest.raises(OSError, match="No space"), replacement.replacing(path) as file:
            file.write(b"x" * n)
            failing()
    assert path.read_bytes() == before and os.listdir(path.parent) == names


def test_what_a_killed_process_left_is_removed_and_what_is_in_use_is_not(path):
    (path.parent / ".x.pt.0.tmp").write_bytes(b"left")
    with replacement.replacing(path) as outer:
        outer.write(b"outer")
        torch.save(3, path)
        assert torch.load(path) == 3 and len(os.listdir(path.parent)) == 2
    assert path.read_bytes() == b"outer" and os.listdir(path.parent) == ["x.pt"]


def test_a_browser_which_has_no_users_removes_nothing(path, monkeypatch):
    monkeypatch.delattr(os, "geteuid")
    (path.parent / ".x.pt.0.tmp").write_bytes(b"left")
    torch.save(3, path)
    assert torch.load(path) == 3


def test_a_link_under_the_hidden_name_is_not_followed(path):
    victim = path.parent / "victim"
    victim.write_bytes(b"mine")
    (path.parent / ".x.pt.0.tmp").symlink_to(victim)
    torch.save(2, path)
    assert torch.load(path) == 2 and victim.read_bytes() == b"mine"


def test_a_file_to_be_written_in_a_folder_that_is_not_is_written(folder):
    path = os.path.join(folder, "x.pt")
    torch.save(list(range(1000)), path)
    os.chmod(folder, 0o555)
    torch.save(2, path)
    assert torch.load(path) == 2 and os.listdir(folder) == ["x.pt"]
    with raises(RuntimeError, DENIED):
        torch.save(2, os.path.join(folder, "new"))


def test_a_folder_whose_names_cannot_be_read_is_written_to(folder):
    path = os.path.join(folder, "x.pt")
    os.chmod(folder, 0o300)
    torch.save(1, path)
    torch.save(2, path)
    assert torch.load(path) == 2


def test_a_file_that_may_not_be_written_is_left(folder):
    path = os.path.join(folder, "x.pt")
    torch.save(1, path)
    os.chmod(path, 0o444)
    with raises(RuntimeError, DENIED):
        torch.save(2, path)
    assert torch.load(path) == 1 and os.listdir(folder) == ["x.pt"]


@pytest.mark.skipif(getattr(os, "geteuid", int)() != 0, reason="gives files away")
def test_the_owner_stays(folder):
    path = os.path.join(folder, "x.pt")
    torch.save(1, path)
    os.seteuid(0)
    torch.save(2, path)
    assert os.stat(path).st_uid == 65534
    os.chown(path, 0, 0)
    os.chmod(path, 0o666)
    os.seteuid(65534)
    torch.save(3, path)
    assert os.stat(path).st_uid == 0 and torch.load(path) == 3


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path):
    with pytest.raises(RuntimeError, match="open file failed with strerror: Is a directory"):
        torch.save(1, tmp_path)
    assert os.listdir(tmp_path) == []
