"""Whether mixed precision on a GPU is out of the question."""


def amp_definitely_not_available() -> bool:
    """Whether there is no GPU to compute on in mixed precision.

    >>> torch.cuda.amp.common.amp_definitely_not_available()
    True
    """
    return True
