"""Intel's MKL: NumPy may use it, tapegrad does not."""


def is_available() -> bool:
    """Whether there is MKL.

    >>> torch.backends.mkl.is_available()
    False
    """
    return False
