"""The options of `LinearCrossEntropyLoss`, where PyTorch has them."""

from tapegrad.nn.functional.loss import LinearCrossEntropyOptions

__all__ = ["LinearCrossEntropyOptions"]
