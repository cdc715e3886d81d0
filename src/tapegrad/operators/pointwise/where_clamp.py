"""Choosing by a condition or a limit: where, clamp."""

from tapegrad.autograd.writable import cannot_cast, check_writable
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Out, Scalar, Tensor
from tapegrad.core.argument_check import also_called, require_tensors
from tapegrad.core.dtype import bool_, uint8
from tapegrad.core.promote_types import can_cast
from tapegrad.core.warn_once import warn_once
from tapegrad.dispatch.apply import NUMBERS, finish
from tapegrad.dispatch.in_place import in_place
from tapegrad.dispatch.op import elementwise, vjp
from tapegrad.operators.dtype_check import (
    COMPLEX,
    common_dtype,
    invalid_combination,
    lacks,
    no_complex,
    tensor_first,
)

__all__ = [
    "clamp", "clamp_", "clamp_max", "clamp_max_", "clamp_min", "clamp_min_", "clip", "clip_",
    "where",
]  # fmt: skip


@vjp(
    input=lambda xp, g, condition: xp.where(condition, g, 0.0),
    other=lambda xp, g, condition: xp.where(condition, 0.0, g),
)
@elementwise(name="where", exempt=("condition",))
def choose(xp, condition, input, other):
    """`input` where `condition` is true, else `other`."""
    return xp.where(condition, input, other)


@require_tensors
def where(
    condition: Any, input: Tensor | None = None, other: Scalar | None = None, *, out: Out = None
) -> Any:
    """`input` where `condition` is true, else `other`; alone, the indices where it is true.

    Shapes: any that broadcast; the result has the common one; alone d times (k,).
    Raises: RuntimeError for a condition that is not boolean.

    >>> torch.where(torch.tensor([True, False]), torch.tensor([1.0, 2.0]), 0.0)
    tensor([1., 0.])
    """
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    if input is None or other is None or not hasattr(condition, "_array"):
        given = tuple(x for x in (condition, input, other) if x is not None)
        raise invalid_combination(
            "where",
            given,
            "Tensor condition",
            "Tensor condition, Tensor input, Tensor other, *, Tensor out = None",
            "Tensor condition, Number self, Tensor other",
            "Tensor condition, Tensor input, Number other",
            "Tensor condition, Number self, Number other",
        )
    dtype = condition.dtype
    if dtype is uint8:
        warn_once(
            "where received a uint8 condition tensor. This behavior is deprecated and will be "
            "removed in a future version of PyTorch. Use a boolean condition instead."
        )
        condition = condition.to(bool_)
    elif dtype is not bool_:
        raise errors.runtime_error(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{dtype.scalar_name}",
            "Compare first (x > 0), or convert with .bool().",
        )
    return finish("where", choose(condition, input, other), out, condition, input, other)


# --- limits ----------------------------------------------------------------------------------


def _clamp(xp: Namespace, x: Array, min: Array, max: Array) -> Any:
    if min is not None:
        x = xp.maximum(x, min)
    return x if max is None else xp.minimum(x, max)


def _inside(xp: Namespace, x: Array, min: Array, max: Array) -> Any:
    if min is None:
        return x <= max
    return x >= min if max is None else xp.logical_and(x >= min, x <= max)


_no_complex = no_complex("clamp is not supported for complex types", NotImplementedError)


def _check_limit(name: str, limit: str) -> Any:
    return tensor_first(name, limit, _no_complex)


_PLAIN = (float, int, type(None))  # types of limits that need no look


@vjp(x=lambda xp, g, x, min, max: xp.where(_inside(xp, x, min, max), g, 0.0))
@elementwise(name="clamp", node="ClampBackward1", hidden=("min", "max"), check=_no_complex)
def clamp_to_numbers(xp, x, min, max):
    """Each element, or the nearer of two numbers where it is not between them."""
    return _clamp(xp, x, min, max)


def _clamp_min_rule(xp: Namespace, g: Array, x: Array, min: Array, max: Array) -> Any:
    below = x < min
    return xp.where(below if max is None else xp.logical_and(below, min < max), g, 0.0)


def _clamp_max_rule(xp: Namespace, g: Array, x: Array, min: Array, max: Array) -> Any:
    above = x > max
    return xp.where(above if min is None else xp.logical_or(above, max < min), g, 0.0)


@vjp(
    x=lambda xp, g, x, min, max: xp.where(_inside(xp, x, min, max), g, 0.0),
    min=_clamp_min_rule,
    max=_clamp_max_rule,
)
@elementwise(node="ClampBackward0", check=_no_complex)
def clamp_to_tensors(xp, x, min, max):
    """Each element, or the limit it goes beyond."""
    return _clamp(xp, x, min, max)


