"""Three operands: addcmul, addcdiv, lerp."""

from tapegrad.arrays.traced.number import TracedNumber
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Out, Scalar, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import of
from tapegrad.core.scalar import fitted, number_of
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import elementwise, vjp
from tapegrad.operators.dtype_check import BOOL, INTEGER, common_dtype, lacks

__all__ = ["addcdiv", "addcmul", "lerp"]


@vjp(
    input=lambda g: g,
    tensor1=lambda g, tensor2, value: g * (tensor2 * value),
    tensor2=lambda g, tensor1, value: g * (tensor1 * value),
)
@elementwise(name="addcmul", check=lacks("addcmul_cpu_out", BOOL))
def add_product(xp, input, tensor1, tensor2, *, value):
    """`input + value * tensor1 * tensor2`."""
    product = tensor1 * tensor2
    return input + (product if value == 1 else value * product)


def _factor(function: str, value: Scalar, *operands: Array) -> Any:
    """`value` as a number of the dtype that the operands have in common."""
    if hasattr(value, "_array"):
        value = number_of(function, "value", 0, value)
    if value == 1 or not all(hasattr(x, "_array") for x in operands):
        return value
    dtype = common_dtype(*operands)
    if type(value) is TracedNumber and dtype.is_floating_point:
        return value
    return fitted(value, dtype)


@require_tensors
def addcmul(
    input: Tensor, tensor1: Any, tensor2: Any, *, value: Scalar = 1, out: Out = None
) -> Any:
    """`input + value * tensor1 * tensor2`, element by element.

    Shapes: any that broadcast; the result has the common one.

    >>> torch.addcmul(torch.ones(2), torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]), value=10)
    tensor([31., 81.])
    """
    value = _factor("addcmul", value, input, tensor1, tensor2)
    return finish(
        "addcmul", add_product(input, tensor1, tensor2, value=value), out, input, tensor1, tensor2
    )


@vjp(
    input=lambda g: g,
    tensor1=lambda g, tensor2, value: g * (value / tensor2),
    tensor2=lambda g, tensor1, tensor2, value: -g * (value * tensor1 / (tensor2 * tensor2)),
)
@elementwise(name="addcdiv")
def add_quotient(xp, input, tensor1, tensor2, *, value):
    """`input + value * tensor1 / tensor2`."""
    return input + (tensor1 if value == 1 else value * tensor1) / tensor2


@require_tensors
def addcdiv(
    input: Tensor, tensor1: Any, tensor2: Any, *, value: Scalar = 1, out: Out = None
) -> Any:
    """`input + value * tensor1 / tensor2`, element by element.

    Shapes: any that broadcast; the result has the common one.
    Raises: RuntimeError for integers.

    >>> torch.addcdiv(torch.ones(2), torch.tensor([1.0, 2.0]), torch.tensor([2.0, 4.0]), value=10)
    tensor([6., 6.])
    """
    if not any(of(x._array.dtype).category > 1 for x in (tensor1, tensor2)):
        raise errors.runtime_error(
            "Integer division with addcdiv is no longer supported, and in a future  release "
            "addcdiv will perform a true division of tensor1 and tensor2. The historic addcdiv "
            "behavior can be implemented as (input + value * torch.trunc(tensor1 / "
            "tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / "
            "tensor2) for float inputs. The future addcdiv behavior is just the latter "
            "implementation: (input + value * tensor1 / tensor2), for all dtypes.",
            "Convert one of the two to a floating-point type first.",
        )
    value = _factor("addcdiv", value, input, tensor1, tensor2)
    return finish(
        "addcdiv", add_quotient(input, tensor1, tensor2, value=value), out, input, tensor1, tensor2
    )


# --- linear interpolation --------------------------------------------------------------------


def _interpolate(xp: Namespace, start: Array, end: Array, weight: Array) -> Any:
    """From the nearer end, so that weights 0 and 1 give the ends exactly."""
    way = end - start
    if isinstance(weight, (int, float, complex)):
        return start + weight * way if abs(weight) < 0.5 else end - way * (1 - weight)
    return xp.where(xp.abs(weight) < 0.5, start + weight * way, end - way * (1 - weight))


@vjp(input=lambda g, weight: g * (1 - weight), end=lambda g, weight: g * weight)
@elementwise(node="LerpBackward0", check=lacks("lerp_kernel_scalar", BOOL, INTEGER))
def lerp_number(xp, input, end, *, weight):
    """`input + weight * (end - input)` for a number `weight`."""
    return _interpolate(xp, input, end, weight)


@vjp(
    input=lambda g, weight: g * (1 - weight),
    end=lambda g, weight: g * weight,
    weight=lambda g, input, end: g * (end - input),
)
@elementwise(node="LerpBackward1", check=lacks("lerp_kernel_tensor", BOOL, INTEGER))
def lerp_tensor(xp, input, end, weight):
    """`input + weight * (end - input)`, element by element."""
    return _interpolate(xp, input, end, weight)


@require_tensors
def lerp(input: Tensor, end: Any, weight: Tensor, *, out: Out = None) -> Any:
    """`input + weight * (end - input)`: the way from `input` to `end`, `weight` of it.

    Shapes: any that broadcast; the result has the common one.
    Raises: RuntimeError where the dtypes differ.

    >>> torch.lerp(torch.tensor([0.0, 10.0]), torch.tensor([1.0, 20.0]), 0.25)
    tensor([ 0.2500, 12.5000])
    """
    for name, x in (("end", end), ("weight", weight)):
        if hasattr(x, "_array") and x.dtype is not input.dtype:
            if name == "weight" and x.ndim == 0 and not x.dtype.is_complex:
                weight = x.to(input.dtype)
                continue
            want, found = errors.c_name(input.dtype), errors.c_name(x.dtype)
            raise errors.runtime_error(
                f"expected dtype {want} for `{name}` but got dtype {found}",
                "Give all tensors one dtype.",
            )
    if hasattr(weight, "_array"):
        return finish("lerp", lerp_tensor(input, end, weight), out, input, end, weight)
    return finish("lerp", lerp_number(input, end, weight=weight), out, input, end, weight)


addcmul_, addcdiv_, lerp_ = in_place(addcmul), in_place(addcdiv), in_place(lerp)
