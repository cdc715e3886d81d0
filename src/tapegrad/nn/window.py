"""The sizes of windows, as layers take them: one number for all axes, or one for each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def of_each(value: Any, n: int) -> tuple[Any, ...]:
    """`value` for each of n axes; what is a sequence already stays as it is.

    >>> from tapegrad.nn.window import of_each
    >>> of_each(3, 2), of_each([3, 4], 2)
    ((3, 3), (3, 4))
    """
    return tuple(value) if isinstance(value, Iterable) else (value,) * n
