"""Switches of a module that a block sets, and sets back at its end."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def set_switches(switches: dict[str, Any], **given: Any) -> Iterator[None]:
    """A block in which `switches`, the names of a module, are as they are given.

    >>> from tapegrad.core.switches import set_switches
    >>> names = {"enabled": True}
    >>> with set_switches(names, enabled=False):
    ...     print(names)
    {'enabled': False}
    >>> names
    {'enabled': True}
    """
    before = {name: switches[name] for name in given}
    switches.update(given)
    try:
        yield
    finally:
        switches.update(before)
