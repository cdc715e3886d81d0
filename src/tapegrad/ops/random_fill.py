"""Filling a tensor with random numbers, in place: `normal_`, `uniform_`, `random_`, ...

The gradient of what was there before is zero. A tensor is filled in the order of its memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapegrad import errors
from tapegrad import tensor as _tensor
from tapegrad.autograd.inplace import update, write, written
from tapegrad.autograd.mode import is_grad_enabled
from tapegrad.dtype import dtype as Dtype
from tapegrad.op import primitive
from tapegrad.ops import random_bounds as bounds
from tapegrad.ops.random_argument import (
    from_to,
    is_integer,
    mismatch,
    not_implemented,
    number_of,
    require,
    stream_of,
)
from tapegrad.streams import integer, normal, real
from tapegrad.streams.layout import laid_out_like
from tapegrad.streams.twister import Twister

__all__: list[str] = []  # methods only

UNSIGNED = ("uint16", "uint32", "uint64")


def replacement(name: str, node: str) -> Any:
    """An operator whose output does not depend on its input, but has its place in the graph."""

    def forward(xp, input, drawn):
        """`drawn`, in place of `input`."""
        return drawn

    forward.__name__ = name
    op = primitive(node=node)(forward)
    op.vjp(input=lambda xp, g: xp.zeros_like(g))
    op.jvp(input=lambda xp, t: xp.zeros_like(t))
    return op


normal_fill = replacement("normal_fill", "NormalBackward0")
uniform_fill = replacement("uniform_fill", "UniformBackward0")
random_fill = replacement("random_fill", "RandomBackward2")
random_to_fill = replacement("random_to_fill", "RandomBackward1")
random_from_fill = replacement("random_from_fill", "RandomBackward0")
exponential_fill = replacement("exponential_fill", "ExponentialBackward0")
geometric_fill = replacement("geometric_fill", "GeometricBackward0")
cauchy_fill = replacement("cauchy_fill", "CauchyBackward0")
log_normal_fill = replacement("log_normal_fill", "LogNormalBackward0")


def filled(
    name: str, op: Any, x: Any, draw: Callable, stream: Twister, *params: Any, others: tuple = ()
) -> Any:
    """Let `x` take what `draw(stream, shape, dtype, *params)` gives."""
    array = x._array
    if any(n > 1 and stride == 0 for n, stride in zip(array.shape, array.strides, strict=True)):
        raise errors.advised(
            RuntimeError(
                "unsupported operation: more than one element of the written-to tensor refers to "
                "a single memory location. Please clone() the tensor before performing the "
                "operation."
            ),
            "An expanded tensor has fewer elements in memory than it shows.",
        )

    def replaced(before: Any) -> Any:
        return op(before, *others, _tensor.wrap(drawn_like(array, draw, stream, *params)))

    return update(name, x, replaced)


def drawn_like(array: np.ndarray, draw: Callable, stream: Twister, *params: Any) -> np.ndarray:
    """What `draw(stream, shape, dtype, *params)` gives for the memory of `array`."""
    if draw is normal.normal:
        params = (*params, not array.flags.c_contiguous)
    return laid_out_like(array, lambda shape: draw(stream, shape, array.dtype, *params))


def prepare_out(function: str, out: Any, shape: tuple, others_require_grad: bool = False) -> None:
    """Check the tensor given as `out=` and make it as large as it must be."""
    if not isinstance(out, _tensor.Tensor):
        raise mismatch(function, (), {"out": out}, "out= takes a tensor.")
    if is_grad_enabled() and (others_require_grad or out.requires_grad):
        raise errors.advised(
            RuntimeError(
                f"{function}(): functions with out=... arguments don't support automatic "
                "differentiation, but one of the arguments requires grad."
            ),
            "Leave out= away, or draw inside `with torch.no_grad():`.",
        )
    if out._array.shape != shape:
        out._array = np.empty(shape, out._array.dtype)


def fill_out(function: str, out: Any, draw: Callable, stream: Twister, *params: Any) -> Any:
    """Fill the tensor given as `out=`, which `prepare_out` has accepted."""
    write(out._array, drawn_like(out._array, draw, stream, *params))
    written(out, function)
    return out


# --- normal and uniform ------------------------------------------------------------------------


def normal_(input: Any, mean: Any = 0, std: Any = 1, *, generator: Any = None) -> Any:
    """Fill the tensor with normal numbers; a complex one has half of the variance in each part.

    >>> _ = torch.manual_seed(0)
    >>> torch.empty(2).normal_()
    tensor([ 1.5410, -0.2934])
    """
    mean = number_of("normal_", "mean", 1, mean)
    std = number_of("normal_", "std", 2, std)
    stream, array = stream_of("normal_", generator), input._array
    check_normal(input.dtype, std, array.size)
    return filled("normal_", normal_fill, input, normal.normal, stream, mean, std)


def check_normal(dtype: Dtype, std: float, size: int) -> None:
    """Raise unless `size` normal numbers of this dtype and deviation can be drawn."""
    if not std >= 0:
        raise errors.advised(
            RuntimeError(f"normal expects std >= 0.0, but found std {std:g}"),
            "A standard deviation is not negative.",
        )
    if not (dtype.is_floating_point or dtype.is_complex) and size:
        raise not_implemented("normal_kernel_cpu", dtype)


def uniform_(input: Any, *args: Any, generator: Any = None, **named: Any) -> Any:
    """Fill the tensor with numbers spread evenly: `uniform_(from=0, to=1)`.

    >>> _ = torch.manual_seed(0)
    >>> torch.empty(2).uniform_(1, 2)
    tensor([1.4963, 1.7682])
    """
    low, high = from_to("uniform_", args, named, (0, 1))
    low, high = number_of("uniform_", "from", 1, low), number_of("uniform_", "to", 2, high)
    stream = stream_of("uniform_", generator)
    check_uniform(input.dtype, low, high)
    return filled("uniform_", uniform_fill, input, real.uniform, stream, low, high)


def check_uniform(dtype: Dtype, low: float = 0.0, high: float = 1.0) -> None:
    """Raise unless numbers of this dtype can be drawn between these bounds."""
    if not (dtype.is_floating_point or dtype.is_complex):
        raise not_implemented("check_uniform_bounds", dtype)
    part = dtype.to_real()
    largest = bounds.largest(part)
    for name, bound in (("from", low), ("to", high)):
        if not -largest <= bound <= largest:
            raise errors.advised(
                RuntimeError(f"{name} is out of bounds for {bounds.CPP_NAMES[part.name]}"),
                f"The largest {part} is {largest:g}.",
            )
    found = f"found from={low:g} > to={high:g}"
    require(low <= high, "uniform_", "to return a [from, to) range", found)
    require(
        high - low <= largest,
        "uniform_",
        f"to-from <= std::numeric_limits<{part.scalar_name}>::max()",
        f"found to={high:g} and from={low:g} which result in to-from to exceed the limit",
    )


# --- integers ----------------------------------------------------------------------------------


def random_(input: Any, *args: Any, generator: Any = None, **named: Any) -> Any:
    """Fill the tensor with integers: `random_()`, `random_(to)` or `random_(from, to)`.

    Without `to` they go up to the largest one that the dtype has; a float has all its exact ones.

    >>> _ = torch.manual_seed(0)
    >>> torch.empty(4).random_(10)
    tensor([4., 9., 3., 0.])
    """
    stream, dtype = stream_of("random_", generator), input.dtype
    if not args and not named:
        if dtype.is_complex or dtype.name in UNSIGNED:
            raise not_implemented("random_kernel_cpu", dtype)
        return filled("random_", random_fill, input, integer.all_integers, stream)
    if len(args) == 1 and not named:
        args = (0, *args)
        op = random_to_fill
    else:
        op = random_from_fill if args or "from" in named else random_to_fill
    missing = ()
    low, high = from_to("random_", args, named, (0, missing))
    is_open = high is None and op is random_from_fill
    if not is_integer(low) or not (is_open or is_integer(high)):
        advice = "random_(), random_(to), random_(from, to); bounds are ints, to may be None."
        raise mismatch("random_", args[op is random_to_fill :], named, advice)
    low = bounds.integer(low)
    if is_open and low == bounds.LOWEST:
        bounds.check_all(dtype)
        n_values = 2**64
    elif is_open:
        low, n_values = bounds.span_upwards(dtype, low)
    else:
        low, n_values = bounds.span(dtype, low, bounds.integer(high))
    return filled("random_", op, input, integer.integers, stream, low, n_values)


# --- continuous distributions and waiting times ------------------------------------------------


def exponential_(input: Any, lambd: Any = 1, *, generator: Any = None) -> Any:
    """Fill the tensor with exponentially distributed numbers of mean 1 / lambd.

    >>> _ = torch.manual_seed(0)
    >>> torch.empty(2).exponential_()
    tensor([0.0579, 0.0754])
    """
    rate = number_of("exponential_", "lambd", 1, lambd)
    stream, dtype = stream_of("exponential_", generator), input.dtype
    require(rate > 0, "exponential_", "lambda > 0.0", f"found lambda={rate:g}")
    if not dtype.is_floating_point and input._array.size:
        raise _not_continuous("Exponential", dtype.scalar_name)
    return filled("exponential_", exponential_fill, input, real.exponential, stream, rate)


def geometric_(input: Any, p: Any, *, generator: Any = None) -> Any:
    """Fill the tensor with numbers of trials until one of probability `p` succeeds.

    >>> _ = torch.manual_seed(0)
    >>> torch.empty(3).geometric_(0.5)
    tensor([5., 4., 3.])
    """
    p = number_of("geometric_", "p", 1, p)
    stream, dtype = stream_of("geometric_", generator), input.dtype
    require(0 < p < 1, "geometric_", "p to be in (0, 1)", f"got p={p:g}")
    is_known = not dtype.is_complex and dtype.name != "bool" and dtype.name not in UNSIGNED
    if not is_known and input._array.size:
        raise not_implemented("geometric_cpu", dtype)
    return filled("geometric_", geometric_fill, input, real.geometric, stream, p)


def cauchy_(input: Any, median: Any = 0, sigma: Any = 1, *, generator: Any = None) -> Any:
    """Fill the tensor with numbers of a Cauchy distribution.

    >>> _ = torch.manual_seed(0)
    >>> torch.empty(2).cauchy_()
    tensor([-5.4392, -4.1458])
    """
    median = number_of("cauchy_", "median", 1, median)
    sigma = number_of("cauchy_", "sigma", 2, sigma)
    stream, dtype = stream_of("cauchy_", generator), input.dtype
    require(sigma > 0, "cauchy_", "sigma > 0.0", f"found sigma={sigma:g}")
    if not dtype.is_floating_point:
        raise _not_continuous("Cauchy", bounds.CPP_NAMES[dtype.name])
    return filled("cauchy_", cauchy_fill, input, real.cauchy, stream, median, sigma)


def log_normal_(input: Any, mean: Any = 1, std: Any = 2, *, generator: Any = None) -> Any:
    """Fill the tensor with numbers whose logarithms are normal, of this mean and deviation.

    >>> _ = torch.manual_seed(0)
    >>> torch.empty(2).log_normal_()
    tensor([59.2608,  1.5115])
    """
    mean = number_of("log_normal_", "mean", 1, mean)
    std = number_of("log_normal_", "std", 2, std)
    stream, dtype = stream_of("log_normal_", generator), input.dtype
    require(std > 0, "log_normal_", "std > 0.0", f"found std={std:g}")
    if not dtype.is_floating_point and input._array.size:
        raise not_implemented("log_normal_cpu", dtype)
    return filled("log_normal_", log_normal_fill, input, normal.log_normal, stream, mean, std)


def _not_continuous(distribution: str, kind: str) -> RuntimeError:
    return errors.advised(
        RuntimeError(
            f"{distribution} distribution is a continuous probability distribution. dtype must be "
            f"a floating point but you specified {kind}"
        ),
        "Convert the tensor to a floating-point dtype first.",
    )
