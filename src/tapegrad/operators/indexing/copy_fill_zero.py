"""Writing into a tensor: copies, fills, zeros."""

import numpy as np

from tapegrad.arrays.float8 import clear
from tapegrad.autograd.captured import refuse_captured
from tapegrad.autograd.sum_to_size import sum_to_shape
from tapegrad.autograd.writable import check_target, output_shape
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Scalar, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.overridable import overridable
from tapegrad.core.result_order import as_first
from tapegrad.core.scalar import fitted, number_of
from tapegrad.core.shape import broadcast
from tapegrad.core.streams.recorded import RECORDERS
from tapegrad.core.tensor_base import REFUSING
from tapegrad.dispatch.in_place import check_writable, overwrite, write
from tapegrad.dispatch.op import jvp, linear, primitive, vjp


@vjp(
    x=lambda xp, g: xp.zeros_like(g),
    source=lambda xp, g, source_like: sum_to_shape(
        xp, xp.astype(g, source_like.dtype, copy=False), source_like.shape
    ),
)
@linear(node="CopyBackwards", order=as_first)
def replace(xp, x, source):
    """The values of `source`, in the shape and dtype of `x`."""
    return xp.broadcast_to(xp.astype(source, x.dtype), x.shape)


@vjp(x=lambda xp, g: xp.zeros_like(g))
@linear(node="ZeroBackward0", order=as_first)
def replace_by_zeros(xp, x):
    """Zeros in the shape of `x`."""
    return xp.zeros_like(x)


@jvp(x=lambda xp, t: xp.zeros_like(t))
@vjp(x=lambda xp, g: xp.zeros_like(g))
@primitive(node="FillBackward2", order=as_first)
def replace_by_number(xp, x, *, value):
    """The number `value` in the shape of `x`."""
    return xp.full_like(x, value)


def _summed(xp, g, value_like):
    return xp.reshape(xp.astype(xp.sum(g), value_like.dtype, copy=False), value_like.shape)


@vjp(x=lambda xp, g: xp.zeros_like(g), value=_summed)
@linear(node="FillBackward3", order=as_first)
def replace_by_one(xp, x, value):
    """The only element of `value`, in the shape of `x`."""
    return xp.broadcast_to(xp.astype(value, x.dtype), x.shape)


@jvp(x=lambda xp, t: xp.zeros_like(t))
@vjp(x=lambda xp, g: xp.zeros_like(g))
@primitive(node="FillBackward0", order=as_first)
def fill_with_number(xp, x, *, value):
    """A tensor of the number `value` in the shape of `x`."""
    return xp.full_like(x, value)


@vjp(x=lambda xp, g: xp.zeros_like(g), value=_summed)
@linear(node="FillBackward1", kernels=("copied",), order=as_first)
def fill_with_one(xp, x, value):
    """A tensor of the only element of `value`, in the shape of `x`."""
    return xp.copied(xp.broadcast_to(xp.astype(value, x.dtype), x.shape), "C")


def cut_off(x: Tensor) -> Any:
    """`x` through an operator that lets no gradient back to it."""
    return replace(x, tensor_base.wrap(x._array))


# --- public --------------------------------------------------------------------------------------


def _check_single(value: Any, advice: str) -> None:
    if value.ndim:
        text = f"fill_ only supports 0-dimension value tensor but got tensor with {value.ndim} "
        raise errors.runtime_error(f"{text}dimensions.", advice)


def _is_itself(a: Any, b: Any) -> bool:
    """Whether arrays show the same memory in the same way: there is nothing to copy."""
    return (
        type(a) is type(b) is np.ndarray
        and (a.dtype, a.shape, a.strides) == (b.dtype, b.shape, b.strides)
        and a.ctypes.data == b.ctypes.data
    )


@require_tensors
def copy_(input: Tensor, src: Tensor, non_blocking: bool = False) -> Any:
    """Write the elements of `src`, broadcast and converted, into the tensor.

    >>> torch.zeros(2).copy_(torch.tensor([1, 2]))
    tensor([1., 2.])
    """
    if not isinstance(src, tensor_base.TensorBase):
        if not isinstance(src, (bool, int, float, complex)):
            raise errors.must_be("copy_", "other", 1, "Tensor", src)
        number = np.asarray(src)
        src = tensor_base.wrap(RECORDERS[-1].as_constant(number) if RECORDERS else number)
    if REFUSING[0]:
        refuse_captured("copy_", input)
    check_writable(input)
    apart = input._counter is None or src._counter is not input._counter
    itself = not apart and _is_itself(input._array, src._array)
    if not itself and (not apart or input._array.shape != src._array.shape):
        check_target(input, (src,))
        wide = broadcast(input._array.shape, src._array.shape)
        if wide != input._array.shape:
            advice = "The source may be smaller than the tensor, not larger."
            raise output_shape(input._array.shape, wide, advice)
    store = (lambda: None) if itself else lambda: write(input._array, src._array)
    overwrite("copy_", replace, (input, src), {}, store, itself)
    return input


@overridable
def module_load(self: Any, other: Any, assign: bool = False) -> Any:
    """What `load_state_dict` swaps it with: itself with the elements of `other`, or that.

    >>> torch.zeros(2).module_load(torch.ones(2))
    tensor([1., 1.])
    """
    return (other if assign else self.copy_(other)).detach()


@require_tensors
def fill_(input: Tensor, value: Scalar) -> Any:
    """Write one number, or the only element of a 0-d tensor, everywhere.

    Shapes: any; a tensor `value` is ().
    Raises: RuntimeError for a `value` with dimensions.

    >>> torch.zeros(2).fill_(3)
    tensor([3., 3.])
    """
    if REFUSING[0]:
        refuse_captured("fill_", input, value)
    array = getattr(value, "_array", None)
    if array is None:
        if not isinstance(value, (bool, int, float, complex, np.generic)):
            forms = ("Tensor value", "Number value")
            raise errors.invalid_combination("fill_", (value,), {}, forms)
        value = fitted(number_of("fill_", "value", 1, value), input.dtype)
        params = {"value": value}
        overwrite(
            "fill_", replace_by_number, (input,), params, lambda: input._array.fill(value), True
        )
        return input
    check_writable(input)
    _check_single(array, "copy_() writes a tensor.")
    overwrite("fill_", replace_by_one, (input, value), {}, lambda: write(input._array, array))
    return input


@require_tensors
def zero_(input: Tensor) -> Any:
    """Write zeros everywhere.

    Shape: any; it stays.

    >>> torch.ones(2).zero_()
    tensor([0., 0.])
    """
    if REFUSING[0]:
        refuse_captured("zero_", input)
    array = input._array
    overwrite("zero_", replace_by_zeros, (input,), {}, lambda: clear(array), True)
    return input


@require_tensors
def fill(input: Tensor, value: Scalar) -> Any:
    """One number, or the only element of a 0-d tensor, in the shape of the tensor.

    Shape: that of `input`.

    >>> torch.fill(torch.zeros(2), 3)
    tensor([3., 3.])
    """
    array = getattr(value, "_array", None)
    if array is None:
        value = number_of("fill", "value", 2, value)
        return fill_with_number(input, value=fitted(value, input.dtype))
    _check_single(array, "expand() repeats a tensor.")
    return fill_with_one(input, value)


__all__ = ["fill", "fill_", "zero_"]
