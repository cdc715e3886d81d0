"""The linear layers, where PyTorch has them."""

from tapegrad.nn import Bilinear, Identity, LazyLinear, Linear

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear"]
