"""`torch.fx.experimental`: of it, `optimization`."""

from tapegrad.core.missing import refuses as _refuses

__getattr__ = _refuses(__name__)
