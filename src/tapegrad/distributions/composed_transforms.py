"""Transforms made of others: in sequence, on pieces, over more dimensions, in another shape."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce
from typing import Any

import tapegrad as torch
from tapegrad.core import errors
from tapegrad.distributions import constraints
from tapegrad.distributions.transform import Transform, need_dims, summed
from tapegrad.distributions.utils import lazy_property


class ComposeTransform(Transform):
    """One transform after the other, the first one first.

    Args:
        parts: transforms.

    >>> D = torch.distributions
    >>> D.ComposeTransform([D.ExpTransform(), D.AffineTransform(1.0, 2.0)])(torch.tensor(0.0))
    tensor(3.)
    """

    def __init__(self, parts: list[Transform], cache_size: int = 0) -> None:
        if cache_size:
            parts = [part.with_cache(cache_size) for part in parts]
        super().__init__(cache_size=cache_size)
        self.parts = parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = None  # type: ignore[assignment]

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """That of the first part, with as many dimensions as a later part needs."""
        if not self.parts:
            return constraints.real
        first, event_dim = self.parts[0].domain, self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            event_dim += part.domain.event_dim - part.codomain.event_dim
            event_dim = max(event_dim, part.domain.event_dim)
        return _widened(first, event_dim)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """That of the last part, with as many dimensions as an earlier part needs."""
        if not self.parts:
            return constraints.real
        last, event_dim = self.parts[-1].codomain, self.parts[0].domain.event_dim
        for part in self.parts:
            event_dim += part.codomain.event_dim - part.domain.event_dim
            event_dim = max(event_dim, part.codomain.event_dim)
        return _widened(last, event_dim)

    @lazy_property
    def bijective(self) -> bool:
        """Whether all parts are."""
        return all(part.bijective for part in self.parts)

    @lazy_property
    def sign(self) -> Any:
        """The product of the parts' signs."""
        return reduce(operator.mul, (part.sign for part in self.parts), 1)

    @property
    def inv(self) -> Any:
        """The inverses of the parts, in the other order."""
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            import weakref

            inverse = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv = weakref.ref(inverse)
            inverse._inv = weakref.ref(self)
        return inverse

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with a cache of this size, in each part.

        >>> torch.distributions.ComposeTransform([]).with_cache().parts
        []
        """
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size)

    def __call__(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The sum of the parts' own, each over the dimensions of an event of the whole.

        >>> D = torch.distributions
        >>> f = D.ComposeTransform([D.ExpTransform(), D.AffineTransform(0.0, 2.0)])
        >>> f.log_abs_det_jacobian(torch.tensor(1.0), f(torch.tensor(1.0)))
        tensor(1.6931)
        """
        if not self.parts:
            return torch.zeros_like(x)
        values = [x]
        for part in self.parts[:-1]:
            values.append(part(values[-1]))
        values.append(y)
        terms, event_dim = [], self.domain.event_dim
        for part, before, after in zip(self.parts, values, values[1:], strict=False):
            term = part.log_abs_det_jacobian(before, after)
            terms.append(summed(term, event_dim - part.domain.event_dim))
            event_dim += part.codomain.event_dim - part.domain.event_dim
        return reduce(operator.add, terms)

    def forward_shape(self, shape: Any) -> Any:
        """The shape after all parts.

        >>> D = torch.distributions
        >>> D.ComposeTransform([D.StickBreakingTransform()]).forward_shape((2,))
        (3,)
        """
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """The shape before all parts.

        >>> D = torch.distributions
        >>> D.ComposeTransform([D.StickBreakingTransform()]).inverse_shape((3,))
        (2,)
        """
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        parts = ",\n    ".join(repr(part) for part in self.parts)
        return f"{type(self).__name__}(\n    {parts}\n)"


