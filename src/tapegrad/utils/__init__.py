"""Helpers where PyTorch users look for them."""

from tapegrad.utils import dlpack

__all__ = ["dlpack"]
