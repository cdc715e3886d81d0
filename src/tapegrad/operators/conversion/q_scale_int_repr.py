"""Scales and integers of quantized tensors, which are not quantized here."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Callable, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.family import family

__torch__ = (
    "dequantize int_repr q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale "
    "q_zero_point"
)


@family
def _of_quantized(name: str, what: str) -> Callable:
    def quantity(input: Tensor) -> Any:
        dtype = input._array.dtype
        raise errors.not_implemented(
            f"Could not run 'aten::{name}' with arguments from the 'CPU' backend. This could be "
            "because the operator doesn't exist for this backend, or was omitted during the "
            "selective/custom build process (if using custom build). If you are a Facebook "
            "employee using PyTorch on mobile, please visit https://fburl.com/ptmfixes for "
            f"possible resolutions. 'aten::{name}' is only available for quantized tensors.",
            f"No tensor here is quantized: this one holds its numbers themselves, as {dtype}.",
        )

    quantity.__name__ = quantity.__qualname__ = name
    quantity.__doc__ = f"""{what}

    Raises: NotImplementedError, as for every tensor that is not quantized.

    >>> torch.ones(3).{name}()
    Traceback (most recent call last):
    NotImplementedError: Could not run 'aten::{name}' with arguments...
    No tensor here is quantized: this one holds its numbers themselves, as float32.
    """
    return require_tensors(quantity, name=name)


@_of_quantized("int_repr", "The integers that stand for the numbers of a quantized tensor.")
def int_repr(): ...


@_of_quantized("q_scale", "The scale of a quantized tensor.")
def q_scale(): ...


@_of_quantized("q_zero_point", "The zero point of a quantized tensor.")
def q_zero_point(): ...


@_of_quantized("q_per_channel_scales", "The scales of the channels of a quantized tensor.")
def q_per_channel_scales(): ...


@_of_quantized(
    "q_per_channel_zero_points", "The zero points of the channels of a quantized tensor."
)
def q_per_channel_zero_points(): ...


@_of_quantized("q_per_channel_axis", "The axis of the channels of a quantized tensor.")
def q_per_channel_axis(): ...


@_of_quantized("qscheme", "How a quantized tensor is quantized.")
def qscheme(): ...


@require_tensors
def dequantize(input: Tensor) -> Any:
    """The numbers of a quantized tensor as float32; any other tensor as float32.

    Shape: any, and that of the result.

    >>> torch.dequantize(torch.tensor([1, 2]))
    tensor([1., 2.])
    """
    return input.float()
