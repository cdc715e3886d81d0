"""A file from an address: written beside its place, checked, then moved there."""

import os
import shutil
import sys
import uuid
from contextlib import suppress
from typing import Any
from urllib.request import Request, urlopen

from tapegrad.core.errors import runtime_error

READ_DATA_CHUNK = 128 * 1024
"""Bytes that are read at once."""


class PlainProgress:
    """How far a download is, in percent, where the package tqdm is not installed."""

    def __init__(self, total: int | None = None, disable: bool = False, **options: Any) -> None:
        self.total, self.disable, self.n = total, disable, 0

    def update(self, n: int) -> None:
        """Show that `n` bytes more are there."""
        if self.disable:
            return
        self.n += n
        done = f"{100 * self.n / self.total:.1f}%" if self.total else f"{self.n:.1f} bytes"
        sys.stderr.write(f"\r{done}")
        sys.stderr.flush()

    def __enter__(self) -> "PlainProgress":
        return self

    def __exit__(self, *error: object) -> None:
        if not self.disable:
            sys.stderr.write("\n")


try:
    from tqdm import tqdm  # type: ignore[import-untyped]
except ImportError:
    tqdm = PlainProgress


def download_url_to_file(
    url: str, dst: str | os.PathLike, hash_prefix: str | None = None, progress: bool = True
) -> None:
    """Write what is at an address to the file `dst`, whose folder is there.

    Args:
        url: `https://`, `http://` or `file://`.
        hash_prefix: How the SHA-256 of the file must begin, in hexadecimal digits.
        progress: Whether to show on the standard error how far it is.

    Raises:
        RuntimeError: the file has another hash; nothing is left at `dst`.
        urllib.error.URLError: the address cannot be read.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "here").write_text("numbers")
    >>> torch.hub.download_url_to_file((folder / "here").as_uri(), folder / "there")
    >>> (folder / "there").read_text()
    'numbers'
    """
    from hashlib import sha256

    dst = os.path.expanduser(dst)
    part = f"{dst}.{uuid.uuid4().hex}.partial"
    with urlopen(Request(url, headers={"User-Agent": "torch.hub"})) as answer:
        n_bytes = answer.headers.get("Content-Length")
        total = None if n_bytes is None else int(n_bytes)
        found = sha256()
        try:
            with (
                open(part, "wb") as file,
                tqdm(
                    total=total, disable=not progress, unit="B", unit_scale=True, unit_divisor=1024
                ) as bar,
            ):
                while chunk := answer.read(READ_DATA_CHUNK):
                    file.write(chunk)
                    found.update(chunk)
                    bar.update(len(chunk))
            digits = found.hexdigest()
            if hash_prefix is not None and not digits.startswith(hash_prefix):
                raise runtime_error(
                    f'invalid hash value (expected "{hash_prefix}", got "{digits}")',
                    f"What is at {url} has changed, or did not arrive whole.",
                )
            shutil.move(part, dst)
        finally:
            with suppress(FileNotFoundError):
                os.remove(part)
