"""The shuffling of channels, where PyTorch has them."""

from tapegrad.nn import ChannelShuffle

__all__ = ["ChannelShuffle"]
