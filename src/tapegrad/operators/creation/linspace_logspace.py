"""A given number of steps: `linspace`, `logspace`.

The roundings of linspace are PyTorch's, to the bit for float32: it multiplies and adds with one
rounding, and counts from the nearer end.
"""

import numpy as np

from tapegrad.arrays.namespaces import is_batched
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, DeviceLike, DTypeLike, LayoutLike, Out, Scalar, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.dtype import current, default, float64
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.scalar import fitted, int_of, number_of
from tapegrad.operators.creation.arange import arange, check_dtype
from tapegrad.operators.creation.factory_options import build, check, check_out, in_row, known

_OPTIONS = (
    "*, Tensor out = None, torch.dtype dtype = None, torch.layout layout = None, "
    "torch.device device = None, bool pin_memory = False, bool requires_grad = False"
)
_KINDS = ("Tensor", "Tensor"), ("Number", "Tensor"), ("Tensor", "Number"), ("Number", "Number")
_BASES = {"linspace": "", "logspace": "float base = 10.0, "}


def _numbers(name: str, *given: Any) -> list:
    """Start, end, number of steps and base, given as numbers or as tensors of one."""
    start, end, steps, *base = given
    _check_ends(name, start, end)
    try:
        found = [_end_point(name, "start", 1, start), _end_point(name, "end", 2, end)]
        found.append(int_of(name, "steps", 3, steps))
        for x in base:
            found.append(number_of(name, "base", 4, x))
            if isinstance(x, complex):
                raise errors.must_be(name, "base", 4, "float", x)
    except TypeError:
        forms = [f"{a} start, {b} end, int steps, {_BASES[name]}{_OPTIONS}" for a, b in _KINDS]
        shown = given if base and base[0] != 10.0 else given[:3]
        raise errors.invalid_combination(name, shown, {}, tuple(forms)) from None
    if found[2] < 0:
        raise errors.runtime_error("number of steps must be non-negative", f"It is {found[2]}.")
    return found


def _end_point(name: str, argument: str, position: int, x: Tensor) -> Any:
    return x.item() if isinstance(x, tensor_base.Tensor) else number_of(name, argument, position, x)


def _check_ends(name: str, start: Any, end: Any) -> None:
    """Raise unless those ends that are tensors have no dimensions."""
    ends = (("start", start), ("end", end))
    tensors = [(argument, x.ndim) for argument, x in ends if isinstance(x, tensor_base.Tensor)]
    if any(ndim for _, ndim in tensors):
        found = " and ".join(f"{argument} with {ndim} dimension(s)" for argument, ndim in tensors)
        text = f"{name} only supports 0-dimensional start and end tensors, but got {found}."
        raise errors.runtime_error(text, "Pass numbers, or tensors of one number.")


def _kind(name: str, start: Scalar, end: Scalar, n: int, out: Out, dtype: DTypeLike) -> Dtype:
    if out is not None:
        check_out(name, out, dtype)
        kind = out.dtype
    elif dtype is not None:
        kind = known(name, dtype)
    else:
        is_complex = isinstance(start, complex) or isinstance(end, complex)
        kind = current[0][0].to_complex() if is_complex else default()
    is_complex = isinstance(start, complex) or isinstance(end, complex)
    if out is None and is_complex and not kind.is_complex:
        found = errors.c_name(current[0][0].to_complex())
        raise errors.runtime_error(
            f"torch.{name}(): inferred dtype {found} can't be safely cast to passed dtype "
            f"{kind.scalar_name}",
            "Ask for a complex dtype, or pass real numbers.",
        )
    if kind.name == "bool" and n > 1:
        check_dtype(name, kind)
    return kind


