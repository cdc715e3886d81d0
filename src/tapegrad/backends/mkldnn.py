"""oneDNN, Intel's kernels: absent. Its switches may be set, and change nothing."""

from contextlib import AbstractContextManager

from tapegrad.core.switches import set_switches

enabled = True
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """Whether there is oneDNN.

    >>> torch.backends.mkldnn.is_available()
    False
    """
    return False


def flags(
    enabled: bool = False,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
) -> AbstractContextManager[None]:
    """While it lasts, the switches have other positions.

    >>> with torch.backends.mkldnn.flags(enabled=False):
    ...     torch.backends.mkldnn.enabled
    False
    """
    return set_switches(
        globals(), enabled=enabled, deterministic=deterministic, allow_tf32=allow_tf32
    )
