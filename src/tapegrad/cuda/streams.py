"""Queues of work of a GPU: there is none, so none can be made."""

from tapegrad.compat.absent_device import dummy as _dummy
from tapegrad.core.missing import refuses as _refuses

Stream = _dummy("Stream", "torch.cuda.streams", "torch.cuda.Stream requires CUDA support")
ExternalStream = _dummy(
    "ExternalStream", "torch.cuda.streams", "torch.cuda.Stream requires CUDA support"
)
Event = _dummy("Event", "torch.cuda.streams")

__getattr__ = _refuses(__name__)
