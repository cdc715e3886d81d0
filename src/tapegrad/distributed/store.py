"""Stores: keys and values that several ranks share, in this process.

`FileStore` (file_store) and `TCPStore` (tcp_store) share them between processes. All are written
on the same few steps, of which `Store` says the names and does the rest.
"""

from collections import deque
from collections.abc import Sequence
from datetime import timedelta
from threading import Condition
from time import monotonic

from tapegrad.distributed.exceptions import DistStoreError, QueueEmptyError


def as_bytes(value: str | bytes) -> bytes:
    """A value as it is stored."""
    return value.encode() if isinstance(value, str) else bytes(value)


def as_number(value: bytes) -> int:
    """A counter, as it is read; PyTorch names the C++ function that could not."""
    try:
        return int(value)
    except ValueError:
        raise ValueError("stoll") from None


class Store:
    """Keys with values of bytes, shared by the ranks of a job.

    Of its own it has no place to keep them: `HashStore`, `FileStore`, `TCPStore` have.
    """

    _timeout = timedelta(minutes=5)

    @property
    def timeout(self) -> timedelta:
        """How long `get` and `wait` wait for a key."""
        return self._timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """Say how long `get` and `wait` wait for a key."""
        self._timeout = timeout

    def set(self, key: str, value: str | bytes) -> None:
        """Store a value."""
        raise NotImplementedError(f"{type(self).__name__} has no set()")

    def get(self, key: str) -> bytes:
        """The value of a key, once there is one."""
        raise NotImplementedError(f"{type(self).__name__} has no get()")

    def add(self, key: str, amount: int) -> int:
        """Add to a counter, which begins at 0, and give its value."""
        raise NotImplementedError(f"{type(self).__name__} has no add()")

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are there."""
        raise NotImplementedError(f"{type(self).__name__} has no check()")

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Wait until all keys are there."""
        raise NotImplementedError(f"{type(self).__name__} has no wait()")

    def compare_set(self, key: str, expected: str | bytes, desired: str | bytes) -> bytes:
        """Store `desired` where `expected` (or nothing, if it is "") is, and give what is there."""
        raise NotImplementedError(f"{type(self).__name__} has no compare_set()")

    def append(self, key: str, value: str | bytes) -> None:
        """Put a value behind what is there."""
        raise NotImplementedError(f"{type(self).__name__} has no append()")

    def delete_key(self, key: str) -> bool:
        """Take a key away; whether it was there."""
        raise NotImplementedError(f"{type(self).__name__} has no delete_key()")

    def num_keys(self) -> int:
        """How many keys there are."""
        raise NotImplementedError(f"{type(self).__name__} has no num_keys()")

    def list_keys(self) -> list[str]:
        """The keys."""
        raise NotImplementedError(f"{type(self).__name__} has no list_keys()")

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """The values of several keys, once they are there."""
        return [self.get(key) for key in keys]

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """Store several values."""
        for key, value in zip(keys, values, strict=True):
            self.set(key, value)

    def queue_push(self, key: str, value: str | bytes) -> None:
        """Put a value at the end of a queue."""
        raise NotImplementedError("queue support is not implemented.")

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        """Take the first value of a queue, once there is one."""
        raise NotImplementedError("queue support is not implemented.")

    def queue_len(self, key: str) -> int:
        """How many values a queue has."""
        raise NotImplementedError("queue support is not implemented.")

    def has_extended_api(self) -> bool:
        """Whether `append`, `multi_get` and `multi_set` are one step each."""
        return False

    def clone(self) -> "Store":
        """Another handle of the same keys."""
        return self


