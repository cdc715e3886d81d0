"""`functorch.einops`: dimensions by their names."""

from tapegrad.func.rearrange import rearrange

__all__ = ["rearrange"]
