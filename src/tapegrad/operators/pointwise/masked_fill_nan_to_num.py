"""Values put in the place of others: masked_fill, nan_to_num."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import bool_
from tapegrad.core.limits import finfo
from tapegrad.core.result_order import row_major
from tapegrad.core.scalar import fitted, float_of
from tapegrad.core.shape import broadcast
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import elementwise, vjp
from tapegrad.operators.dtype_check import check_real_graph

__all__ = ["masked_fill", "nan_to_num", "nan_to_num_"]


@vjp(input=lambda xp, g, mask: xp.where(mask, 0.0, g))
@elementwise(node="MaskedFillBackward0", exempt=("mask",), hidden=("value",), order=row_major)
def fill_masked(xp, input, mask, value):
    """`input`, and the number `value` where `mask` is true."""
    return xp.where(mask, value, input)


@vjp(
    input=lambda xp, g, mask: xp.where(mask, 0.0, g),
    value=lambda xp, g, mask: xp.where(mask, g, 0.0),
)
@elementwise(node="MaskedFillBackward1", exempt=("mask",), order=row_major)
def fill_masked_with(xp, input, mask, value):
    """The same for a 0-d tensor `value`."""
    return xp.where(mask, value, input)


@require_tensors
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Any:
    """`input`, and `value`, a number or a 0-d tensor, where `mask` is true.

    Shapes: input and mask broadcast to that of the result; a tensor `value` is ().
    Raises: RuntimeError for a mask that is not boolean, or a `value` with dimensions.

    >>> torch.tensor([1.0, 2.0]).masked_fill(torch.tensor([True, False]), 0)
    tensor([0., 2.])
    """
    if not hasattr(mask, "_array"):
        forms = (
            "Tensor input, Tensor mask, Tensor value",
            "Tensor input, Tensor mask, Number value",
        )
        raise errors.invalid_combination("masked_fill", (input, mask, value), {}, forms)
    if mask._array.shape != input._array.shape:
        broadcast(mask._array.shape, input._array.shape)
    if hasattr(value, "_array") and value.ndim:
        raise errors.runtime_error(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s).",
            "torch.where(mask, value, input) takes a tensor of values.",
        )
    if mask.dtype is not bool_:
        raise errors.runtime_error(
            "masked_fill_ only supports boolean masks, but got mask with dtype "
            f"{errors.c_name(mask.dtype)}",
            "Compare first (x > 0), or convert with .bool().",
        )
    if not hasattr(value, "_array"):
        return fill_masked(input, mask, fitted(value, input.dtype))
    if value.dtype is not input.dtype:
        fitted(value.item(), input.dtype)
        value = value.to(input.dtype)
    return fill_masked_with(input, mask, value)


@vjp(x=lambda xp, g, x: xp.where(xp.isfinite(x), g, 0.0))
@elementwise(name="nan_to_num")
def without_nan(xp, x, *, nan, posinf, neginf):
    """Numbers in the place of nan and the infinities."""
    if xp.isdtype(x.dtype, ("bool", "integral")):
        return xp.asarray(x, copy=True)
    limits = xp.finfo(x.dtype)
    high = limits.max if posinf is None else posinf
    low = limits.min if neginf is None else neginf
    x = xp.where(x != x, nan, x)
    x = xp.where(x == float("inf"), high, x)
    return xp.where(x == float("-inf"), low, x)


@require_tensors
def nan_to_num(
    input: Tensor,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
    *,
    out: Out = None,
) -> Any:
    """`nan` (0) for nan, the largest and least number, or those given, for the infinities.

    Shape: any, and that of the result.

    >>> torch.nan_to_num(torch.tensor([float("nan"), 2.0]), nan=-1.0)
    tensor([-1.,  2.])
    """
    nan = 0.0 if nan is None else float_of("nan_to_num", "nan", 2, nan)
    posinf = None if posinf is None else float_of("nan_to_num", "posinf", 3, posinf)
    neginf = None if neginf is None else float_of("nan_to_num", "neginf", 4, neginf)
    if input._array.dtype.kind == "c":
        check_real_graph("nan_to_num", input)
    if input.dtype.is_floating_point and input.dtype.itemsize == 2:  # computed in a wider dtype
        limits = finfo(input.dtype)
        posinf = limits.max if posinf is None else posinf
        neginf = limits.min if neginf is None else neginf
    return finish(
        "nan_to_num", without_nan(input, nan=nan, posinf=posinf, neginf=neginf), out, input
    )


masked_fill_ = in_place(masked_fill, reads_numbers=True, repeats="warned")
nan_to_num_ = in_place(nan_to_num)
