"""`torch.hub`: files of weights from an address, and models that a folder's `hubconf.py` names.

download     a file from an address, checked by its hash
entry_point  the functions of a `hubconf.py`
"""

import os
from typing import Any
from urllib.parse import urlparse

from tapegrad.core import errors as _errors
from tapegrad.core.missing import refuses as _refuses
from tapegrad.hub.download import READ_DATA_CHUNK, download_url_to_file, tqdm
from tapegrad.hub.entry_point import MODULE_HUBCONF, VAR_DEPENDENCY, call_entry_point
from tapegrad.hub.weights import HASH_REGEX, load_weights
from tapegrad.serialization.reader import MAP_LOCATION

__all__ = [
    "download_url_to_file",
    "get_dir",
    "help",
    "list",
    "load",
    "load_state_dict_from_url",
    "set_dir",
]

ENV_TORCH_HOME = "TORCH_HOME"
ENV_XDG_CACHE_HOME = "XDG_CACHE_HOME"
DEFAULT_CACHE_DIR = "~/.cache"

_hub_dir: str | None = None


def _get_torch_home() -> str:
    """The folder that PyTorch's caches are in: TORCH_HOME, or `torch` in the user's cache."""
    cache = os.getenv(ENV_XDG_CACHE_HOME, DEFAULT_CACHE_DIR)
    return os.path.expanduser(os.getenv(ENV_TORCH_HOME, os.path.join(cache, "torch")))


def get_dir() -> str:
    """The folder that downloads go to: what `set_dir` was given, else `hub` in TORCH_HOME.

    >>> import os
    >>> os.path.basename(torch.hub.get_dir())
    'hub'
    """
    if os.getenv("TORCH_HUB"):
        _errors.warn("TORCH_HUB is deprecated, please use env TORCH_HOME instead")
    return os.path.join(_get_torch_home(), "hub") if _hub_dir is None else _hub_dir


def set_dir(d: str | os.PathLike) -> None:
    """Let downloads go to the folder `d`."""
    global _hub_dir
    _hub_dir = os.path.expanduser(d)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: MAP_LOCATION = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> dict[str, Any]:
    """What a file of `torch.save` at an address has; downloaded unless it was before.

    Args:
        url: `https://`, `http://` or `file://`.
        model_dir: The folder it is kept in (default: `checkpoints` in `get_dir()`).
        map_location: See `torch.load`; as `weights_only`.
        progress: Whether to show how far the download is.
        check_hash: Whether the file's name, as `net-0a1b2c3d.pth`, ends in the beginning of its
            SHA-256, and is to be checked.
        file_name: Another name than that in the address.

    Raises:
        RuntimeError: the file has another hash.
        urllib.error.URLError: the address cannot be read.

    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> torch.save({"weight": torch.ones(2)}, folder / "net.pth")
    >>> address = (folder / "net.pth").as_uri()
    >>> torch.hub.load_state_dict_from_url(address, folder / "kept", file_name="a.pth")
    ... # doctest: +ELLIPSIS
    Downloading: ...
    {'weight': tensor([1., 1.])}
    """
    if os.getenv("TORCH_MODEL_ZOO"):
        _errors.warn("TORCH_MODEL_ZOO is deprecated, please use env TORCH_HOME instead")
    folder = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    return load_weights(url, folder, map_location, progress, check_hash, file_name, weights_only)


def load(
    repo_or_dir: str | os.PathLike,
    model: str,
    *args: Any,
    source: str = "github",
    trust_repo: Any = "check",
    force_reload: bool = False,
    verbose: bool = True,
    skip_validation: bool = False,
    **kwargs: Any,
) -> Any:
    """What the function `model` of a folder's `hubconf.py` gives, called with the arguments.

    Args:
        repo_or_dir: The folder.
        source: `"local"`; `"github"` is refused: clone the repository yourself.

    Raises:
        RuntimeError: the file has no such function, or lacks packages that it depends on.
    """
    source = source.lower()
    if source not in ("github", "local"):
        raise _errors.value_error(
            f'Unknown source: "{source}". Allowed values: "github" | "local".',
            'tapegrad reads source="local".',
        )
    if source == "github":
        raise _no_repositories("load")
    return call_entry_point(repo_or_dir, model, args, kwargs)


def list(
    github: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: Any = "check",
    verbose: bool = True,
) -> Any:
    """Refused: the models of a repository on GitHub."""
    raise _no_repositories("list")


def help(
    github: str,
    model: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: Any = "check",
) -> Any:
    """Refused: the docstring of a model of a repository on GitHub."""
    raise _no_repositories("help")


def _no_repositories(name: str) -> NotImplementedError:
    return _errors.not_implemented(
        f"tapegrad has no torch.hub.{name} of repositories on GitHub",
        'Clone it, and torch.hub.load(FOLDER, MODEL, source="local").',
    )


__getattr__ = _refuses(__name__)
