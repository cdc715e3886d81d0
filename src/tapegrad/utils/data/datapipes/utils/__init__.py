"""What pipes need: checks of their functions, files, decoding."""

from tapegrad.core.missing import refuses as _refuses

__getattr__ = _refuses(__name__)