def _widened(constraint: Any, event_dim: int) -> Any:
    more = event_dim - constraint.event_dim
    return constraints.independent(constraint, more) if more > 0 else constraint


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform whose last batch dimensions count as part of an event.

    Args:
        base_transform: a transform.
        reinterpreted_batch_ndims: how many dimensions.

    >>> D = torch.distributions
    >>> x = torch.ones(2, 3)
    >>> D.IndependentTransform(D.ExpTransform(), 1).log_abs_det_jacobian(x, x.exp())
    tensor([3., 3.])
    """

    def __init__(
        self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with a cache of this size.

        >>> D = torch.distributions
        >>> D.IndependentTransform(D.ExpTransform(), 1).with_cache()
        IndependentTransform(ExpTransform(), 1)
        """
        if self._cache_size == cache_size:
            return self
        return IndependentTransform(
            self.base_transform, self.reinterpreted_batch_ndims, cache_size=cache_size
        )

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """That of the transform, with more dimensions."""
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """That of the transform, with more dimensions."""
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> bool:
        """Whether the transform is."""
        return self.base_transform.bijective

    @property
    def sign(self) -> Any:
        """That of the transform."""
        return self.base_transform.sign

    def _call(self, x: Any) -> Any:
        need_dims(x.shape, self.domain.event_dim)
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        need_dims(y.shape, self.codomain.event_dim)
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The sum over the dimensions that now belong to the event.

        >>> D = torch.distributions
        >>> D.IndependentTransform(D.ExpTransform(), 1).log_abs_det_jacobian(torch.ones(2), None)
        tensor(2.)
        """
        result = self.base_transform.log_abs_det_jacobian(x, y)
        return summed(result, self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"

    def forward_shape(self, shape: Any) -> Any:
        """That of the transform.

        >>> D = torch.distributions
        >>> D.IndependentTransform(D.StickBreakingTransform(), 1).forward_shape((2, 2))
        (2, 3)
        """
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        """That of the transform.

        >>> D = torch.distributions
        >>> D.IndependentTransform(D.StickBreakingTransform(), 1).inverse_shape((2, 3))
        (2, 2)
        """
        return self.base_transform.inverse_shape(shape)


class ReshapeTransform(Transform):
    """Events in another shape of as many elements.

    Args:
        in_shape: the shape of an event of x.
        out_shape: that of an event of y.

    Raises: ValueError if the shapes have different numbers of elements.

    >>> torch.distributions.ReshapeTransform((2, 3), (6,))(torch.zeros(4, 2, 3)).shape
    torch.Size([4, 6])
    """

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape = torch.Size(in_shape)
        self.out_shape = torch.Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise errors.value_error(
                "in_shape, out_shape have different numbers of elements",
                "Nothing is added or left out.",
            )
        super().__init__(cache_size=cache_size)

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """Events of the one shape."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """Events of the other shape."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with a cache of this size.

        >>> torch.distributions.ReshapeTransform((2,), (2, 1)).with_cache()
        ReshapeTransform()
        """
        if self._cache_size == cache_size:
            return self
        return ReshapeTransform(self.in_shape, self.out_shape, cache_size=cache_size)

    def _call(self, x: Any) -> Any:
        return x.reshape(x.shape[: x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y: Any) -> Any:
        return y.reshape(y.shape[: y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Zeros: no volume is changed.

        >>> f = torch.distributions.ReshapeTransform((2,), (2, 1))
        >>> f.log_abs_det_jacobian(torch.ones(3, 2), None)
        tensor([0., 0., 0.])
        """
        return x.new_zeros(x.size()[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Any) -> Any:
        """The batch's dimensions, and those of the new event.

        >>> torch.distributions.ReshapeTransform((2,), (2, 1)).forward_shape((3, 2))
        torch.Size([3, 2, 1])
        """
        return _with_event(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        """The batch's dimensions, and those of the old event.

        >>> torch.distributions.ReshapeTransform((2,), (2, 1)).inverse_shape((3, 2, 1))
        torch.Size([3, 2])
        """
        return _with_event(shape, self.out_shape, self.in_shape)


def _with_event(shape: Any, before: Any, after: Any) -> Any:
    need_dims(shape, len(before))
    n = len(shape) - len(before)
    if tuple(shape[n:]) != tuple(before):
        raise errors.value_error(
            f"Shape mismatch: expected {shape[n:]} but got {before}",
            "The last dimensions are those of an event.",
        )
    return shape[:n] + after


def _need_transforms(tseq: Sequence[Any]) -> None:
    if not all(isinstance(t, Transform) for t in tseq):
        raise errors.assertion_error(
            "All elements of tseq must be Transform instances", "Such as ExpTransform()."
        )


def _need_length(x: Any, name: str, dim: int, length: int, what: str, dim_of: str = "") -> None:
    if not -x.dim() <= dim < x.dim():
        raise errors.assertion_error(
            f"dim {dim} out of range for {dim_of or name} with {x.dim()} dimensions",
            "The transform goes along it.",
        )
    if x.size(dim) != length:
        raise errors.assertion_error(
            f"{name}.size({dim}) = {x.size(dim)} must equal {what} {length}",
            "Each transform has its part.",
        )


class CatTransform(Transform):
    """Pieces along a dimension, each with a transform of its own.

    Args:
        tseq: the transforms.
        dim: the dimension.
        lengths: how long each piece is; 1 each where they are not given.

    >>> D = torch.distributions
    >>> f = D.CatTransform([D.ExpTransform(), D.identity_transform], lengths=[1, 2])
    >>> f(torch.zeros(3))
    tensor([1., 0., 0.])
    """

    transforms: list[Transform]

    def __init__(
        self,
        tseq: Sequence[Transform],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:
        _need_transforms(tseq)
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq]
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise errors.assertion_error(
                f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})",
                "Give one for each transform.",
            )
        self.dim = dim

    @lazy_property
    def event_dim(self) -> int:
        """The largest of the transforms."""
        return max(t.event_dim for t in self.transforms)

    @lazy_property
    def length(self) -> int:
        """Of all pieces."""
        return sum(self.lengths)

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with a cache of this size.

        >>> torch.distributions.CatTransform([torch.distributions.ExpTransform()]).with_cache()
        CatTransform()
        """
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _pieces(self, x: Any, name: str, dim_of: str = "") -> Any:
        _need_length(x, name, self.dim, self.length, "length", dim_of)
        return torch.split(x, self.lengths, self.dim)

    def _call(self, x: Any) -> Any:
        pieces = zip(self.transforms, self._pieces(x, "x", "tensor"), strict=True)
        return torch.cat([t(piece) for t, piece in pieces], dim=self.dim)

    def _inverse(self, y: Any) -> Any:
        pieces = zip(self.transforms, self._pieces(y, "y", "tensor"), strict=True)
        return torch.cat([t.inv(piece) for t, piece in pieces], dim=self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The pieces' own side by side, or summed where `dim` belongs to the event.

        >>> D = torch.distributions
        >>> f = D.CatTransform([D.ExpTransform(), D.identity_transform])
        >>> f.log_abs_det_jacobian(torch.ones(2), f(torch.ones(2)))
        tensor([1., 0.])
        """
        terms = []
        pieces = zip(self.transforms, self._pieces(x, "x"), self._pieces(y, "y"), strict=True)
        for t, x_piece, y_piece in pieces:
            term = t.log_abs_det_jacobian(x_piece, y_piece)
            terms.append(summed(term, self.event_dim - t.event_dim))
        dim = self.dim if self.dim < 0 else self.dim - x.dim()
        dim += self.event_dim
        return torch.cat(terms, dim=dim) if dim < 0 else sum(terms)

    @property
    def bijective(self) -> bool:
        """Whether all transforms are."""
        return all(t.bijective for t in self.transforms)

    @constraints.dependent_property
    def domain(self) -> Any:
        """The transforms' domains side by side."""
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """The transforms' codomains side by side."""
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(Transform):
    """Slices along a dimension, each with a transform of its own.

    Args:
        tseq: the transforms.
        dim: the dimension.

    >>> D = torch.distributions
    >>> D.StackTransform([D.ExpTransform(), D.identity_transform], dim=-1)(torch.zeros(2, 2))
    tensor([[1., 0.],
            [1., 0.]])
    """

    transforms: list[Transform]

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        _need_transforms(tseq)
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq]
        self.dim = dim

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with a cache of this size.

        >>> torch.distributions.StackTransform([torch.distributions.ExpTransform()]).with_cache()
        StackTransform()
        """
        if self._cache_size == cache_size:
            return self
        return StackTransform(self.transforms, self.dim, cache_size)

    def _slice(self, z: Any, name: str, dim_of: str = "") -> Any:
        _need_length(z, name, self.dim, len(self.transforms), "len(transforms)", dim_of)
        return [z.select(self.dim, i) for i in range(z.size(self.dim))]

    def _call(self, x: Any) -> Any:
        slices = zip(self.transforms, self._slice(x, "x", "tensor"), strict=True)
        return torch.stack([t(x) for t, x in slices], dim=self.dim)

    def _inverse(self, y: Any) -> Any:
        slices = zip(self.transforms, self._slice(y, "y", "tensor"), strict=True)
        return torch.stack([t.inv(y) for t, y in slices], dim=self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The slices' own, stacked.

        >>> D = torch.distributions
        >>> f = D.StackTransform([D.ExpTransform(), D.identity_transform])
        >>> f.log_abs_det_jacobian(torch.ones(2), f(torch.ones(2)))
        tensor([1., 0.])
        """
        slices = zip(self.transforms, self._slice(x, "x"), self._slice(y, "y"), strict=True)
        return torch.stack([t.log_abs_det_jacobian(x, y) for t, x, y in slices], dim=self.dim)

    @property
    def bijective(self) -> bool:
        """Whether all transforms are."""
        return all(t.bijective for t in self.transforms)

    @constraints.dependent_property
    def domain(self) -> Any:
        """The transforms' domains, stacked."""
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """The transforms' codomains, stacked."""
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
