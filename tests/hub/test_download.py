"""Files from addresses, of the file system and of a server on this machine."""

import hashlib
import http.server
import sys
import threading
from urllib.error import HTTPError, URLError

import pytest

from tapegrad.hub import download
from tapegrad.hub.download import download_url_to_file


@pytest.fixture
def served(tmp_path):
    """A folder, its address, and the names of the programs that asked for its files."""
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "net.pth").write_bytes(b"numbers" * 50_000)
    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=folder)

        def log_message(self, *args):
            asked.append(self.headers["User-Agent"])

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()
        thread.join()


def test_a_file_arrives_over_http(served, tmp_path, capsys):
    folder, address, asked = served
    download_url_to_file(f"{address}/net.pth", tmp_path / "kept", progress=False)
    assert (tmp_path / "kept").read_bytes() == (folder / "net.pth").read_bytes()
    assert asked == ["torch.hub"]
    assert capsys.readouterr().err == ""


def test_what_is_not_there_leaves_nothing(served, tmp_path):
    with pytest.raises(HTTPError, match="404"):
        download_url_to_file(f"{served[1]}/none.pth", tmp_path / "kept")
    with pytest.raises(URLError):
        download_url_to_file((tmp_path / "none.pth").as_uri(), tmp_path / "kept")
    assert [path.name for path in tmp_path.iterdir()] == ["served"]


def test_a_hash_is_checked(served, tmp_path):
    folder, address, _ = served
    digits = hashlib.sha256((folder / "net.pth").read_bytes()).hexdigest()
    download_url_to_file(f"{address}/net.pth", tmp_path / "kept", digits[:6], progress=False)
    before = (tmp_path / "kept").read_bytes()
    wrong = "0" * 6
    with pytest.raises(RuntimeError, match=f'expected "{wrong}", got "{digits}"'):
        download_url_to_file((folder / "net.pth").as_uri(), tmp_path / "kept", wrong, False)
    assert (tmp_path / "kept").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "served"]


def test_progress_without_tqdm(served, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(download, "tqdm", download.PlainProgress)
    download_url_to_file(f"{served[1]}/net.pth", tmp_path / "kept")
    shown = capsys.readouterr().err
    assert shown.startswith("\r37.4%\r") and shown.endswith("\r100.0%\n")
    bar = download.PlainProgress()
    bar.update(3)
    assert capsys.readouterr().err == "\r3.0 bytes"


def test_progress_with_tqdm(served, tmp_path, monkeypatch):
    made = []

    class Bar(download.PlainProgress):
        def __init__(self, **options):
            super().__init__(**options)
            made.append(options)

        def update(self, n):
            self.n += n

    monkeypatch.setattr(download, "tqdm", Bar)
    download_url_to_file(f"{served[1]}/net.pth", tmp_path / "kept")
    assert made == [
        {"total": 350_000, "disable": False, "unit": "B", "unit_scale": True, "unit_divisor": 1024}
    ]
    assert sys.modules.get("tqdm") is None or download.tqdm is Bar


def test_the_folder_must_be_there(served, tmp_path):
    with pytest.raises(FileNotFoundError):
        download_url_to_file(f"{served[1]}/net.pth", tmp_path / "no" / "kept")
