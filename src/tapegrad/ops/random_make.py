"""New tensors of random numbers: `rand`, `randn`, `randint`, `randperm` and their `_like` forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapegrad import errors
from tapegrad import tensor as _tensor
from tapegrad.device import require_cpu
from tapegrad.dtype import as_dtype, default, int64
from tapegrad.dtype import dtype as Dtype
from tapegrad.ops import random_bounds as bounds
from tapegrad.ops.random_argument import (
    is_integer,
    mismatch,
    require_tensor,
    size_of,
    stream_of,
)
from tapegrad.ops.random_fill import (
    check_normal,
    check_uniform,
    drawn_like,
    fill_out,
    prepare_out,
)
from tapegrad.streams import integer, normal, real
from tapegrad.streams.twister import Twister

__all__ = ["rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm"]


class Options:
    """What all functions that make tensors take: dtype, place, and whether a gradient is wanted."""

    __slots__ = ("dtype", "function", "out", "requires_grad")

    def __init__(
        self,
        function: str,
        dtype: Any,
        layout: Any,
        device: Any,
        pin_memory: bool,
        requires_grad: bool,
        fallback: Dtype,
        out: Any = None,
    ):
        require_cpu(device)
        if layout is not None and str(layout) != "torch.strided":
            raise errors.advised(
                NotImplementedError(f"{function}() makes no tensors of layout {layout}"),
                "Leave layout= away.",
            )
        if pin_memory:
            raise errors.advised(
                RuntimeError(
                    "pin_memory=True requires a CUDA or other accelerator backend; no pinned "
                    "memory allocator is available on this system."
                ),
                "Leave pin_memory= away.",
            )
        self.function, self.out, self.requires_grad = function, out, requires_grad
        self.dtype = fallback if dtype is None else as_dtype(dtype, function)
        if isinstance(out, _tensor.Tensor):
            if dtype is not None and out.dtype is not self.dtype:
                raise errors.advised(
                    RuntimeError(
                        f"dtype {self.dtype.scalar_name} does not match dtype of out parameter "
                        f"({out.dtype.scalar_name})"
                    ),
                    "Leave dtype= away: that of out= counts.",
                )
            self.dtype = out.dtype
        if requires_grad and not (self.dtype.is_floating_point or self.dtype.is_complex):
            raise errors.advised(
                RuntimeError(
                    "Only Tensors of floating point and complex dtype can require gradients"
                ),
                f"This one would be {self.dtype}.",
            )

    def make(self, shape: tuple, draw: Callable, stream: Twister, *params: Any) -> Any:
        """A tensor of what `draw` gives for a shape, or `out` filled with it."""
        if self.out is None:
            result = _tensor.wrap(draw(stream, shape, self.dtype.numpy, *params))
        else:
            prepare_out(f"aten::{self.function}", self.out, shape)
            result = fill_out(self.function, self.out, draw, stream, *params)
        return result.requires_grad_() if self.requires_grad else result

    def make_like(
        self, input: Any, memory_format: Any, draw: Callable, stream: Twister, *params: Any
    ) -> Any:
        """A tensor of what `draw` gives for the shape and the order of memory of another."""
        form = "torch.preserve_format" if memory_format is None else str(memory_format)
        array = input._array
        order: Any = "C"
        if form == "torch.preserve_format":
            is_expanded = 0 in array.strides and array.size
            order = "C" if is_expanded else "K"
        elif form != "torch.contiguous_format":
            raise errors.advised(
                NotImplementedError(f"{self.function}() makes no tensors of format {form}"),
                "Use torch.preserve_format or torch.contiguous_format.",
            )
        blank = np.empty_like(array, dtype=self.dtype.numpy, order=order)
        result = _tensor.wrap(drawn_like(blank, draw, stream, *params))
        return result.requires_grad_() if self.requires_grad else result


def rand(
    *args: Any,
    size: Any = None,
    generator: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """A tensor of numbers spread evenly over [0, 1).

    >>> _ = torch.manual_seed(0)
    >>> torch.rand(2, 3)
    tensor([[0.4963, 0.7682, 0.0885],
            [0.1320, 0.3074, 0.6341]])
    """
    shape, stream = size_of("rand", args, size), stream_of("rand", generator)
    options = Options("rand", dtype, layout, device, pin_memory, requires_grad, default(), out)
    check_uniform(options.dtype)
    return options.make(shape, real.uniform, stream)


def randn(
    *args: Any,
    size: Any = None,
    generator: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """A tensor of normal numbers of mean 0 and variance 1.

    >>> _ = torch.manual_seed(0)
    >>> torch.randn(2, 3)
    tensor([[ 1.5410, -0.2934, -2.1788],
            [ 0.5684, -1.0845, -1.3986]])
    """
    shape, stream = size_of("randn", args, size), stream_of("randn", generator)
    options = Options("randn", dtype, layout, device, pin_memory, requires_grad, default(), out)
    check_normal(options.dtype, 1.0, 1)
    return options.make(shape, normal.normal, stream, 0.0, 1.0)


def randint(
    low: Any = None,
    high: Any = None,
    size: Any = None,
    *,
    generator: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """A tensor of integers from `low` to `high` - 1: `randint(low=0, high, size)`.

    >>> _ = torch.manual_seed(0)
    >>> torch.randint(3, 10, (4,))
    tensor([5, 3, 4, 6])
    """
    if size is None and isinstance(high, (tuple, list)):
        low, high, size = None, low, high
    elif size is None and low is not None and high is None:
        raise mismatch("randint", (low,), {}, _RANDINT)
    elif high is None:
        low, high = None, low
    low = 0 if low is None else low
    if not is_integer(low) or not is_integer(high):
        raise mismatch("randint", (low, high, size), {}, _RANDINT)
    shape, stream = size_of("randint", (), size), stream_of("randint", generator)
    low, high = bounds.integer(low), bounds.integer(high)
    options = Options("randint", dtype, layout, device, pin_memory, requires_grad, int64, out)
    span = bounds.span(options.dtype, low, high)
    return options.make(shape, integer.integers, stream, *span)


_RANDINT = "randint(high, size) or randint(low, high, size); the bounds are ints, size is a tuple."


def randperm(
    n: Any,
    *,
    generator: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """The integers 0 to `n` - 1 in random order.

    >>> _ = torch.manual_seed(0)
    >>> torch.randperm(4)
    tensor([2, 0, 1, 3])
    """
    if not is_integer(n):
        raise errors.advised(
            TypeError(f"randperm(): argument 'n' (position 1) must be int, not {type(n).__name__}"),
            "Pass how many integers there shall be.",
        )
    (n,), stream = size_of("randperm", (n,), None), stream_of("randperm", generator)
    options = Options("randperm", dtype, layout, device, pin_memory, requires_grad, int64, out)
    bounds.check_permutation(options.dtype, n)
    return options.make((n,), integer.permuted, stream)


def rand_like(
    input: Any,
    *,
    generator: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: Any = None,
) -> Any:
    """Numbers spread evenly over [0, 1), as many as `input` has elements.

    >>> _ = torch.manual_seed(0)
    >>> torch.rand_like(torch.zeros(2))
    tensor([0.4963, 0.7682])
    """
    require_tensor("rand_like", "input", 1, input)
    stream = stream_of("rand_like", generator)
    options = Options("rand_like", dtype, layout, device, pin_memory, requires_grad, input.dtype)
    check_uniform(options.dtype)
    return options.make_like(input, memory_format, real.uniform, stream)


def randn_like(
    input: Any,
    *,
    generator: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: Any = None,
) -> Any:
    """Normal numbers of mean 0 and variance 1, as many as `input` has elements.

    >>> _ = torch.manual_seed(0)
    >>> torch.randn_like(torch.zeros(2))
    tensor([ 1.5410, -0.2934])
    """
    require_tensor("randn_like", "input", 1, input)
    stream = stream_of("randn_like", generator)
    options = Options("randn_like", dtype, layout, device, pin_memory, requires_grad, input.dtype)
    check_normal(options.dtype, 1.0, input._array.size)
    return options.make_like(input, memory_format, normal.normal, stream, 0.0, 1.0)


def randint_like(
    input: Any,
    low: Any = None,
    high: Any = None,
    *,
    generator: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
    memory_format: Any = None,
) -> Any:
    """Integers from `low` (0 if not given) to `high` - 1, as many as `input` has elements.

    >>> _ = torch.manual_seed(0)
    >>> torch.randint_like(torch.zeros(3), 10)
    tensor([4., 9., 3.])
    """
    require_tensor("randint_like", "input", 1, input)
    stream = stream_of("randint_like", generator)
    if high is None:
        low, high = 0, low
    low = 0 if low is None else low
    if not is_integer(low) or not is_integer(high):
        advice = "randint_like(input, high) or randint_like(input, low, high); bounds are ints."
        raise mismatch("randint_like", (input, low, high), {}, advice)
    options = Options("randint_like", dtype, layout, device, pin_memory, requires_grad, input.dtype)
    span = bounds.span(options.dtype, bounds.integer(low), bounds.integer(high))
    return options.make_like(input, memory_format, integer.integers, stream, *span)
