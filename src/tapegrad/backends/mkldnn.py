"""oneDNN, Intel's kernels: absent. Its switches may be set, and change nothing."""

from collections.abc import Iterator
from contextlib import contextmanager

enabled = True
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """Whether there is oneDNN.

    >>> torch.backends.mkldnn.is_available()
    False
    """
    return False


@contextmanager
def flags(
    enabled: bool = False,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
) -> Iterator[None]:
    """While it lasts, the switches have other positions.

    >>> with torch.backends.mkldnn.flags(enabled=False):
    ...     torch.backends.mkldnn.enabled
    False
    """
    switches = globals()
    given = {"enabled": enabled, "deterministic": deterministic, "allow_tf32": allow_tf32}
    before = {name: switches[name] for name in given}
    switches.update(given)
    try:
        yield
    finally:
        switches.update(before)
