"""Numbers in steps of a given size: `arange`, `range`.

The roundings are PyTorch's, to the bit for float32 (below 32,768 elements, where PyTorch takes one
thread): it multiplies and adds with one rounding, and steps through blocks of eight.
"""

from math import ceil, isfinite

import numpy as np

from tapegrad.core import errors
from tapegrad.core.annotations import Any, DeviceLike, DTypeLike, LayoutLike, Out, Scalar
from tapegrad.core.argument_check import require_tensors, users_level
from tapegrad.core.dtype import FLOAT8, default, float64, int64
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.scalar import number_of, overflow
from tapegrad.core.torch_function import IN_USE, handed_to_argument, handed_to_mode
from tapegrad.operators.creation.factory_options import build, check, check_out, in_row, known

_LANES = 8  # of a vector of float32; the loop over vectors handles two at a time


def _stepped(start: float, step: float, size: int, dtype: np.dtype) -> np.ndarray:
    """start, start + step, start + 2 step, ... with the roundings of PyTorch's vector loop."""
    if dtype != np.float32:
        return (start + step * np.arange(size)).astype(dtype)
    whole = size - size % (2 * _LANES)
    heads = (start + step * np.arange(0, whole, _LANES)).astype(np.float32).astype(np.float64)
    blocks = heads[:, None] + step * np.arange(_LANES)
    rest = start + step * np.arange(whole, size)
    return np.concatenate([blocks.reshape(-1), rest]).astype(np.float32)


def real(value: Scalar) -> Any:
    if isinstance(value, complex):
        raise overflow(float64, "Steps between complex numbers: torch.linspace.")
    return value


def _check_range(start: Any, end: Any, step: Any) -> None:
    problem = ""
    if step == 0:
        problem = "step must be nonzero"
    elif not (isfinite(start) and isfinite(end)):
        problem = f"unsupported range: {start:g} -> {end:g}"
    elif (end - start) * (1 if step > 0 else -1) < 0:
        problem = "upper bound and lower bound inconsistent with step sign"
    if problem:
        raise errors.runtime_error(
            problem, f"From {start} to {end} in steps of {step} leads nowhere."
        )


def check_dtype(name: str, dtype: Dtype) -> None:
    if dtype.is_complex or dtype.name == "bool" or dtype in FLOAT8:
        text = f"\"{name}_cpu\" not implemented for '{dtype.scalar_name}'"
        raise errors.not_implemented(text, "Make it of another dtype, and convert it.")


_OUT = "Tensor out = None, "
_OPTIONS = (
    "torch.dtype dtype = None, torch.layout layout = None, torch.device device = None, "
    "bool pin_memory = False, bool requires_grad = False"
)
_ARANGE = (
    f"Number end, *, {_OUT}{_OPTIONS}",
    f"Number start, Number end, *, {_OPTIONS}",
    f"Number start, Number end, Number step = 1, *, {_OUT}{_OPTIONS}",
)


def _bounds(given: tuple, start: Scalar, end: Scalar, step: Scalar) -> tuple[Any, Any, Any]:
    """Start, end and step of `arange(end)`, `arange(start, end)`, `arange(start, end, step)`."""
    if len(given) == 1 and start is None and end is None and step is None:
        start, end = 0, given[0]
        return start, real(number_of("arange", "end", 1, end)), 1
    names = ("start", "end", "step")
    values = dict(zip(names, given, strict=False))
    known = {"start": start, "end": end, "step": step}
    twice = any(known[name] is not None for name in values)
    values.update({name: value for name, value in known.items() if value is not None})
    alone = "step" in values and "start" not in values
    if twice or len(given) > 3 or "end" not in values or alone:
        named = {name: value for name, value in known.items() if value is not None}
        raise errors.invalid_combination("arange", given, named, _ARANGE)
    start, end, step = values.get("start", 0), values["end"], values.get("step", 1)
    return (
        real(number_of("arange", "start", 1, start)),
        real(number_of("arange", "end", 2, end)),
        real(number_of("arange", "step", 3, step)),
    )


