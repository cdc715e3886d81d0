"""Places in images, numbered row by row: elements read there, and put there in reverse."""

from __future__ import annotations

from tapegrad.dispatch.op import linear, vjp

_KERNELS = ("take_places", "put_places")


@vjp(x=lambda xp, g, x_like, index, n_axes: xp.put_places(g, index, x_like.shape[-n_axes:], True))
@linear(hidden=("index",), kernels=_KERNELS)
def take_places(xp, x, index, *, n_axes):
    """The elements of each image, the last `n_axes` axes of x, at the places `index`."""
    return xp.take_places(x, index, n_axes)


@vjp(x=lambda xp, g, index, sizes: xp.take_places(g, index, len(sizes)))
@linear(hidden=("index",), kernels=_KERNELS)
def put_places(xp, x, index, *, sizes, add):
    """Images of `sizes`, zeros but for the elements of x at the places `index`.

    Of several elements for one place the last one counts, or their sum if `add`.
    """
    return xp.put_places(x, index, sizes, add)
