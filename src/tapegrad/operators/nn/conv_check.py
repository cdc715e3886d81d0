"""Checks of convolutions: shapes, numbers and dtypes, in PyTorch's order and words."""

import operator
from math import prod

from tapegrad.autograd.writable import cannot_cast
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.promote_types import can_cast
from tapegrad.operators.dtype_check import no_kernel
from tapegrad.operators.linalg.matmul_check import c_name
from tapegrad.operators.nn.conv_rules import output_size

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
    name: str, input: Tensor, weight: Tensor, bias: Tensor | None, given: dict | None = None
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
    if given is not None and bias is not None and bias._array.dtype != input._array.dtype:
        text = f"Input type ({c_name(input)}) and bias type ({c_name(bias)}) should be the same"
        advice = f"Convert the bias with .to({input.dtype}), or the input with .to({bias.dtype})."
        raise errors.runtime_error(text, advice)


def _is_int(x: object) -> bool:
    return not isinstance(x, bool) and hasattr(x, "__index__")


_DEFAULTS = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1}


def _invalid(
    name: str, input: Tensor, weight: Tensor, bias: Tensor | None, given: dict
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


def is_batch(name: str, n: int, input: Tensor) -> bool:
    """Whether the input is a batch of images along `n` axes, not a single one."""
    ndim = input._array.ndim
    if ndim not in (n + 1, n + 2):
        raise errors.runtime_error(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {name}, but got input "
            f"of size: {list(input._array.shape)}",
            "The dimensions are (batch, channels, ...), with or without the batch.",
        )
    return ndim == n + 2


def kernel_axes(weight: Tensor) -> int:
    axes = weight._array.ndim - 2
    if axes < 1:
        advice = "They are (channels out, channels in / groups, ...) and those of a kernel."
        raise errors.runtime_error("weight should have at least three dimensions", advice)
    return axes


def positive_groups(groups: int) -> None:
    if groups <= 0:
        advice = "1 is every output channel of all input channels, C one of each channel."
        raise errors.runtime_error("non-positive groups is not supported", advice)


def check_same(
    n: int, input: Tensor, weight: Tensor, stride: tuple, padding: str, dilation: tuple, groups: int
) -> tuple[tuple, tuple]:
    """Stride and dilation along each axis for a padding given as a word."""
    if padding != "same":
        text = f"Invalid padding string: '{padding}'"
        raise errors.runtime_error(text, 'The words are "same" and "valid".')
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
            text = f"{name} cannot broadcast to {n} dimensions"
            raise errors.runtime_error(text, f"Give one number, or {n}.")
        found.append(value * n if len(value) == 1 else value)
    if any(s != 1 for s in found[0]):
        text = "padding='same' is not supported for strided convolutions"
        raise errors.runtime_error(text, "Give the padding as numbers.")
    if any(d <= 0 for d in found[1]):
        raise not_positive_dilation(n, found[1], False)
    return found[0], found[1]


def not_positive_dilation(axes: int, dilation: tuple, transposed: bool) -> RuntimeError:
    if min(dilation) < 0:
        text = "dilation should be greater than zero"
    elif transposed:
        sides = zip(SIDES[-max(axes, 2) :], ((0,) * (2 - axes)) + dilation, strict=True)
        text = "dilation should be greater than zero, but got "
        text += ", ".join(f"dilation_{side}: {d}" for side, d in sides)
    elif axes == 1:
        text = f"dilation should be greater than zero, but got [1, {dilation[0]}]"
    else:
        text = "non-positive dilation is not supported"
    return errors.runtime_error(text, "1 is a kernel without holes.")


STEPS = ("stride", "padding", "dilation", "output_padding")


def check(
    input: Tensor, weight: Tensor, bias: Any, given: tuple, transposed: bool, groups: int
) -> tuple:
    """The steps along each axis, named by STEPS; raises for whatever does not fit together."""
    axes = kernel_axes(weight)
    positive_groups(groups)
    if input.dtype.is_complex and weight.dtype is not input.dtype:
        raise _two_types(input, "weight", weight, "")
    steps = []
    for name, value in zip(STEPS, given, strict=True):
        if len(value) not in (1, axes):
            raise errors.runtime_error(
                f"expected {name} to be a single integer value or a list of {axes} values to "
                f"match the convolution dimensions, but got {name}={list(value)}",
                f"The kernels have {axes} axes: weight is {list(weight._array.shape)}.",
            )
        steps.append(tuple(value) * axes if len(value) == 1 else tuple(value))
    stride, padding, dilation, output_padding = steps
    for what, bad in (
        ("negative padding", min(padding) < 0),
        ("negative output_padding", min(output_padding) < 0),
        ("non-positive stride", min(stride) <= 0),
    ):
        if bad:
            advice = "Slice the tensor to cut pixels off; steps are at least 1."
            raise errors.runtime_error(f"{what} is not supported", advice)
    _check_shapes(input, weight, bias, transposed, groups)
    shape, kernel = input._array.shape, weight._array.shape[2:]
    if not transposed:
        _check_kernel(shape[2:], kernel, padding, dilation)
    empty = not input._array.size  # then nothing is computed, and PyTorch looks at less
    if min(dilation) < 0 or (min(dilation) == 0 and not empty):
        raise not_positive_dilation(axes, dilation, transposed)
    if transposed and not empty:
        _check_output_padding(output_padding, stride, dilation)
    _check_pixels(input, weight, transposed)
    size = output_size(shape[2:], kernel, stride, padding, dilation, transposed, output_padding)
    if min(size) < (0 if empty else 1):
        flat = (1,) if transposed and axes == 1 else ()
        raise errors.runtime_error(
            f"Given input size per channel: {_by((*flat, *shape[2:]))}. Calculated output size per "
            f"channel: {_by((*flat, *size))}. Output size is too small",
            "Take less padding.",
        )
    if not empty:
        _check_dtypes(input, weight, dilation, transposed, groups)
        if bias is not None and bias.dtype is not input.dtype:
            _check_bias(input, weight, bias, groups)
    return tuple(steps)


def _check_shapes(
    input: Tensor, weight: Tensor, bias: Tensor | None, transposed: bool, groups: int
) -> None:
    shape, of_weight = list(input._array.shape), list(weight._array.shape)
    k = len(of_weight)
    if len(shape) != k:
        raise errors.runtime_error(
            f"Expected {k}-dimensional input for {k}-dimensional weight {of_weight}, but got "
            f"{len(shape)}-dimensional input of size {shape} instead",
            "Kernels have as many axes as images.",
        )
    if of_weight[0] < groups:
        raise errors.runtime_error(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, "
            f"but got weight of size {of_weight} instead",
            "Each group has its own kernels: there are at least as many as groups.",
        )
    if of_weight[0] % groups:
        raise errors.runtime_error(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension "
            f"0, but got weight of size [{of_weight}] instead",
            "All groups have the same number of kernels.",
        )
    expected = of_weight[0] if transposed else of_weight[1] * groups
    given = f"transposed={int(transposed)}" if transposed else f"groups={groups}"
    if shape[1] != expected:
        raise errors.runtime_error(
            f"Given {given}, weight of size {of_weight}, expected input{shape} to have "
            f"{expected} channels, but got {shape[1]} channels instead",
            "Channels are dimension 1 of a batch (N, C, ...) and dimension 0 of one image.",
        )
    out = of_weight[1] * groups if transposed else of_weight[0]
    if bias is not None and bias._array.shape != (out,):
        given = "transposed=1, weight" if transposed else "weight"
        raise errors.runtime_error(
            f"Given {given} of size {of_weight}, expected bias to be 1-dimensional with {out} "
            f"elements, but got bias of size {list(bias._array.shape)} instead",
            "The bias has one number for each channel of the result.",
        )


def _by(sizes: Any) -> str:
    return "(" + " x ".join(map(str, sizes)) + ")"


def _check_kernel(size: Any, kernel: Any, padding: tuple, dilation: tuple) -> None:
    padded = [n + 2 * p for n, p in zip(size, padding, strict=True)]
    covered = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    if any(n < k for n, k in zip(padded, covered, strict=True)):
        raise errors.runtime_error(
            f"Calculated padded input size per channel: {_by(padded)}. Kernel size: "
            f"{_by(covered)}. Kernel size can't be greater than actual input size",
            "Take a smaller kernel, less dilation or more padding.",
        )


def _check_output_padding(output_padding: tuple, stride: tuple, dilation: tuple) -> None:
    steps = list(zip(output_padding, stride, dilation, strict=True))
    if all(o < s or o < d for o, s, d in steps):
        return
    if len(steps) == 1:
        steps = [(0, 1, 1), *steps]
    sides = SIDES[-len(steps) :]
    names = ("output_padding", "stride", "dilation")
    parts = [
        f"{name}_{side}: {values[i]}"
        for i, name in enumerate(names)
        for side, values in zip(sides, steps, strict=True)
    ]
    raise errors.runtime_error(
        "output padding must be smaller than either stride or dilation, but got " + " ".join(parts),
        "It chooses one of the sizes that a convolution with this stride takes to the input's.",
    )


def _check_pixels(input: Tensor, weight: Tensor, transposed: bool) -> None:
    """Refuse images and kernels without pixels."""
    shape, kernel = input._array.shape, weight._array.shape[2:]
    if 0 in shape[2:]:
        raise errors.runtime_error(
            "Only zero batch or zero channel inputs are supported, but got input shape: "
            f"{list(shape)}",
            "The images have no pixels.",
        )
    if 0 in kernel:
        sides = zip(
            SIDES[-max(len(kernel), 2) :], (1, *kernel)[-max(len(kernel), 2) :], strict=True
        )
        raise errors.runtime_error(
            "kernel size should be greater than zero, but got "
            + " ".join(f"kernel_{side}: {k}" for side, k in sides),
            "A kernel has at least one element along each axis.",
        )
    if transposed and not weight._array.size:
        text = f"non-empty 2D or 4D weight tensor expected, but got: {list(weight._array.shape)}"
        raise errors.runtime_error(text, "A transposed convolution makes at least one channel.")


def _check_dtypes(
    input: Tensor, weight: Tensor, dilation: tuple, transposed: bool, groups: int
) -> None:
    dtype = input.dtype
    axes = weight._array.ndim - 2
    if dtype.category < 2 and dtype.name != "int64":
        if transposed:
            raise no_kernel(f"slow_conv_transpose{max(axes, 2)}d_out_cpu", dtype)
        if any(d != 1 for d in dilation):
            raise no_kernel("slow_conv_dilated<>", dtype)
        if dtype.name == "bool":
            raise no_kernel("slow_conv2d_cpu" if axes < 3 else "compute_columns3d", dtype)
    if dtype is weight.dtype:
        return
    if _goes_to_mkldnn(input, weight, groups):
        raise _two_types(input, "weight", weight, _MKLDNN)
    advice = f"Convert one of them: weight.to({dtype}), or input.to({weight.dtype})."
    raise errors.wrong_dtype(dtype, weight.dtype, advice)


_MKLDNN = " or input should be a MKLDNN tensor and {} is a dense tensor"


def _two_types(input: Tensor, name: str, x: Tensor, rest: str) -> RuntimeError:
    """An input and a weight or bias of two dtypes."""
    have, found = errors.tensor_type(input.dtype), errors.tensor_type(x.dtype)
    return errors.runtime_error(
        f"Input type ({have}) and {name} type ({found}) should be the same{rest.format(name)}",
        f"Convert one of them: {name}.to({input.dtype}), or input.to({x.dtype}).",
    )


def _goes_to_mkldnn(input: Tensor, weight: Tensor, groups: int) -> bool:
    """Whether PyTorch leaves these to a library, which has words of its own."""
    if input.dtype.is_floating_point and input.dtype.itemsize == 2:
        return True
    if input.dtype.name != "float32":
        return False
    shape, kernel = input._array.shape, weight._array.shape[2:]
    large = len(kernel) > 1 and min(kernel[-2:]) > 3
    return groups > 1 or large or shape[0] > 1 or prod(shape[:4]) > 20480


def _check_bias(input: Tensor, weight: Tensor, bias: Tensor, groups: int) -> None:
    """Raise where the bias of a transposed convolution has a dtype that cannot be added."""
    if input.dtype.is_complex:
        raise _two_types(input, "bias", bias, "")
    if _goes_to_mkldnn(input, weight, groups):
        raise _two_types(input, "bias", bias, _MKLDNN)
    if weight._array.ndim == 5:
        raise errors.wrong_dtype(input.dtype, bias.dtype, f"Convert it: bias.to({input.dtype}).")
    if not can_cast(bias.dtype, input.dtype):
        raise cannot_cast(bias.dtype, input.dtype, f"Convert it: bias.to({input.dtype}).")
