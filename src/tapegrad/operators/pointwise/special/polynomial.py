"""Orthogonal polynomials of degree n, by their recurrences; without derivative, as in PyTorch.

The degree is a number or a tensor; of a fraction its integer part counts, and a polynomial of
negative degree is 0.
"""

from tapegrad.core.annotations import Any, Out, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.dispatch.apply import finish
from tapegrad.dispatch.op import constant
from tapegrad.operators.dtype_check import two_numbers, wide_only


@constant(promote="float", kernels=("polynomial",))
def orthogonal_polynomial(xp, x, n, *, family):
    """The polynomial of degree n of a family at x."""
    if not hasattr(x, "dtype"):
        x = xp.asarray(x, dtype=n.dtype)
    return xp.polynomial(x, n, family)


def _of(family: str, name: str, x: Tensor, n: int, out: Out) -> Any:
    if not hasattr(x, "_array") and not hasattr(n, "_array"):
        form = "Number x, Tensor n, *, Tensor out = None"
        raise two_numbers(name, (x, n), "x", "n", form)
    wide_only(name.removeprefix("special_") + "_cpu")(x, n)
    return finish(name, orthogonal_polynomial(x, n, family=family), out)


@require_tensors
def chebyshev_polynomial_t(x: Tensor, n: int, *, out: Out = None) -> Any:
    """The Chebyshev polynomial of the first kind: cos(n angle) at x = cos(angle).

    T_0 = 1, T_1 = x, T_k = 2 x T_(k-1) - T_(k-2).

    Shapes: any that broadcast; the result has the common one.

    >>> torch.special.chebyshev_polynomial_t(torch.tensor([0.5, 2.0]), 3)
    tensor([-1., 26.])
    """
    return _of("chebyshev_t", "special_chebyshev_polynomial_t", x, n, out)


@require_tensors
def chebyshev_polynomial_u(x: Tensor, n: int, *, out: Out = None) -> Any:
    """The Chebyshev polynomial of the second kind.

    sin((n + 1) angle) / sin(angle) at x = cos(angle):
    U_0 = 1, U_1 = 2 x, U_k = 2 x U_(k-1) - U_(k-2).

    Shapes: any that broadcast; the result has the common one.

    >>> torch.special.chebyshev_polynomial_u(torch.tensor([0.5, 2.0]), 3)
    tensor([-1., 56.])
    """
    return _of("chebyshev_u", "special_chebyshev_polynomial_u", x, n, out)


@require_tensors
def chebyshev_polynomial_v(x: Tensor, n: int, *, out: Out = None) -> Any:
    """The Chebyshev polynomial of the third kind.

    cos((n + 1/2) angle) / cos(angle / 2) at x = cos(angle):
    V_0 = 1, V_1 = 2 x - 1, V_k = 2 x V_(k-1) - V_(k-2).

    Shapes: any that broadcast; the result has the common one.

    >>> torch.special.chebyshev_polynomial_v(torch.tensor([0.5, 2.0]), 3)
    tensor([-1., 41.])
    """
    return _of("chebyshev_v", "special_chebyshev_polynomial_v", x, n, out)


@require_tensors
def chebyshev_polynomial_w(x: Tensor, n: int, *, out: Out = None) -> Any:
    """The Chebyshev polynomial of the fourth kind.

    sin((n + 1/2) angle) / sin(angle / 2) at x = cos(angle):
    W_0 = 1, W_1 = 2 x + 1, W_k = 2 x W_(k-1) - W_(k-2).

    Shapes: any that broadcast; the result has the common one.

    >>> torch.special.chebyshev_polynomial_w(torch.tensor([0.5, 2.0]), 3)
    tensor([-1., 71.])
    """
    return _of("chebyshev_w", "special_chebyshev_polynomial_w", x, n, out)


@require_tensors
def hermite_polynomial_h(x: Tensor, n: int, *, out: Out = None) -> Any:
    """The Hermite polynomial of the physicists, orthogonal for the weight exp(-x^2).

    H_0 = 1, H_1 = 2 x, H_k = 2 x H_(k-1) - 2 (k - 1) H_(k-2).

    Shapes: any that broadcast; the result has the common one.

    >>> torch.special.hermite_polynomial_h(torch.tensor([0.5, 2.0]), 3)
    tensor([-5., 40.])
    """
    return _of("hermite_h", "special_hermite_polynomial_h", x, n, out)


