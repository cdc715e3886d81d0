"""cuDNN, kernels for GPUs: absent. Its switches may be set, and change nothing."""

enabled = True
deterministic = False
benchmark = False
allow_tf32 = True


def is_available() -> bool:
    """Whether there is cuDNN.

    >>> torch.backends.cudnn.is_available()
    False
    """
    return False


def version() -> None:
    """The version of cuDNN: None, there is none."""
    return None
