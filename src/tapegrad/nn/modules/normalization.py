"""The normalisations, where PyTorch has them."""

from tapegrad.nn import CrossMapLRN2d, GroupNorm, LayerNorm, LocalResponseNorm, RMSNorm

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]
