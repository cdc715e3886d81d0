"""The old name of `torch.distributed.tensor.experimental`."""

from tapegrad.compat.torch.distributed.tensor.experimental import (
    context_parallel,
    implicit_replication,
)
from tapegrad.core.missing import refuses as _refuses

__all__ = ["context_parallel", "implicit_replication"]

__getattr__ = _refuses(__name__)