@require_tensors
def clamp(input: Tensor, min: Any = None, max: Any = None, *, out: Out = None) -> Any:
    """Each element, or the nearer limit where it is not between `min` and `max`.

    Shapes: any that broadcast; the result has the common one.
    Raises: RuntimeError without limits.

    >>> torch.clamp(torch.tensor([-1.0, 0.5, 2.0]), 0, 1)
    tensor([0.0000, 0.5000, 1.0000])
    """
    if type(min) in _PLAIN and type(max) in _PLAIN and not (min is None and max is None):
        return finish("clamp", clamp_to_numbers(input, min, max), out, input, min, max)
    _check_limits(input, min, max)
    tensors = hasattr(min, "_array") or hasattr(max, "_array")
    clamped = clamp_to_tensors if tensors else clamp_to_numbers
    return finish("clamp", clamped(input, min, max), out, input, min, max)


def _check_limits(input: Tensor, min: Any, max: Any) -> None:
    """Raise unless there is a limit, and limits are all numbers or all tensors."""
    if min is None and max is None:
        text = "torch.clamp: At least one of 'min' or 'max' must not be None"
        raise errors.runtime_error(text, "Give min=, max= or both.")
    limits = [each for each in (min, max) if each is not None]
    numbers = all(isinstance(each, NUMBERS) for each in limits)
    if not numbers and not all(hasattr(each, "_array") for each in limits):
        raise invalid_combination(
            "clamp",
            (input, min, max),
            "Tensor input, Tensor min = None, Tensor max = None, *, Tensor out = None",
            "Tensor input, Number min = None, Number max = None, *, Tensor out = None",
        )


@vjp(x=lambda xp, g, x, min: xp.where(x >= min, g, 0.0))
@elementwise(name="clamp_min", hidden=("min",), check=_check_limit("clamp_min", "min"))
def at_least_number(xp, x, min):
    """Each element, or `min` where it is less."""
    return xp.maximum(x, min)


@vjp(
    x=lambda xp, g, x, min: xp.where(x >= min, g, 0.0),
    min=lambda xp, g, x, min: xp.where(x < min, g, 0.0),
)
@elementwise(
    node="ClampMinBackward1", check=tensor_first("clamp_min", "min", lacks("maximum_cpu", COMPLEX))
)
def at_least(xp, x, min):
    """The same for a tensor `min`."""
    return xp.maximum(x, min)


@require_tensors
def clamp_min(input: Tensor, min: Any, *, out: Out = None) -> Any:
    """Each element, or `min` where it is less.

    Shapes: any that broadcast; the result has the common one.

    >>> torch.clamp_min(torch.tensor([-1.0, 2.0]), 0)
    tensor([0., 2.])
    """
    by = at_least if hasattr(min, "_array") else at_least_number
    return by.direct(input, min) if out is None else by(input, min, out=out)


@vjp(x=lambda xp, g, x, max: xp.where(x <= max, g, 0.0))
@elementwise(name="clamp_max", hidden=("max",), check=_check_limit("clamp_max", "max"))
def at_most_number(xp, x, max):
    """Each element, or `max` where it is greater."""
    return xp.minimum(x, max)


@vjp(
    x=lambda xp, g, x, max: xp.where(x <= max, g, 0.0),
    max=lambda xp, g, x, max: xp.where(x > max, g, 0.0),
)
@elementwise(
    node="ClampMaxBackward1", check=tensor_first("clamp_max", "max", lacks("minimum_cpu", COMPLEX))
)
def at_most(xp, x, max):
    """The same for a tensor `max`."""
    return xp.minimum(x, max)


@require_tensors
def clamp_max(input: Tensor, max: Any, *, out: Out = None) -> Any:
    """Each element, or `max` where it is greater.

    Shapes: any that broadcast; the result has the common one.

    >>> torch.clamp_max(torch.tensor([-1.0, 2.0]), 0)
    tensor([-1.,  0.])
    """
    by = at_most if hasattr(max, "_array") else at_most_number
    return by.direct(input, max) if out is None else by(input, max, out=out)


def _check_numbers(input: Tensor, *limits: Any, **named: Any) -> None:
    """Raise, in the words of the in-place forms, for numbers that the tensor cannot hold."""
    given = [x for x in (*limits, *named.values()) if x is not None]
    if input._array.dtype.kind in "fc" or not all(isinstance(x, NUMBERS) for x in given):
        return
    check_writable(input)
    dtype = common_dtype(input, *given)
    if not can_cast(dtype, input.dtype):
        advice = "Convert the tensor first, or use the out-of-place form."
        raise cannot_cast(dtype, input.dtype, advice, "clamp_number")


clamp_ = in_place(clamp, refused=_check_numbers)
clamp_min_ = in_place(clamp_min, refused=_check_numbers)
clamp_max_ = in_place(clamp_max, refused=_check_numbers)
clip = also_called("clip", clamp)
clip_ = also_called("clip_", clamp_)
