"""`torch.ao.ns`: comparisons of quantised models, which are not there."""

from tapegrad.core.missing import refuses as _refuses

__getattr__ = _refuses(__name__)
