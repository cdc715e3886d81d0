"""`import torchviz`, served by tapegrad: its `make_dot`."""

from tapegrad.inspect.dot import make_dot

__all__ = ["make_dot"]
