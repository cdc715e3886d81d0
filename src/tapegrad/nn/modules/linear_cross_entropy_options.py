"""The options of `LinearCrossEntropyLoss`, where PyTorch has them."""

from tapegrad.nn import LinearCrossEntropyOptions

__all__ = ["LinearCrossEntropyOptions"]
