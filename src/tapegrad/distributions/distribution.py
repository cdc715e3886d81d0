"""The base of all distributions: shapes, validation, and what each of them answers."""

from __future__ import annotations

import warnings
from typing import Any

import tapegrad as torch
from tapegrad.core import errors
from tapegrad.distributions import constraints
from tapegrad.distributions.utils import lazy_property

__all__ = ["Distribution"]


class Distribution:
    """A batch of distributions of tensors.

    Args:
        batch_shape: the shape of the batch of independent distributions, each with its parameters.
        event_shape: the shape of one event, a sample of one distribution.
        validate_args: whether parameters and values are checked; None is the default of all.

    A sample has the shape `sample_shape + batch_shape + event_shape`, and `log_prob` of it
    `sample_shape + batch_shape`. What a distribution has no formula for raises
    NotImplementedError.

    >>> from tapegrad.distributions import MultivariateNormal
    >>> d = MultivariateNormal(torch.zeros(4, 2), torch.eye(2))
    >>> d.batch_shape, d.event_shape, d.sample((3,)).shape, d.log_prob(torch.zeros(2)).shape
    (torch.Size([4]), torch.Size([2]), torch.Size([3, 4, 2]), torch.Size([4]))
    """

    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions made from now on check their parameters and values.

        Raises: ValueError for what is no bool.

        >>> torch.distributions.Distribution.set_default_validate_args(True)
        """
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Any = torch.Size(),
        event_shape: Any = torch.Size(),
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape = batch_shape
        self._event_shape = event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        try:
            arg_constraints = self.arg_constraints
        except NotImplementedError:
            arg_constraints = {}
            warnings.warn(
                f"{self.__class__} does not define `arg_constraints`. Please set "
                "`arg_constraints = {}` or initialize the distribution with "
                "`validate_args=False` to turn off validation.",
                stacklevel=3,
            )
        for name, constraint in arg_constraints.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property):
                continue  # computed from a parameter that is checked
            value = getattr(self, name)
            valid = constraint.check(value)
            if not valid.all():
                raise errors.value_error(
                    f"Expected parameter {name} ({type(value).__name__} of shape "
                    f"{tuple(value.shape)}) of distribution {self!r} to satisfy the constraint "
                    f"{constraint!r}, but found invalid values:\n{value}",
                    "validate_args=False leaves the check away.",
                )

    # --- shapes ---

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distributions seen in a larger batch: parameters are expanded, not copied.

        Args:
            batch_shape: the new shape of the batch.

        >>> torch.distributions.Normal(0.0, torch.ones(2)).expand((3, 2))
        Normal(loc: torch.Size([3, 2]), scale: torch.Size([3, 2]))
        """
        raise NotImplementedError

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """A bare instance for `expand`, which a subclass with other parameters must not inherit."""
        of_class: Any = cls
        if _instance is None and type(self).__init__ != of_class.__init__:
            raise errors.not_implemented(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom "
                "__init__ method must also define a custom .expand() method.",
                f"Only {type(self).__name__} knows how its parameters are expanded.",
            )
        return self.__new__(type(self)) if _instance is None else _instance

    def _expanded(
        self, cls: type, batch_shape: Any, _instance: Any, *parameters: str, event_shape: Any = ()
    ) -> Any:
        """`expand` where every parameter has the batch shape, then its own event shape."""
        new = self._get_checked_instance(cls, _instance)
        batch_shape = torch.Size(batch_shape)
        for name in parameters:
            if name in self.__dict__:  # of probs and logits, there may be one
                setattr(new, name, self.__dict__[name].expand(batch_shape + event_shape))
        return self._finish(cls, new, batch_shape, self._event_shape)

    def _finish(self, cls: Any, new: Any, batch_shape: Any, event_shape: Any) -> Any:
        """The end of an `expand`: parameters that passed the check are not checked again."""
        above: Any = super(cls, new)
        above.__init__(batch_shape, event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def batch_shape(self) -> Any:
        """The shape of the batch of distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Any:
        """The shape of one event."""
        return self._event_shape

    def _extended_shape(self, sample_shape: Any = torch.Size()) -> Any:
        """The shape of samples: `sample_shape + batch_shape + event_shape`."""
        if not isinstance(sample_shape, torch.Size):
            sample_shape = torch.Size(sample_shape)
        return torch.Size(sample_shape + self._batch_shape + self._event_shape)

    # --- what a distribution is ---

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        """By the name of each parameter, the set it has to lie in."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """The set the samples lie in."""
        raise NotImplementedError

    @property
    def mean(self) -> Any:
        """The mean, of shape `batch_shape + event_shape`."""
        raise NotImplementedError

    @property
    def mode(self) -> Any:
        """The most probable event, of shape `batch_shape + event_shape`."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> Any:
        """The variance, of shape `batch_shape + event_shape`."""
        raise NotImplementedError

    @property
    def stddev(self) -> Any:
        """The standard deviation: the root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = torch.Size()) -> Any:
        """Samples without a gradient, of shape `sample_shape + batch_shape + event_shape`.

        >>> torch.distributions.Normal(0.0, 1.0).sample((2, 3)).shape
        torch.Size([2, 3])
        """
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = torch.Size()) -> Any:
        """Samples that are differentiable functions of the parameters.

        >>> loc = torch.tensor(0.0, requires_grad=True)
        >>> torch.distributions.Normal(loc, 1.0).rsample().backward()
        >>> loc.grad
        tensor(1.)
        """
        raise NotImplementedError

    def sample_n(self, n: int) -> Any:
        """`sample((n,))`, which is to be called instead.

        >>> import warnings
        >>> with warnings.catch_warnings(action="ignore"):
        ...     torch.distributions.Normal(0.0, 1.0).sample_n(2).shape
        torch.Size([2])
        """
        errors.deprecated("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.")
        return self.sample(torch.Size((n,)))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability, or of the density, at each event of `value`.

        Raises: ValueError for what is no tensor, does not broadcast or lies outside the support.

        >>> torch.distributions.Normal(0.0, 1.0).log_prob(torch.tensor(0.0))
        tensor(-0.9189)
        """
        raise NotImplementedError

    def cdf(self, value: Any) -> Any:
        """The probability of an event up to `value`.

        >>> torch.distributions.Normal(0.0, 1.0).cdf(torch.tensor(0.0))
        tensor(0.5000)
        """
        raise NotImplementedError

    def icdf(self, value: Any) -> Any:
        """The quantile: the event up to which the probability is `value`.

        >>> torch.distributions.Normal(0.0, 1.0).icdf(torch.tensor(0.5))
        tensor(0.)
        """
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Any:
        """All events of a discrete distribution, along a new first dimension.

        Args:
            expand: whether they are repeated for each distribution of the batch, or stand there
                once, with dimensions of 1.

        >>> torch.distributions.Bernoulli(torch.tensor([0.1, 0.9])).enumerate_support()
        tensor([[0., 0.],
                [1., 1.]])
        """
        raise NotImplementedError

    def entropy(self) -> Any:
        """The mean of `-log_prob`, in nats; of shape `batch_shape`.

        >>> torch.distributions.Uniform(0.0, 1.0).entropy()
        tensor(0.)
        """
        raise NotImplementedError

    def perplexity(self) -> Any:
        """The exponential of the entropy: how many equally probable events are as uncertain.

        >>> torch.distributions.Categorical(torch.ones(4)).perplexity()
        tensor(4.)
        """
        return torch.exp(self.entropy())

    # --- validation ---

    def _validate_sample(self, value: Any) -> None:
        """Raise ValueError unless `value` broadcasts, and lies in the support."""
        if not isinstance(value, torch.Tensor):
            raise errors.value_error(
                "The value argument to log_prob must be a Tensor", "torch.tensor(x) makes one."
            )
        n = len(self._event_shape)
        if value.size()[value.dim() - n :] != self._event_shape:
            raise errors.value_error(
                "The right-most size of value must match event_shape: "
                f"{value.size()} vs {self._event_shape}.",
                "The last dimensions of a value are those of an event.",
            )
        expected = self._batch_shape + self._event_shape
        for i, j in zip(reversed(value.size()), reversed(expected), strict=False):
            if i not in (1, j) and j != 1:
                raise errors.value_error(
                    "Value is not broadcastable with batch_shape+event_shape: "
                    f"{value.size()} vs {expected}.",
                    "Dimensions that meet are equal, or one of them is 1.",
                )
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `support` to enable "
                "sample validation. Please initialize the distribution with "
                "`validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        assert support is not None
        valid = support.check(value)
        if not valid.all():
            raise errors.value_error(
                f"Expected value argument ({type(value).__name__} of shape "
                f"{tuple(value.shape)}) to be within the support ({support!r}) of the "
                f"distribution {self!r}, but found invalid values:\n{value}",
                "validate_args=False leaves the check away.",
            )

    def __repr__(self) -> str:
        names = [name for name in self.arg_constraints if name in self.__dict__]
        shown = []
        for name in names:
            value = self.__dict__[name]
            shown.append(f"{name}: {value if value.numel() == 1 else value.size()}")
        return f"{type(self).__name__}({', '.join(shown)})"
