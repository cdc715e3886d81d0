"""Bytes of files, decoded as the ends of their names say."""

import json
import pickle
from collections.abc import Callable
from typing import Any

from tapegrad.core.missing import refuses as _refuses

__all__ = ["Decoder", "basichandlers", "extension_extract_fn", "handle_extension"]


def basichandlers(extension: str, data: Any) -> Any:
    """Text, JSON, whole numbers and tensors; None for what has another end.

    Pickles (`.pyd`, `.pickle`) run code as they are read: only those of one's own.
    """
    import tapegrad as torch

    if extension in ("txt", "text", "transcript"):
        return data.decode("utf-8")
    if extension in ("cls", "cls2", "class", "count", "index", "inx", "id"):
        return int(data)
    if extension in ("json", "jsn"):
        return json.loads(data)
    if extension in ("pyd", "pickle"):
        return pickle.loads(data)
    if extension == "pt":
        import io

        return torch.load(io.BytesIO(data))
    return None


def handle_extension(extensions: str, f: Callable) -> Callable:
    """A handler that calls `f` with the bytes of files that end so: "jpg jpeg" or "tar.gz"."""
    ends = [each.split(".") for each in extensions.lower().split()]

    def handler(extension: str, data: Any) -> Any:
        parts = extension.lower().split(".")
        for end in ends:
            if parts[-len(end) :] == end:
                return f(data)
        return None

    return handler


def extension_extract_fn(pathname: str) -> str:
    """The end of a path, without the point.

    >>> from tapegrad.utils.data.datapipes.utils.decoder import extension_extract_fn
    >>> extension_extract_fn("a/b.json")
    'json'
    """
    import os

    end = os.path.splitext(pathname)[1]
    return end[1:] if end else end


class Decoder:
    """Decodes a path with its file by the first handler that gives something."""

    def __init__(self, *handler: Callable, key_fn: Callable = extension_extract_fn) -> None:
        self.handlers: list[Callable] = list(handler)
        self.key_fn = key_fn

    def add_handler(self, *handler: Callable) -> None:
        """Add handlers, after the others."""
        self.handlers.extend(handler)

    def decode1(self, key: str, data: Any) -> Any:
        """The decoded bytes of a file; as they are where no handler knows them."""
        if not data:
            return data
        for handler in self.handlers:
            found = handler(key, data)
            if found is not None:
                return found
        return data

    def decode(self, data: Any) -> dict[str, Any]:
        """The decoded files of paths: a pair, several, or a dictionary."""
        pairs = data.items() if isinstance(data, dict) else [data]
        found = {}
        for key, value in pairs:
            if hasattr(value, "read"):
                stream, value = value, value.read()
                stream.close()
            found[key] = self.decode1(self.key_fn(key), value)
        return found

    __call__ = decode


__getattr__ = _refuses(__name__)
