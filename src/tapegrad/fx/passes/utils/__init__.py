"""What passes are made of: `torch.fx.passes.utils`."""

from tapegrad.core.missing import refuses as _refuses

__getattr__ = _refuses(__name__)
