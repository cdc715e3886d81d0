"""A number for what a tensor holds: hash_tensor."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Dim, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import float64, int64, uint64
from tapegrad.core.shape import axis_of
from tapegrad.dispatch.apply import finish
from tapegrad.operators.creation.like import zeros_like
from tapegrad.operators.dtype_check import no_kernel
from tapegrad.operators.pointwise.bitwise import bitwise_xor
from tapegrad.operators.reduction.sum_mean import reduction_axes
from tapegrad.operators.shape.cat_stack import cat

__torch__ = "hash_tensor"


@require_tensors
def hash_tensor(
    input: Tensor, dim: Dim = None, *, keepdim: bool = False, mode: int = 0, out: Out = None
) -> Any:
    """The exclusive or of the elements, each as 64 bits: of float64, or of int64.

    Shape: the input's without `dim` (by default all), with `keepdim` of size 1 there; uint64.
    Raises: RuntimeError for another `mode` than 0, or no elements; NotImplementedError for complex
        numbers.

    >>> torch.hash_tensor(torch.tensor([[1, 2], [5, 2]]), 1)
    tensor([3, 7], dtype=torch.uint64)
    """
    axes = reduction_axes(dim, input.ndim)
    if mode != 0:
        raise errors.runtime_error(f"Unknown hash_tensor mode: {mode}", "There is mode=0.")
    if out is not None and out.dtype is not uint64:
        text = f"Expected result to be of dtype uint64, but got {out.dtype.scalar_name}"
        raise errors.runtime_error(text, "Give an out tensor of torch.uint64.")
    _check_elements(input, dim)
    if input.dtype.is_complex:
        raise no_kernel("xor_sum_cpu", input.dtype)
    x = input.detach()
    if x.dtype is not uint64:
        x = x.to(float64 if x.dtype.is_floating_point else int64).contiguous().view(uint64)
    for axis in axes:
        x = _halved(x, axis)
    if not keepdim:
        x = x.squeeze(axes)
    return finish("hash_tensor", x, out)


def _halved(x: Tensor, axis: int) -> Any:
    """The exclusive or along `axis`, of size 1 then: of one half with the other, repeatedly."""
    n = x.shape[axis] if x.ndim else 1
    while n > 1:
        if n % 2:
            x = cat([x, zeros_like(x.narrow(axis, 0, 1))], axis)
        n = (n + 1) // 2
        x = bitwise_xor(x.narrow(axis, 0, n), x.narrow(axis, n, n))
    return x


def _check_elements(x: Tensor, dim: Dim) -> None:
    if x.numel():
        return
    dims = (dim,) if isinstance(dim, int) else dim or ()
    if not dims:
        raise errors.runtime_error(
            "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify "
            "the reduction dim with the 'dim' argument.",
            "There is no element.",
        )
    for each in dims:
        if x.shape[axis_of(each, x.ndim)] == 0:
            raise errors.index_error(
                f"hash_tensor: Expected reduction dim {each} to have non-zero size.",
                "There is no element along it.",
            )
