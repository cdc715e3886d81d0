"""Seeing what was built: the layers of a model, the graph of a tensor, a pass through it."""

from tapegrad.inspect.explanation import explain
from tapegrad.inspect.graph import graph_text
from tapegrad.inspect.linting import LintWarning, lint
from tapegrad.inspect.living import live_graphs
from tapegrad.inspect.stepping import step
from tapegrad.inspect.summary import summary
from tapegrad.inspect.watching import watch

__all__ = [
    "LintWarning",
    "explain",
    "graph_text",
    "lint",
    "live_graphs",
    "step",
    "summary",
    "watch",
]
