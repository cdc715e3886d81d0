"""Dot products of two vectors: dot, and vdot, which conjugates the first."""

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Out, Tensor
from tapegrad.core.argument_check import require_tensors, two_operands
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.dtype_check import BOOL, lacks
from tapegrad.operators.linalg.matmul_check import check_vectors

__all__ = ["dot", "vdot"]


@jvp(a=lambda xp, t, b: xp.matmul(t, b), b=lambda xp, t, a: xp.matmul(a, t))
@vjp(a=lambda g, b: g * b, b=lambda g, a: g * a)
@primitive(node="DotBackward0", check=lacks("dot", BOOL))
def vector_dot(xp, a, b):
    """The sum of the products of two vectors' elements."""
    return xp.matmul(a, b)


@jvp(a=lambda xp, t, b: xp.matmul(xp.conj(t), b), b=lambda xp, t, a: xp.matmul(xp.conj(a), t))
@vjp(a=lambda xp, g, b: xp.conj(g) * b, b=lambda g, a: g * a)
@primitive(node="VdotBackward0", holomorphic=False, check=lacks("dot", BOOL))
def conjugate_dot(xp, a, b):
    """The sum of the products of two vectors' elements, those of the first conjugated."""
    return xp.matmul(xp.conj(a), b)


@two_operands()
def dot(input: Tensor, tensor: Tensor, *, out: Out = None) -> Any:
    """The sum of the products of two vectors' elements.

    Shapes: (n,) and (n,) to ().
    Raises: RuntimeError where the sizes differ, or for what is no vector.

    >>> torch.dot(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
    tensor(11.)
    """
    try:
        check_vectors(input, tensor)
    except AttributeError:
        errors.need_tensors("dot", input=input, tensor=tensor)
        raise
    return finish("dot", vector_dot(input, tensor), out)


@require_tensors
def vdot(input: Tensor, other: Tensor, *, out: Out = None) -> Any:
    """The sum of the products of conj(input) and other, elements of two vectors.

    Shapes: (n,) and (n,) to ().
    Raises: RuntimeError where the sizes differ, or for what is no vector.

    >>> torch.vdot(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))
    tensor(11.)
    """
    check_vectors(input, other)
    return finish("vdot", conjugate_dot(input, other), out)
