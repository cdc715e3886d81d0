"""Filling a tensor with random numbers, in place: `normal_`, `uniform_`, `random_`, ...

The gradient of what was there before is zero. A tensor is filled in the order of its memory.
"""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Source, Tensor
from tapegrad.core.dtype import FLOAT8
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.generator import Generator
from tapegrad.core.limits import largest
from tapegrad.core.scalar import float_of
from tapegrad.core.streams import exponential_cauchy, integer, normal
from tapegrad.operators.random import argument
from tapegrad.operators.random import argument as randint_bounds
from tapegrad.operators.random.fill import filled, in_place, replacement

normal_fill = replacement("normal_fill", "NormalBackward0")
uniform_fill = replacement("uniform_fill", "UniformBackward0")
random_fill = replacement("random_fill", "RandomBackward2")
random_to_fill = replacement("random_to_fill", "RandomBackward1")
random_from_fill = replacement("random_from_fill", "RandomBackward0")
exponential_fill = replacement("exponential_fill", "ExponentialBackward0")
geometric_fill = replacement("geometric_fill", "GeometricBackward0")
cauchy_fill = replacement("cauchy_fill", "CauchyBackward0")
log_normal_fill = replacement("log_normal_fill", "LogNormalBackward0")


# --- normal and uniform ------------------------------------------------------------------------


@in_place
def normal_(input: Tensor, mean: Any = 0, std: float = 1, *, generator: Source = None) -> Any:
    """Fill the tensor with normal numbers; a complex one has half of the variance in each part.

    >>> _ = torch.manual_seed(0)
    >>> torch.empty(2).normal_()
    tensor([ 1.5410, -0.2934])
    """
    mean = float_of("normal_", "mean", 1, mean)
    std = float_of("normal_", "std", 2, std)
    stream, array = argument.stream_of("normal_", generator), input._array
    check_normal(input.dtype, std, array.size)
    return filled("normal_", normal_fill, input, normal.normal, stream, mean, std)


def check_normal(dtype: Dtype, std: float, size: int) -> None:
    """Raise unless `size` normal numbers of this dtype and deviation can be drawn."""
    if not std >= 0:
        text = f"normal expects std >= 0.0, but found std {std:g}"
        raise errors.runtime_error(text, "A standard deviation is not negative.")
    if (dtype.category < 2 or dtype in FLOAT8) and size:
        raise argument.not_implemented("normal_kernel_cpu", dtype)


@in_place
def uniform_(input: Tensor, *args: object, generator: Source = None, **named: Any) -> Any:
    """Fill the tensor with numbers spread evenly: `uniform_(from=0, to=1)`.

    >>> _ = torch.manual_seed(0)
    >>> torch.empty(2).uniform_(1, 2)
    tensor([1.4963, 1.7682])
    """
    low, high = argument.from_to("uniform_", args, named, (0, 1))
    low, high = (float_of("uniform_", "from", 1, low), float_of("uniform_", "to", 2, high))
    stream = argument.stream_of("uniform_", generator)
    check_uniform(input.dtype, low, high)
    return filled("uniform_", uniform_fill, input, exponential_cauchy.uniform, stream, low, high)


def check_uniform(dtype: Dtype, low: float = 0.0, high: float = 1.0) -> None:
    """Raise unless numbers of this dtype can be drawn between these bounds."""
    if dtype.category < 2 or dtype in FLOAT8:
        raise argument.not_implemented("check_uniform_bounds", dtype)
    part = dtype.to_real()
    most = largest(part)
    if -most <= low <= high <= most and high - low <= most:
        return
    for name, bound in (("from", low), ("to", high)):
        if not -most <= bound <= most:
            text = f"{name} is out of bounds for {errors.c_name(part)}"
            raise errors.runtime_error(text, f"The largest {part} is {most:g}.")
    found = f"found from={low:g} > to={high:g}"
    argument.require(low <= high, "uniform_", "to return a [from, to) range", found)
    argument.require(
        high - low <= most,
        "uniform_",
        f"to-from <= std::numeric_limits<{part.scalar_name}>::max()",
        f"found to={high:g} and from={low:g} which result in to-from to exceed the limit",
    )


# --- integers ----------------------------------------------------------------------------------


_RANDOM = "random_(), random_(to), random_(from, to); bounds are ints, to may be None."


