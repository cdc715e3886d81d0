"""`TCPStore`: keys in the memory of one process, which others reach over a socket.

The server keeps a `HashStore` and has a thread for each connection. A request is the name of a
method with its arguments, an answer what it gave or which error it raised; both are JSON, with
bytes in base 64, behind their length in four bytes: nothing that comes over the net is executed.
"""

import base64
import json
import socket
import threading
from collections.abc import Sequence
from datetime import timedelta
from time import monotonic, sleep
from typing import Any

from tapegrad.core.errors import advised
from tapegrad.distributed.exceptions import DistNetworkError, DistStoreError, QueueEmptyError
from tapegrad.distributed.store import HashStore, Store, as_bytes

_SERVERS: dict[int, "_Server"] = {}
_METHODS = frozenset(
    "set get add check wait compare_set append delete_key num_keys list_keys queue_push queue_pop "
    "queue_len".split()
)
_ERRORS = {e.__name__: e for e in (DistStoreError, QueueEmptyError, ValueError, TypeError)}
_POLL_S = 0.02


def _encoded(x: Any) -> Any:
    return {"b": base64.b64encode(x).decode()} if isinstance(x, bytes) else x


def _decoded(x: Any) -> Any:
    return base64.b64decode(x["b"]) if isinstance(x, dict) else x


def _send(connection: socket.socket, message: Any) -> None:
    data = json.dumps(message).encode()
    connection.sendall(len(data).to_bytes(4, "big") + data)


def _receive(connection: socket.socket) -> Any:
    head = _receive_bytes(connection, 4)
    return json.loads(_receive_bytes(connection, int.from_bytes(head, "big")))


def _receive_bytes(connection: socket.socket, n: int) -> bytes:
    found = b""
    while len(found) < n:
        part = connection.recv(n - len(found))
        if not part:
            raise DistNetworkError(
                f"Failed to recv, got {len(found)} bytes. Connection was likely closed. "
                "Did the remote server shutdown or crash?"
            )
        found += part
    return found


class _Server:
    """The keys, and threads that answer questions about them."""

    def __init__(self, listening: socket.socket):
        self.store = HashStore()
        self.listening = listening
        self.port = listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True, name="TCPStore").start()

    def _accept(self):
        while True:
            try:
                connection, _ = self.listening.accept()
            except OSError:
                return  # closed
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with connection:
            try:
                while True:
                    _send(connection, self._answer(*_receive(connection)))
            except (DistNetworkError, OSError):
                return  # the other side is gone

    def _answer(self, name, arguments, seconds):
        if name not in _METHODS:
            return ["ValueError", f"a store has no {name}"]
        arguments = [_decoded(x) for x in arguments]
        waits = timedelta(seconds=seconds)
        try:
            if name == "get":
                self.store.wait([arguments[0]], waits)
            if name == "wait":
                arguments.append(waits)
            return ["", _encoded(getattr(self.store, name)(*arguments))]
        except tuple(_ERRORS.values()) as error:
            return [type(error).__name__, str(error)]

    def close(self):
        self.listening.close()


