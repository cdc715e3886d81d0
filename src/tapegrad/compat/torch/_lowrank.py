"""`torch._lowrank`: approximations of matrices by few singular vectors."""

from tapegrad import pca_lowrank, svd_lowrank
from tapegrad.core.missing import refuses as _refuses

__all__ = ["pca_lowrank", "svd_lowrank"]

__getattr__ = _refuses(__name__)
