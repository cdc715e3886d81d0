"""Metal, the GPUs of Apple's machines: not supported."""

from tapegrad.core import errors


def is_available() -> bool:
    """Whether tensors can be on such a GPU.

    >>> torch.backends.mps.is_available()
    False
    """
    return False


def is_built() -> bool:
    """Whether there is code for such a GPU."""
    return False


def is_macos_or_newer(major: int, minor: int) -> bool:
    """Whether the system is a version of macOS or a later one: needs Metal, an error."""
    raise errors.runtime_error(
        "Cannot execute isOnMacOSorNewer() without MPS backend.",
        "Ask torch.backends.mps.is_available() first.",
    )


def is_macos13_or_newer(minor: int = 0) -> bool:
    """The same of macOS 13."""
    return is_macos_or_newer(13, minor)
