"""The shuffling of pixels, where PyTorch has them."""

from tapegrad.nn import PixelShuffle, PixelUnshuffle

__all__ = ["PixelShuffle", "PixelUnshuffle"]