class TCPStore(Store):
    """Keys that the process with `is_master` keeps, and others reach at its address.

    Args:
        host_name, port: Where the master listens; it takes a free port for 0.
        world_size: How many handles the master waits for, with `wait_for_workers`.
        timeout: How long to wait for the master, for the others, and for keys.
        multi_tenant: Let a second master in this process be another handle of the first.
        use_libuv: For PyTorch's sake; threads do that work here.

    Raises:
        DistNetworkError: The port is taken, or nobody listens there in time.

    >>> master = torch.distributed.TCPStore("localhost", 0, is_master=True)
    >>> other = torch.distributed.TCPStore("localhost", master.port)
    >>> master.set("key", "value")
    >>> other.get("key")
    b'value'
    """

    def __init__(
        self,
        host_name: str,
        port: int,
        world_size: int | None = None,
        is_master: bool = False,
        timeout: timedelta = Store._timeout,
        wait_for_workers: bool = True,
        multi_tenant: bool = False,
        master_listen_fd: int | None = None,
        use_libuv: bool = True,
    ) -> None:
        self.host, self.libuvBackend = host_name, use_libuv
        self._timeout = timeout
        self._server = self._listen(port, multi_tenant, master_listen_fd) if is_master else None
        self.port = self._server.port if self._server else port
        self._lock = threading.Lock()
        self._connection = self._connect()
        if wait_for_workers and world_size is not None and world_size > 0:
            self._wait_for_workers(world_size, is_master)

    def _listen(self, port, multi_tenant, descriptor):
        if multi_tenant and port in _SERVERS:
            return _SERVERS[port]
        if descriptor is not None:
            listening = socket.socket(fileno=descriptor)
        else:
            dual = socket.has_dualstack_ipv6()
            try:
                listening = socket.create_server(
                    ("", port),
                    family=socket.AF_INET6 if dual else socket.AF_INET,
                    dualstack_ipv6=dual,
                )
            except OSError as error:
                message = (
                    "The server socket has failed to listen on any local network address. "
                    f"port: {port}, useIpv6: {str(dual).lower()}, code: -{error.errno}, "
                    f"name: {'EADDRINUSE' if error.errno == 98 else error.errno}, "
                    f"message: {error.strerror}"
                )
                raise advised(
                    DistNetworkError(message), "Take another port; 0 takes a free one."
                ) from error
        server = _Server(listening)
        if multi_tenant:
            _SERVERS[server.port] = server
        return server

    def _connect(self):
        end = monotonic() + self._timeout.total_seconds()
        while True:
            try:
                return socket.create_connection((self.host, self.port), timeout=None)
            except OSError as error:
                if monotonic() > end:
                    ms = round(self._timeout.total_seconds() * 1000)
                    message = (
                        "The client socket has timed out after "
                        f"{ms}ms while trying to connect to ({self.host}, {self.port})."
                    )
                    raise advised(
                        DistNetworkError(message), "Start the process with rank 0 there."
                    ) from error
                sleep(_POLL_S)

    def _ask(self, name: str, *arguments: Any, timeout: timedelta | None = None) -> Any:
        limit = self._timeout if timeout is None else timeout
        with self._lock:
            request = [name, [_encoded(x) for x in arguments], limit.total_seconds()]
            _send(self._connection, request)
            failed, answer = _receive(self._connection)
        if failed:
            raise _ERRORS[failed](answer)
        return _decoded(answer)

    def _wait_for_workers(self, world_size, is_master):
        there = self._ask("add", "init/", 1)
        if not is_master:
            return
        end = monotonic() + self._timeout.total_seconds()
        while there < world_size:
            if monotonic() > end:
                ms = round(self._timeout.total_seconds() * 1000)
                raise DistStoreError(
                    f"Timed out after {ms}ms waiting for clients. "
                    f"{there}/{world_size} clients joined."
                )
            sleep(_POLL_S)
            there = self._ask("add", "init/", 0)

    def __del__(self) -> None:
        if connection := getattr(self, "_connection", None):
            connection.close()
        server = getattr(self, "_server", None)
        if server is not None and _SERVERS.get(server.port) is not server:
            server.close()

    def __repr__(self) -> str:
        server = "<nullptr>" if self._server is None else f"TCPServer(port={self.port})"
        return f"TCPStore(client=TCPClient({self.host}:{self.port}), server={server})"

    def set(self, key: str, value: str | bytes) -> None:
        self._ask("set", key, as_bytes(value))

    def _timed_out(self, keys, timeout):
        ms = round((self._timeout if timeout is None else timeout).total_seconds() * 1000)
        names = ", ".join(f"/{key}" for key in keys)
        return DistStoreError(f"wait timeout after {ms}ms, keys: {names}")

    def get(self, key: str) -> bytes:
        try:
            return self._ask("get", key)
        except DistStoreError:
            raise self._timed_out([key], None) from None

    def add(self, key: str, amount: int) -> int:
        if isinstance(amount, str):
            raise TypeError("add(): incompatible function arguments: the amount is an integer")
        return self._ask("add", key, int(amount))

    def check(self, keys: Sequence[str]) -> bool:
        return self._ask("check", list(keys))

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        try:
            self._ask("wait", list(keys), timeout=timeout)
        except DistStoreError:
            raise self._timed_out(keys, timeout) from None

    def compare_set(self, key: str, expected: str | bytes, desired: str | bytes) -> bytes:
        return self._ask("compare_set", key, as_bytes(expected), as_bytes(desired))

    def append(self, key: str, value: str | bytes) -> None:
        self._ask("append", key, as_bytes(value))

    def delete_key(self, key: str) -> bool:
        return self._ask("delete_key", key)

    def num_keys(self) -> int:
        return self._ask("num_keys")

    def list_keys(self) -> list[str]:
        return [key for key in self._ask("list_keys") if key != "init/"]

    def queue_push(self, key: str, value: str | bytes) -> None:
        self._ask("queue_push", key, as_bytes(value))

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        return self._ask("queue_pop", key, block)

    def queue_len(self, key: str) -> int:
        return self._ask("queue_len", key)

    def has_extended_api(self) -> bool:
        return True

    def clone(self) -> "TCPStore":
        return TCPStore(self.host, self.port, timeout=self._timeout, wait_for_workers=False)
