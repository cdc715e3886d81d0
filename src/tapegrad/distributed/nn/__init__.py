"""`torch.distributed.nn`: collectives through which gradients flow."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.distributed.nn.functional import (
    all_gather,
    all_reduce,
    all_to_all,
    all_to_all_single,
    broadcast,
    gather,
    reduce,
    reduce_scatter,
    scatter,
)

__getattr__ = _refuses(__name__)
