"""The base of all transforms, with the inverse of one and the cache of its last value."""

from __future__ import annotations

import weakref
from typing import Any

from tapegrad.core import errors
from tapegrad.distributions import constraints
from tapegrad.distributions.utils import _sum_rightmost


class Transform:
    """A differentiable map `y = f(x)`, with the logarithm of how it stretches volumes.

    Args:
        cache_size: 1 keeps the last pair of x and y, so that the inverse of a y that was just
            computed is its x, to the bit; 0 keeps none.

    A subclass has `domain`, `codomain`, `bijective`, `_call`, `_inverse` and
    `log_abs_det_jacobian`.

    Raises: ValueError for another size of the cache.

    >>> from tapegrad.distributions import ExpTransform
    >>> f = ExpTransform()
    >>> x = torch.tensor([0.0, 1.0])
    >>> f(x), f.inv(f(x)), f.log_abs_det_jacobian(x, f(x))
    (tensor([1.0000, 2.7183]), tensor([0.0000, 1.0000]), tensor([0., 1.]))
    """

    bijective: Any = False
    domain: Any
    codomain: Any

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise errors.value_error("cache_size must be 0 or 1", "1 keeps the last pair.")
        self._cache_size = cache_size
        self._inv: Any = None  # a weak reference: the inverse holds this one
        if cache_size:
            self._cached_x_y: tuple = (None, None)
        super().__init__()

    def __getstate__(self) -> dict:
        return {**self.__dict__, "_inv": None}

    @property
    def event_dim(self) -> int:
        """Dimensions of an event, where domain and codomain agree."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise errors.value_error(
            "Please use either .domain.event_dim or .codomain.event_dim",
            "The events of domain and codomain have different dimensions.",
        )

    @property
    def inv(self) -> Any:
        """The inverse, a transform whose inverse is this one."""
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = _InverseTransform(self)
            self._inv = weakref.ref(inverse)
        return inverse

    @property
    def sign(self) -> Any:
        """1 or -1: whether an increasing or a decreasing function of one number."""
        raise NotImplementedError

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with a cache of this size.

        >>> torch.distributions.ExpTransform().with_cache(1)._cache_size
        1
        """
        if self._cache_size == cache_size:
            return self
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        raise NotImplementedError(f"{type(self)}.with_cache is not implemented")

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return not self.__eq__(other)

    def __call__(self, x: Any) -> Any:
        """f(x)."""
        if self._cache_size == 0:
            return self._call(x)
        x_old, y_old = self._cached_x_y
        if x is x_old:
            return y_old
        y = self._call(x)
        self._cached_x_y = x, y
        return y

    def _inv_call(self, y: Any) -> Any:
        """The x whose f(x) is y."""
        if self._cache_size == 0:
            return self._inverse(y)
        x_old, y_old = self._cached_x_y
        if y is y_old:
            return x_old
        x = self._inverse(y)
        self._cached_x_y = x, y
        return x

    def _call(self, x: Any) -> Any:
        raise NotImplementedError

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """`log |det df/dx|` at x, where y is f(x); without the event's dimensions.

        >>> f = torch.distributions.AffineTransform(0.0, 2.0)
        >>> f.log_abs_det_jacobian(torch.tensor(1.0), torch.tensor(2.0))
        tensor(0.6931)
        """
        raise NotImplementedError

    def __repr__(self) -> str:
        return type(self).__name__ + "()"

    def forward_shape(self, shape: Any) -> Any:
        """The shape of f(x) for an x of this shape.

        >>> torch.distributions.StickBreakingTransform().forward_shape((3, 2))
        (3, 3)
        """
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of x for an f(x) of this shape.

        >>> torch.distributions.StickBreakingTransform().inverse_shape((3, 3))
        (3, 2)
        """
        return shape


class _InverseTransform(Transform):
    """The inverse of a transform, whose cache it shares."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._inv: Any = transform

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        return self._inv.codomain

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        return self._inv.domain

    @property
    def bijective(self) -> bool:
        return self._inv.bijective

    @property
    def sign(self) -> Any:
        return self._inv.sign

    @property
    def inv(self) -> Any:
        return self._inv

    def __getstate__(self) -> dict:
        return self.__dict__.copy()

    def with_cache(self, cache_size: int = 1) -> Any:
        return self.inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inv!r})"

    def __call__(self, x: Any) -> Any:
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._inv.forward_shape(shape)


def need_dims(shape: Any, n: int) -> None:
    """Raise ValueError unless a shape has at least n dimensions.

    >>> from tapegrad.distributions.transform import need_dims
    >>> need_dims((), 1)
    Traceback (most recent call last):
    ValueError: Too few dimensions on input
    An event of this transform has 1.
    """
    if len(shape) < n:
        raise errors.value_error(
            "Too few dimensions on input", f"An event of this transform has {n}."
        )


def summed(value: Any, event_dim: int) -> Any:
    """The sum over the dimensions of an event.

    >>> from tapegrad.distributions.transform import summed
    >>> summed(torch.ones(2, 3), 1)
    tensor([3., 3.])
    """
    return _sum_rightmost(value, event_dim)
