"""Axes: put in another order, added where there were none, dropped where the size is 1."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Dim, Tensor
from tapegrad.core.argument_check import MISSING, mended, mending, require_tensors
from tapegrad.core.shape import axis_of, ints_of, listed
from tapegrad.core.torch_function import overridden
from tapegrad.core.warn_once import warn_once
from tapegrad.dispatch.in_place import in_place_view
from tapegrad.dispatch.op import linear, vjp
from tapegrad.operators.shape.as_strided import alias


@linear(node="PermuteBackward0", view=True)
def permute_axes(xp, x, *, axes):
    """Axis `axes[i]` of `x` becomes axis i."""
    return xp.permute_dims(x, axes)


def inverse(axes: tuple[int, ...]) -> tuple[int, ...]:
    """The order that undoes the order `axes`."""
    found = [0] * len(axes)
    for i, axis in enumerate(axes):
        found[axis] = i
    return tuple(found)


permute_axes.vjp(x=lambda xp, g, axes: xp.permute_dims(g, inverse(axes)))


def _swapped(ndim: int, a: int, b: int) -> tuple[int, ...]:
    axes = list(range(ndim))
    axes[a], axes[b] = axes[b], axes[a]
    return tuple(axes)


@vjp(x=lambda xp, g, a, b: xp.permute_dims(g, _swapped(g.ndim, a, b)) if g.ndim else g)
@linear(node="TransposeBackward0", view=True)
def swap_axes(xp, x, *, a, b):
    """Axes `a` and `b` exchanged."""
    return xp.permute_dims(x, _swapped(x.ndim, a, b)) if x.ndim else xp.reshape(x, ())


@vjp(x=lambda xp, g: xp.permute_dims(g, tuple(range(g.ndim))[::-1]))
@linear(node="TBackward0", view=True)
def transpose_matrix(xp, x):
    """The transpose of a matrix; a vector or a number as it is."""
    return xp.permute_dims(x, tuple(range(x.ndim))[::-1])


swap_axes.recorded(x=lambda xp, g, a, b: swap_axes(g, a=a, b=b))
transpose_matrix.recorded(x=lambda xp, g: transpose_matrix(g))


# --- public ----------------------------------------------------------------------------------


@mending
def permute(input: Tensor = MISSING, dims: Dim = MISSING, *extra: Any, **names: Any) -> Any:
    """The dimensions in another order.

    Dimension `dims[i]` of `input` becomes dimension i.

    Shape: the input's sizes in the order of `dims`.
    Raises: RuntimeError where `dims` does not name each dimension once.

    >>> torch.permute(torch.zeros(2, 3, 4), (2, 0, 1)).shape
    torch.Size([4, 2, 3])
    """
    if names or extra or not isinstance(dims, (tuple, list)):
        return mended(permute, None, (input, dims, *extra), names)
    return _permute(permute, input, (dims,))


@mending
def permute_method(self: Tensor = MISSING, *order: Any, dims: Dim = None, **names: Any) -> Any:
    """The dimensions in another order, given one by one or in a tuple.

    >>> torch.zeros(2, 3, 4).permute(2, 0, 1).shape
    torch.Size([4, 2, 3])
    """
    if names or self is MISSING:
        given = names if dims is None else names | {"dims": dims}
        return mended(permute_method, None, (self, *order), given)
    if dims is None and not order:
        raise errors.type_error(
            'permute() missing 1 required positional arguments: "dims"',
            "Name each dimension once; a tensor without dimensions takes ().",
        )
    if dims is not None:
        order = (listed("permute", "dims", dims),)
    return _permute(permute_method, self, order)


permute_method.__name__ = "permute"


def _permute(public: Any, input: Any, order: tuple) -> Any:
    axes = ints_of("permute", "dims", order)
    try:
        ndim = input._array.ndim
    except AttributeError:
        again = overridden(public, (input, *order), above=3)
        if again is not None:
            return again()
        errors.need_tensors("permute", input=input)
        raise
    if len(axes) != ndim:
        raise errors.runtime_error(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            f"length of the desired ordering of dimensions i.e. input.dim() = {ndim} is not "
            f"equal to len(dims) = {len(axes)}",
            "Name each dimension once.",
        )
    axes = tuple([axis_of(d, ndim) for d in axes])
    if len(set(axes)) != ndim:
        text = "permute(): duplicate dims are not allowed."
        raise errors.runtime_error(text, "Name each dimension once.")
    return permute_axes(input, axes=axes)


@mending
def transpose(input: Any = MISSING, dim0: int = MISSING, dim1: int = MISSING, **names: Any) -> Any:
    """Two dimensions exchanged.

    Shape: the input's with the two sizes exchanged.

    >>> torch.zeros(2, 3, 4).transpose(0, 2).shape
    torch.Size([4, 3, 2])
    """
    if names or dim1 is MISSING:
        return mended(transpose, None, (input, dim0, dim1), names)
    try:
        ndim = input._array.ndim
    except AttributeError:
        again = overridden(transpose, (input, dim0, dim1))
        if again is not None:
            return again()
        errors.need_tensors("transpose", input=input)
        raise
    return swap_axes(input, a=axis_of(dim0, ndim), b=axis_of(dim1, ndim))


def _same_step(step: Any, shape: tuple[int, ...]) -> Any:
    """What undoes an exchange of two axes: that exchange."""
    return step


transpose_ = in_place_view(transpose, inverse=_same_step)


@require_tensors
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Any:
    """Two dimensions exchanged: NumPy's name of `transpose`.

    Shape: the input's with the two sizes exchanged.

    >>> torch.swapaxes(torch.zeros(2, 3, 5), 0, 2).shape
    torch.Size([5, 3, 2])
    """
    return transpose(input, axis0, axis1)


@require_tensors
def swapdims(input: Tensor, dim0: int, dim1: int) -> Any:
    """Two dimensions exchanged: another name of `transpose`.

    Shape: the input's with the two sizes exchanged.

    >>> torch.swapdims(torch.zeros(2, 3, 5), 0, 2).shape
    torch.Size([5, 3, 2])
    """
    return transpose(input, dim0, dim1)


swapaxes_ = in_place_view(swapaxes, inverse=_same_step)
swapdims_ = in_place_view(swapdims, inverse=_same_step)


@mending
def t(input: Tensor = MISSING, *extra: Any, **names: Any) -> Any:
    """The transpose of a matrix; a vector or a number as it is.

    Shape: (m, n) to (n, m); (n,) and () stay.
    Raises: RuntimeError for more than two dimensions.

    >>> torch.zeros(2, 3).t().shape
    torch.Size([3, 2])
    """
    if names or extra:
        return mended(t, None, (input, *extra), names)
    try:
        ndim = input._array.ndim
    except AttributeError:
        again = overridden(t, (input,))
        if again is not None:
            return again()
        if input is MISSING:
            return mended(t, None, (), {})
        errors.need_tensors("t", input=input)
        raise
    if ndim > 2:
        text = f"t() expects a tensor with <= 2 dimensions, but self is {ndim}D"
        raise errors.runtime_error(text, "Use .mT for the transposes of a batch of matrices.")
    return transpose_matrix(input)


def _check_matrix(x: Any) -> None:
    if x._array.ndim > 2:
        text = f"t_() expects a tensor with <= 2 dimensions, but self is {x._array.ndim}D"
        raise errors.runtime_error(text, "transpose_() exchanges two dimensions of a tensor.")


t_ = in_place_view(t, inverse=_same_step, check=_check_matrix)


@require_tensors
def movedim(input: Tensor, source: Any, destination: Any) -> Any:
    """Dimensions moved to other places; the rest keep their order.

    Shape: the sizes move with their dimensions.
    Raises: RuntimeError where `source` and `destination` differ in length or repeat a dimension.

    >>> torch.zeros(2, 3, 4).movedim(0, -1).shape
    torch.Size([3, 4, 2])
    """
    ndim = input._array.ndim
    source = source if isinstance(source, (tuple, list)) else (source,)
    destination = destination if isinstance(destination, (tuple, list)) else (destination,)
    if len(source) != len(destination):
        raise errors.runtime_error(
            "movedim: Invalid source or destination dims: source "
            f"({list(source)} dims) should contain the same number of dims as destination "
            f"({list(destination)} dims)",
            "Say for each dimension where it goes.",
        )
    start = tuple([axis_of(d, ndim) for d in source])
    end = tuple([axis_of(d, ndim) for d in destination])
    for name, axes, given in (("source", start, source), ("destination", end, destination)):
        if len(set(axes)) != len(axes):
            text = f"movedim: repeated dim in `{name}` ({list(given)})"
            raise errors.runtime_error(text, "Name each dimension once.")
    if not ndim:
        return alias(input)
    order = [axis for axis in range(ndim) if axis not in start]
    for place, axis in sorted(zip(end, start, strict=True)):
        order.insert(place, axis)
    return permute_axes(input, axes=tuple(order))


@require_tensors
def moveaxis(input: Tensor, source: Tensor, destination: Any) -> Any:
    """Dimensions moved to other places: NumPy's name of `movedim`.

    Shape: the sizes move with their dimensions.

    >>> torch.moveaxis(torch.zeros(2, 3, 5), 0, -1).shape
    torch.Size([3, 5, 2])
    """
    return movedim(input, source, destination)


@require_tensors
def adjoint(input: Tensor) -> Any:
    """The conjugate transpose of the last two dimensions.

    Shape: (..., m, n) to (..., n, m).
    Raises: RuntimeError for a vector.

    >>> torch.zeros(2, 3).adjoint().shape
    torch.Size([3, 2])
    """
    if input._array.ndim == 0:
        warn_once("adjoint() is deprecated on 0-D tensors. Consider using x.conj().")
        return input.conj() if input.dtype.is_complex else input.view(())
    if input._array.ndim < 2:
        raise errors.runtime_error(
            "tensor.adjoint() is only supported on matrices or batches of matrices. Got "
            f"{input._array.ndim}-D tensor.",
            "Add a dimension with unsqueeze() first.",
        )
    flipped = transpose(input, -2, -1)
    return flipped.conj() if input.dtype.is_complex else flipped


__all__ = ["adjoint", "moveaxis", "movedim", "permute", "swapaxes", "swapdims", "t", "transpose"]
