"""`torch._tensor`: where PyTorch has the class of tensors."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.serialization.rebuild import rebuild_from_type as _rebuild_from_type_v2
from tapegrad.tensors.tensor import Tensor

__all__ = ["Tensor", "_rebuild_from_type_v2"]

__getattr__ = _refuses(__name__)
