"""Max pooling along one dimension, which is that of two with windows of height 1."""

from __future__ import annotations

from typing import Any

from tapegrad.core import errors
from tapegrad.core.annotations import TensorLike
from tapegrad.core.dtype import of
from tapegrad.core.shape import ints_of
from tapegrad.operators.dtype_check import no_kernel
from tapegrad.operators.nn.max_pool import windowed
from tapegrad.operators.nn.pool_size import array_of, check_rank, is_default, n_windows, one_int
from tapegrad.operators.shape.squeeze_unsqueeze import squeeze, unsqueeze

__torch__ = "max_pool1d max_pool1d_with_indices"


def _check_line(
    input: TensorLike, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> None:
    """Raise as `max_pool1d` without indices does, in its own words."""
    shape = input._array.shape
    name = "max_pool1d()"
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise errors.runtime_error(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size "
            f"for input, but got:{list(shape)}",
            "Inputs are (N, C, L) or (C, L).",
        )
    values: list[int] = []
    for argument, value, kinds in (
        ("kernel_size", kernel_size, "an int, list of ints or tuple of ints"),
        ("stride", stride, "None, an int, list of ints, or tuple of ints"),
        ("padding", padding, "an int, list of ints, or tuple of ints"),
        ("dilation", dilation, "an int, list of ints or tuple of ints"),
    ):
        if argument == "stride" and is_default(value):
            value = kernel_size
        found = ints_of("max_pool1d", argument, (value,), len(values) + 2)
        if len(found) != 1:
            raise errors.runtime_error(
                f"{name} {argument} must be {kinds} of size 1 but got size {len(found)}",
                "There is one dimension to pool.",
            )
        values.append(found[0])
    k, s, p, d = values
    problem = None
    if k <= 0:
        problem = f"kernel_size must be greater than zero, but got {k}"
    elif s <= 0:
        problem = f"stride must be greater than zero, but got {s}"
    elif p < 0:
        problem = f"padding must be non-negative, but got {p}"
    elif p > k // 2:
        problem = (
            f"padding should be at most half of kernel size, but got padding={p} and "
            f"kernel_size={k}"
        )
    elif d <= 0:
        problem = f"dilation must be greater than zero, but got {d}"
    elif (n := n_windows(shape[-1], k, s, p, d, ceil_mode)) <= 0:
        problem = f"Invalid computed output size: {n}"
    if problem:
        raise errors.runtime_error(f"{name} {problem}", "Windows must fit into the padded input.")
    dtype = of(input._array.dtype)
    if not dtype.is_floating_point:
        raise no_kernel("max_pool1d_impl", dtype)


def max_pool1d_with_indices(
    input: TensorLike,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Any, Any]:
    """The largest element of each window along the last dimension, and its index.

    >>> torch.max_pool1d_with_indices(torch.tensor([[1.0, 3.0, 2.0, 2.0]]), 2)
    (tensor([[3., 2.]]), tensor([[1, 2]]))
    """
    check_rank("max_pool1d", input)
    kernel = one_int("max_pool1d", "kernel_size", kernel_size)
    step = kernel if is_default(stride) else one_int("max_pool1d", "stride", stride, 3)
    pad = one_int("max_pool1d", "padding", padding, 4)
    spread = one_int("max_pool1d", "dilation", dilation, 5)
    values, indices = windowed(
        "max_pool1d",
        2,
        unsqueeze(input, -2),
        (1, kernel),
        (1, step),
        (0, pad),
        (1, spread),
        ceil_mode,
    )
    return squeeze(values, -2), squeeze(indices, -2)


def max_pool1d(
    input: TensorLike,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window along the last dimension of (N, C, L) or (C, L).

    Window i holds the elements `i * stride - padding + k * dilation` for k below `kernel_size`;
    padding counts as -inf. The result has `(L + 2 padding - dilation (kernel_size - 1) - 1) //
    stride + 1` elements (rounded up with `ceil_mode`). With `return_indices` a pair
    (values, indices), which `max_unpool1d` takes.

    >>> torch.nn.functional.max_pool1d(torch.tensor([[1.0, 3.0, 2.0, 2.0]]), 2)
    tensor([[3., 2.]])
    """
    array_of("max_pool1d", input)
    if not return_indices:
        _check_line(input, kernel_size, stride, padding, dilation, ceil_mode)
    found = max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return found if return_indices else found[0]
