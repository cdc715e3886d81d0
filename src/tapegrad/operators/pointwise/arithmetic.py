"""Arithmetic: sums, differences, products."""

import numpy as np

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Out, Scalar, Tensor
from tapegrad.core.argument_check import also_called, require_tensors, two_operands
from tapegrad.core.dtype import bool_, of
from tapegrad.core.promote_types import promote
from tapegrad.core.result_order import in_operands_order
from tapegrad.core.scalar import fitted, number_of
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import elementwise, vjp
from tapegrad.operators.dtype_check import tensor_first

__all__ = [
    "add", "mul", "multiply", "neg", "neg_", "negative", "negative_", "positive", "rsub", "sub",
    "subtract",
]  # fmt: skip


# --- sums ------------------------------------------------------------------------------------


def _is_bool(x: Any) -> bool:
    """Whether an operand, a tensor, an array or a number, is a truth value."""
    if type(x) is bool:
        return True
    dtype = getattr(getattr(x, "_array", x), "dtype", None)
    return dtype is not None and of(dtype) is bool_


@vjp(input=lambda g: g, other=lambda g: g)
@elementwise(name="add", node="AddBackward0", ufunc="add")
def plus(xp, input, other):
    """Sum of two tensors, element by element, with broadcasting."""
    return xp.logical_or(input, other) if _is_bool(input) else input + other


@vjp(input=lambda g: g, other=lambda g, alpha: g * alpha)
@elementwise(node="AddBackward0")
def add_scaled(xp, input, other, *, alpha):
    """`input + alpha * other`; of truth values, either where alpha is true."""
    if _is_bool(input):
        return xp.logical_or(input, other if alpha else input)
    return input + alpha * other


def _checked_alpha(alpha: Scalar, *operands: Array) -> Any:
    """The factor, as an integer or a number of 16 bits that the result has can be it."""
    dtype = promote([getattr(x, "_array", x) for x in operands])
    if isinstance(alpha, bool) and dtype is not bool_:
        text = "Boolean alpha only supported for Boolean results."
        raise errors.runtime_error(text, "Pass a number.")
    if isinstance(alpha, complex) and dtype.category == 2:
        text = "For non-complex input tensors, argument alpha must not be a complex number."
        raise errors.runtime_error(text, "Convert one of the tensors to a complex type first.")
    if isinstance(alpha, (float, complex)) and dtype.category < 2:
        text = "For integral input tensors, argument alpha must not be a floating point number."
        advice = "Pass an integer, or convert the tensors to a floating-point type first."
        raise errors.runtime_error(text, advice)
    if dtype.is_floating_point and dtype.itemsize == 2:
        return float(np.asarray(alpha, dtype=dtype.numpy))
    return fitted(alpha, dtype) if dtype.category == 1 else alpha


@two_operands(plus.direct)
def add(input: Tensor, other: Scalar, *, alpha: Scalar = 1, out: Out = None) -> Any:
    """The sum `input + alpha * other`.

    Shapes: any that broadcast; the result has the common one.

    >>> torch.add(torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0]), alpha=2)
    tensor([21., 42.])
    """
    if hasattr(alpha, "_array"):
        alpha = number_of("add", "alpha", 0, alpha)
    if alpha is not True and alpha == 1:
        return plus(input, other, out=out)
    alpha = _checked_alpha(alpha, input, other)
    return finish("add", add_scaled(input, other, alpha=alpha), out, input, other)


add.op = plus.op


# --- differences -----------------------------------------------------------------------------


def no_difference_of_masks(advice: str) -> RuntimeError:
    """The error for two boolean tensors of which one is to be subtracted."""
    return errors.runtime_error(
        "Subtraction, the `-` operator, with two bool tensors is not supported. Use the "
        "`^` or `logical_xor()` operator instead.",
        advice,
    )


def _refuse_bools(input: Tensor, other: Scalar) -> None:
    """There is no difference with a truth value."""
    if _is_bool(input) and _is_bool(other):
        advice = "For a difference of numbers, convert to integers first: x.int() - y.int()."
        raise no_difference_of_masks(advice)
    if _is_bool(input) or _is_bool(other):
        raise errors.runtime_error(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are "
            "trying to invert a mask, use the `~` or `logical_not()` operator instead.",
            "For a difference of numbers, convert the mask first: mask.int().",
        )


@vjp(input=lambda g: g, other=lambda g: -g)
@elementwise(name="sub", node="SubBackward0", ufunc="subtract", check=_refuse_bools)
def minus(xp, input, other):
    """Difference of two tensors, element by element, with broadcasting."""
    return input - other


