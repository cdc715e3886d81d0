"""Numbers in steps: `arange`, `range`, `linspace`, `logspace`.

The roundings are PyTorch's, to the bit for float32 (below 32,768 elements, where PyTorch takes one
thread): it multiplies and adds with one rounding, and steps through blocks of eight.
"""

from __future__ import annotations

import warnings
from math import ceil, isfinite
from typing import Any

import numpy as np

from tapegrad import errors
from tapegrad import tensor as _tensor
from tapegrad.dtype import current, default, int64
from tapegrad.dtype import dtype as Dtype
from tapegrad.ops.factory import build, check, check_out, into, known
from tapegrad.scalar import fitted, int_of, number_of

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


def _real(value: Any) -> Any:
    if isinstance(value, complex):
        raise errors.advised(
            RuntimeError("value cannot be converted to type double without overflow"),
            "Steps between complex numbers: torch.linspace.",
        )
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
        raise errors.advised(
            RuntimeError(problem), f"From {start} to {end} in steps of {step} leads nowhere."
        )


def _check_dtype(name: str, dtype: Dtype) -> None:
    if dtype.is_complex or dtype.name == "bool":
        raise errors.advised(
            NotImplementedError(f"\"{name}_cpu\" not implemented for '{dtype.scalar_name}'"),
            "Make it of another dtype, and convert it.",
        )


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


def _bounds(given: tuple, start: Any, end: Any, step: Any) -> tuple[Any, Any, Any]:
    """Start, end and step of `arange(end)`, `arange(start, end)`, `arange(start, end, step)`."""
    if len(given) == 1 and start is None and end is None and step is None:
        start, end = 0, given[0]
        return start, _real(number_of("arange", "end", 1, end)), 1
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
        _real(number_of("arange", "start", 1, start)),
        _real(number_of("arange", "end", 2, end)),
        _real(number_of("arange", "step", 3, step)),
    )


