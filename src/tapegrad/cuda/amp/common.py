"""Availability of mixed precision on a GPU."""


def amp_definitely_not_available() -> bool:
    """Whether there is no GPU to compute on in mixed precision.

    >>> torch.cuda.amp.common.amp_definitely_not_available()
    True
    """
    return True
