"""The arguments of convolutions, brought to one form: types, numbers along axes, padding "same"."""

from __future__ import annotations

import operator
from typing import Any

from tapegrad.core import errors
from tapegrad.core.annotations import TensorLike
from tapegrad.operators.linalg.matmul_check import c_name

SIDES = ("depth", "height", "width")
_FORMS = (
    "Tensor input, Tensor weight, Tensor bias = None, tuple of ints stride = 1, {} dilation = 1, "
    "int groups = 1"
)
FORMS = (
    _FORMS.format("tuple of ints padding = 0, tuple of ints"),
    _FORMS.format('str padding = "valid", tuple of ints'),
)


def common(
    name: str,
    input: TensorLike,
    weight: TensorLike,
    bias: TensorLike | None,
    given: dict | None = None,
) -> None:
    """Refuse what is no tensor, and a bias of another dtype.

    `given` are the other arguments of a function that has two forms, one with a str for padding.
    """
    arguments = (("input", input), ("weight", weight), ("bias", bias))
    for position, (argument, x) in enumerate(arguments, start=1):
        if hasattr(x, "_array") or (x is None and position == 3):
            continue
        if given is None:
            raise errors.must_be(name, argument, position, "Tensor", x)
        raise _invalid(name, input, weight, bias, given)
    if given is not None and not _is_int(given["groups"]):
        raise _invalid(name, input, weight, bias, given)
    if bias is not None and bias._array.dtype != input._array.dtype:
        raise errors.runtime_error(
            f"Input type ({c_name(input)}) and bias type ({c_name(bias)}) should be the same",
            f"Convert the bias with .to({input.dtype}), or the input with .to({bias.dtype}).",
        )


def _is_int(x: TensorLike) -> bool:
    return not isinstance(x, bool) and hasattr(x, "__index__")


_DEFAULTS = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1}


def _invalid(
    name: str, input: TensorLike, weight: TensorLike, bias: TensorLike | None, given: dict
) -> TypeError:
    args = (input, weight) if bias is None else (input, weight, bias)
    rest = {key: x for key, x in given.items() if x is not _DEFAULTS[key]}
    return errors.invalid_combination(name, args, rest, FORMS)


def ints(name: str, argument: str, value: Any, n: int = 1, call: tuple = ()) -> tuple[int, ...]:
    """A number, `n` times, or a sequence of numbers as it is."""
    kind = type(value)
    if kind is int:
        return (value,) * n
    try:
        if kind is tuple or isinstance(value, (tuple, list)):
            return tuple(map(operator.index, value))
        if kind is not bool:
            return (operator.index(value),) * n
    except TypeError:
        pass
    if call:
        raise _invalid(name, *call)
    raise errors.must_be(name, argument, 0, "tuple of ints", value)


def wrong_rank(name: str, n: int, input: TensorLike) -> RuntimeError:
    """An input that is neither one image nor a batch."""
    return errors.runtime_error(
        f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {name}, but got input "
        f"of size: {list(input._array.shape)}",
        "The dimensions are (batch, channels, ...), with or without the batch.",
    )


def kernel_axes(weight: TensorLike) -> int:
    axes = weight._array.ndim - 2
    if axes < 1:
        raise errors.runtime_error(
            "weight should have at least three dimensions",
            "They are (channels out, channels in / groups, ...) and those of a kernel.",
        )
    return axes


def positive_groups(groups: int) -> None:
    if groups <= 0:
        raise errors.runtime_error(
            "non-positive groups is not supported",
            "1 is every output channel of all input channels, C one of each channel.",
        )


def check_same(
    n: int,
    input: TensorLike,
    weight: TensorLike,
    stride: tuple,
    padding: str,
    dilation: tuple,
    groups: int,
) -> tuple[tuple, tuple]:
    """Stride and dilation along each axis for a padding given as a word."""
    if padding != "same":
        raise errors.runtime_error(
            f"Invalid padding string: '{padding}'", 'The words are "same" and "valid".'
        )
    k = kernel_axes(weight) + 2
    positive_groups(groups)
    if k != input._array.ndim:
        raise errors.runtime_error(
            f"Expected {k}-dimensional input for {k}-dimensional weight"
            f"{list(weight._array.shape)}, but got {input._array.ndim}-dimensional input of "
            f"size {list(input._array.shape)} instead",
            "Kernels have as many axes as images.",
        )
    found = []
    for name, value in (("stride", stride), ("dilation", dilation)):
        if len(value) not in (1, n):
            raise errors.runtime_error(
                f"{name} cannot broadcast to {n} dimensions", f"Give one number, or {n}."
            )
        found.append(value * n if len(value) == 1 else value)
    if any(s != 1 for s in found[0]):
        raise errors.runtime_error(
            "padding='same' is not supported for strided convolutions",
            "Give the padding as numbers.",
        )
    if any(d <= 0 for d in found[1]):
        raise not_positive_dilation(n, found[1], False)
    return found[0], found[1]


def not_positive_dilation(axes: int, dilation: tuple, transposed: bool) -> RuntimeError:
    if transposed:
        sides = zip(SIDES[-max(axes, 2) :], ((0,) * (2 - axes)) + dilation, strict=True)
        text = "dilation should be greater than zero, but got "
        text += ", ".join(f"dilation_{side}: {d}" for side, d in sides)
    elif min(dilation) < 0:
        text = "dilation should be greater than zero"
    elif axes == 1:
        text = f"dilation should be greater than zero, but got [1, {dilation[0]}]"
    else:
        text = "non-positive dilation is not supported"
    return errors.runtime_error(text, "1 is a kernel without holes.")
