"""OpenMP: tapegrad shares its work between threads of its own."""


def is_available() -> bool:
    """Whether PyTorch's threads are OpenMP's.

    >>> torch.backends.openmp.is_available()
    False
    """
    return False
