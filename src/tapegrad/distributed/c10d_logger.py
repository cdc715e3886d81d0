"""Decorators that PyTorch's collectives log themselves by; errors pass through as they are."""

import logging
from functools import wraps

from tapegrad.core.annotations import Any, Callable

_c10d_logger = logging.getLogger("c10d-NullHandler")
_c10d_logger.addHandler(logging.NullHandler())


def _exception_logger(function: Callable) -> Callable:
    """A function whose errors are noted in the log before they go on."""

    @wraps(function)
    def logged(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            _c10d_logger.error("%s: %s", function.__name__, error)
            raise

    return logged


def _time_logger(function: Callable) -> Callable:
    """A function as it is."""
    return function