@require_tensors
def hermite_polynomial_he(x: Tensor, n: int, *, out: Out = None) -> Any:
    """The Hermite polynomial of probability theory, orthogonal for the weight exp(-x^2 / 2).

    He_0 = 1, He_1 = x, He_k = x He_(k-1) - (k - 1) He_(k-2).

    Shapes: any that broadcast; the result has the common one.

    >>> torch.special.hermite_polynomial_he(torch.tensor([0.5, 2.0]), 3)
    tensor([-1.3750,  2.0000])
    """
    return _of("hermite_he", "special_hermite_polynomial_he", x, n, out)


@require_tensors
def laguerre_polynomial_l(x: Tensor, n: int, *, out: Out = None) -> Any:
    """The Laguerre polynomial, orthogonal for the weight exp(-x) on x >= 0.

    L_0 = 1, L_1 = 1 - x, k L_k = (2 k - 1 - x) L_(k-1) - (k - 1) L_(k-2).

    Shapes: any that broadcast; the result has the common one.

    >>> torch.special.laguerre_polynomial_l(torch.tensor([0.5, 2.0]), 3)
    tensor([-0.1458, -0.3333])
    """
    return _of("laguerre_l", "special_laguerre_polynomial_l", x, n, out)


@require_tensors
def legendre_polynomial_p(x: Tensor, n: int, *, out: Out = None) -> Any:
    """The Legendre polynomial, orthogonal for the weight 1 on [-1, 1].

    P_0 = 1, P_1 = x, k P_k = (2 k - 1) x P_(k-1) - (k - 1) P_(k-2).

    Shapes: any that broadcast; the result has the common one.

    >>> torch.special.legendre_polynomial_p(torch.tensor([0.5, 2.0]), 3)
    tensor([-0.4375, 17.0000])
    """
    return _of("legendre_p", "special_legendre_polynomial_p", x, n, out)


@require_tensors
def shifted_chebyshev_polynomial_t(x: Tensor, n: int, *, out: Out = None) -> Any:
    """The Chebyshev polynomial of the first kind at 2 x - 1, made for [0, 1].

    Shapes: any that broadcast; the result has the common one.

    >>> torch.special.shifted_chebyshev_polynomial_t(torch.tensor([0.5, 2.0]), 3)
    tensor([-0., 99.])
    """
    return _of("shifted_chebyshev_t", "special_shifted_chebyshev_polynomial_t", x, n, out)


@require_tensors
def shifted_chebyshev_polynomial_u(x: Tensor, n: int, *, out: Out = None) -> Any:
    """The Chebyshev polynomial of the second kind at 2 x - 1, made for [0, 1].

    Shapes: any that broadcast; the result has the common one.

    >>> torch.special.shifted_chebyshev_polynomial_u(torch.tensor([0.5, 2.0]), 3)
    tensor([ -0., 204.])
    """
    return _of("shifted_chebyshev_u", "special_shifted_chebyshev_polynomial_u", x, n, out)


@require_tensors
def shifted_chebyshev_polynomial_v(x: Tensor, n: int, *, out: Out = None) -> Any:
    """The Chebyshev polynomial of the third kind at 2 x - 1, made for [0, 1].

    Shapes: any that broadcast; the result has the common one.

    >>> torch.special.shifted_chebyshev_polynomial_v(torch.tensor([0.5, 2.0]), 3)
    tensor([  1., 169.])
    """
    return _of("shifted_chebyshev_v", "special_shifted_chebyshev_polynomial_v", x, n, out)


@require_tensors
def shifted_chebyshev_polynomial_w(x: Tensor, n: int, *, out: Out = None) -> Any:
    """The Chebyshev polynomial of the fourth kind at 2 x - 1, made for [0, 1].

    Shapes: any that broadcast; the result has the common one.

    >>> torch.special.shifted_chebyshev_polynomial_w(torch.tensor([0.5, 2.0]), 3)
    tensor([ -1., 239.])
    """
    return _of("shifted_chebyshev_w", "special_shifted_chebyshev_polynomial_w", x, n, out)
