"""The Kullback-Leibler divergence of two distributions: a table of pairs of classes.

The formulas stand in `kl_same_family` and `kl_other_family`; `register_kl` adds others.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from tapegrad.core import errors
from tapegrad.distributions.distribution import Distribution

__all__ = ["kl_divergence", "register_kl"]

_KL_REGISTRY: dict[tuple[type, type], Callable] = {}
_KL_MEMOIZE: dict[tuple[type, type], Callable] = {}


def register_kl(type_p: type, type_q: type) -> Callable:
    """A decorator for the divergence of a pair of classes, and of their subclasses.

    The function takes `p` and `q`. Of several pairs that fit, the most particular one is taken,
    p before q; where the two orders disagree, a RuntimeWarning says so.

    Any classes may be given, as in PyTorch: Pyro registers base classes of its own.

    >>> class Point(torch.distributions.Distribution):
    ...     arg_constraints = {}
    >>> @torch.distributions.register_kl(Point, Point)
    ... def of_points(p, q):
    ...     return torch.tensor(0.0)
    >>> torch.distributions.kl_divergence(Point(), Point())
    tensor(0.)
    """
    for name, given in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(given, type):
            raise errors.type_error("issubclass() arg 1 must be a class", f"{name} is {given!r}.")

    def decorator(function: Callable) -> Callable:
        _KL_REGISTRY[type_p, type_q] = function
        _KL_MEMOIZE.clear()  # a new pair may be more particular than what was found
        return function

    return decorator


def _nearest(matches: list, order: tuple[int, int]) -> tuple[type, type]:
    """The most particular of the pairs, compared in this order of p and q."""

    def compare(first: tuple, second: tuple) -> int:
        for i in order:
            if first[i] is not second[i]:
                return -1 if issubclass(first[i], second[i]) else 1
        return 0

    return min(matches, key=functools.cmp_to_key(compare))


def _dispatch_kl(type_p: type, type_q: type) -> Callable:
    """The function of the nearest pair of classes; NotImplemented where there is none."""
    matches = [
        pair for pair in _KL_REGISTRY if issubclass(type_p, pair[0]) and issubclass(type_q, pair[1])
    ]
    if not matches:
        return NotImplemented
    by_p = _nearest(matches, (0, 1))
    by_q = _nearest(matches, (1, 0))
    function = _KL_REGISTRY[by_p]
    if function is not _KL_REGISTRY[by_q]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please "
            f"register_kl({by_p[0].__name__}, {by_q[1].__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return function


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """The mean of `log p(x) - log q(x)` over x of p, in nats; of the batch shape of the two.

    Raises: NotImplementedError where no formula is registered for the two classes.

    >>> D = torch.distributions
    >>> D.kl_divergence(D.Normal(0.0, 1.0), D.Normal(1.0, 1.0))
    tensor(0.5000)
    """
    pair = type(p), type(q)
    function = _KL_MEMOIZE.get(pair)
    if function is None:
        function = _dispatch_kl(*pair)
        _KL_MEMOIZE[pair] = function
    if function is NotImplemented:
        raise errors.not_implemented(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type "
            f"{type(q).__name__}",
            "The mean of p.log_prob(x) - q.log_prob(x) over samples estimates it.",
        )
    return function(p, q)
