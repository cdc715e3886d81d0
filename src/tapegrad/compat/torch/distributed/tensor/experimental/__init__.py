"""More of tensors spread over ranks, by name."""

from tapegrad.compat.torch.distributed.refusal import refusing
from tapegrad.core.missing import refuses as _refuses

_ADVICE = "With one rank a tensor is whole: use it as it is."
context_parallel = refusing("tensor.experimental.context_parallel", _ADVICE)
implicit_replication = refusing("tensor.experimental.implicit_replication", _ADVICE)

__getattr__ = _refuses(__name__)
