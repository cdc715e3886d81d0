"""Arguments of functions that draw random numbers, normalized at the boundary."""

import operator

import numpy as np

from tapegrad.core import errors
from tapegrad.core.annotations import Shape, Source, Tensor
from tapegrad.core.argument_check import users_level
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.generator import Generator
from tapegrad.core.limits import largest
from tapegrad.core.streams.mersenne_twister import Twister
from tapegrad.random import default_generator

UNSIGNED = ("uint16", "uint32", "uint64")  # PyTorch draws for none of them without bounds


def stream_of(function: str, generator: Source) -> Twister:
    """The stream of a generator; None means the one that `manual_seed` seeds."""
    if generator is None:
        return default_generator._stream
    if isinstance(generator, Generator):
        return generator._stream
    advice = "Make one with torch.Generator().manual_seed(seed)."
    raise errors.must_be(function, "generator", 0, "torch.Generator", generator, advice)


def not_implemented(kernel: str, dtype: Dtype) -> NotImplementedError:
    """PyTorch's error for a dtype that it has no kernel for."""
    text = f"\"{kernel}\" not implemented for '{dtype.scalar_name}'"
    return errors.not_implemented(text, "Draw in a floating-point dtype and convert.")


def require(holds: bool, function: str, what: str, found: str) -> None:
    """Raise unless a parameter of a distribution is in its range."""
    if not holds:
        text = f"{function} expects {what}, but {found}"
        raise errors.runtime_error(text, "Change that parameter.")


def from_to(function: str, args: tuple, named: dict, default: tuple) -> tuple:
    """Two arguments that are called `from`, which no Python parameter can be, and `to`."""
    if not args and not named:
        return default
    if len(args) > 2:
        text = f"{function}() takes from 0 to 2 positional arguments but {len(args)} were given"
        raise errors.type_error(text, "Pass a lower and an upper bound.")
    given = dict(zip(("from", "to"), args, strict=False))
    for name, x in named.items():
        if name not in ("from", "to"):
            raise TypeError(f"{function}() got an unexpected keyword argument '{name}'")
        if name in given:
            raise TypeError(f"{function}() got multiple values for argument '{name}'")
        given[name] = x
    return given.get("from", default[0]), given.get("to", default[1])


def is_integer(x: object) -> bool:
    """Whether PyTorch takes `x` for an integer: a bool is none, a tensor of one integer is."""
    if type(x) is int:
        return True
    array = getattr(x, "_array", None)
    if array is not None:
        return array.size == 1 and array.dtype.kind in "iu"
    return hasattr(x, "__index__") and not isinstance(x, bool)


def int_of(x: Tensor) -> int:
    """The Python int of what `is_integer` accepts."""
    if type(x) is int:
        return x
    array = getattr(x, "_array", None)
    return operator.index(x) if array is None else int(array.item())


def mismatch(function: str, args: tuple, named: dict, advice: str) -> TypeError:
    """PyTorch's error for arguments that fit none of a function's forms."""
    given = [type(x).__name__ for x in args]
    given += [f"{name}={type(x).__name__}" for name, x in named.items()]
    end = ", " if named and not args else ""
    return errors.type_error(
        f"{function}() received an invalid combination of arguments - got "
        f"({', '.join(given)}{end}), but expected one of:",
        advice,
    )


def size_of(function: str, args: tuple, size: Shape | None, position: int = 1) -> tuple[int, ...]:
    """A shape from `f(2, 3)`, `f((2, 3))` or `f(size=(2, 3))`."""
    plain = size if not args and type(size) is tuple else args if size is None else ()
    if plain and all([type(n) is int and n >= 0 for n in plain]):
        return plain
    if size is not None and args:
        raise mismatch(function, args, {"size": size}, "Give the size once.")
    if size is None and not args:
        raise mismatch(function, (), {}, "Give the size of each dimension.")
    given = args if size is None else (size,)
    sizes = given[0] if len(given) == 1 and isinstance(given[0], (tuple, list)) else given
    if sizes is given and size is not None:
        raise _wrong_size(function, f"(position {position}) must be tuple of ints, not", size)
    shape = []
    for i, n in enumerate(sizes):
        if not is_integer(n) and (type(n) is not bool or i == 0):  # PyTorch asks the first alone
            if sizes is given and len(given) == 1:
                raise _wrong_size(function, f"(position {position}) must be tuple of ints, not", n)
            if sizes is given and i == 0:
                raise mismatch(function, args, {}, "Sizes are ints.")
            if i == 0:
                place = f"(position {position}) must be tuple of ints, but found element of type"
                raise _wrong_size(function, place, n, " at pos 0")
            where = f'failed to unpack the object at pos {i + 1} with error "type must be tuple of'
            raise _wrong_size(function, f"{where} ints,but got", n, '"')
        shape.append(int_of(n))
    for n in shape:
        if n < 0:
            raise errors.negative_size(n, shape)
    return tuple(shape)


def _wrong_size(function: str, what: str, found: object, end: str = "") -> TypeError:
    text = f"{function}(): argument 'size' {what} {type(found).__name__}{end}"
    return errors.type_error(text, "Sizes are ints, one by one or as a tuple.")


LOWEST, HIGHEST = -(2**63), 2**63 - 1

# Up to which power of two a float has every integer.
_DIGITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}


