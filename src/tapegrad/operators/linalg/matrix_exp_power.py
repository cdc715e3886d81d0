"""Powers and the exponential of matrices."""

import operator

from tapegrad.arrays.kernel import tensor_kernel
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Namespace, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.promote_types import can_cast
from tapegrad.dispatch.op import primitive
from tapegrad.operators.creation.zeros_eye import eye
from tapegrad.operators.linalg.inv import inv
from tapegrad.operators.linalg.matrix_check import (
    check_floating,
    check_square,
    check_tensors,
    finish_castable,
    finish_exact,
)

__torch__ = "matrix_exp matrix_power"


@tensor_kernel
@primitive(node="LinalgMatrixExpBackward0", kernels=("matrix_exponential",))
def matrix_exponential(xp, a):
    """The exponential of square matrices."""
    return xp.matrix_exponential(a)


def _change(xp: Namespace, a: Array, direction: Any) -> Any:
    """The derivative of exp at A along F: the upper right block of exp([[A, F], [0, A]]).

    Source: Mathias, A chain rule for matrix functions, 1996.
    """
    n = a.shape[-1]
    above = xp.concat([a, direction], axis=-1)
    below = xp.concat([xp.zeros_like(a), a], axis=-1)
    return xp.matrix_exponential(xp.concat([above, below], axis=-2))[..., :n, n:]


matrix_exponential.vjp(a=lambda xp, g, a: _change(xp, xp.matrix_transpose(a), g))
matrix_exponential.jvp(a=lambda xp, t, a: _change(xp, a, t))


@require_tensors
def matrix_exp(input: Tensor) -> Any:
    """The exponential of square matrices: I + A + A^2/2 + A^3/6 + ...

    Its derivative along F is the upper right block of exp([[A, F], [0, A]]) (Mathias, 1996).

    Shape: (..., n, n), and so the result.

    >>> torch.matrix_exp(torch.tensor([[0.0, 1.0], [0.0, 0.0]]))
    tensor([[1., 1.],
            [0., 1.]])
    """
    return _exponential("matrix_exp", input)


@require_tensors
def linalg_matrix_exp(input: Tensor) -> Any:
    """The exponential of square matrices: as `torch.matrix_exp`.

    Shape: (..., n, n), and so the result.

    >>> torch.linalg.matrix_exp(torch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    return _exponential("linalg_matrix_exp", input)


def _exponential(function: str, a: Tensor) -> Any:
    check_tensors(function, input=a)
    check_square("linalg.matrix_exp", a)
    check_floating("linalg.matrix_exp", a)
    return matrix_exponential(a)


@require_tensors
def matrix_power(input: Tensor, n: int, *, out: Out = None) -> Any:
    """The product of n times a square matrix; of its inverse for negative n; the identity for 0.

    By squaring: about log2(n) products.

    Shape: (..., n, n), and so the result.

    >>> torch.matrix_power(torch.tensor([[1.0, 1.0], [0.0, 1.0]]), 5)
    tensor([[1., 5.],
            [0., 1.]])
    """
    check_tensors("matrix_power", input=input)
    return _power("matrix_power", input, n, out)


@require_tensors
def linalg_matrix_power(input: Tensor, n: int, *, out: Out = None) -> Any:
    """The product of n times a square matrix: as `torch.matrix_power`.

    Shape: (..., n, n), and so the result.

    >>> torch.linalg.matrix_power(torch.tensor([[2.0]]), -2)
    tensor([[0.2500]])
    """
    check_tensors("linalg_matrix_power", input=input)
    return _power("linalg_matrix_power", input, n, out)


def _whole(function: str, n: int) -> int:
    if isinstance(n, bool) or not hasattr(n, "__index__"):
        raise errors.must_be(function, "n", 2, "int", n)
    return operator.index(n)


def _power(function: str, a: Tensor, n: int, out: Out) -> Any:
    n = _whole(function, n)
    check_square("linalg.matrix_power", a)
    if n == 0:
        whole = eye(a.shape[-1], dtype=a.dtype, device=a.device).expand(a.shape)
        return finish_castable(function, "matrix_power", a.clone().copy_(whole), out)
    if n < 0:
        a, n = inv(a), -n
        if n == 1:
            return _written(function, a, out)
    if n == 1:
        return finish_castable(function, "matrix_power", a.clone(), out)
    if n == 3:
        result = a.matmul(a).matmul(a)
    else:
        result, square = None, None
        while n:
            square = a if square is None else square.matmul(square)
            if n % 2:
                result = square if result is None else result.matmul(square)
            n //= 2
    return _written(function, result, out)


def _written(function: str, result: Tensor, out: Out) -> Any:
    if out is not None and can_cast(result.dtype, out.dtype):
        return finish_exact(function, result, out)
    return finish_castable(function, "matrix_power", result, out)
