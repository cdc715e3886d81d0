"""`torch.onnx.operators`: shapes as tensors."""

from tapegrad.compat.native_functions import _shape_as_tensor as shape_as_tensor
from tapegrad.core.missing import refuses as _refuses
from tapegrad.tensors.tensor import Tensor


def reshape_from_tensor_shape(x: Tensor, shape: Tensor) -> Tensor:
    """`x` in the shape that a tensor of numbers says.

    >>> from tapegrad.compat.torch.onnx.operators import reshape_from_tensor_shape
    >>> reshape_from_tensor_shape(torch.arange(4), torch.tensor([2, 2])).shape
    torch.Size([2, 2])
    """
    return x.reshape(shape.tolist())


__all__ = ["reshape_from_tensor_shape", "shape_as_tensor"]

__getattr__ = _refuses(__name__)
