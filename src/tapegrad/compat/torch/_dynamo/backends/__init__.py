"""`torch._dynamo.backends`: of it, `debugging`."""

from tapegrad.core.missing import refuses as _refuses

__getattr__ = _refuses(__name__)
