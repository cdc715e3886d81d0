"""Axes and shapes: what public functions accept, brought to one form once, at the boundary."""

import operator
from math import prod
from typing import Any

import numpy as np

from tapegrad.core import errors


def axis_of(dim: Any, ndim: int) -> int:
    """A dimension counted from either end as a non-negative axis; 0-d counts as one dimension."""
    try:
        if dim is True or dim is False:
            raise TypeError
        axis = operator.index(dim)
    except TypeError:
        raise errors.type_error(
            f"'{type(dim).__name__}' object cannot be interpreted as an integer",
            "A dimension is a whole number.",
        ) from None
    n = ndim or 1
    if not -n <= axis < n:
        advice = f"The tensor has {ndim} dimension{'' if ndim == 1 else 's'}."
        raise out_of_range(axis, ndim, advice)
    return axis + n if axis < 0 else axis


def out_of_range(axis: int, ndim: int, advice: str) -> IndexError:
    """A dimension that a tensor does not have."""
    n = ndim or 1
    text = f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {axis})"
    return errors.index_error(text, advice)


def no_dimensions(dim: Any, advice: str) -> IndexError:
    """A dimension of a tensor that has none."""
    text = f"Dimension specified as {dim} but tensor has no dimensions"
    return errors.index_error(text, advice)


def existing_axis(dim: Any, ndim: int, advice: str) -> int:
    """As `axis_of`, but a tensor without dimensions is refused."""
    if not ndim:
        raise no_dimensions(dim, advice)
    return axis_of(dim, ndim)


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that one or two shapes have in common."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise errors.broadcast(*shapes) from None


def axes_of(dim: Any, ndim: int) -> tuple[int, ...]:
    """One dimension, several or None (all) as axes, in order, none twice; () on a 0-d tensor."""
    if dim is None:
        return tuple(range(ndim))
    if type(dim) is int:
        axis = axis_of(dim, ndim)  # a check of a tensor without dimensions, too
        return (axis,) if ndim else ()
    if not isinstance(dim, (tuple, list)):
        dim = (dim,)
    axes = tuple(axis_of(d, ndim) for d in dim)
    if len(set(axes)) != len(axes):
        twice = next(a for a in axes if axes.count(a) > 1)
        raise errors.runtime_error(
            f"dim {twice} appears multiple times in the list of dims", "Name each dimension once."
        )
    return axes if ndim else ()


def ints_of(name: str, argument: str, given: tuple, position: int = 1) -> tuple[int, ...]:
    """Integers given one by one or as one sequence; `name` and `argument` are for the error."""
    values: Any = given
    if len(given) == 1 and type(given[0]) is int:
        return given
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        values = given[0]
    found = []
    for i, n in enumerate(values):
        try:
            if i or not isinstance(n, bool):
                found.append(operator.index(n))
                continue
        except TypeError:
            pass
        kind = errors.type_name(n)
        text = f"{name}(): argument '{argument}' (position {position}) must be tuple of ints, "
        if values is given and len(given) == 1:
            text += f"not {kind}"
        elif i == 0:
            text += f"but found element of type {kind} at pos 0"
        else:
            text = (
                f"{name}(): argument '{argument}' failed to unpack the object at pos {i + 1} with "
                f'error "type must be tuple of ints,but got {kind}"'
            )
        raise errors.type_error(text, "Give whole numbers.")
    return tuple(found)


def listed(name: str, argument: str, given: Any, position: int = 0) -> tuple[int, ...]:
    """Integers of a tuple or list, in place of which PyTorch takes no single one.

    `position` is the argument's, 0 where it was given by its name.
    """
    if isinstance(given, (tuple, list)):
        return ints_of(name, argument, (given,), position)
    place = f" (position {position})" if position else ""
    text = f"{name}(): argument '{argument}'{place} must be tuple of ints, not "
    raise errors.type_error(text + errors.type_name(given), "Give a tuple of integers.")


def missing_argument(name: str, argument: str) -> TypeError:
    """A call that lacks what it needs."""
    return errors.type_error(
        f'{name}() missing 1 required positional arguments: "{argument}"', f"Pass {argument}."
    )


def inferred(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    """`shape` for `size` elements, with one -1 replaced by what is left for it."""
    known = 1
    missing = -1
    for i, n in enumerate(shape):
        if n >= 0:
            known *= n
        elif n < -1:
            raise errors.runtime_error(
                f"invalid shape dimension {n} at index {i} of shape {list(shape)}",
                "Sizes are not negative; one of them may be -1, which means: what is left.",
            )
        elif missing >= 0:
            raise errors.runtime_error(
                "only one dimension can be inferred", "Give all sizes but one."
            )
        else:
            missing = i
    if missing < 0:
        if known == size:
            return shape if size else countable(shape)
    elif known and size % known == 0:
        found = (*shape[:missing], size // known, *shape[missing + 1 :])
        return found if size else countable(found)
    elif not known and not size:
        raise errors.runtime_error(
            f"cannot reshape tensor of 0 elements into shape {list(shape)} because the "
            "unspecified dimension size -1 can be any value and is ambiguous",
            "Give all sizes.",
        )
    raise errors.runtime_error(
        f"shape '{list(shape)}' is invalid for input of size {size}",
        f"The product of the sizes must be {size}.",
    )


def countable(shape: tuple[int, ...]) -> tuple[int, ...]:
    """`shape`, if the product of its sizes, but for those of 0, fits in 64 bits."""
    if prod([n or 1 for n in shape]) >= 2**63:
        raise errors.runtime_error(
            "numel: integer multiplication overflow", f"The sizes are {list(shape)}."
        )
    return shape


def countable_bytes(shape: tuple[int, ...], itemsize: int) -> None:
    """Raise unless 64 bits count the bytes of an array, one without elements as if it had some."""
    if prod([n or 1 for n in shape]) * itemsize >= 2**63:
        raise errors.overflow(shape)


def reshaped_strides(
    shape: tuple[int, ...], strides: tuple[int, ...], new: tuple[int, ...]
) -> tuple[int, ...] | None:
    """The strides that show the same elements in `new` shape; None where they must be copied."""
    if 0 in shape or not shape:
        return (0,) * len(new)
    found = [0] * len(new)
    j = len(new) - 1
    chunk = 1  # elements of the axes looked at since the last break
    step = strides[-1]
    for i in range(len(shape) - 1, -1, -1):
        chunk *= shape[i]
        # a break: the next axis to the left does not continue this one
        if i and (shape[i - 1] == 1 or strides[i - 1] == chunk * step):
            continue
        left = 1
        while j >= 0 and (left < chunk or new[j] == 1):
            found[j] = left * step
            left *= new[j]
            j -= 1
        if left != chunk:
            return None
        if i:
            chunk, step = 1, strides[i - 1]
    return tuple(found) if j < 0 else None


def numbered(counts: Any) -> Any:
    """0 as often as the first count says, 1 as often as the second, and so on: int64.

    >>> from tapegrad.core.shape import numbered
    >>> numbered(np.array([2, 0, 1]))
    array([0, 0, 2])
    """
    numbers = np.arange(counts.size, dtype=np.int64)
    return np.repeat(numbers, counts.astype(np.intp, copy=False))  # it takes no larger integers
