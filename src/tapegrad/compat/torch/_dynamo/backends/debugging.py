"""What `torch._dynamo.explain` gives back, by the name that programs import."""

from tapegrad.compiler.graphs.explain_output import ExplainOutput
from tapegrad.core.missing import refuses as _refuses

__all__ = ["ExplainOutput"]

__getattr__ = _refuses(__name__)
