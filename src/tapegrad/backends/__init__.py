"""Libraries that PyTorch may be built with: `torch.backends.cudnn` and others, all absent here.

Scripts ask what there is, and set switches for the sake of results that do not change.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from tapegrad.backends import cpu, cuda, cudnn, mkl, mkldnn, mps, native, openmp, opt_einsum

__all__ = ["cpu", "cuda", "cudnn", "mkl", "mkldnn", "mps", "native", "openmp", "opt_einsum"]


def flags_frozen() -> bool:
    """Whether switches may be set by `flags` alone: False, nothing freezes them here.

    >>> torch.backends.flags_frozen()
    False
    """
    return False


@contextmanager
def __allow_nonbracketed_mutation() -> Iterator[None]:
    """While it lasts, switches may be set, as they may be here always."""
    yield
