"""Checks of the functions of pipes, and the files they read."""

import fnmatch
import functools
import inspect
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tapegrad.core.errors import value_error, warn
from tapegrad.core.missing import refuses as _refuses

__all__ = [
    "StreamWrapper", "get_file_binaries_from_pathnames", "get_file_pathnames_from_root",
    "match_masks", "validate_input_col", "validate_pathname_binary_tuple",
]  # fmt: skip

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def validate_input_col(fn: Callable, input_col: Any) -> None:
    """Check that a function takes as many arguments as there are columns.

    Raises: ValueError where it takes more, or less.
    """
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (ValueError, TypeError):  # a function in C, which does not say
        return
    n = len(input_col) if isinstance(input_col, (list, tuple)) else 1
    name = _function_name(fn)
    places = [p for p in parameters if p.kind in _POSITIONAL]
    needed = [p for p in places if p.default is p.empty]
    by_name = [p for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    if by_name:
        raise value_error(
            f"The function {name} takes {len(by_name)} non-default keyword-only parameters, which "
            "is not allowed.",
            "Give them with functools.partial.",
        )
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        if len(needed) <= n:
            return
    elif len(needed) <= n <= len(places):
        return
    some = f"{len(needed)} positional" if len(needed) > n else str(len(places))
    raise value_error(
        f"The function {name} takes {some} parameters, but {n} are required.",
        "It is called with the columns of input_col, or with the sample.",
    )


def length_of(step: Any, datapipe: Any) -> int:
    """The length of what `step` reads. Raises: TypeError where that has none."""
    if hasattr(type(datapipe), "__len__"):
        return len(datapipe)
    raise TypeError(f"{type(step).__name__} instance doesn't have valid length")


def _function_name(fn: Callable) -> str:
    while isinstance(fn, functools.partial):
        fn = fn.func
    return str(getattr(fn, "__name__", fn))


def _check_unpickable_fn(fn: Callable) -> None:
    """Warn of a function that no worker process can be sent.

    Raises: TypeError for what cannot be called.
    """
    if not callable(fn):
        raise TypeError(f"A callable function is expected, but {type(fn)} is provided.")
    while isinstance(fn, functools.partial):
        fn = fn.func
    local = "<locals>" in getattr(fn, "__qualname__", "")
    if getattr(fn, "__name__", None) == "<lambda>" or (local and inspect.isfunction(fn)):
        warn(
            "Local function is not supported by pickle, please use regular python function or "
            "functools.partial instead."
        )


def match_masks(name: str, masks: str | list[str]) -> bool:
    """Whether a name is like one of the masks; every name is where there are none.

    >>> from tapegrad.utils.data.datapipes.utils.common import match_masks
    >>> match_masks("a.txt", ["*.json", "*.txt"])
    True
    """
    each = [masks] if isinstance(masks, str) else masks
    return not masks or any(fnmatch.fnmatch(name, mask) for mask in each)


def get_file_pathnames_from_root(
    root: str,
    masks: str | list[str],
    recursive: bool = False,
    abspath: bool = False,
    non_deterministic: bool = False,
) -> Iterator[str]:
    """Paths of the files of a folder whose names are like the masks, in order of their names."""

    def unreadable(error: OSError) -> None:
        warn(str(error.filename) + " : " + str(error.strerror))

    if os.path.isfile(root):
        path = os.path.abspath(root) if abspath else root
        if match_masks(os.path.basename(path), masks):
            yield path
        return
    for folder, folders, files in os.walk(root, onerror=unreadable):
        folder = os.path.abspath(folder) if abspath else folder
        if not non_deterministic:
            files.sort()
            folders.sort()
        for name in files:
            if match_masks(name, masks):
                yield os.path.join(folder, name)
        if not recursive:
            break


def get_file_binaries_from_pathnames(
    pathnames: Iterable[str], mode: str, encoding: str | None = None
) -> Iterator[tuple[str, "StreamWrapper"]]:
    """Each path with its file, opened; modes "b" and "t" read."""
    if not isinstance(pathnames, Iterable):
        pathnames = [pathnames]
    mode = f"r{mode}" if mode in ("b", "t") else mode
    for path in pathnames:
        if not isinstance(path, str):
            raise TypeError(f"Expected string type for pathname, but got {type(path)}")
        yield path, StreamWrapper(open(path, mode, encoding=encoding))


def validate_pathname_binary_tuple(data: tuple[str, Any]) -> None:
    """Check that `data` is a path with a stream.

    Raises: TypeError where it is not.
    """
    if not isinstance(data, tuple):
        raise TypeError(f"pathname binary data should be tuple type, but it is type {type(data)}")
    if len(data) != 2:
        raise TypeError(f"pathname binary stream tuple length should be 2, but got {len(data)}")
    if not isinstance(data[0], str):
        raise TypeError(
            "pathname within the tuple should have string type pathname, "
            f"but it is type {type(data[0])}"
        )
    if not hasattr(data[1], "read"):
        raise TypeError(
            "binary stream within the tuple should have IOBase or"
            f"its subclasses as type, but it is type {type(data[1])}"
        )


class StreamWrapper:
    """A file that is closed when nobody holds it any more."""

    def __init__(self, file_obj: Any, parent_stream: Any = None, name: str | None = None) -> None:
        self.file_obj, self.name = file_obj, name

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["file_obj"], name)

    def close(self, *args: Any, **kwargs: Any) -> None:
        """Close the file."""
        self.file_obj.close()

    def autoclose(self) -> None:
        """Close the file."""
        self.close()

    def __iter__(self) -> Iterator[Any]:
        yield from self.file_obj

    def __next__(self) -> Any:
        return next(self.file_obj)

    def __enter__(self) -> "StreamWrapper":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        if "file_obj" in self.__dict__:
            self.file_obj.close()

    def __repr__(self) -> str:
        return f"StreamWrapper<{self.file_obj!r}>"


__getattr__ = _refuses(__name__)
