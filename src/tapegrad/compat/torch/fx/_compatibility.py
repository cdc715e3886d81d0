"""`torch.fx._compatibility`: PyTorch's mark of what keeps its interface."""

from collections.abc import Callable
from typing import TypeVar

from tapegrad.core.missing import refuses as _refuses

_BACK_COMPAT_OBJECTS: dict = {}
_MARKED_WITH_COMPATIBILITY: dict = {}
T = TypeVar("T", bound=Callable)


def compatibility(is_backward_compatible: bool) -> Callable[[T], T]:
    """A decorator that notes whether a function keeps its interface.

    >>> from tapegrad.compat.torch.fx._compatibility import compatibility
    >>> compatibility(is_backward_compatible=True)(print) is print
    True
    """

    def mark(fn: T) -> T:
        _MARKED_WITH_COMPATIBILITY.setdefault(fn)
        if is_backward_compatible:
            _BACK_COMPAT_OBJECTS.setdefault(fn)
        return fn

    return mark


__getattr__ = _refuses(__name__)
