"""`torch.distributed.optim`: `ZeroRedundancyOptimizer`."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.distributed.optim.zero_redundancy_optimizer import ZeroRedundancyOptimizer

__all__ = ["ZeroRedundancyOptimizer"]

__getattr__ = _refuses(__name__)
