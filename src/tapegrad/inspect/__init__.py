"""Seeing what was built: the layers of a model, the graph of a tensor."""

from tapegrad.inspect.graph import graph_text
from tapegrad.inspect.summary import summary

__all__ = ["graph_text", "summary"]