@require_tensors
def linspace(
    start: Scalar,
    end: Scalar,
    steps: int,
    *,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """`steps` numbers from `start` to `end`, both included, equally far apart.

    Shape: (steps,).
    Raises: RuntimeError for negative `steps`.

    >>> torch.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    where = check(layout, device, pin_memory)
    if _is_mapped(start, end):
        return _of_members("linspace", start, end, steps, None, dtype, requires_grad)
    start, end, n = _numbers("linspace", start, end, steps)
    kind = _kind("linspace", start, end, n, out, dtype)
    if out is not None:
        return in_row("linspace", out, _linspace(start, end, n, kind), requires_grad)
    return build(
        "linspace", _linspace, start, end, n, kind, requires_grad=requires_grad, where=where
    )


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
    return _counted(start, end, step, n).astype(native)


def _counted(start: Any, end: Any, step: Any, n: int) -> np.ndarray:
    """The first half from the start up, the second from the end down."""
    half = n // 2
    return np.concatenate(
        [start + step * np.arange(half), end - step * np.arange(n - half - 1, -1, -1)]
    )


@require_tensors
def logspace(
    start: Scalar,
    end: Scalar,
    steps: int,
    base: float = 10.0,
    *,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """`steps` numbers from base**start to base**end, each the same factor above the one before.

    Shape: (steps,).
    Raises: RuntimeError for negative `steps`.

    >>> torch.logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    where = check(layout, device, pin_memory)
    if _is_mapped(start, end):
        return _of_members("logspace", start, end, steps, base, dtype, requires_grad)
    start, end, n, base = _numbers("logspace", start, end, steps, base)
    kind = _kind("logspace", start, end, n, out, dtype)
    if out is not None:
        return in_row("logspace", out, _logspace(start, end, n, base, kind), requires_grad)
    return build(
        "logspace", _logspace, start, end, n, base, kind, requires_grad=requires_grad, where=where
    )


def _logspace(start: Scalar, end: Scalar, n: int, base: float, dtype: Dtype) -> np.ndarray:
    native = dtype.numpy
    if n == 1:
        return np.asarray([np.power(float(base), start)]).astype(native)
    wide = np.complex128 if dtype.is_complex else np.float64
    low, high = (np.asarray(fitted(x, dtype), dtype.numpy).astype(wide) for x in (start, end))
    exponents = _counted(low, high, (high - low) / max(n - 1, 1), n)
    return np.power(exponents.dtype.type(base), exponents).astype(native)


# --- inside vmap ---------------------------------------------------------------------------------


def _is_mapped(*ends: Any) -> bool:
    """Whether an end is a tensor with a number of its own for each member of a batch."""
    return any(is_batched(getattr(x, "_array", None)) for x in ends)


def _of_members(
    name: str, start: Any, end: Any, steps: Any, base: Any, dtype: DTypeLike, requires_grad: bool
) -> Any:
    """The same, by functions of tensors, where each member has ends of its own."""
    from tapegrad.operators.creation.tensor import tensor
    from tapegrad.operators.shape.cat_stack import cat

    _check_ends(name, start, end)
    n = _numbers(name, 0, 0, steps, *(() if base is None else (base,)))[2]
    ends = [x.detach() if hasattr(x, "_array") else tensor(x) for x in (start, end)]
    is_complex = any(x.dtype.is_complex for x in ends)
    kind = _kind(name, 1j if is_complex else 0, 0, n, None, dtype)
    wide = float64.to_complex() if kind.is_complex else float64
    low, high = (x.to(kind).to(wide) for x in ends)
    if n < 2:
        found = low.expand(n)
    else:
        step = (high - low) / max(n - 1, 1)
        if base is None and not (kind.name.startswith(("int", "uint"))):
            step = step.to(kind).to(wide)
        half = n // 2
        up, down = arange(half, dtype=wide), arange(n - half - 1, -1, -1, dtype=wide)
        found = cat([low + step * up, high - step * down])
    found = found if base is None else base**found
    return found.to(kind).requires_grad_(True) if requires_grad else found.to(kind)


__torch__ = "linspace logspace"
