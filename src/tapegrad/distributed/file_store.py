"""`FileStore`: keys in a file that several processes read and write."""

import os
from collections.abc import Callable, Sequence
from datetime import timedelta
from time import monotonic, sleep

from tapegrad.distributed.store import Store, as_bytes, as_number

try:
    import fcntl
except ModuleNotFoundError:  # Windows
    fcntl = None  # type: ignore[assignment]

_POLL_S = 0.01


class FileStore(Store):
    """A log of keys and values in a file, which is locked while it is read or written.

    The file is removed when the last of `world_size` handles is gone.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "store")
    >>> torch.distributed.FileStore(path, 1).set("key", "value")
    """

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        self.path = file_name
        self._world_size = world_size
        self._values: dict[str, bytes] = {}
        self._read_bytes = 0
        self._add("_users", 1)

    def _with_file(self, step: Callable):
        """What `step()` gives, with all that is in the file read, and nobody else writing."""
        with open(self.path, "a+b") as file:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX)
            if os.fstat(file.fileno()).st_size < self._read_bytes:
                self._read_bytes = 0  # another job began the file anew
                self._values.clear()
            file.seek(self._read_bytes)
            while head := file.read(16):
                n_key, n_value = (int.from_bytes(head[i : i + 8], "little") for i in (0, 8))
                key = file.read(n_key).decode()
                self._values[key] = file.read(n_value)
            result = step(file)
            self._read_bytes = file.seek(0, os.SEEK_END)
            return result

    def _write(self, file, key, value):
        self._values[key] = value
        name = key.encode()
        head = len(name).to_bytes(8, "little") + len(value).to_bytes(8, "little")
        file.write(head + name + value)
        file.flush()

    def _read(self) -> dict[str, bytes]:
        return self._with_file(lambda file: self._values)

    def _add(self, key, amount):
        def step(file):
            total = as_number(self._values.get(key) or b"0") + int(amount)
            self._write(file, key, str(total).encode())
            return total

        return self._with_file(step)

    def __del__(self) -> None:
        try:
            left = self._add("_users", -1)
            if left == 0 and self._world_size > 0:
                os.remove(self.path)
        except (OSError, AttributeError, NameError, TypeError):
            pass  # the folder is gone, or Python is closing down: nothing is left to tidy

    def set(self, key: str, value: str | bytes) -> None:
        self._with_file(lambda file: self._write(file, f"+{key}", as_bytes(value)))

    def _poll(self, keys, timeout, message):
        limit = self._timeout if timeout is None else timeout
        end = monotonic() + limit.total_seconds()
        while not self.check(keys):
            if monotonic() > end:
                raise RuntimeError(message)
            sleep(_POLL_S)

    def get(self, key: str) -> bytes:
        ms = round(self._timeout.total_seconds() * 1000)
        self._poll([key], None, f"Timeout waiting for key: {key} after {ms} ms")
        return self._values[f"+{key}"]

    def add(self, key: str, amount: int) -> int:
        if isinstance(amount, str):
            raise TypeError("add(): incompatible function arguments: the amount is an integer")
        return self._add(f"+{key}", amount)

    def check(self, keys: Sequence[str]) -> bool:
        values = self._read()
        return all(f"+{key}" in values for key in keys)

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        self._poll(keys, timeout, "Wait timeout")

    def compare_set(self, key: str, expected: str | bytes, desired: str | bytes) -> bytes:
        expected, desired = as_bytes(expected), as_bytes(desired)

        def step(file):
            there = self._values.get(f"+{key}")
            if there is None and expected:
                return expected
            if there is None or there == expected:
                self._write(file, f"+{key}", desired)
                return desired
            return there

        return self._with_file(step)

    def append(self, key: str, value: str | bytes) -> None:
        def step(file):
            self._write(file, f"+{key}", self._values.get(f"+{key}", b"") + as_bytes(value))

        self._with_file(step)

    def delete_key(self, key: str) -> bool:
        """Forget a key; in a log it stays, without a value, and so it counts as there."""
        self.set(key, b"")
        return True

    def num_keys(self) -> int:
        return len(self._read())

    def list_keys(self) -> list[str]:
        return [key[1:] for key in self._read() if key[0] == "+"]

    def clone(self) -> "FileStore":
        other = FileStore(self.path, self._world_size)
        other.set_timeout(self._timeout)
        return other
