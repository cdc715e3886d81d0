"""What a file names that `load` would refuse."""

from __future__ import annotations

from pickle import UnpicklingError
from typing import Any

from tapegrad.serialization.allowed import Allowed
from tapegrad.serialization.archive import Archive
from tapegrad.serialization.machine import Machine
from tapegrad.serialization.reader import ZIP, opened


class _Stand:
    """Takes the place of everything that the file would make with a call."""

    def append(self, x: Any) -> None:
        """Nothing."""

    extend = update = append

    def __setitem__(self, key: Any, value: Any) -> None:
        pass


class _Looker(Machine):
    def top(self, kind: Any) -> Any:
        if self.stack and type(self.stack[-1]) is _Stand:
            return self.stack[-1]
        return super().top(kind)


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """The names of classes and functions in a file that `load` would refuse; nothing is made.

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.save({1: torch.nn.Linear, 2: torch.ones(2)}, file)
    >>> torch.serialization.get_unsafe_globals_in_checkpoint(file)
    ['torch.nn.Linear']
    """
    allowed = Allowed()
    refused: dict[str, None] = {}

    def find(module: str, name: str) -> Any:
        try:
            allowed.find(module, name)
        except UnpicklingError:
            refused[f"{module}.{name}"] = None
        return _Stand()

    with opened(f) as file:
        file.seek(0)
        if file.read(len(ZIP)) != ZIP:
            raise ValueError("Expected input to be a checkpoint returned by torch.save")
        data = Archive(file).read("data.pkl")

    def stand(*given: Any) -> _Stand:
        return _Stand()

    def build(found: Any, state: Any) -> None:
        """States are not looked at."""

    _Looker(data, find, stand, build, stand).run()
    return list(refused)