@in_place
def random_(input: Tensor, *args: object, generator: Source = None, **named: Any) -> Any:
    """Fill the tensor with integers: `random_()`, `random_(to)` or `random_(from, to)`.

    Without `to` they go up to the largest one that the dtype has; a float has all its exact ones.

    >>> _ = torch.manual_seed(0)
    >>> torch.empty(4).random_(10)
    tensor([4., 9., 3., 0.])
    """
    if generator is not None and not isinstance(generator, Generator):
        raise argument.mismatch("random_", args, {**named, "generator": generator}, _RANDOM)
    stream, dtype = argument.stream_of("random_", generator), input.dtype
    if not args and not named:
        if dtype.is_complex or dtype.name in argument.UNSIGNED:
            raise argument.not_implemented("random_kernel_cpu", dtype)
        return filled("random_", random_fill, input, integer.all_integers, stream)
    if len(args) == 1 and not named:
        args = (0, *args)
        op = random_to_fill
    else:
        op = random_from_fill if args or "from" in named else random_to_fill
    missing = ()
    low, high = argument.from_to("random_", args, named, (0, missing))
    is_open = high is None and op is random_from_fill
    if not argument.is_integer(low) or not (is_open or argument.is_integer(high)):
        raise argument.mismatch("random_", args[op is random_to_fill :], named, _RANDOM)
    low = randint_bounds.integer(low)
    if is_open and low == randint_bounds.LOWEST:
        randint_bounds.check_all(dtype)
        low, n_values = 0, 2**64  # the words as they are
    elif is_open:
        low, n_values = randint_bounds.span_upwards(dtype, low)
    else:
        low, n_values = randint_bounds.span(dtype, low, randint_bounds.integer(high))
    return filled("random_", op, input, integer.integers, stream, low, n_values)


# --- continuous distributions and waiting times ------------------------------------------------


@in_place
def exponential_(input: Tensor, lambd: Any = 1, *, generator: Source = None) -> Any:
    """Fill the tensor with exponentially distributed numbers of mean 1 / lambd.

    >>> _ = torch.manual_seed(0)
    >>> torch.empty(2).exponential_()
    tensor([3.5083, 1.2304])
    """
    rate = float_of("exponential_", "lambd", 1, lambd)
    stream, dtype = argument.stream_of("exponential_", generator), input.dtype
    argument.require(rate > 0, "exponential_", "lambda > 0.0", f"found lambda={rate:g}")
    if not dtype.is_floating_point and input._array.size:
        raise _not_continuous("Exponential", dtype.scalar_name)
    return filled(
        "exponential_", exponential_fill, input, exponential_cauchy.exponential, stream, rate
    )


@in_place
def geometric_(input: Tensor, p: Any, *, generator: Source = None) -> Any:
    """Fill the tensor with numbers of trials until one of probability `p` succeeds.

    >>> _ = torch.manual_seed(0)
    >>> torch.empty(3).geometric_(0.5)
    tensor([1., 1., 2.])
    """
    p = float_of("geometric_", "p", 1, p)
    stream, dtype = argument.stream_of("geometric_", generator), input.dtype
    argument.require(0 < p < 1, "geometric_", "p to be in (0, 1)", f"got p={p:g}")
    is_known = not dtype.is_complex and dtype.name != "bool" and dtype.name not in argument.UNSIGNED
    if not is_known and input._array.size:
        raise argument.not_implemented("geometric_cpu", dtype)
    return filled("geometric_", geometric_fill, input, exponential_cauchy.geometric, stream, p)


@in_place
def cauchy_(input: Tensor, median: Any = 0, sigma: Any = 1, *, generator: Source = None) -> Any:
    """Fill the tensor with numbers of a Cauchy distribution.

    >>> _ = torch.manual_seed(0)
    >>> torch.empty(2).cauchy_()
    tensor([10.5977,  0.7648])
    """
    median = float_of("cauchy_", "median", 1, median)
    sigma = float_of("cauchy_", "sigma", 2, sigma)
    stream, dtype = argument.stream_of("cauchy_", generator), input.dtype
    argument.require(sigma > 0, "cauchy_", "sigma > 0.0", f"found sigma={sigma:g}")
    if not dtype.is_floating_point:
        raise _not_continuous("Cauchy", errors.c_name(dtype))
    return filled("cauchy_", cauchy_fill, input, exponential_cauchy.cauchy, stream, median, sigma)


@in_place
def log_normal_(input: Tensor, mean: Any = 1, std: Any = 2, *, generator: Source = None) -> Any:
    """Fill the tensor with numbers whose logarithms are normal, of this mean and deviation.

    >>> _ = torch.manual_seed(0)
    >>> torch.empty(2).log_normal_()
    tensor([59.2634,  1.5116])
    """
    mean = float_of("log_normal_", "mean", 1, mean)
    std = float_of("log_normal_", "std", 2, std)
    stream, dtype = argument.stream_of("log_normal_", generator), input.dtype
    argument.require(std > 0, "log_normal_", "std > 0.0", f"found std={std:g}")
    if not dtype.is_floating_point and input._array.size:
        raise argument.not_implemented("log_normal_cpu", dtype)
    return filled("log_normal_", log_normal_fill, input, normal.log_normal, stream, mean, std)


def _not_continuous(distribution: str, kind: str) -> RuntimeError:
    return errors.runtime_error(
        f"{distribution} distribution is a continuous probability distribution. dtype must be "
        f"a floating point but you specified {kind}",
        "Convert the tensor to a floating-point dtype first.",
    )