def arange(
    *bounds: Any,
    start: Any = None,
    end: Any = None,
    step: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """The numbers from start (0) up to end, which is left out, in steps of step (1).

    >>> torch.arange(5), torch.arange(1, 2, 0.25)
    (tensor([0, 1, 2, 3, 4]), tensor([1.0000, 1.2500, 1.5000, 1.7500]))
    """
    check(layout, device, pin_memory)
    start, end, step = _bounds(bounds, start, end, step)
    _check_range(start, end, step)
    if out is not None:
        check_out("arange", out, dtype)
        kind = out.dtype
    elif dtype is not None:
        kind = known("arange", dtype)
    else:
        whole = all(isinstance(x, int) for x in (start, end, step))
        kind = int64 if whole else default()
    _check_dtype("arange", kind)
    if out is None:
        return build("arange", _arange, start, end, step, kind, requires_grad=requires_grad)
    array = _arange(start, end, step, kind)
    if out._array.size != array.size and out._array.size:
        warnings.warn(
            f"The number of elements in the out tensor of shape {list(out.shape)} is "
            f"{out._array.size} which does not match the computed number of elements "
            f"{array.size}. Note that this may occur as a result of rounding error. The out "
            f"tensor will be resized to a tensor of shape ({array.size},).",
            UserWarning,
            stacklevel=2,
        )
    return into("arange", out, array, requires_grad)


def _arange(start: Any, end: Any, step: Any, dtype: Dtype) -> np.ndarray:
    if dtype.is_floating_point:
        size = ceil((end - start) / step)
        return _stepped(start, step, size, dtype.numpy)
    first, stride = int(start), int(step)
    if stride == 0:
        raise errors.advised(
            ValueError("step must be nonzero"), f"As {dtype}, a step of {step} is 0."
        )
    if dtype is int64:
        size = -((first - int(end)) // stride)
    else:
        size = ceil((end - start) / step)
    wide = np.arange(size, dtype=np.int64) * stride + first
    return wide.astype(dtype.numpy)


def range(
    start: Any = 0,
    end: Any = None,
    step: Any = 1,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """The numbers from start to end, which is included, in steps of step; `arange` is clearer."""
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior "
        "is inconsistent with Python's range builtin. Instead, use torch.arange, which produces "
        "values in [start, end).",
        UserWarning,
        stacklevel=2,
    )
    if end is None:
        raise errors.advised(
            TypeError('range() missing 1 required positional arguments: "end"'),
            "torch.arange(n) counts from 0.",
        )
    check(layout, device, pin_memory)
    start, end, step = (
        _real(number_of("range", name, i, x))
        for i, (name, x) in enumerate((("start", start), ("end", end), ("step", step)), 1)
    )
    _check_range(start, end, step)
    if out is not None:
        check_out("range", out, dtype)
        kind = out.dtype
    else:
        kind = default() if dtype is None else known("range", dtype)
    _check_dtype("range", kind)
    array = _range(start, end, step, kind)
    if out is not None:
        return into("range", out, array, requires_grad)
    return build("range", lambda: array, requires_grad=requires_grad)


def _range(start: Any, end: Any, step: Any, dtype: Dtype) -> np.ndarray:
    if dtype.is_floating_point:
        return _stepped(start, step, int((end - start) / step + 1), dtype.numpy)
    size = (int(end) - int(start)) // int(step) + 1
    return (np.arange(size, dtype=np.int64) * int(step) + int(start)).astype(dtype.numpy)


# --- a given number of steps ------------------------------------------------------------------


def _end_point(name: str, argument: str, position: int, x: Any) -> Any:
    if isinstance(x, _tensor.Tensor):
        if x.ndim:
            raise errors.advised(
                RuntimeError(
                    f"{name} only supports 0-dimensional start and end tensors, but got "
                    f"{argument} with {x.ndim} dimension(s)."
                ),
                "Pass numbers, or tensors of one number.",
            )
        return x.item()
    return number_of(name, argument, position, x)


def _n_steps(name: str, steps: Any) -> int:
    n = int_of(name, "steps", 3, steps)
    if n < 0:
        raise errors.advised(RuntimeError("number of steps must be non-negative"), f"It is {n}.")
    return n


def _kind(name: str, start: Any, end: Any, out: Any, dtype: Any) -> Dtype:
    if out is not None:
        check_out(name, out, dtype)
        kind = out.dtype
    elif dtype is not None:
        kind = known(name, dtype)
    else:
        is_complex = isinstance(start, complex) or isinstance(end, complex)
        kind = current[0][0].to_complex() if is_complex else default()
    if kind.name == "bool":
        _check_dtype(name, kind)
    return kind


def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """`steps` numbers from `start` to `end`, both included, equally far apart.

    >>> torch.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    check(layout, device, pin_memory)
    start, end = _end_point("linspace", "start", 1, start), _end_point("linspace", "end", 2, end)
    n = _n_steps("linspace", steps)
    kind = _kind("linspace", start, end, out, dtype)
    if out is not None:
        return into("linspace", out, _linspace(start, end, n, kind), requires_grad)
    return build("linspace", _linspace, start, end, n, kind, requires_grad=requires_grad)


def _linspace(start: Any, end: Any, n: int, dtype: Dtype) -> np.ndarray:
    """Counted from the nearer end, so that both ends are met and the middle is symmetric."""
    native = dtype.numpy
    start, end = (np.asarray(fitted(x, dtype), native) for x in (start, end))
    if n < 2:
        return np.full(n, start, native)
    whole = native.kind in "iu"
    if whole:
        start, end = float(start), float(end)
    step = (end - start) / (n - 1)
    if not whole:
        step = np.asarray(step, native)
    # one rounding, as with a fused multiply-add: float32 is computed in double precision
    wide = np.complex128 if native.kind == "c" else np.float64
    start, end, step = (np.asarray(x).astype(wide) for x in (start, end, step))
    half = n // 2
    low = start + step * np.arange(half)
    high = end - step * np.arange(n - half - 1, -1, -1)
    return np.concatenate([low, high]).astype(native)


def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """`steps` numbers from base**start to base**end, each the same factor above the one before.

    >>> torch.logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    check(layout, device, pin_memory)
    start, end = _end_point("logspace", "start", 1, start), _end_point("logspace", "end", 2, end)
    n = _n_steps("logspace", steps)
    kind = _kind("logspace", start, end, out, dtype)
    base = _real(number_of("logspace", "base", 4, base))
    if out is not None:
        return into("logspace", out, _logspace(start, end, n, base, kind), requires_grad)
    return build("logspace", _logspace, start, end, n, base, kind, requires_grad=requires_grad)


def _logspace(start: Any, end: Any, n: int, base: float, dtype: Dtype) -> np.ndarray:
    native = dtype.numpy
    if n == 1:
        return np.full(1, np.power(base, fitted(start, dtype)), native)
    exponents = _exponents(start, end, n, dtype)
    return np.power(exponents.dtype.type(base), exponents).astype(native)


def _exponents(start: Any, end: Any, n: int, dtype: Dtype) -> np.ndarray:
    """Equal steps between the ends as `dtype` has them, in double precision."""
    wide = np.complex128 if dtype.is_complex else np.float64
    low, high = (np.asarray(fitted(x, dtype), dtype.numpy).astype(wide) for x in (start, end))
    step = (high - low) / max(n - 1, 1)
    half = n // 2
    return np.concatenate(
        [low + step * np.arange(half), high - step * np.arange(n - half - 1, -1, -1)]
    )


__all__ = ["arange", "linspace", "logspace", "range"]
