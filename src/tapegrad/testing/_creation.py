"""make_tensor: tensors of random numbers in a range, for tests."""

import math
from collections.abc import Sequence
from typing import Any

from tapegrad.core import dtype as dtypes
from tapegrad.core import errors
from tapegrad.core.annotations import DeviceLike
from tapegrad.core.dtype import dtype as DType
from tapegrad.core.errors import deprecated
from tapegrad.core.limits import finfo, iinfo
from tapegrad.core.memory_format import memory_format as MemoryFormat
from tapegrad.operators.creation.zeros_eye import empty
from tapegrad.operators.shape.as_strided import view_as_real
from tapegrad.tensors.tensor import Tensor

__all__ = ["make_tensor"]


def make_tensor(
    *shape: int | Sequence[int],
    dtype: DType,
    device: DeviceLike,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: MemoryFormat | None = None,
) -> Tensor:
    """A tensor of random numbers, uniform in a range: PyTorch's for the same seed.

    Args:
        shape: one sequence, or the sizes one by one.
        low: the least number: -9 by default; 0 for bools and unsigned integers.
        high: the end of the range: 9 by default; 10 for integers, which are less; 2 for bools.
        requires_grad: only for numbers with a fraction, and complex ones.
        noncontiguous: every second element of a larger tensor, if there are two or more.
        exclude_zero: the least normal positive number in place of zeros; 1 for integers.
        memory_format: of the tensor; not together with `noncontiguous`.

    Raises:
        ValueError: `low` is not less than `high`, or the range lies outside that of `dtype`.
        TypeError: `dtype` is not a dtype of numbers.

    >>> from tapegrad.testing import make_tensor
    >>> _ = torch.manual_seed(0)
    >>> make_tensor(2, 3, dtype=torch.int64, device="cpu")
    tensor([[ 6, -5, -9],
            [-9,  2, -2]])
    """
    sizes: Any = shape
    if len(shape) == 1 and isinstance(shape[0], Sequence):
        sizes = shape[0]
    sizes = tuple(sizes)
    if noncontiguous and memory_format is not None:
        raise errors.value_error(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"{noncontiguous=} and {memory_format=}",
            "Leave one of them away.",
        )
    if not isinstance(dtype, DType):
        raise errors.type_error(
            f"The requested dtype '{dtype}' is not supported by torch.testing.make_tensor(). To "
            "request support, file an issue at: https://github.com/pytorch/pytorch/issues",
            "Pass a dtype such as torch.float32.",
        )
    has_fraction = dtype.is_floating_point or dtype.is_complex
    if requires_grad and not has_fraction:
        raise errors.value_error(
            "`requires_grad=True` is not supported for boolean and integral dtypes, but got "
            f"{dtype=}",
            "Only numbers with a fraction have gradients.",
        )
    start, stop = _range(dtype, low, high)
    is_strided = noncontiguous and math.prod(sizes) > 1
    if is_strided:
        sizes = (*sizes[:-1], 2 * sizes[-1])
    x = empty(sizes, dtype=dtype, device=device)
    numbers = view_as_real(x) if dtype.is_complex else x
    if has_fraction:
        _fill_real(numbers, start, stop)
    else:
        numbers.random_(math.ceil(start), math.ceil(stop))
    if is_strided:
        x = x[..., 1::2]
    elif memory_format is not None:
        x = x.clone(memory_format=memory_format)
    if exclude_zero:
        x[x == 0] = finfo(dtype).tiny if has_fraction else 1
    return x.requires_grad_() if requires_grad else x


def _fill_real(x: Tensor, start: float, stop: float) -> None:
    """Uniform numbers, also where the width of the range is more than the dtype has."""
    limits = finfo(x.dtype)
    if stop - start > limits.max:
        scale = limits.max if x.dtype == dtypes.float64 else 2
        x.uniform_(start / scale, stop / scale).mul_(scale)
    else:
        x.uniform_(start, stop)


def _range(dtype: DType, low: float | None, high: float | None) -> tuple[float, float]:
    """The range within that of `dtype`; its end is not in it."""
    has_fraction = dtype.is_floating_point or dtype.is_complex
    least: float
    end: float
    if has_fraction:
        default: tuple[float, float] = (-9, 9)
        least, end = finfo(dtype).min, finfo(dtype).max
    elif dtype == dtypes.bool_:
        default, least, end = (0, 2), 0, 2
    else:
        limits = iinfo(dtype)
        default, least = (0 if limits.min == 0 else -9, 10), limits.min
        end = limits.max if limits.bits == 64 else limits.max + 1
    low = default[0] if low is None else low
    high = default[1] if high is None else high
    if low != low or high != high:  # not math.isnan: integers may be larger than any float
        raise errors.value_error(
            f"`low` and `high` cannot be NaN, but got {low=} and {high=}", "Pass numbers."
        )
    if low == high and has_fraction:
        deprecated(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is "
            "deprecated since 2.1 and will be removed in 2.3. Use `torch.full(...)` instead.",
            3,
        )
    elif low >= high:
        raise errors.value_error(
            f"`low` must be less than `high`, but got {low} >= {high}",
            "The numbers lie between low and high.",
        )
    elif low >= end or high <= least:
        raise errors.value_error(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} "
            f"only supports [{least}, {end})",
            "Choose a range that the dtype has.",
        )
    return max(least, min(low, end)), max(least, min(high, end))
