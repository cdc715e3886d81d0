"""Random numbers like another tensor: `rand_like`, `randn_like`, `randint_like`."""

from collections.abc import Callable
from typing import Any

from tapegrad.core import errors
from tapegrad.core.annotations import (
    DeviceLike,
    DTypeLike,
    LayoutLike,
    MemoryFormat,
    Source,
    Tensor,
)
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.family import family
from tapegrad.core.memory_format import check_format, empty, preserve_format, preserved
from tapegrad.core.streams import exponential_cauchy, integer, normal
from tapegrad.core.streams.mersenne_twister import Twister
from tapegrad.core.torch_dispatch import leave_to_classes
from tapegrad.operators.creation.factory_options import build
from tapegrad.operators.random import argument as randint_bounds
from tapegrad.operators.random.argument import is_integer, mismatch, stream_of
from tapegrad.operators.random.fill import drawn_like, of_tensors
from tapegrad.operators.random.normal_uniform import check_normal, check_uniform
from tapegrad.operators.random.rand_randint_randperm import dtype_for

__all__ = ["rand_like", "randint_like", "randn_like"]


def alike(function: Callable) -> Callable:
    """Inside `vmap` too: numbers for the whole batch."""
    return of_tensors(function, like=True)


def make_like(
    function: str,
    dtype: Dtype,
    input: Tensor,
    memory_format: MemoryFormat,
    requires_grad: Any,
    where: Any,
    draw: Callable,
    stream: Twister,
    *params: Any,
) -> Any:
    """A tensor of what `draw` gives, with the shape and the order of memory of another."""
    if requires_grad is True and not (dtype.is_floating_point or dtype.is_complex):
        raise errors.float_required(dtype)
    array = input._array
    if where is not None:
        from tapegrad.operators.creation.meta import blank_like

        blank: Any = blank_like(array, dtype.numpy, memory_format)
    elif memory_format is None or memory_format is preserve_format:
        blank = preserved(array, dtype.numpy)
    else:
        check_format(function, memory_format, array.ndim)
        blank = empty(array.shape, dtype.numpy, memory_format)
    args = (blank, draw, stream, *params)
    return build(function, drawn_like, *args, requires_grad=requires_grad, where=where)


@family
def _drawing_like(name: str, check: Callable, draw: Callable, *params: float) -> Callable:
    def drawn_like(
        input: Tensor,
        *,
        generator: Source = None,
        dtype: DTypeLike = None,
        layout: LayoutLike = None,
        device: DeviceLike = None,
        requires_grad: bool = False,
        pin_memory: bool = False,
        memory_format: MemoryFormat = None,
    ) -> Any:
        errors.need_tensor(name, "input", 1, input)
        leave_to_classes(name, input)
        stream = stream_of(name, generator)
        dtype, where = dtype_for(name, dtype, input.dtype, layout, device, pin_memory, None, input)
        check(dtype, input._array.size)
        given = dtype, input, memory_format, requires_grad, where
        return make_like(name, *given, draw, stream, *params)

    return drawn_like


@alike
@_drawing_like("rand_like", lambda dtype, size: check_uniform(dtype), exponential_cauchy.uniform)
def rand_like() -> Any:
    """Numbers spread evenly over [0, 1), as many as `input` has elements.

    Shape: that of `input`.

    >>> _ = torch.manual_seed(0)
    >>> torch.rand_like(torch.zeros(2))
    tensor([0.4963, 0.7682])
    """


@alike
@_drawing_like(
    "randn_like", lambda dtype, size: check_normal(dtype, 1.0, size), normal.normal, 0.0, 1.0
)
def randn_like() -> Any:
    """Normal numbers of mean 0 and variance 1, as many as `input` has elements.

    Shape: that of `input`.

    >>> _ = torch.manual_seed(0)
    >>> torch.randn_like(torch.zeros(2))
    tensor([ 1.5410, -0.2934])
    """


@alike
def randint_like(
    input: Tensor,
    low: Any = None,
    high: Any = None,
    *,
    generator: Source = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: MemoryFormat = None,
) -> Any:
    """Integers from `low` (0 if not given) to `high` - 1, as many as `input` has elements.

    Shape: that of `input`.

    >>> _ = torch.manual_seed(0)
    >>> torch.randint_like(torch.zeros(3), 10)
    tensor([4., 9., 3.])
    """
    errors.need_tensor("randint_like", "input", 1, input)
    leave_to_classes("randint_like", input)
    stream = stream_of("randint_like", generator)
    given = tuple(x for x in (input, low, high) if x is not None)
    low, high = (0, low) if high is None else (0 if low is None else low, high)
    if getattr(high, "ndim", 0) and len(given) == 2:
        text = "high must be a scalar tensor and on CPU"
        raise errors.runtime_error(text, "Pass an int, or a tensor without dimensions.")
    if not is_integer(low) or not is_integer(high):
        advice = "randint_like(input, high) or randint_like(input, low, high); bounds are ints."
        raise mismatch("randint_like", given, {}, advice)
    dtype, where = dtype_for(
        "randint_like", dtype, input.dtype, layout, device, pin_memory, None, input
    )
    draw = (
        integer.integers,
        stream,
        *randint_bounds.span(dtype, randint_bounds.integer(low), randint_bounds.integer(high)),
    )
    return make_like("randint_like", dtype, input, memory_format, requires_grad, where, *draw)
