"""`load(weights_only=False)`: Python's own unpickler, for files of a source that is trusted."""

import io
from collections.abc import Callable
from functools import reduce
from struct import unpack
from typing import Any

from tapegrad.core.missing import missing_module
from tapegrad.serialization.message import malformed
from tapegrad.serialization.names import GLOBALS


class TrustedMachine:
    """Runs one pickle after the other from `data` as Python does: code that it names is run.

    In place of a `Machine`, where the user has said that the file may do so.

    Args:
        data: the bytes
        persistent: `persistent(id)` is the object that lies outside the pickle
        encoding: of the strings of Python 2
        module: has an `Unpickler`: `pickle`, or one that is called like it
    """

    def __init__(
        self, data: bytes, persistent: Callable[[Any], Any], encoding: str, module: Any
    ) -> None:
        self._file = io.BytesIO(data)
        self._encoding = encoding

        class Unpickler(module.Unpickler):
            def find_class(self, module: str, name: str) -> Any:
                full = f"{module}.{name}"
                if full in GLOBALS:
                    return GLOBALS[full]
                if module.partition(".")[0] == "torch":
                    return _of_torch(module, name)
                return super().find_class(module, name)

            def persistent_load(self, given: Any) -> Any:
                return persistent(given)

        self._kind = Unpickler

    def run(self) -> Any:
        """The object that the pickle at the present position describes."""
        return self._kind(self._file, encoding=self._encoding).load()

    def spend(self, n: int) -> None:
        """Nothing: a file that is trusted may take what it asks for."""

    def number(self, format: str, n: int) -> int:
        """The next `n` bytes as a number."""
        data = self._file.read(n)
        if len(data) < n:
            raise malformed("pickle data was truncated")
        return unpack(format, data)[0]

    def take_into(self, memory: memoryview) -> None:
        """The next bytes, as many as `memory` has, copied there."""
        missing = len(memory) - self._file.readinto(memory)
        if missing:
            raise RuntimeError(
                f"unexpected EOF, expected {missing} more bytes. The file might be corrupted."
            )


def _of_torch(module: str, name: str) -> Any:
    """What a file of PyTorch means, also where no `compat.install()` serves the name `torch`."""
    from tapegrad.compat import module_for

    try:
        home = module_for(module)
    except ModuleNotFoundError:
        raise missing_module(module) from None
    return reduce(getattr, name.split("."), home)
