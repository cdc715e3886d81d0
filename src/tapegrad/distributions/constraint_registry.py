"""From unconstrained numbers to a constrained set: the transform of each constraint.

`biject_to(constraint)` is a bijective one, whose change of volume is known, for inference;
`transform_to(constraint)` may be simpler, for optimisation.

>>> from tapegrad.distributions import constraints, transform_to
>>> transform_to(constraints.interval(2.0, 4.0))(torch.tensor(0.0))
tensor(3.)
"""

from __future__ import annotations

from typing import Any

from tapegrad.core import errors
from tapegrad.distributions import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """A table from the class of a constraint to a function that makes its transform.

    >>> from tapegrad.distributions import constraints, transforms
    >>> registry = torch.distributions.constraint_registry.ConstraintRegistry()
    >>> @registry.register(constraints.real)
    ... def identity(constraint):
    ...     return transforms.identity_transform
    >>> registry(constraints.real) is transforms.identity_transform
    True
    """

    def __init__(self) -> None:
        self._registry: dict = {}
        super().__init__()

    def register(self, constraint: Any, factory: Any = None) -> Any:
        """Register a factory for a class of constraints; without one, a decorator.

        Args:
            constraint: a subclass of `Constraint`, or an instance of one.
            factory: takes a constraint, returns a transform.

        Raises: TypeError for what is no constraint.

        >>> registry = torch.distributions.constraint_registry.ConstraintRegistry()
        >>> _ = registry.register(torch.distributions.constraints.real, lambda constraint: None)
        """
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        if isinstance(constraint, constraints.Constraint):
            constraint = type(constraint)
        if not isinstance(constraint, type) or not issubclass(constraint, constraints.Constraint):
            raise errors.type_error(
                "Expected constraint to be either a Constraint subclass or instance, "
                f"but got {constraint}",
                "Such as constraints.real.",
            )
        self._registry[constraint] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        """The transform to this constraint.

        Raises: NotImplementedError if there is none.
        """
        try:
            factory = self._registry[type(constraint)]
        except KeyError:
            raise errors.not_implemented(
                f"Cannot transform {type(constraint).__name__} constraints",
                "register() takes a transform for a new constraint.",
            ) from None
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _in_both(*classes: Any) -> Any:
    def register(factory: Any) -> Any:
        for each in classes:
            biject_to.register(each, factory)
            transform_to.register(each, factory)
        return factory

    return register


@_in_both(constraints.real)
def _of_real(constraint: Any) -> Any:
    return transforms.identity_transform


@biject_to.register(constraints.independent)
def _bijection_of_independent(constraint: Any) -> Any:
    base, n = biject_to(constraint.base_constraint), constraint.reinterpreted_batch_ndims
    return transforms.IndependentTransform(base, n)


@transform_to.register(constraints.independent)
def _of_independent(constraint: Any) -> Any:
    base, n = transform_to(constraint.base_constraint), constraint.reinterpreted_batch_ndims
    return transforms.IndependentTransform(base, n)


@_in_both(constraints.greater_than_eq, constraints.greater_than)
def _of_greater_than(constraint: Any) -> Any:
    shift = transforms.AffineTransform(constraint.lower_bound, 1)
    return transforms.ComposeTransform([transforms.ExpTransform(), shift])


@_in_both(constraints.less_than)
def _of_less_than(constraint: Any) -> Any:
    turn = transforms.AffineTransform(constraint.upper_bound, -1)
    return transforms.ComposeTransform([transforms.ExpTransform(), turn])


@_in_both(constraints.half_open_interval, constraints.interval)
def _of_interval(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    stretch = transforms.AffineTransform(low, high - low)
    return transforms.ComposeTransform([transforms.SigmoidTransform(), stretch])


@biject_to.register(constraints.simplex)
def _bijection_of_simplex(constraint: Any) -> Any:
    return transforms.StickBreakingTransform()


@transform_to.register(constraints.simplex)
def _of_simplex(constraint: Any) -> Any:
    return transforms.SoftmaxTransform()


@transform_to.register(constraints.lower_cholesky)
def _of_lower_cholesky(constraint: Any) -> Any:
    return transforms.LowerCholeskyTransform()


@transform_to.register(constraints.positive_semidefinite)
@transform_to.register(constraints.positive_definite)
def _of_positive_definite(constraint: Any) -> Any:
    return transforms.PositiveDefiniteTransform()


@_in_both(constraints.corr_cholesky)
def _of_corr_cholesky(constraint: Any) -> Any:
    return transforms.CorrCholeskyTransform()


@biject_to.register(constraints.cat)
def _bijection_of_cat(constraint: Any) -> Any:
    parts = [biject_to(c) for c in constraint.cseq]
    return transforms.CatTransform(parts, constraint.dim, constraint.lengths)


@transform_to.register(constraints.cat)
def _of_cat(constraint: Any) -> Any:
    parts = [transform_to(c) for c in constraint.cseq]
    return transforms.CatTransform(parts, constraint.dim, constraint.lengths)


@biject_to.register(constraints.stack)
def _bijection_of_stack(constraint: Any) -> Any:
    return transforms.StackTransform([biject_to(c) for c in constraint.cseq], constraint.dim)


@transform_to.register(constraints.stack)
def _of_stack(constraint: Any) -> Any:
    return transforms.StackTransform([transform_to(c) for c in constraint.cseq], constraint.dim)
