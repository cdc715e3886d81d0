"""Sets of values: what a parameter may be, and where the samples of a distribution lie.

`constraint.check(value)` says of each event whether it lies inside. `event_dim` is the number of
rightmost dimensions that make one event, `is_discrete` whether the values are counted.

>>> from tapegrad.distributions import constraints
>>> constraints.positive.check(torch.tensor([-1.0, 2.0]))
tensor([False,  True])
>>> constraints.simplex.check(torch.tensor([[0.5, 0.5], [0.5, 0.6]]))
tensor([ True, False])
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import tapegrad as torch
from tapegrad.core import errors

__all__ = [
    "Constraint",
    "MixtureSameFamilyConstraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_semidefinite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
    "unit_interval",
]


class Constraint:
    """A set of values; a subclass says by `check` which ones belong to it.

    >>> constraint = torch.distributions.constraints.unit_interval
    >>> constraint, constraint.event_dim, constraint.is_discrete
    (Interval(lower_bound=0.0, upper_bound=1.0), 0, False)
    """

    is_discrete: Any = False
    event_dim: Any = 0
    _shown: tuple[str, ...] = ()  # the bounds that the representation shows

    def check(self, value: Any) -> Any:
        """Whether each event of `value` lies inside, in the shape without the event's dimensions.

        >>> torch.distributions.constraints.real.check(torch.tensor([1.0, float("nan")]))
        tensor([ True, False])
        """
        raise NotImplementedError

    def __repr__(self) -> str:
        name = type(self).__name__.removeprefix("_")
        return f"{name}({', '.join(f'{each}={getattr(self, each)}' for each in self._shown)})"


# --- sets that are known only with the parameters -------------------------------------------------


class _Dependent(Constraint):
    """A set that depends on other values: it can be asked for nothing before they are known."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented):
        self._is_discrete = is_discrete
        self._event_dim = event_dim
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        """Whether the values are counted, where that is known without the parameters."""
        return _known(self._is_discrete, "is_discrete")

    @property
    def event_dim(self) -> int:
        """Dimensions of an event, where that is known without the parameters."""
        return _known(self._event_dim, "event_dim")

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented):
        """The same with what is known of it: `dependent(is_discrete=True, event_dim=1)`."""
        if is_discrete is NotImplemented:
            is_discrete = self._is_discrete
        if event_dim is NotImplemented:
            event_dim = self._event_dim
        return _Dependent(is_discrete=is_discrete, event_dim=event_dim)

    def check(self, x: Any) -> Any:
        """Raises: the set is not known here."""
        raise errors.value_error(
            "Cannot determine validity of dependent constraint",
            "Ask an instance of the distribution, whose parameters are known.",
        )


def _known(value: Any, name: str) -> Any:
    if value is NotImplemented:
        raise errors.not_implemented(
            f".{name} cannot be determined statically",
            "Ask an instance of the distribution, whose parameters are known.",
        )
    return value


