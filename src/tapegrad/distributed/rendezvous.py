"""Where the ranks of a job meet: `env://`, `tcp://host:port`, `file:///path`."""

import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from numbers import Integral
from typing import Any, NamedTuple
from urllib.parse import SplitResult, parse_qsl, urlsplit

from tapegrad.core.errors import advised
from tapegrad.distributed.constants import default_pg_timeout
from tapegrad.distributed.file_store import FileStore
from tapegrad.distributed.store import Store
from tapegrad.distributed.tcp_store import TCPStore

__all__ = ["register_rendezvous_handler", "rendezvous"]


class Meeting(NamedTuple):
    """What a rendezvous gives."""

    store: Store
    rank: int
    world_size: int


_rendezvous_handlers: dict[str, Callable[..., Iterator]] = {}


def register_rendezvous_handler(scheme: str, handler: Callable[..., Iterator]) -> None:
    """Have `handler(url, timeout=...)` meet for addresses that begin with `scheme://`.

    It is a generator of `(store, rank, world_size)`.

    Raises:
        RuntimeError: There is one for the scheme.
    """
    if scheme in _rendezvous_handlers:
        raise RuntimeError(f"Rendezvous handler for {scheme}:// already registered")
    _rendezvous_handlers[scheme] = handler


def rendezvous(url: str, rank: int = -1, world_size: int = -1, **kwargs: Any) -> Iterator:
    """An iterator whose first item is `(store, rank, world_size)`.

    >>> import os, tempfile
    >>> url = "file://" + os.path.join(tempfile.mkdtemp(), "store")
    >>> store, rank, world_size = next(torch.distributed.rendezvous(url, 0, 1))
    >>> rank, world_size
    (0, 1)
    """
    if not isinstance(url, (str, bytes)):
        raise RuntimeError(f"`url` must be a string. {type(url)}: {url}")
    if not isinstance(rank, Integral):
        raise RuntimeError(f"`rank` must be an integer. {rank}")
    if not isinstance(world_size, Integral):
        raise RuntimeError(f"`world_size` must be an integer. {world_size}")
    given = {"rank": rank, "world_size": world_size}
    options = {name: str(value) for name, value in given.items() if value != -1}
    parts = urlsplit(url if isinstance(url, str) else url.decode())
    there = dict(parse_qsl(parts.query))
    if options and there.keys() & {"rank", "world_size"}:
        raise AssertionError(
            f"The url: {parts.geturl()} has node-specific arguments(rank, world_size) already."
        )
    query = "&".join(f"{name}={value}" for name, value in {**there, **options}.items())
    if parts.scheme not in _rendezvous_handlers:
        raise advised(
            RuntimeError(f"No rendezvous handler for {parts.scheme}://"),
            f"There are handlers for {', '.join(sorted(_rendezvous_handlers))}.",
        )
    address = f"{parts.scheme}://{parts.netloc}{parts.path}?{query}"
    return _rendezvous_handlers[parts.scheme](address, **kwargs)


class _Address:
    """The parts of an address, each asked for by name."""

    def __init__(self, url: str):
        self.parts: SplitResult = urlsplit(url)
        self.query = dict(parse_qsl(self.parts.query))

    def error(self, what: str) -> ValueError:
        scheme = self.parts.scheme
        return ValueError(
            f"Error initializing torch.distributed using {scheme}:// rendezvous: {what}"
        )

    def number(self, name: str, what: str) -> int:
        if name not in self.query:
            raise self.error(f"{what} parameter missing")
        return int(self.query[name])

    def environment(self, variable: str) -> str:
        value = os.environ.get(variable)
        if not value:
            raise advised(
                self.error(f"environment variable {variable} expected, but not set"),
                'One process needs no meeting: init_process_group("gloo", store='
                "torch.distributed.HashStore(), rank=0, world_size=1).",
            )
        return value


def asked_world_size(url: str, rank: int, world_size: int) -> int:
    """How many ranks a rendezvous is going to be for; -1 where it does not say.

    Raises: ValueError where several are to meet by `env://` and a variable for that is missing.
    """
    address = _Address(url)
    if world_size == -1:
        world_size = int(address.query.get("world_size", -1))
    if address.parts.scheme != "env":
        return world_size
    if world_size == -1:
        world_size = int(os.environ.get("WORLD_SIZE") or -1)
    if world_size > 1:
        if rank == -1 and "rank" not in address.query:
            address.environment("RANK")
        address.environment("MASTER_ADDR")
        address.environment("MASTER_PORT")
    return world_size


def _file(url: str, timeout: timedelta = default_pg_timeout) -> Iterator[Meeting]:
    address = _Address(url)
    if not address.parts.path:
        raise address.error("path missing")
    rank = address.number("rank", "rank")
    world_size = address.number("world_size", "world size")
    yield Meeting(FileStore(address.parts.path, world_size), rank, world_size)
    raise RuntimeError("Unable to perform rerendezvous using file:// method")


def _tcp_store(host, port, rank, world_size, timeout):
    if not 0 <= port < 2**16:
        raise ValueError(f"port must have value from 0 to 65535 but was {port}.")
    # An agent such as torchelastic's keeps the store, and all ranks are its clients.
    keeps = rank == 0 and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True"
    return TCPStore(host, port, world_size, keeps, timeout, multi_tenant=True)


def _tcp(url: str, timeout: timedelta = default_pg_timeout) -> Iterator[Meeting]:
    address = _Address(url)
    if address.parts.port is None:
        raise address.error("port number missing")
    rank = address.number("rank", "rank")
    world_size = address.number("world_size", "world size")
    if address.parts.hostname is None:
        raise AssertionError("hostname cannot be None")
    host, port = address.parts.hostname, address.parts.port
    yield Meeting(_tcp_store(host, port, rank, world_size, timeout), rank, world_size)
    raise RuntimeError("Unable to perform re-rendezvous using tcp:// method")


def _env(url: str, timeout: timedelta = default_pg_timeout) -> Iterator[Meeting]:
    address = _Address(url)

    def number(name, variable):
        return int(address.query.get(name) or address.environment(variable))

    rank, world_size = number("rank", "RANK"), number("world_size", "WORLD_SIZE")
    host, port = address.environment("MASTER_ADDR"), int(address.environment("MASTER_PORT"))
    yield Meeting(_tcp_store(host, port, rank, world_size, timeout), rank, world_size)
    raise RuntimeError("Unable to perform re-rendezvous using env:// method")


register_rendezvous_handler("tcp", _tcp)
register_rendezvous_handler("env", _env)
register_rendezvous_handler("file", _file)