def integer(x: Tensor) -> int:
    """A Python int that fits into 64 bits with a sign."""
    number = int_of(x)
    if not LOWEST <= number <= HIGHEST:
        text = "Overflow when unpacking long long"
        raise errors.value_error(text, "Bounds are ints from -2**63 to 2**63 - 1.")
    return number


def span(dtype: Dtype, low: int, high: int) -> tuple[int, int]:
    """The first of the integers from `low` to `high` - 1 that `dtype` can hold, and their number.

    The bounds of a float are moved inwards, to neighbours that it can represent.
    """
    if low >= high:
        text = f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        advice = "The upper bound is not drawn itself: it must be larger than the lower one."
        raise errors.runtime_error(text, advice)
    if dtype.is_floating_point:
        low, high = _inward(dtype, low, 1), _inward(dtype, high, -1)
        if low >= high:
            raise errors.runtime_error(
                "random_ expects 'from' casted to dtype to be less than 'to' casted to "
                f"dtype, but got from={low} >= to={high}",
                f"{dtype} has no integer in this range.",
            )
    _check(dtype, low, high - 1)
    return low, high - low


def span_upwards(dtype: Dtype, low: int) -> tuple[int, int]:
    """`low`, and how many integers there are from it to the largest that `dtype` is drawn from."""
    if dtype.is_complex:
        raise _not_real("random_from_to_impl")
    last = limits(dtype)[1]
    if dtype.is_floating_point:
        last = 2 ** _DIGITS[dtype.name]
        low = _inward(dtype, low, 1)
        if low >= last:
            raise errors.runtime_error(
                "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' "
                f"casted to dtype, but got from={low} > to_inc={last}",
                f"{dtype} has all integers up to {last} only.",
            )
    if last > HIGHEST:
        raise _outside("to - 1", dtype)
    _check(dtype, low, last)
    return low, last - low + 1


def check_all(dtype: Dtype) -> None:
    """Raise unless a dtype takes integers from the whole range of 64 bits."""
    if dtype.name in ("int64", "float64", "float32", "bfloat16"):
        return
    if dtype.name in ("int32", "int16", "int8", "uint8"):
        text = "random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16"
        raise errors.runtime_error(text, f"{dtype} does not hold -2**63.")
    raise not_implemented("random_full_64_bits_range_kernel_cpu", dtype)


def check_permutation(dtype: Dtype, n: int) -> None:
    """Raise unless a dtype has the integers from 0 to `n` - 1."""
    name = dtype.name
    if dtype.is_complex or name in ("bool", "uint16", "uint32", "uint64"):
        raise not_implemented("randperm", dtype)
    reason = ""
    if dtype.is_floating_point:
        limit = 2 ** _DIGITS[name] + 1
        if n > limit and name != "bfloat16":
            text = limit if name == "float16" else f"2^{_DIGITS[name]}+1"
            reason = f"n cannot be greater than {text} for {dtype.scalar_name} type."
    elif n - 1 > limits(dtype)[1]:
        reason = f"value cannot be converted to type {name}_t without overflow"
    if reason:
        raise errors.runtime_error(reason, "Draw in torch.int64, the default.")


def limits(dtype: Dtype) -> tuple[int, int]:
    """The smallest and the largest integer of a dtype that is no complex one."""
    if dtype.is_floating_point:
        last = int(largest(dtype))
        return -last, last
    if dtype.name == "bool":
        return 0, 1
    bits = 8 * dtype.itemsize
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if dtype.is_signed else (0, 2**bits - 1)


def _inward(dtype: Dtype, bound: int, direction: int) -> int:
    """A bound of a float; if its neighbour inside rounds to outside, the next float after that."""
    rounded = np.asarray(float(bound + direction))
    if dtype.itemsize == 2:
        rounded = rounded.astype(np.float32)
    with np.errstate(over="ignore"):
        rounded = rounded.astype(dtype.numpy)
    number = float(rounded)
    is_inside = number >= bound if direction > 0 else number < bound
    if is_inside or not np.isfinite(number):
        return bound
    return int(float(np.nextafter(rounded, np.asarray(direction * np.inf).astype(dtype.numpy))))


def _check(dtype: Dtype, low: int, last: int) -> None:
    """Raise where the range exceeds the dtype; warn where a float skips integers in it."""
    if dtype.is_complex:
        raise _not_real("check_random_bounds")
    smallest, biggest = limits(dtype)
    for name, bound in (("from", low), ("to - 1", last)):
        if not smallest <= bound <= biggest:
            raise _outside(name, dtype)
    if not dtype.is_floating_point:
        return
    digits = _DIGITS[dtype.name]
    for name, bound in (("from", low), ("to - 1", last)):
        if abs(bound) > 2**digits:
            errors.warn(
                f"{name} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision "
                f"limitations {errors.c_name(dtype)} can support discrete uniform distribution "
                "only within this range. This warning will become an error in version 1.7 "
                "release, please fix the code in advance\n"
                "Draw in torch.int64 and convert.",
                users_level(),
            )


def _outside(name: str, dtype: Dtype) -> RuntimeError:
    smallest, biggest = limits(dtype)
    text = f"{name} is out of bounds for {errors.c_name(dtype)}"
    return errors.runtime_error(text, f"{dtype} holds the integers from {smallest} to {biggest}.")


def _not_real(where: str) -> RuntimeError:
    text = f"{where} handles only integral, floating-point and boolean types"
    return errors.runtime_error(text, "Draw two real tensors and combine them with torch.complex.")
