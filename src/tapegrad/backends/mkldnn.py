"""oneDNN, Intel's kernels: absent."""


def is_available() -> bool:
    """Whether there is oneDNN.

    >>> torch.backends.mkldnn.is_available()
    False
    """
    return False
