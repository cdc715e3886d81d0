"""Several tensors joined to one, along a dimension or along a new one."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Dim, Out, Sequence, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.promote_types import promote
from tapegrad.core.result_order import channels_as_all, row_major
from tapegrad.core.shape import axis_of
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.autocast_state import IN_USE, widest
from tapegrad.dispatch.in_place import check_apart
from tapegrad.dispatch.op import linear, vjp
from tapegrad.operators.shape import reshape_flatten_atleast


def _divided(g: Array, likes: list, axis: int) -> list:
    found = []
    start = 0
    before = (slice(None),) * axis
    for like in likes:
        stop = start + like.shape[axis]
        found.append(g[(*before, slice(start, stop), Ellipsis)])
        start = stop
    return found


@vjp(tensors=lambda xp, g, tensors_like, axis: _divided(g, tensors_like, axis))
@linear(node="CatBackward0", order=channels_as_all)
def concat_along(xp, *tensors, axis):
    """Tensors one behind the other along `axis`."""
    return xp.concat(tensors, axis=axis)


def _slices(g: Array, axis: int) -> list:
    before = (slice(None),) * axis
    return [g[(*before, i, Ellipsis)] for i in range(g.shape[axis])]


@vjp(tensors=lambda xp, g, axis: _slices(g, axis))
@linear(node="StackBackward0", order=row_major)
def stack_along(xp, *tensors, axis):
    """Tensors of one shape along a new axis."""
    return xp.stack(tensors, axis=axis)


# --- public ----------------------------------------------------------------------------------


def _sequence(name: str, tensors: Sequence[Tensor]) -> tuple:
    """The tensors of a call, in one dtype."""
    if not isinstance(tensors, (tuple, list)):
        advice = f"Put them in a list: {name}([a, b])."
        raise errors.must_be(name, "tensors", 1, "tuple of Tensors", tensors, advice)
    errors.need_sequence(tensors, "Make tensors of numbers first: torch.tensor(...).")
    return tuple(tensors)


def _are_alike(tensors: tuple) -> bool:
    """Whether there are tensors, and all have one shape and one dtype."""
    if not tensors:
        return False
    first = tensors[0]._array
    shape, dtype = first.shape, first.dtype
    return all([x._array.shape == shape and x._array.dtype is dtype for x in tensors])


def one_dtype(tensors: tuple) -> tuple:
    """Tensors cast to the dtype they promote to."""
    first = tensors[0]._array.dtype
    for x in tensors:
        if x._array.dtype != first:
            if IN_USE:
                tensors = widest(tensors)
            dtype = promote([x._array for x in tensors])
            return tuple([x.to(dtype) for x in tensors])
    return tensors


@require_tensors
def cat(tensors: Sequence[Tensor], dim: int = 0, *, axis: Any = None, out: Out = None) -> Any:
    """Tensors one behind the other along `dim`.

    Shapes: alike but along `dim`, where the result has their sum; (0,) joins anything.
    Raises: ValueError for no tensors; RuntimeError for 0-d ones, or where the other sizes differ.

    >>> torch.cat((torch.ones(2), torch.zeros(1)))
    tensor([1., 1., 0.])
    """
    tensors = _sequence("cat", tensors)
    if out is None and _are_alike(tensors) and (first := tensors[0]._array).ndim and first.size:
        return concat_along(*tensors, axis=axis_of(dim if axis is None else axis, first.ndim))
    if not tensors:
        text = "torch.cat(): expected a non-empty list of Tensors"
        raise errors.value_error(text, "Pass a tensor.")
    dim = dim if axis is None else axis
    check_apart(out, *tensors)
    shapes = [x._array.shape for x in tensors]
    # a vector of no elements joins anything: what lists of tensors used to begin with
    real = [i for i, shape in enumerate(shapes) if shape != (0,)] or [0]
    ndim = len(shapes[real[0]])
    for i, shape in enumerate(shapes):
        if not shape:
            text = f"zero-dimensional tensor (at position {i}) cannot be concatenated"
            raise errors.runtime_error(text, "stack() joins 0-d tensors.")
    place = axis_of(dim, ndim) if shapes[real[0]] != (0,) else 0
    _check_shapes([shapes[i] for i in real], real, place)
    tensors = one_dtype(tensors)
    if ndim != 1 and len(real) != len(tensors):
        like = [n if i != place else 0 for i, n in enumerate(shapes[real[0]])]
        tensors = tuple([x if x._array.shape != (0,) else _emptied(x, like) for x in tensors])
    return finish("cat", concat_along(*tensors, axis=place), out)


def _emptied(x: Tensor, shape: list) -> Any:
    """A vector of no elements seen as a tensor of none."""
    from tapegrad.operators.shape.expand_broadcast import expand

    return reshape_flatten_atleast.reshape(x, shape) if 0 in shape else expand(x, shape)


def _check_shapes(shapes: list, numbers: list, axis: int) -> None:
    first = shapes[0]
    for i, shape in zip(numbers, shapes, strict=True):
        if len(shape) != len(first):
            text = f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}"
            raise errors.runtime_error(text, "unsqueeze() adds a dimension.")
        for k, (m, n) in enumerate(zip(first, shape, strict=True)):
            if m != n and k != axis:
                raise errors.runtime_error(
                    f"Sizes of tensors must match except in dimension {axis}. Expected size "
                    f"{m} but got size {n} for tensor number {i} in the list.",
                    f"The shapes are {list(first)} and {list(shape)}.",
                )


@require_tensors
def concat(tensors: Sequence[Tensor], dim: int = 0, *, axis: Dim = None, out: Out = None) -> Any:
    """Tensors one behind the other along `dim`: another name of `cat`.

    Shapes: alike but along `dim`, where the result has their sum.

    >>> torch.concat((torch.tensor([1, 2]), torch.tensor([3])))
    tensor([1, 2, 3])
    """
    return cat(tensors, dim, axis=axis, out=out)


@require_tensors
def concatenate(
    tensors: Sequence[Tensor], dim: int = 0, *, axis: Dim = None, out: Out = None
) -> Any:
    """Tensors one behind the other along `dim`: NumPy's name of `cat`.

    Shapes: alike but along `dim`, where the result has their sum.

    >>> torch.concatenate((torch.tensor([1, 2]), torch.tensor([3])))
    tensor([1, 2, 3])
    """
    return cat(tensors, dim, axis=axis, out=out)


@require_tensors
def stack(tensors: Sequence[Tensor], dim: int = 0, *, axis: Any = None, out: Out = None) -> Any:
    """Tensors of one shape along a new dimension.

    Shape: that of each, with the number of tensors at `dim`.
    Raises: RuntimeError for no tensors, or shapes that differ.

    >>> torch.stack((torch.ones(2), torch.zeros(2)), dim=1)
    tensor([[1., 0.],
            [1., 0.]])
    """
    tensors = _sequence("stack", tensors)
    if not tensors:
        raise errors.runtime_error("stack expects a non-empty TensorList", "Pass a tensor.")
    shape = tensors[0]._array.shape
    if out is None and _are_alike(tensors):
        place = axis_of(dim if axis is None else axis, len(shape) + 1)
        return stack_along(*tensors, axis=place)
    check_apart(out, *tensors)
    place = axis_of(dim if axis is None else axis, len(shape) + 1)
    for i, x in enumerate(tensors):
        if x._array.shape != shape:
            raise errors.runtime_error(
                f"stack expects each tensor to be equal size, but got {list(shape)} at entry "
                f"0 and {list(x._array.shape)} at entry {i}",
                "cat() joins tensors of different sizes along a dimension they have.",
            )
    return finish("stack", stack_along(*one_dtype(tensors), axis=place), out)


def _some(name: str, tensors: Sequence[Tensor]) -> tuple:
    tensors = _sequence(name, tensors)
    if not tensors:
        raise errors.runtime_error(f"{name} expects a non-empty TensorList", "Pass a tensor.")
    return tensors


@require_tensors
def hstack(tensors: Sequence[Tensor], *, out: Out = None) -> Any:
    """Tensors next to each other: along dimension 1, vectors along their only one.

    Shapes: (n,), or alike but along dimension 1; there the result has their sum.

    >>> torch.hstack((torch.ones(2, 1), torch.zeros(2, 2)))
    tensor([[1., 0., 0.],
            [1., 0., 0.]])
    """
    tensors = reshape_flatten_atleast.atleast_1d(_some("hstack", tensors))
    return cat(tensors, 0 if tensors[0].ndim == 1 else 1, out=out)


@require_tensors
def vstack(tensors: Sequence[Tensor], *, out: Out = None) -> Any:
    """Tensors one below the other, vectors as rows.

    Shapes: (n,) as (1, n), or alike but along dimension 0, where the result has their sum.

    >>> torch.vstack((torch.ones(2), torch.zeros(2)))
    tensor([[1., 1.],
            [0., 0.]])
    """
    return cat(reshape_flatten_atleast.atleast_2d(_some("vstack", tensors)), 0, out=out)


@require_tensors
def row_stack(tensors: Sequence[Tensor], *, out: Out = None) -> Any:
    """Tensors one below the other: another name of `vstack`.

    Shapes: (n,) as (1, n), or alike but along dimension 0, where the result has their sum.

    >>> torch.row_stack((torch.tensor([1, 2]), torch.tensor([3, 4])))
    tensor([[1, 2],
            [3, 4]])
    """
    return vstack(tensors, out=out)


@require_tensors
def dstack(tensors: Sequence[Tensor], *, out: Out = None) -> Any:
    """Tensors one behind the other: along dimension 2.

    Shapes: as of `atleast_3d`, alike but along dimension 2, where the result has their sum.

    >>> torch.dstack((torch.tensor([1, 2]), torch.tensor([3, 4])))
    tensor([[[1, 3],
             [2, 4]]])
    """
    return cat(reshape_flatten_atleast.atleast_3d(_some("dstack", tensors)), 2, out=out)


@require_tensors
def column_stack(tensors: Sequence[Tensor], *, out: Out = None) -> Any:
    """Tensors next to each other, vectors as columns.

    Shapes: (m,) as (m, 1), or (m, n, ...); the result has the sum along dimension 1.

    >>> torch.column_stack((torch.tensor([1, 2]), torch.tensor([3, 4])))
    tensor([[1, 3],
            [2, 4]])
    """
    tensors = _some("column_stack", tensors)
    columns = [
        x if x.ndim > 1 else reshape_flatten_atleast.reshape(x, (x.numel(), 1)) for x in tensors
    ]
    return hstack(columns, out=out)


__all__ = [
    "cat", "column_stack", "concat", "concatenate", "dstack", "hstack", "row_stack", "stack",
    "vstack",
]  # fmt: skip
