"""Pruning methods: at random or the smallest, single elements or whole slices."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from tapegrad.core.errors import value_error
from tapegrad.nn.utils.pruning_method import BasePruningMethod
from tapegrad.operators.random.rand_like import rand_like
from tapegrad.operators.random.rand_randint_randperm import rand
from tapegrad.tensors.tensor import Tensor


class Identity(BasePruningMethod):
    """Prunes nothing.

    >>> from tapegrad.nn.utils import prune
    >>> prune.Identity().prune(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[1., 2.],
            [3., 4.]])
    """

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


class _Amount(BasePruningMethod):
    """Prunes `amount`: a number of elements or slices, or a fraction."""

    def __init__(self, amount: int | float) -> None:
        if isinstance(amount, bool) or not isinstance(amount, (int, float)):
            raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
        whole = isinstance(amount, Integral)
        if amount < 0 or (not whole and amount > 1):
            raise value_error(
                f"amount={amount} should either be a float in the range [0, 1] or a "
                "non-negative integer",
                "An int is a number of elements or slices, a float a fraction of them.",
            )
        self.amount = amount

    def _number(self, size: int) -> int:
        if not isinstance(self.amount, Integral):
            return round(self.amount * size)
        if self.amount > size:
            raise value_error(
                f"amount={self.amount} should be smaller than the number of parameters to "
                f"prune={size}",
                "So many there are to prune.",
            )
        return int(self.amount)


class RandomUnstructured(_Amount):
    """Prunes elements at random.

    >>> from tapegrad.nn.utils import prune
    >>> prune.RandomUnstructured(0.5).prune(torch.ones(4)).sum()
    tensor(2.)
    """

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        n = self._number(t.numel())
        mask = default_mask.clone()
        if n:
            chosen = rand_like(t).view(-1).topk(k=n).indices
            mask.view(-1)[chosen] = 0
        return mask


class L1Unstructured(_Amount):
    """Prunes the elements with the smallest absolute values.

    >>> from tapegrad.nn.utils import prune
    >>> prune.L1Unstructured(3).prune(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[0., 0.],
            [0., 4.]])
    """

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        n = self._number(t.numel())
        mask = default_mask.clone()
        if n:
            chosen = t.abs().view(-1).topk(k=n, largest=False).indices
            mask.view(-1)[chosen] = 0
        return mask


class _Structured(_Amount):
    PRUNING_TYPE = "structured"

    def __init__(self, amount: int | float, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def _check(self, t: Tensor) -> None:
        if t.ndim <= 1:
            raise value_error(
                "Structured pruning can only be applied to multidimensional tensors. Found "
                f"tensor of shape {t.shape} with {t.ndim} dims",
                "Prune its elements instead.",
            )
        if self.dim >= t.ndim:
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")

    def _without(self, t: Tensor, mask: Tensor, kept: Tensor) -> Tensor:
        """`mask` with zeros in the slices that are not `kept`."""
        shape = [1] * t.ndim
        shape[self.dim] = -1
        return mask * kept.to(mask.dtype).view(shape)


class RandomStructured(_Structured):
    """Prunes slices along `dim` at random.

    >>> from tapegrad.nn.utils import prune
    >>> prune.RandomStructured(1, dim=1).prune(torch.ones(2, 3)).sum()
    tensor(4.)
    """

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        self._check(t)
        n = self._number(t.shape[self.dim])
        if not n:
            return default_mask
        prob = rand(t.shape[self.dim])
        return self._without(t, default_mask, prob > prob.kthvalue(n).values)


class LnStructured(_Structured):
    """Prunes the slices along `dim` that have the smallest n-norms.

    >>> from tapegrad.nn.utils import prune
    >>> prune.LnStructured(1, n=2, dim=0).prune(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[0., 0.],
            [3., 4.]])
    """

    def __init__(self, amount: int | float, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        self._check(t)
        size = t.shape[self.dim]
        n = self._number(size)
        if not n:
            return default_mask
        others = [i for i in range(t.ndim) if i != self.dim % t.ndim]
        largest = t.norm(p=self.n, dim=others).topk(k=size - n).indices
        kept = t.new_zeros(size)
        kept[largest] = 1
        return self._without(t, default_mask, kept)


class CustomFromMask(BasePruningMethod):
    """Prunes where a given mask is zero.

    >>> from tapegrad.nn.utils import prune
    >>> prune.CustomFromMask(torch.tensor([1, 0])).prune(torch.tensor([3.0, 4.0]))
    tensor([3., 0.])
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape "
                f"{self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)
