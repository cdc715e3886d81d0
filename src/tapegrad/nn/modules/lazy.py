"""What lazy modules derive from, where PyTorch has it."""

from tapegrad.nn.lazy import LazyModuleMixin

__all__ = ["LazyModuleMixin"]
