"""The sliding windows, where PyTorch has them."""

from tapegrad.nn import Fold, Unfold

__all__ = ["Fold", "Unfold"]
