"""The same elements in another order along some dimensions: flipped, rolled, turned."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Dim, Namespace, Shape, Tensor
from tapegrad.core.argument_check import require_tensors, takes_a_tuple
from tapegrad.core.memory_format import axes_by_stride
from tapegrad.core.result_order import as_first, channels_as_first, laid_out, row_major
from tapegrad.core.shape import axes_of, axis_of, existing_axis, ints_of, listed
from tapegrad.dispatch.op import linear, vjp
from tapegrad.operators.shape.reshape_flatten_atleast import copied


@vjp(x=lambda xp, g, axes: xp.flip(g, axis=axes))
@linear(node="FlipBackward0", order=as_first)
def flip_axes(xp, x, *, axes):
    """The elements in reverse order along `axes`."""
    return copied(xp, xp.flip(x, axis=axes), "K")


def _rolled_order(result: Any, operands: list, params: dict) -> Any:
    rule = row_major if params["axes"] is None else channels_as_first
    return rule(result, operands)


@vjp(x=lambda xp, g, shifts, axes: xp.roll(g, tuple(-n for n in shifts), axis=axes))
@linear(node="RollBackward0", order=_rolled_order)
def roll_axes(xp, x, *, shifts, axes):
    """The elements moved by `shifts` along `axes`, those that fall off put in at the start."""
    return xp.roll(x, shifts, axis=axes)


def _turned(xp: Namespace, x: Array, k: int, a: int, b: int) -> Any:
    if k == 2:
        return xp.flip(x, axis=(a, b))
    axes = list(range(x.ndim))
    axes[a], axes[b] = b, a
    order = tuple(axes)
    if k == 1:
        return xp.permute_dims(xp.flip(x, axis=b), order)
    return xp.flip(xp.permute_dims(x, order), axis=b) if k == 3 else x


def _turned_order(result: Any, operands: list, params: dict) -> Any:
    """The axes as in the operand, two of them exchanged for odd numbers of quarters."""
    order = axes_by_stride(operands[0])
    a, b = params["a"], params["b"]
    other = {a: b, b: a} if params["k"] % 2 else {}
    return laid_out(result, tuple([other.get(axis, axis) for axis in order]))


@vjp(x=lambda xp, g, k, a, b: _turned(xp, g, -k % 4, a, b))
@linear(node="Rot90Backward0", order=_turned_order)
def turn(xp, x, *, k, a, b):
    """Turned by `k` quarters from axis `a` towards axis `b`."""
    return copied(xp, _turned(xp, x, k, a, b), "K")


# --- public ----------------------------------------------------------------------------------


@takes_a_tuple
def flip(input: Tensor, dims: Shape) -> Any:
    """The elements in reverse order along `dims`.

    Shape: any, and that of the result.

    >>> torch.flip(torch.arange(3), (0,))
    tensor([2, 1, 0])
    """
    return flip_axes(input, axes=axes_of(listed("flip", "dims", dims, 2), input._array.ndim))


@require_tensors
def fliplr(input: Tensor) -> Any:
    """The columns in reverse order.

    Shape: (m, n, ...), and so the result.
    Raises: RuntimeError for fewer than two dimensions.

    >>> torch.fliplr(torch.tensor([[1, 2], [3, 4]]))
    tensor([[2, 1],
            [4, 3]])
    """
    if input._array.ndim < 2:
        raise errors.runtime_error("Input must be >= 2-d.", "flip() takes any dimension.")
    return flip_axes(input, axes=(1,))


@require_tensors
def flipud(input: Tensor) -> Any:
    """The rows in reverse order.

    Shape: (m, ...), and so the result.
    Raises: RuntimeError for a 0-d tensor.

    >>> torch.flipud(torch.tensor([[1, 2], [3, 4]]))
    tensor([[3, 4],
            [1, 2]])
    """
    if input._array.ndim < 1:
        raise errors.runtime_error("Input must be >= 1-d.", "A 0-d tensor has no order.")
    return flip_axes(input, axes=(0,))


@require_tensors
def roll(input: Tensor, shifts: Any, dims: Dim = ()) -> Any:
    """The elements moved by `shifts` along `dims`; those that fall off come in at the start.

    `y[(i + shift) mod n] = x[i]`

    Shape: any, and that of the result.
    Raises: RuntimeError where there are not as many shifts as dimensions.

    >>> torch.arange(4).roll(1)
    tensor([3, 0, 1, 2])
    """
    shifts = ints_of("roll", "shifts", (shifts,))
    dims = ints_of("roll", "dims", (dims,), 2)
    if not shifts:
        raise errors.runtime_error("`shifts` required", "Say how far to move.")
    if len(shifts) != len(dims) and not (len(shifts) == 1 and not dims):
        text = f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}"
        raise errors.runtime_error(text, "Give one shift for each dimension.")
    if not dims:
        return roll_axes(input, shifts=shifts, axes=None)
    ndim, advice = input._array.ndim, "A 0-d tensor has no order."
    axes = tuple([existing_axis(d, ndim, advice) for d in dims])
    return roll_axes(input, shifts=shifts, axes=axes)


@require_tensors
def rot90(input: Tensor, k: int = 1, dims: Any = (0, 1)) -> Any:
    """Turned by `k` quarters in the plane of two dimensions.

    Shape: the input's; for odd `k` with the sizes of the two dimensions exchanged.
    Raises: RuntimeError for fewer than two dimensions, or two in `dims` that are no plane.

    >>> torch.tensor([[1, 2], [3, 4]]).rot90()
    tensor([[2, 4],
            [1, 3]])
    """
    ndim = input._array.ndim
    if len(dims) != 2:
        text = f"expected total rotation dims == 2, but got dims = {len(dims)}"
        raise errors.runtime_error(text, "Name the two dimensions of the plane.")
    if ndim < 2:
        text = f"expected total dims >= 2, but got total dims = {ndim}"
        raise errors.runtime_error(text, "Give it a dimension first, with unsqueeze().")
    a, b = axis_of(dims[0], ndim), axis_of(dims[1], ndim)
    if a == b:
        raise errors.runtime_error(
            "expected rotation dims to be different, but got dim0 = "
            f"{dims[0]} and dim1 = {dims[1]}",
            "Name the two dimensions of the plane.",
        )
    return turn(input, k=k % 4, a=a, b=b)


__all__ = ["flip", "fliplr", "flipud", "roll", "rot90"]