def is_dependent(constraint: object) -> bool:
    """Whether the set is known only with the parameters.

    >>> C = torch.distributions.constraints
    >>> C.is_dependent(C.real), C.is_dependent(C.dependent)
    (False, True)
    """
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property of a distribution whose value is a constraint; on the class it is a dependent one.

    >>> from tapegrad.distributions import constraints
    >>> class Ramp:
    ...     high = 3.0
    ...     @constraints.dependent_property(is_discrete=False, event_dim=0)
    ...     def support(self):
    ...         return constraints.interval(0, self.high)
    >>> Ramp().support, Ramp.support.event_dim
    (Interval(lower_bound=0, upper_bound=3.0), 0)
    """

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        *,
        is_discrete: bool | None = NotImplemented,
        event_dim: int | None = NotImplemented,
    ) -> None:
        super().__init__(fn)
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    def __call__(self, fn: Callable[..., Any]) -> _DependentProperty:
        """The property of this function: `@dependent_property(event_dim=1)` above a method."""
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


# --- sets made of others --------------------------------------------------------------------------


def _require(condition: bool, message: Callable[[], str]) -> None:
    if not condition:
        raise errors.assertion_error(message(), "torch.distributions.constraints has examples.")


def _need_constraint(given: Any) -> None:
    _require(
        isinstance(given, Constraint),
        lambda: f"base_constraint must be a Constraint, got {type(given).__name__}",
    )


class _IndependentConstraint(Constraint):
    """All elements of the last `reinterpreted_batch_ndims` batch dimensions lie inside the set."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        _need_constraint(base_constraint)
        n = reinterpreted_batch_ndims
        _require(
            isinstance(n, int),
            lambda: f"reinterpreted_batch_ndims must be an int, got {type(n).__name__}",
        )
        _require(n >= 0, lambda: f"reinterpreted_batch_ndims must be >= 0, got {n}")
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        """That of the set of one element."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:
        """Dimensions of an event: those of the set, and the reinterpreted ones."""
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        inside = self.base_constraint.check(value)
        n = self.reinterpreted_batch_ndims
        if inside.dim() < n:
            expected = self.base_constraint.event_dim + n
            raise errors.value_error(
                f"Expected value.dim() >= {expected} but got {value.dim()}",
                "An event has that many dimensions.",
            )
        return inside.reshape((*inside.shape[: inside.dim() - n], -1)).all(-1)

    def __repr__(self) -> str:
        name = type(self).__name__[1:]
        return f"{name}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """Values that lie in the set of every component, to which a dimension is added for `check`.

    >>> C = torch.distributions.constraints
    >>> C.MixtureSameFamilyConstraint(C.positive).check(torch.tensor([1.0, -1.0]))
    tensor([ True, False])
    """

    def __init__(self, base_constraint: Constraint) -> None:
        _need_constraint(base_constraint)
        self.base_constraint = base_constraint
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        """That of the components."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:
        """That of the components."""
        return self.base_constraint.event_dim

    def check(self, value: Any) -> Any:
        """Whether each event lies in the set of every component.

        >>> C = torch.distributions.constraints
        >>> C.MixtureSameFamilyConstraint(C.boolean).check(torch.tensor([1.0, 0.5]))
        tensor([ True, False])
        """
        event_dim = self.event_dim
        inside = self.base_constraint.check(value.unsqueeze(-1 - event_dim))
        n = value.dim() - event_dim
        if n < 0:
            raise errors.value_error(
                f"Expected value.dim() >= {event_dim} but got {value.dim()}",
                "An event has that many dimensions.",
            )
        return inside.reshape((*inside.shape[:n], -1)).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"


class _Joined(Constraint):
    """Slices along a dimension that each lie in a set of their own."""

    def __init__(self, cseq: Any, dim: int = 0) -> None:
        _require(
            all(isinstance(c, Constraint) for c in cseq),
            lambda: "All elements of cseq must be Constraint instances",
        )
        self.cseq = list(cseq)
        self.dim = dim
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        """Whether one of the sets is discrete."""
        return any(c.is_discrete for c in self.cseq)

    def _need_dim(self, value: Any) -> None:
        _require(
            -value.dim() <= self.dim < value.dim(),
            lambda: f"dim {self.dim} out of range for value with {value.dim()} dimensions",
        )


class _Cat(_Joined):
    """Pieces of the given lengths along `dim`, each in a set of its own."""

    def __init__(self, cseq: Any, dim: int = 0, lengths: Any = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        _require(
            len(self.lengths) == len(self.cseq),
            lambda: f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})",
        )

    @property
    def event_dim(self) -> int:
        """The largest of the sets."""
        return max(c.event_dim for c in self.cseq)

    def check(self, value: Any) -> Any:
        self._need_dim(value)
        ends = accumulate(self.lengths)
        checks = [
            constraint.check(value.narrow(self.dim, end - length, length))
            for constraint, length, end in zip(self.cseq, self.lengths, ends, strict=True)
        ]
        return torch.cat(checks, self.dim)


class _Stack(_Joined):
    """Slices along `dim`, each in a set of its own."""

    @property
    def event_dim(self) -> int:
        """The largest of the sets, and `dim` if it stands among the event's dimensions."""
        dim = max(c.event_dim for c in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value: Any) -> Any:
        self._need_dim(value)
        slices = zip(self.cseq, value.unbind(self.dim), strict=False)
        return torch.stack([constraint.check(x) for constraint, x in slices], self.dim)


# --- numbers --------------------------------------------------------------------------------------


