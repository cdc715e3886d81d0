"""Metal, the GPUs of Apple's machines: not supported."""


def is_available() -> bool:
    """Whether tensors can be on such a GPU.

    >>> torch.backends.mps.is_available()
    False
    """
    return False


def is_built() -> bool:
    """Whether there is code for such a GPU."""
    return False
