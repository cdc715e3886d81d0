"""opt_einsum, which chooses the order of an einsum: not asked, that order is left to right here."""

from collections.abc import Iterator
from contextlib import contextmanager

from tapegrad.core.errors import value_error

enabled = False
strategy: str | None = None

_ADVICE = "Several calls of einsum, each of two operands, have the order in which they are written."


def is_available() -> bool:
    """Whether einsum asks opt_einsum for an order.

    >>> torch.backends.opt_einsum.is_available()
    False
    """
    return False


def get_opt_einsum() -> None:
    """The package opt_einsum, if einsum asks it: None."""
    return None


def set_flags(
    _enabled: bool | None = None, _strategy: str | None = None
) -> tuple[bool, str | None]:
    """Turn it on, or choose how it searches; returns what was set before.

    Raises: ValueError for both, as in PyTorch where opt_einsum is not installed.
    """
    global enabled
    before = (enabled, strategy)
    if _enabled:
        raise value_error(
            "opt_einsum is not available, so setting `enabled` to True will not reap the benefits "
            "of calculating an optimal path for einsum. torch.einsum will fall back to "
            "contracting from left to right.",
            _ADVICE,
        )
    if _strategy is not None:
        raise value_error(
            f"opt_einsum is not available, so setting `strategy` to {_strategy} will not be "
            "meaningful. torch.einsum will bypass path calculation and simply contract from left "
            "to right.",
            _ADVICE,
        )
    if _enabled is not None:
        enabled = _enabled
    return before


@contextmanager
def flags(enabled: bool | None = None, strategy: str | None = None) -> Iterator[None]:
    """While it lasts, the switches have other positions.

    >>> with torch.backends.opt_einsum.flags(enabled=False):
    ...     torch.backends.opt_einsum.enabled
    False
    """
    switches = globals()
    before = set_flags(enabled, strategy)
    try:
        yield
    finally:
        switches.update(enabled=before[0], strategy=before[1])