@vjp(input=lambda g: g, other=lambda g, alpha: g * -alpha)
@elementwise(node="SubBackward0", check=_refuse_bools)
def sub_scaled(xp, input, other, *, alpha):
    """`input - alpha * other`."""
    return input - alpha * other


@two_operands(minus.direct)
def sub(input: Tensor, other: Scalar, *, alpha: Scalar = 1, out: Out = None) -> Any:
    """The difference `input - alpha * other`.

    Shapes: any that broadcast; the result has the common one.
    Raises: RuntimeError for truth values.

    >>> torch.sub(torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0]), alpha=2)
    tensor([-19., -38.])
    """
    if hasattr(alpha, "_array"):
        alpha = number_of("sub", "alpha", 0, alpha)
    if alpha is not True and alpha == 1:
        return minus(input, other, out=out)
    alpha = _checked_alpha(alpha, input, other)
    return finish("sub", sub_scaled(input, other, alpha=alpha), out, input, other)


sub.op = minus.op


_check_rsub = tensor_first("rsub", "other", _refuse_bools)


def _other_first(result: Any, operands: list, params: dict) -> Any:
    """The order of memory of `other - input`."""
    return in_operands_order(result, operands[::-1])


@vjp(input=lambda g, alpha: g * -alpha, other=lambda g: g)
@elementwise(node="RsubBackward0", check=_check_rsub, order=_other_first)
def rsub_scaled(xp, input, other, *, alpha):
    """`other - alpha * input`."""
    return other - (input if alpha == 1 else alpha * input)


@vjp(input=lambda g: -g)
@elementwise(node="RsubBackward1", hidden=("other",), check=_check_rsub)
def subtract_from(xp, input, other):
    """`other - input` for a number `other`."""
    return other - input


@require_tensors
def rsub(input: Tensor, other: Scalar, *, alpha: Scalar = 1) -> Any:
    """The difference `other - alpha * input`.

    Shapes: any that broadcast; the result has the common one.

    >>> torch.rsub(torch.tensor([1.0, 2.0]), 5)
    tensor([4., 3.])
    """
    if hasattr(alpha, "_array"):
        alpha = number_of("rsub", "alpha", 0, alpha)
    if alpha is not True and alpha == 1 and not hasattr(other, "_array"):
        return subtract_from(input, other)
    alpha = _checked_alpha(alpha, input, other)
    return rsub_scaled(input, other, alpha=alpha)


# --- products --------------------------------------------------------------------------------


@vjp(input=lambda g, other: g * other, other=lambda g, input: g * input)
@elementwise(ufunc="multiply", exact_number=True)
def mul(xp, input, other):
    """The product of two tensors, element by element, with broadcasting.

    >>> torch.mul(torch.tensor([1.0, 2.0]), torch.tensor([[3.0], [4.0]]))
    tensor([[3., 6.],
            [4., 8.]])
    """
    return xp.logical_and(input, other) if _is_bool(input) else input * other


def _refuse_mask(x: Tensor) -> None:
    if _is_bool(x):
        raise errors.runtime_error(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying "
            "to invert a mask, use the `~` or `logical_not()` operator instead.",
            "For negative numbers, convert the mask first: -mask.int().",
        )


@vjp(x=lambda g: -g)
@elementwise(ufunc="negative", check=_refuse_mask)
def neg(xp, x):
    """Each element with the other sign.

    >>> torch.neg(torch.tensor([1.0, -2.0]))
    tensor([-1.,  2.])
    """
    return -x


@require_tensors
def positive(input: Tensor) -> Any:
    """The tensor itself; an error for truth values.

    Shape: any, and that of the result.
    Raises: RuntimeError for truth values.

    >>> torch.positive(torch.tensor([1.0, -2.0]))
    tensor([ 1., -2.])
    """
    if of(input._array.dtype) is bool_:
        text = "The `+` operator, on a bool tensor is not supported."
        raise errors.runtime_error(text, "Convert the mask first: mask.int().")
    return input


add_, sub_, mul_, neg_ = in_place(add), in_place(sub), in_place(mul), in_place(neg)
subtract = also_called("subtract", sub)
subtract_ = also_called("subtract_", sub_)
multiply = also_called("multiply", mul)
multiply_ = also_called("multiply_", mul_)
negative = also_called("negative", neg)
negative_ = also_called("negative_", neg_)
