"""The softmax over many classes, where PyTorch has them."""

from tapegrad.nn import AdaptiveLogSoftmaxWithLoss

__all__ = ["AdaptiveLogSoftmaxWithLoss"]
