"""The layers that join and split axes, where PyTorch has them."""

from tapegrad.nn import Flatten, Unflatten

__all__ = ["Flatten", "Unflatten"]
