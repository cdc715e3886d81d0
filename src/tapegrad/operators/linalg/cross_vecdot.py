"""Products of vectors: a vector, and a number for each pair."""

from tapegrad.autograd.sum_to_size import sum_to_shape
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Dim, Namespace, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.result_order import row_major
from tapegrad.core.shape import broadcast, existing_axis
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.autocast_state import autocast
from tapegrad.dispatch.in_place import check_apart
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.linalg.dot_vdot import vdot
from tapegrad.operators.linalg.matmul_check import dtype_mismatch
from tapegrad.operators.linalg.matrix_check import check_floating, check_same_dtype, check_tensors
from tapegrad.operators.linalg.removed import say_once

__torch__ = "cross"


def _product(xp: Namespace, a: Array, b: Array, axis: int) -> Any:
    """Element i is a[i+1] b[i+2] - a[i+2] b[i+1], counted round in a circle."""
    turned = a * xp.roll(b, -1, axis=axis) - xp.roll(a, -1, axis=axis) * b
    return xp.roll(turned, -1, axis=axis)


@jvp(
    a=lambda xp, t, b, axis: _product(xp, t, b, axis),
    b=lambda xp, t, a, axis: _product(xp, a, t, axis),
)
@vjp(
    a=lambda xp, g, a_like, b, axis: sum_to_shape(xp, _product(xp, b, g, axis), a_like.shape),
    b=lambda xp, g, a, b_like, axis: sum_to_shape(xp, _product(xp, g, a, axis), b_like.shape),
)
@primitive(node="LinalgCrossBackward0", order=row_major)
def vector_product(xp, a, b, *, axis):
    """The vector product along an axis of size 3, the others broadcast."""
    return _product(xp, a, b, axis)


@require_tensors
def linalg_cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Out = None) -> Any:
    """The vector product along a dimension of size 3, the last by default; others broadcast.

    It is orthogonal to both: (a2 b3 - a3 b2, a3 b1 - a1 b3, a1 b2 - a2 b1).

    Shapes: any that broadcast, with size 3 along `dim`; the result has the common one.

    >>> torch.linalg.cross(torch.tensor([1.0, 0.0, 0.0]), torch.tensor([0.0, 1.0, 0.0]))
    tensor([0., 0., 1.])
    """
    check_tensors("linalg_cross", input=input, other=other)
    check_apart(out, input, other)
    return finish("linalg_cross", _checked(input, other, dim), out)


@require_tensors
def cross(input: Tensor, other: Tensor, dim: Dim = None, *, out: Out = None) -> Any:
    """The vector product along a dimension of size 3, the first of that size by default.

    Shapes: any that broadcast, with size 3 along `dim`; the result has the common one.
    Raises: RuntimeError where no dimension has size 3.

    >>> torch.cross(torch.tensor([1.0, 0.0, 0.0]), torch.tensor([0.0, 1.0, 0.0]), dim=0)
    tensor([0., 0., 1.])
    """
    check_tensors("cross", input=input, other=other)
    check_apart(out, input, other)
    if dim is None:
        say_once("cross")
        dim = next((i for i, n in enumerate(input._array.shape) if n == 3), None)
        if dim is None:
            text = "no dimension of size 3 in input"
            raise errors.runtime_error(text, f"Its shape is {list(input.shape)}.")
    return finish("cross", _checked(input, other, dim), out)


def _checked(a: Tensor, b: Tensor, dim: Dim) -> Any:
    x, y = a._array.shape, b._array.shape
    if len(x) != len(y):
        text = "linalg.cross: inputs must have the same number of dimensions."
        advice = f"Shapes are {list(x)} and {list(y)}: expand() one of them."
        raise errors.runtime_error(text, advice)
    axis = existing_axis(dim, len(x), "A vector product needs vectors.")
    if x[axis] != 3 or y[axis] != 3:
        raise errors.runtime_error(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {x[axis]} and {y[axis]}",
            "Only vectors of three numbers have a vector product.",
        )
    broadcast(x, y)
    if a.dtype is not b.dtype:
        raise dtype_mismatch(a, b)
    if a.dtype.name == "bool":
        raise errors.not_implemented("\"cross\" not implemented for 'Bool'", "Convert it first.")
    return vector_product(a, b, axis=axis)


@autocast(name="vecdot")
def linalg_vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Out = None) -> Any:
    """The sums of conj(x) * y along `dim`; the other dimensions broadcast.

    Shapes: any that broadcast; the result has the common one without `dim`.

    >>> torch.linalg.vecdot(torch.ones(2, 3), torch.ones(2, 3))
    tensor([3., 3.])
    """
    check_tensors("linalg_vecdot", x=x, y=y)
    check_floating("linalg.vecdot", x)
    check_same_dtype("linalg.vecdot", x, y, "x", "y")
    if x.ndim == 1 and y.ndim == 1 and x.shape == y.shape:
        return finish("linalg_vecdot", vdot(x, y), out)
    first = x.conj() if x.dtype.is_complex else x
    return finish("linalg_vecdot", (first * y).sum(dim), out)
