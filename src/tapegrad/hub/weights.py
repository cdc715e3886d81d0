"""Weights from an address: downloaded once, then read from the file."""

import os
import re
import sys
import zipfile
from typing import Any
from urllib.parse import urlparse

from tapegrad.core.errors import deprecated, runtime_error
from tapegrad.hub.download import download_url_to_file
from tapegrad.serialization.reader import load

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
"""Where a file's name has the beginning of its hash: `net-0a1b2c3d.pth`."""


def load_weights(
    url: str,
    folder: Any,
    map_location: Any,
    progress: bool,
    check_hash: bool,
    file_name: str | None,
    weights_only: bool,
) -> Any:
    """What the file at an address has; it is kept in `folder`."""
    os.makedirs(folder, exist_ok=True)
    name = os.path.basename(urlparse(url).path) if file_name is None else file_name
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        sys.stdout.write(f'Downloading: "{url}" to {path}\n')
        found = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, path, found.group(1) if found else None, progress=progress)
    if _is_one_zipped_file(path):
        deprecated(
            "Falling back to the old format < 1.6. This support will be deprecated in favor of "
            "default zipfile format introduced in 1.6. Please redo torch.save() to save it in the "
            "new zipfile format.",
            4,
        )
        path = _unzipped(path, os.fspath(folder))
    return load(path, map_location=map_location, weights_only=weights_only)


def _is_one_zipped_file(path: str) -> bool:
    """Whether a file is a zip archive of one file of `torch.save`, not such a file itself."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        inside = archive.infolist()
    return len(inside) == 1 and not inside[0].is_dir()


def _unzipped(path: str, folder: str) -> str:
    with zipfile.ZipFile(path) as archive:
        name = archive.infolist()[0].filename
        if os.path.basename(name) != name or name in ("", ".", ".."):
            raise runtime_error(
                f"{path} has its file in a folder: {name!r}", "Unzip it, and torch.load the file."
            )
        return archive.extract(name, folder)
