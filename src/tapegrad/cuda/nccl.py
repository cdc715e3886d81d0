"""NVIDIA's library for several GPUs, which is not there."""

from typing import Any

from tapegrad.core.missing import refuses as _refuses
from tapegrad.cuda import init as _init

SUM = 0


def is_available(tensors: Any) -> bool:
    """Whether it works with some tensors: it does not.

    >>> torch.cuda.nccl.is_available([torch.ones(1)])
    False
    """
    return False


version = unique_id = init_rank = _init
all_reduce = all_gather = reduce = reduce_scatter = broadcast = _init

__getattr__ = _refuses(__name__)