def arange(
    *bounds: Any,
    start: Any = None,
    end: Any = None,
    step: Any = None,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """The numbers from start (0) up to end, which is left out, in steps of step (1).

    Shape: (ceil((end - start) / step),).
    Raises: RuntimeError for a step of 0, or in the wrong direction.

    >>> torch.arange(5), torch.arange(1, 2, 0.25)
    (tensor([0, 1, 2, 3, 4]), tensor([1.0000, 1.2500, 1.5000, 1.7500]))
    """
    if IN_USE and (again := handed_to_mode(arange, bounds, locals())):
        return again()
    try:
        where = check(layout, device, pin_memory)
        first, last, stride = _bounds(bounds, start, end, step)
        if out is not None:
            check_out("arange", out, dtype)
            kind = out.dtype
        elif dtype is not None:
            kind = known("arange", dtype)
        else:
            whole = all(isinstance(x, int) for x in (first, last, stride))
            kind = int64 if whole else default()
    except TypeError:
        again = handed_to_argument(arange, bounds, locals())
        if again is None:
            raise
        return again()
    check_dtype("arange", kind)
    _check_range(first, last, stride)
    if out is None:
        return build(
            "arange", _arange, first, last, stride, kind, requires_grad=requires_grad, where=where
        )
    array = _arange(first, last, stride, kind)
    warn_of_size(out, array.size)
    return in_row("arange", out, array, requires_grad)


def _arange(start: Any, end: Any, step: Any, dtype: Dtype) -> np.ndarray:
    if dtype.is_floating_point:
        size = ceil(float((end - start) / step))
        return _stepped(start, step, size, dtype.numpy)
    first, stride = int(start), int(step)
    if stride == 0:
        raise errors.value_error("step must be nonzero", f"As {dtype}, a step of {step} is 0.")
    size = -((first - int(end)) // stride) if dtype is int64 else ceil(float((end - start) / step))
    wide = np.arange(size, dtype=np.int64) * stride + first
    return wide.astype(dtype.numpy)


@require_tensors
def range(
    start: Scalar = 0,
    end: Any = None,
    step: Scalar = 1,
    *,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
) -> Any:
    """The numbers from start to end, which is included, in steps of step; `arange` is clearer.

    Shape: (floor((end - start) / step) + 1,).
    Raises: RuntimeError for a step of 0, or in the wrong direction.

    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     torch.range(0, 1, 0.5)
    tensor([0.0000, 0.5000, 1.0000])
    """
    errors.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior "
        "is inconsistent with Python's range builtin. Instead, use torch.arange, which produces "
        "values in [start, end).",
        users_level(),
    )
    if end is None:
        text = 'range() missing 1 required positional arguments: "end"'
        raise errors.type_error(text, "torch.arange(n) counts from 0.")
    where = check(layout, device, False)
    start, end, step = (
        real(number_of("range", name, i, x))
        for i, (name, x) in enumerate((("start", start), ("end", end), ("step", step)), 1)
    )
    if out is not None:
        check_out("range", out, dtype)
        kind = out.dtype
    else:
        kind = default() if dtype is None else known("range", dtype)
    check_dtype("range", kind)
    _check_range(start, end, step)
    array = _range(start, end, step, kind)
    if out is not None:
        return in_row("range", out, array, requires_grad)
    return build("range", lambda: array, requires_grad=requires_grad, where=where)


def _range(start: Any, end: Any, step: Any, dtype: Dtype) -> np.ndarray:
    if dtype.is_floating_point:
        return _stepped(start, step, int((end - start) / step + 1), dtype.numpy)
    size = (int(end) - int(start)) // int(step) + 1
    return (np.arange(size, dtype=np.int64) * int(step) + int(start)).astype(dtype.numpy)


__all__ = ["arange", "range"]


def warn_of_size(out: Any, n: int) -> None:
    """Warn of an `out` that has other than the `n` elements of a range."""
    if out._array.size != n and out._array.size:
        errors.warn(
            f"The number of elements in the out tensor of shape {list(out.shape)} is "
            f"{out._array.size} which does not match the computed number of elements {n}. Note "
            "that this may occur as a result of rounding error. The out tensor will be resized to "
            f"a tensor of shape ({n},).",
            users_level(),
        )
