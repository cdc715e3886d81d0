"""Normal draws whose parameters are tensors."""

from typing import Any

import numpy as np

from tapegrad.autograd.writable import check_out
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import DeviceLike, DTypeLike, LayoutLike, Out, Shape, Source
from tapegrad.core.dtype import default
from tapegrad.core.scalar import float_of
from tapegrad.core.shape import broadcast
from tapegrad.core.streams import normal as _normal
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.dispatch.out import write_out
from tapegrad.operators.random.argument import mismatch, size_of, stream_of
from tapegrad.operators.random.fill import of_tensors, prepare_out, replacement
from tapegrad.operators.random.normal_uniform import check_normal
from tapegrad.operators.random.rand_randint_randperm import dtype_for, make

__all__ = ["normal"]

# --- normal ------------------------------------------------------------------------------------

normal_of_mean = replacement("normal_of_mean", "NormalBackward1")
normal_of_std = replacement("normal_of_std", "NormalBackward2")


@jvp(mean=lambda xp, y: xp.zeros_like(y), std=lambda xp, y: xp.zeros_like(y))
@vjp(
    mean=lambda xp, mean_like: xp.zeros(mean_like.shape, dtype=mean_like.dtype),
    std=lambda xp, std_like: xp.zeros(std_like.shape, dtype=std_like.dtype),
)
@primitive(node="NormalBackward3")
def normal_of_both(xp, mean, std, *, drawn):
    """The array `drawn`, with these parameters; PyTorch sends no gradient to them."""
    return xp.asarray(drawn)


@of_tensors
def normal(
    mean: Any = None,
    std: Any = None,
    size: Shape | None = None,
    *,
    generator: Source = None,
    out: Out = None,
    dtype: DTypeLike = None,
    layout: LayoutLike = None,
    device: DeviceLike = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Any:
    """Normal numbers; mean and standard deviation are tensors or, with a `size`, both numbers.

    Shape: `size`, or the common one of mean and std.
    Raises: RuntimeError for a negative `std`.

    >>> _ = torch.manual_seed(0)
    >>> torch.normal(torch.tensor([1.0, 2.0]), 0.1)
    tensor([1.1541, 1.9707])
    """
    is_tensor = isinstance(mean, tensor_base.Tensor), isinstance(std, tensor_base.Tensor)
    stream = stream_of("normal", generator)
    _check_form(mean, std, size, is_tensor)
    if size is not None:
        mean, std = float_of("normal", "mean", 1, mean), float_of("normal", "std", 2, std)
        shape = size_of("normal", (), size)
        dtype, where = dtype_for("normal", dtype, default(), layout, device, pin_memory, out)
        check_normal(dtype, std, 1)
        draw = (_normal.normal, stream, mean, std)
        return make("normal", dtype, shape, out, requires_grad, where, *draw)
    if is_tensor[1]:
        if std.dtype.is_complex:
            text = "normal expects standard deviation to be non-complex"
            raise errors.runtime_error(text, "A deviation is a real number: pass std.abs().")
        if not (std._array >= 0).all():
            text = "normal expects all elements of std >= 0.0"
            raise errors.runtime_error(text, "A standard deviation is not negative.")
    made = (mean if is_tensor[0] else std).dtype if out is None else out.dtype
    arrays = [x._array for x in (mean, std) if isinstance(x, tensor_base.Tensor)]
    shape = broadcast(*(x.shape for x in arrays))
    if out is not None and is_tensor == (True, False):
        shape = broadcast(shape, out._array.shape)  # as many as `out` has room for
    scale = 1.0 if is_tensor[1] else float_of("normal", "std", 2, 1.0 if std is None else std)
    check_normal(made, scale, 1)
    drawn = _normal.normal(stream, shape, made.numpy, 0.0, scale)
    if is_tensor[1]:
        drawn = (drawn * std._array).astype(made.numpy, copy=False)
    if is_tensor[0]:
        drawn = drawn + mean._array
    elif mean:  # a number is added in at least float32
        drawn = drawn.astype(np.result_type(drawn, np.float32)) + mean
    drawn = drawn.astype(made.numpy, copy=False)
    if out is not None:
        needs_grad = any(x.requires_grad for x in (mean, std) if isinstance(x, tensor_base.Tensor))
        prepare_out("normal", out, out._array.shape, needs_grad)
        check_out(out, mean, std)
        return write_out("normal", tensor_base.wrap(drawn), out)
    if is_tensor == (True, True):
        return normal_of_both(mean, std, drawn=drawn)
    return normal_of_mean(mean, drawn=drawn) if is_tensor[0] else normal_of_std(std, drawn=drawn)


def _check_form(mean: Any, std: float, size: Shape | None, is_tensor: tuple[bool, bool]) -> None:
    """Raise unless mean, std and size fit one of the forms of `normal`."""
    fits = [t or _is_number(x) for t, x in zip(is_tensor, (mean, std), strict=True)]
    if size is not None:
        holds = all(fits) and not any(is_tensor) and isinstance(size, (tuple, list))
    elif is_tensor[0]:
        holds = std is None or fits[1]
    else:
        holds = fits[0] and is_tensor[1]
    if holds:
        return
    if mean is None and std is not None:
        raise TypeError('normal() missing 1 required positional arguments: "mean"')
    if std is None and size is None and _is_number(mean):
        errors.need_tensor("normal", "mean", 1, mean)
    given = tuple(x for x in (mean, std, size) if x is not None)
    advice = "normal(mean, std) with tensors, one of them may be a number; normal(0, 1, (2, 3))."
    raise mismatch("normal", given, {}, advice)


def _is_number(x: object) -> bool:
    return isinstance(x, (int, float, np.floating, np.integer))
