"""CUDA, NVIDIA's GPUs: without code for them."""


def is_built() -> bool:
    """Whether there is code for such a GPU.

    >>> torch.backends.cuda.is_built()
    False
    """
    return False
