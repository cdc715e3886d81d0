"""Layers spread over ranks, by name."""

from typing import Any

from tapegrad.compat.torch.distributed.refusal import refuse, refusing
from tapegrad.core.missing import refuses as _refuses

_ADVICE = "With one rank a layer is whole: use it as it is."


class ParallelStyle:
    """How a layer is spread."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        refuse(f"tensor.parallel.{type(self).__name__}", _ADVICE)


class ColwiseParallel(ParallelStyle):
    """Raises: each rank would have some columns."""


class RowwiseParallel(ParallelStyle):
    """Raises: each rank would have some rows."""


class SequenceParallel(ParallelStyle):
    """Raises: each rank would have a part of each sequence."""


class PrepareModuleInput(ParallelStyle):
    """Raises: inputs would be spread."""


class PrepareModuleOutput(ParallelStyle):
    """Raises: outputs would be spread."""


parallelize_module = refusing("tensor.parallel.parallelize_module", _ADVICE)
loss_parallel = refusing("tensor.parallel.loss_parallel", _ADVICE)

__getattr__ = _refuses(__name__)
