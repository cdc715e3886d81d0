"""Blocks in which Python does not look for garbage."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """A block that makes thousands of lasting objects, and no garbage that waits for a collector.

    What it leaves counts as old at once: the collector does not go through it when it wakes.

    >>> import gc
    >>> from tapegrad.core.garbage import uncollected
    >>> with uncollected():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if hasattr(gc, "freeze") and not gc.get_freeze_count():
                gc.freeze()  # there and back: from the youngest generation to the oldest
                gc.unfreeze()
            gc.enable()
