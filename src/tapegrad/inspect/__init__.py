"""Seeing what was built and what runs: layers, graphs, a pass through them, how far a loop is."""

from tapegrad.inspect import plot
from tapegrad.inspect.dot import make_dot
from tapegrad.inspect.explanation import explain
from tapegrad.inspect.graph_tree import graph_text
from tapegrad.inspect.graphing import Graph, graph
from tapegrad.inspect.linting import LintWarning, lint
from tapegrad.inspect.living import live_graphs
from tapegrad.inspect.memory import memory
from tapegrad.inspect.progress import progress
from tapegrad.inspect.ranks import ranks
from tapegrad.inspect.stepping import step
from tapegrad.inspect.summary import summary
from tapegrad.inspect.watching import watch

__all__ = [
    "Graph", "LintWarning", "explain", "graph", "graph_text", "lint", "live_graphs", "make_dot",
    "memory", "plot", "progress", "ranks", "step", "summary", "watch",
]  # fmt: skip
