"""Warnings that a process is given once, as by PyTorch, or each time where it asks for that."""

from tapegrad.core import errors
from tapegrad.core.argument_check import users_level

_given: set[str] = set()  # the texts, or what stands for those that have one warning together
ALWAYS = [False]  # whether each time, which `torch.set_warn_always` says


def warn_once(message: str, together: str = "") -> None:
    """A warning of the program's line in PyTorch's words, unless it, or one with it, was given."""
    key = together or message
    if ALWAYS[0] or key not in _given:
        _given.add(key)
        errors.warn(message, users_level())
