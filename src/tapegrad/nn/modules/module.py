"""The base class of all modules, where PyTorch has them."""

from tapegrad.nn import Module
from tapegrad.nn.state import IncompatibleKeys as _IncompatibleKeys

__all__ = ["Module", "_IncompatibleKeys"]
