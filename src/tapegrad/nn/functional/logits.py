"""Softmax and its relatives, with PyTorch's arguments."""

from __future__ import annotations

from warnings import warn

from tapegrad.core.annotations import DTypeLike
from tapegrad.core.argument_check import takes_tensors, users_level
from tapegrad.operators.nn import softmax as _softmax
from tapegrad.tensors.tensor import Tensor

__all__ = ["gumbel_softmax", "log_softmax", "softmax", "softmin"]


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DTypeLike = None
) -> Tensor:
    """`exp(x) / sum(exp(x))` along `dim`.

    >>> torch.nn.functional.softmax(torch.tensor([0.0, 0.0]), dim=0)
    tensor([0.5000, 0.5000])
    """
    return _softmax.softmax(input, _axis("softmax", dim, input.ndim, _stacklevel), dtype=dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DTypeLike = None
) -> Tensor:
    """`log(softmax(x))` along `dim`, without overflow.

    >>> torch.nn.functional.log_softmax(torch.tensor([0.0, 0.0]), dim=0)
    tensor([-0.6931, -0.6931])
    """
    return _softmax.log_softmax(
        input, _axis("log_softmax", dim, input.ndim, _stacklevel), dtype=dtype
    )


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DTypeLike = None
) -> Tensor:
    """`softmax(-x)` along `dim`.

    >>> torch.nn.functional.softmin(torch.tensor([0.0, 1.0]), dim=0)
    tensor([0.7311, 0.2689])
    """
    return _softmax.softmax(-input, _axis("softmin", dim, input.ndim, _stacklevel), dtype=dtype)


@takes_tensors
def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A random, differentiable choice: softmax of `(logits + Gumbel noise) / tau`.

    With `hard`, the result is one-hot and has the gradient of the soft one.

    Source: Jang et al., Categorical reparameterization with Gumbel-softmax, 2016.

    >>> float(torch.nn.functional.gumbel_softmax(torch.zeros(3), hard=True).sum())
    1.0
    """
    if eps != 1e-10:
        warn("`eps` parameter is deprecated and has no effect.", stacklevel=users_level())
    noise = -logits.detach().new_empty(logits.shape).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    chosen = soft.detach().max(dim, keepdim=True)[1]
    one_hot = logits.detach().new_zeros(logits.shape).scatter_(dim, chosen, 1.0)
    return one_hot - soft.detach() + soft


def _axis(name: str, dim: int | None, ndim: int, stacklevel: int) -> int:
    if dim is not None:
        return dim
    warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include "
        "dim=X as an argument.",
        stacklevel=stacklevel,
    )
    return 0 if ndim in (0, 1, 3) else 1