class _Boolean(Constraint):
    """Zeros and ones."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value == 0) | (value == 1)


class _Real(Constraint):
    """All numbers but nan."""

    def check(self, value: Any) -> Any:
        return value == value  # nan is not itself


class _Bounded(Constraint):
    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        super().__init__()

    _shown: tuple[str, ...] = ("lower_bound", "upper_bound")


class _Above(Constraint):
    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound
        super().__init__()

    _shown: tuple[str, ...] = ("lower_bound",)


class _Below(Constraint):
    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound
        super().__init__()

    _shown: tuple[str, ...] = ("upper_bound",)


class _IntegerInterval(_Bounded):
    """Whole numbers from `lower_bound` to `upper_bound`."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _IntegerLessThan(_Below):
    """Whole numbers up to `upper_bound`."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (value <= self.upper_bound)


class _IntegerGreaterThan(_Above):
    """Whole numbers from `lower_bound` on."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (value >= self.lower_bound)


class _GreaterThan(_Above):
    """Numbers above `lower_bound`."""

    def check(self, value: Any) -> Any:
        return self.lower_bound < value


class _GreaterThanEq(_Above):
    """Numbers from `lower_bound` on."""

    def check(self, value: Any) -> Any:
        return self.lower_bound <= value


class _LessThan(_Below):
    """Numbers below `upper_bound`."""

    def check(self, value: Any) -> Any:
        return value < self.upper_bound


class _Interval(_Bounded):
    """Numbers from `lower_bound` to `upper_bound`."""

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Bounded):
    """Numbers from `lower_bound` on that are below `upper_bound`."""

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value < self.upper_bound)


# --- vectors --------------------------------------------------------------------------------------


class _OneHot(Constraint):
    """Vectors of zeros with a single one."""

    is_discrete = True
    event_dim = 1

    def check(self, value: Any) -> Any:
        return ((value == 0) | (value == 1)).all(-1) & value.sum(-1).eq(1)


class _Simplex(Constraint):
    """Vectors of numbers that are not negative and sum to one, up to 1e-6."""

    event_dim = 1

    def check(self, value: Any) -> Any:
        return torch.all(value >= 0, dim=-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(_Below):
    """Vectors of counts that sum to at most `upper_bound`: for lack of trials, each is checked."""

    is_discrete = True
    event_dim = 1
    _shown = ()

    def check(self, x: Any) -> Any:
        return (x >= 0).all(dim=-1) & (x.sum(dim=-1) <= self.upper_bound)


# --- matrices -------------------------------------------------------------------------------------


class _LowerTriangular(Constraint):
    """Matrices of zeros above the diagonal."""

    event_dim = 2

    def check(self, value: Any) -> Any:
        return _of_matrix(value.tril() == value)


class _LowerCholesky(Constraint):
    """Lower triangular matrices with positive diagonals."""

    event_dim = 2

    def check(self, value: Any) -> Any:
        is_triangle = _of_matrix(value.tril() == value)
        return is_triangle & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(Constraint):
    """Lower triangular matrices with positive diagonals whose rows have length one."""

    event_dim = 2

    def check(self, value: Any) -> Any:
        tolerance = torch.finfo(value.dtype).eps * value.size(-1) * 10
        length = torch.linalg.norm(value.detach(), dim=-1)
        return _LowerCholesky().check(value) & (length - 1).abs().le(tolerance).all(dim=-1)


class _Square(Constraint):
    """Square matrices."""

    event_dim = 2

    def check(self, value: Any) -> Any:
        is_square = value.shape[-2] == value.shape[-1]
        return torch.full(value.shape[:-2], is_square, dtype=torch.bool, device=value.device)


class _Symmetric(_Square):
    """Matrices that are their own transposes, up to 1e-6."""

    def check(self, value: Any) -> Any:
        is_square = super().check(value)
        if not is_square.all():
            return is_square
        return torch.isclose(value, value.mT, atol=1e-6).all(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without negative eigenvalues."""

    def check(self, value: Any) -> Any:
        is_symmetric = super().check(value)
        if not is_symmetric.all():
            return is_symmetric
        return torch.linalg.eigvalsh(value).ge(0).all(-1)


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices with a Cholesky factor."""

    def check(self, value: Any) -> Any:
        is_symmetric = super().check(value)
        if not is_symmetric.all():
            return is_symmetric
        return torch.linalg.cholesky_ex(value).info.eq(0)


def _of_matrix(elements: Any) -> Any:
    return elements.reshape((*elements.shape[:-2], -1)).min(-1).values


# --- public names ---------------------------------------------------------------------------------

dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
