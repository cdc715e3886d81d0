"""Libraries that PyTorch may be built with: `torch.backends.cudnn` and others, all absent here.

Scripts ask what there is, and set switches for the sake of results that do not change.
"""

from tapegrad.backends import cuda, cudnn, mkl, mkldnn, mps, openmp

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp"]
