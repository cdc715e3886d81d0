"""What `torch.compiler` sets for all compiled functions, and those that there are."""

from weakref import WeakSet

from tapegrad.arrays.traced.program import RECORDING
from tapegrad.core.annotations import Any


class _State:
    stance = "default"


STATE = _State()

COMPILED: WeakSet[Any] = WeakSet()
"""Every compiled function that somebody still has."""


def refuse_recording(why: str) -> None:
    """Say to whoever records the call that runs that no program can stand for it."""
    program = RECORDING.get()
    if program is not None and program.owner is not None:
        program.owner.refuse(why)
