"""Compiling in the background: another backend runs the program until the C is ready."""

import threading

from tapegrad.arrays.traced.program import Program, Value
from tapegrad.compiler.c_backend.build import build
from tapegrad.core.annotations import Any, Callable, Sequence


class Pending:
    """A program that is being compiled."""

    def __init__(self, program: Program, outputs: Sequence[Value], options: dict[str, Any]):
        self._runner: Callable | None = None
        self._error: Exception | None = None
        self._thread = threading.Thread(
            target=self._work, args=(program, outputs, options), daemon=True
        )
        self._thread.start()

    def _work(self, program: Program, outputs: Sequence[Value], options: dict[str, Any]) -> None:
        try:
            self._runner = build(program, outputs, **options)
        except Exception as error:  # given to whoever asks for the runner
            self._error = error

    def poll(self) -> Callable | None:
        """The runner; None while it is not ready. Raises what `build` raised."""
        if self._error is not None:
            raise self._error
        return self._runner

    def wait(self) -> Callable:
        """The runner, when it is ready. Raises what `build` raised."""
        self._thread.join()
        found = self.poll()
        assert found is not None
        return found


def build_async(program: Program, outputs: Sequence[Value], **options: Any) -> Pending:
    """`build` in a thread of its own: `poll()` gives the runner when it is ready."""
    return Pending(program, outputs, options)
