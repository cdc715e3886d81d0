"""Squeeze and unsqueeze: dimensions of size 1, taken away and put in."""

from tapegrad.autograd.view import Step
from tapegrad.core.annotations import Any, Array, Dim, Namespace, Tensor
from tapegrad.core.argument_check import MISSING, mended, mending
from tapegrad.core.result_order import as_computed
from tapegrad.core.shape import axes_of, axis_of
from tapegrad.dispatch.in_place import in_place_view
from tapegrad.dispatch.op import linear, vjp
from tapegrad.operators.shape.reshape_flatten_atleast import view_shape

__all__ = ["squeeze", "unsqueeze"]


@vjp(x=lambda xp, g, axis: xp.squeeze(g, axis=axis))
@linear(node="UnsqueezeBackward0", view=True)
def insert_axis(xp, x, *, axis):
    """A new axis of size 1 in front of axis `axis`."""
    return x[(*(slice(None),) * axis, None, Ellipsis)]


def _squeezed(xp: Namespace, x: Array, axes: tuple[int, ...]) -> Any:
    return xp.reshape(x, tuple(n for i, n in enumerate(x.shape) if n != 1 or i not in axes))


@vjp(x=lambda xp, g, x_like: xp.reshape(g, x_like.shape))
@linear(node="SqueezeBackward0", view=True)
def squeeze_all(xp, x):
    """Without the axes of size 1."""
    return _squeezed(xp, x, tuple(range(x.ndim)))


@vjp(x=lambda xp, g, x_like: xp.reshape(g, x_like.shape))
@linear(node="SqueezeBackward1", view=True)
def squeeze_axis(xp, x, *, axis):
    """Without `axis` if its size is 1."""
    return _squeezed(xp, x, (axis,))


@vjp(x=lambda xp, g, x_like: xp.reshape(g, x_like.shape))
@linear(node="SqueezeBackward2", view=True)
def squeeze_axes(xp, x, *, axes):
    """Without those of `axes` that have size 1."""
    return _squeezed(xp, x, axes)


@vjp(x=lambda xp, g, x_like: xp.reshape(g, x_like.shape))
@linear(node="SqueezeBackward4", order=as_computed)
def squeeze_fresh(xp, x, *, axis):
    """A fresh tensor without `axis`: nobody else holds its memory, so it is no view."""
    return _squeezed(xp, x, (axis,))


def _unsqueezed(g: Array, shape: tuple[int, ...]) -> Any:
    """Axes of size 1 put in, one by one, until the shape is that of the input."""
    for i, n in enumerate(shape):
        if i >= g.ndim or g.shape[i] != n:
            g = insert_axis(g, axis=i)
    return g


for _operator in (squeeze_all, squeeze_axis, squeeze_axes, squeeze_fresh):
    _operator.recorded(x=lambda xp, g, x_like: _unsqueezed(g, x_like.shape))


@mending
def squeeze(input: Tensor = MISSING, dim: Dim = None, *extra: Any, **names: Any) -> Any:
    """Without the dimensions of size 1: all of them, or those that `dim` names.

    Shape: the input's without these sizes of 1; others stay.

    >>> torch.zeros(1, 3, 1).squeeze().shape
    torch.Size([3])
    """
    try:
        if extra or names:
            raise TypeError("squeeze() was given other arguments")
        ndim = input._array.ndim
        if dim is None:
            return squeeze_all(input)
        if isinstance(dim, (tuple, list)):
            return squeeze_axes(input, axes=axes_of(dim, ndim))
        return squeeze_axis(input, axis=axis_of(dim, ndim))
    except Exception as error:
        return mended(squeeze, error, (input, dim, *extra), names)


def _to_shape(step: Step, shape: tuple[int, ...]) -> Step:
    """What undoes a `step` to more or fewer axes of size 1: the step to the `shape` of before."""
    return Step(view_shape.op, {"shape": shape}, None)


squeeze_ = in_place_view(squeeze, 3, inverse=_to_shape)


@mending
def unsqueeze(input: Tensor = MISSING, dim: int = MISSING, *extra: Any, **names: Any) -> Any:
    """A new dimension of size 1 at `dim`.

    Shape: the input's with 1 at `dim`.

    >>> torch.zeros(3).unsqueeze(0).shape
    torch.Size([1, 3])
    """
    try:
        if extra or names:
            raise TypeError("unsqueeze() was given other arguments")
        return insert_axis(input, axis=axis_of(dim, input._array.ndim + 1))
    except Exception as error:
        return mended(unsqueeze, error, (input, dim, *extra), names)


unsqueeze_ = in_place_view(unsqueeze, inverse=_to_shape)
