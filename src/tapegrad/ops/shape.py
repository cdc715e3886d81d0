"""Shape operators: other views of the same elements."""

from __future__ import annotations

from typing import Any

from tapegrad.op import linear


@linear(node="ViewBackward0", view=True)
def reshape_(xp, x, *, shape):
    """The same elements in row-major order, seen with `shape`."""
    return xp.reshape(x, shape)


reshape_.vjp(x=lambda xp, g, x_like: xp.reshape(g, x_like.shape))


@linear(view=True)
def permute_(xp, x, *, axes):
    """The axes in another order."""
    return xp.permute_dims(x, axes)


def _inverse(axes: tuple[int, ...]) -> tuple[int, ...]:
    found = [0] * len(axes)
    for i, axis in enumerate(axes):
        found[axis] = i
    return tuple(found)


permute_.vjp(x=lambda xp, g, axes: xp.permute_dims(g, _inverse(axes)))


@linear(view=True)
def select_(xp, x, *, axis, index):
    """The slice at `index` of `axis`, without that axis."""
    return x[(slice(None),) * axis + (index,) + (Ellipsis,)]


def _unselect(xp: Any, g: Any, x_like: Any, axis: int, index: int) -> Any:
    return xp.pad_slice(xp.expand_dims(g, axis=axis), x_like.shape, axis, index, index + 1, 1)


select_.vjp(x=_unselect)


@linear(view=True)
def slice_(xp, x, *, axis, start, stop, step):
    """The elements start, start + step, ... below stop of `axis`."""
    return x[(slice(None),) * axis + (slice(start, stop, step), Ellipsis)]


slice_.vjp(
    x=lambda xp, g, x_like, axis, start, stop, step: xp.pad_slice(
        g, x_like.shape, axis, start, stop, step
    )
)


@linear
def pad_slice(xp, x, *, shape, axis, start, stop, step):
    """Zeros of `shape` with `x` in the places start, start + step, ... of `axis`."""
    out = xp.zeros(shape, dtype=x.dtype)
    out[(slice(None),) * axis + (slice(start, stop, step), Ellipsis)] = x
    return out


pad_slice.vjp(
    x=lambda xp, g, axis, start, stop, step: g[
        (slice(None),) * axis + (slice(start, stop, step), Ellipsis)
    ]
)
