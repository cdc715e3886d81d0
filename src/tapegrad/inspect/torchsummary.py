"""What `from torchsummary import summary` gives."""

from tapegrad.inspect.summary import summary

__all__ = ["summary"]
