"""The operators of both runs of a checkpoint, for who asks why they differ."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Token
from typing import Any

from tapegrad.autograd.layered_mode import Layered
from tapegrad.autograd.mode import MODE
from tapegrad.autograd.operator_base import public_name
from tapegrad.autograd.trace import Trace, frames_here
from tapegrad.core.errors import advised
from tapegrad.utils.checkpoint.frame import CheckpointError


class _Listing(Layered):
    """Notes every operator, and the line that called it."""

    __slots__ = ("lines",)

    def __init__(self, under: Any, lines: list[str]):
        super().__init__(under)
        self.lines = lines

    def over(self, under: Any) -> _Listing:
        return _Listing(under, self.lines)

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        result = self.below(name, function, args, kwargs)
        op, inputs, _ = args
        shapes = ", ".join(str(list(x.shape)) for x in inputs if hasattr(x, "_array"))
        where = Trace(frames_here(), None).line()
        place = "" if where is None else f"   {where[0]}:{where[1]}"
        self.lines.append(f"{public_name(name, getattr(op, 'node_name', ''))}({shapes}){place}")
        return result


class Log:
    """What ran forward, and what ran again."""

    def __init__(self) -> None:
        self.forward: list[str] = []
        self.again: list[str] = []

    def contexts(self) -> tuple[Any, Any]:
        """Two contexts, one for each run, in which operators are noted."""
        return _Noting(self.forward), _Noting(self.again)

    def error(self) -> CheckpointError:
        """The error that lists both."""
        return advised(
            CheckpointError(
                " An error happened while unpacking tensors; dumping logs of latest computation\n"
                "because you passed `debug=True` to `torch.utils.checkpoint.checkpoint()`.\n\n"
                f"Operators of the original forward:\n{_text(self.forward)}\n"
                f"Operators of the recomputation:\n{_text(self.again)}"
            ),
            "Look for the first line in which the two lists differ.",
        )


def _text(lines: list[str]) -> str:
    return "".join(f"{i:5d}  {line}\n" for i, line in enumerate(lines, 1))


class _Noting:
    """A context in which operators are noted; it may be entered again."""

    def __init__(self, lines: list[str]):
        self._lines = lines
        self._tokens: list[Token] = []

    def __enter__(self) -> None:
        self._tokens.append(MODE.set(_Listing(MODE.get(), self._lines)))

    def __exit__(self, *error: object) -> None:
        MODE.reset(self._tokens.pop())