class HashStore(Store):
    """Keys in the memory of this process; threads may share it.

    >>> store = torch.distributed.HashStore()
    >>> store.set("key", "value")
    >>> store.get("key")
    b'value'
    >>> store.add("counter", 2), store.add("counter", 3)
    (2, 5)
    """

    def __init__(self) -> None:
        self._values: dict[str, bytes] = {}
        self._queues: dict[str, deque[bytes]] = {}
        self._changed = Condition()

    def _wait_for(self, ready, timeout=None, failed: str = "Wait timeout"):
        """Wait, with the lock, until `ready()`."""
        seconds = (self._timeout if timeout is None else timeout).total_seconds()
        end = monotonic() + seconds
        while not ready():
            left = end - monotonic()
            if left <= 0 or not self._changed.wait(left):
                if ready():
                    break
                raise DistStoreError(failed)

    def set(self, key: str, value: str | bytes) -> None:
        with self._changed:
            self._values[key] = as_bytes(value)
            self._changed.notify_all()

    def get(self, key: str) -> bytes:
        with self._changed:
            self._wait_for(lambda: key in self._values)
            return self._values[key]

    def add(self, key: str, amount: int) -> int:
        if isinstance(amount, str):
            raise TypeError("add(): incompatible function arguments: the amount is an integer")
        with self._changed:
            total = as_number(self._values.get(key, b"0")) + int(amount)
            self._values[key] = str(total).encode()
            self._changed.notify_all()
            return total

    def check(self, keys: Sequence[str]) -> bool:
        with self._changed:
            return all(key in self._values for key in keys)

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        with self._changed:
            self._wait_for(lambda: all(key in self._values for key in keys), timeout)

    def compare_set(self, key: str, expected: str | bytes, desired: str | bytes) -> bytes:
        expected, desired = as_bytes(expected), as_bytes(desired)
        with self._changed:
            there = self._values.get(key)
            if there is None and expected:
                return expected
            if there is None or there == expected:
                self._values[key] = desired
                self._changed.notify_all()
            return self._values[key]

    def append(self, key: str, value: str | bytes) -> None:
        with self._changed:
            self._values[key] = self._values.get(key, b"") + as_bytes(value)
            self._changed.notify_all()

    def delete_key(self, key: str) -> bool:
        with self._changed:
            return self._values.pop(key, None) is not None

    def num_keys(self) -> int:
        with self._changed:
            return len(self._values) + len(self._queues)

    def list_keys(self) -> list[str]:
        with self._changed:
            return list(self._values)

    def queue_push(self, key: str, value: str | bytes) -> None:
        with self._changed:
            self._queues.setdefault(key, deque()).append(as_bytes(value))
            self._changed.notify_all()

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        with self._changed:
            if not block and not self._queues.get(key):
                raise QueueEmptyError("queue is empty")
            self._wait_for(lambda: self._queues.get(key))
            first = self._queues[key].popleft()
            if not self._queues[key]:
                del self._queues[key]
            return first

    def queue_len(self, key: str) -> int:
        with self._changed:
            return len(self._queues.get(key, ()))

    def has_extended_api(self) -> bool:
        return True


class PrefixStore(Store):
    """The keys of another store that begin with a prefix and a slash.

    >>> store = torch.distributed.HashStore()
    >>> torch.distributed.PrefixStore("mine", store).set("key", "value")
    >>> store.get("mine/key")
    b'value'
    """

    def __init__(self, prefix: str, store: Store) -> None:
        self.prefix, self.underlying_store = prefix, store

    def _key(self, key: str) -> str:
        return f"{self.prefix}/{key}"

    @property
    def timeout(self) -> timedelta:
        return self.underlying_store.timeout

    def set_timeout(self, timeout: timedelta) -> None:
        self.underlying_store.set_timeout(timeout)

    def set(self, key: str, value: str | bytes) -> None:
        self.underlying_store.set(self._key(key), value)

    def get(self, key: str) -> bytes:
        return self.underlying_store.get(self._key(key))

    def add(self, key: str, amount: int) -> int:
        return self.underlying_store.add(self._key(key), amount)

    def check(self, keys: Sequence[str]) -> bool:
        return self.underlying_store.check([self._key(key) for key in keys])

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        self.underlying_store.wait([self._key(key) for key in keys], timeout)

    def compare_set(self, key: str, expected: str | bytes, desired: str | bytes) -> bytes:
        return self.underlying_store.compare_set(self._key(key), expected, desired)

    def append(self, key: str, value: str | bytes) -> None:
        self.underlying_store.append(self._key(key), value)

    def delete_key(self, key: str) -> bool:
        return self.underlying_store.delete_key(self._key(key))

    def num_keys(self) -> int:
        return self.underlying_store.num_keys()

    def list_keys(self) -> list[str]:
        return self.underlying_store.list_keys()

    def queue_push(self, key: str, value: str | bytes) -> None:
        self.underlying_store.queue_push(self._key(key), value)

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        return self.underlying_store.queue_pop(self._key(key), block)

    def queue_len(self, key: str) -> int:
        return self.underlying_store.queue_len(self._key(key))

    def has_extended_api(self) -> bool:
        return self.underlying_store.has_extended_api()

    def clone(self) -> "PrefixStore":
        return PrefixStore(self.prefix, self.underlying_store.clone())
