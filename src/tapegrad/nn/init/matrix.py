"""Weights with structure: the identity, orthogonal, sparse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapegrad.autograd.mode import no_grad
from tapegrad.core.errors import value_error
from tapegrad.operators.random.rand_randint_randperm import randperm
from tapegrad.tensors.tensor import Tensor


def eye_(tensor: Tensor) -> Tensor:
    """The identity matrix.

    >>> torch.nn.init.eye_(torch.empty(2, 3))
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    if tensor.ndim != 2:
        raise value_error(
            "Only tensors with 2 dimensions are supported",
            f"This one has shape {tuple(tensor.shape)}.",
        )
    with no_grad():
        tensor.zero_().diagonal().fill_(1)
    return tensor


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """The weights of a convolution that returns its input, as far as there are channels.

    Shape: (out_channels, in_channels / groups, size of the kernel along 1 to 3 axes).

    >>> torch.nn.init.dirac_(torch.empty(1, 1, 3))
    tensor([[[0., 1., 0.]]])
    """
    if tensor.ndim not in (3, 4, 5):
        raise value_error(
            "Only tensors with 3, 4, or 5 dimensions are supported",
            f"This one has shape {tuple(tensor.shape)}.",
        )
    n_out, n_in, *kernel = tensor.shape
    if n_out % groups:
        raise value_error("dim 0 must be divisible by groups", f"{n_out} is not, by {groups}.")
    per_group = n_out // groups
    middle = tuple(size // 2 for size in kernel)
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(per_group, n_in)):
                tensor[(group * per_group + channel, channel, *middle)] = 1
    return tensor


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """Rows (or columns, the fewer of both) that are orthogonal and of length `gain`.

    Source: Saxe et al., Exact solutions to the nonlinear dynamics of deep linear networks, 2013.

    >>> q = torch.nn.init.orthogonal_(torch.empty(2, 3))
    >>> torch.allclose(q @ q.T, torch.eye(2), atol=1e-6)
    True
    """
    if tensor.ndim < 2:
        raise value_error(
            "Only tensors with 2 or more dimensions are supported",
            f"This one has shape {tuple(tensor.shape)}.",
        )
    if tensor.numel() == 0:
        return tensor
    n_rows = tensor.shape[0]
    n_columns = tensor.numel() // n_rows
    with no_grad():
        a = tensor.new_empty((n_rows, n_columns)).normal_(0, 1, generator=generator)
        q = _orthonormal(a if n_rows >= n_columns else a.t())
        q = q if n_rows >= n_columns else q.t()
        return tensor.copy_((q * gain).reshape(tensor.shape))


def _orthonormal(a: Tensor) -> Tensor:
    """The columns of `a` made orthonormal, their signs such that the result is unique."""
    q, r = np.linalg.qr(a.numpy())
    return a.new_tensor(q * np.sign(np.diagonal(r)))


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Normal, with the fraction `sparsity` of each column set to zero.

    Source: Martens, Deep learning via Hessian-free optimization, 2010.

    >>> (torch.nn.init.sparse_(torch.empty(10, 2), sparsity=0.3) == 0).sum(dim=0)
    tensor([3, 3])
    """
    if tensor.ndim != 2:
        raise value_error(
            "Only tensors with 2 dimensions are supported",
            f"This one has shape {tuple(tensor.shape)}.",
        )
    n_rows, n_columns = tensor.shape
    n_zeros = math.ceil(sparsity * n_rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(n_columns):
            order = randperm(n_rows)  # from the default generator, as in PyTorch
            tensor[order[:n_zeros], column] = 0
    return tensor
