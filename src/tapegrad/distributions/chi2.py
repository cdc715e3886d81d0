"""The chi-squared distribution."""

from __future__ import annotations

from typing import Any

from tapegrad.distributions import constraints
from tapegrad.distributions.gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """Sums of the squares of `df` standard normal numbers: `Gamma(df / 2, 1 / 2)`.

    Args:
        df: degrees of freedom, a number or a tensor.

    Raises: ValueError for a df that is not positive.

    >>> d = torch.distributions.Chi2(torch.tensor(3.0))
    >>> d.df, d.mean, d.variance
    (tensor(3.), tensor(3.), tensor(6.))
    """

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, self._get_checked_instance(Chi2, _instance))

    @property
    def df(self) -> Any:
        """Degrees of freedom."""
        return self.concentration * 2
