"""`torch.cuda.sparse`, whose types PyTorch has no more on a machine without a GPU."""

from tapegrad.core.missing import refuses as _refuses

__getattr__ = _refuses(__name__)
