"""Passes as objects: `PassBase`, `PassResult`, `PassManager`."""

from tapegrad.core.missing import refuses as _refuses

__getattr__ = _refuses(__name__)
