"""What functions that draw random numbers accept, brought to one form at the boundary."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Shape, Source, TensorLike
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.generator import Generator
from tapegrad.core.streams.mersenne_twister import Twister
from tapegrad.random import default_generator

UNSIGNED = ("uint16", "uint32", "uint64")  # PyTorch draws for none of them without bounds


def stream_of(function: str, generator: Source) -> Twister:
    """The stream of a generator; None means the one that `manual_seed` seeds."""
    if generator is None:
        return default_generator._stream
    if isinstance(generator, Generator):
        return generator._stream
    raise errors.type_error(
        f"{function}(): argument 'generator' must be torch.Generator, not "
        f"{type(generator).__name__}",
        "Make one with torch.Generator().manual_seed(seed).",
    )


def number_of(function: str, name: str, position: int, x: Any) -> float:
    """A Python float from a number or a tensor of one element."""
    if isinstance(x, (float, int, np.number)) and not isinstance(x, np.complexfloating):
        return float(x)
    array = getattr(x, "_array", None)
    if array is not None and array.ndim == 0 and array.dtype.kind not in "cV":
        return float(array)
    raise errors.type_error(
        f"{function}(): argument '{name}' (position {position}) must be float, not "
        f"{type(x).__name__}",
        "Pass a number.",
    )


def not_implemented(kernel: str, dtype: Dtype) -> NotImplementedError:
    """PyTorch's error for a dtype that it has no kernel for."""
    return errors.not_implemented(
        f"\"{kernel}\" not implemented for '{dtype.scalar_name}'",
        "Draw in a floating-point dtype and convert.",
    )


def require_tensor(function: str, name: str, position: int, x: TensorLike) -> None:
    """Raise unless an argument is a tensor."""
    if not isinstance(x, tensor_base.Tensor):
        raise errors.type_error(
            f"{function}(): argument '{name}' (position {position}) must be Tensor, not "
            f"{type(x).__name__}",
            "Make a tensor of it first: torch.tensor(...).",
        )


def require(holds: bool, function: str, what: str, found: str) -> None:
    """Raise unless a parameter of a distribution is in its range."""
    if not holds:
        raise errors.runtime_error(
            f"{function} expects {what}, but {found}", "Change that parameter."
        )


def from_to(function: str, args: tuple, named: dict, default: tuple) -> tuple:
    """Two arguments that are called `from`, which no Python parameter can be, and `to`."""
    if len(args) > 2:
        raise errors.type_error(
            f"{function}() takes from 0 to 2 positional arguments but {len(args)} were given",
            "Pass a lower and an upper bound.",
        )
    given = dict(zip(("from", "to"), args, strict=False))
    for name, x in named.items():
        if name not in ("from", "to"):
            raise TypeError(f"{function}() got an unexpected keyword argument '{name}'")
        if name in given:
            raise TypeError(f"{function}() got multiple values for argument '{name}'")
        given[name] = x
    return given.get("from", default[0]), given.get("to", default[1])


def is_integer(x: TensorLike) -> bool:
    """Whether PyTorch takes `x` for an integer: a bool is none, a tensor of one integer is."""
    array = getattr(x, "_array", None)
    if array is not None:
        return array.size == 1 and array.dtype.kind in "iu"
    return hasattr(x, "__index__") and not isinstance(x, bool)


def int_of(x: TensorLike) -> int:
    """The Python int of what `is_integer` accepts."""
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
        if not is_integer(n) and not (isinstance(n, bool) and sizes is not given):
            if sizes is given and len(given) == 1:
                raise _wrong_size(function, f"(position {position}) must be tuple of ints, not", n)
            if sizes is given and i == 0:
                raise mismatch(function, args, {}, "Sizes are ints.")
            where = f'failed to unpack the object at pos {i + 1} with error "type must be tuple of'
            raise _wrong_size(function, f"{where} ints,but got", n, '"')
        shape.append(int_of(n))
    for n in shape:
        if n < 0:
            raise errors.runtime_error(
                f"Trying to create tensor with negative dimension {n}: {shape}",
                "Sizes are not negative.",
            )
    return tuple(shape)


def _wrong_size(function: str, what: str, found: Any, end: str = "") -> TypeError:
    return errors.type_error(
        f"{function}(): argument 'size' {what} {type(found).__name__}{end}",
        "Sizes are ints, one by one or as a tuple.",
    )
