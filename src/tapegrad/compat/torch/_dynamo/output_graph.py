"""Where PyTorch makes graphs of what it traces: what programs import from there."""

from tapegrad.compiler.graphs.output_graph import GraphCompileReason
from tapegrad.core.missing import refuses as _refuses

__all__ = ["GraphCompileReason"]

__getattr__ = _refuses(__name__)
