"""Methods that draw random numbers."""

from typing import Any

from tapegrad.ops import random_choice, random_coin, random_fill


class RandomMethods:
    """Filling with random numbers, and draws whose parameters are in the tensor."""

    __slots__ = ()

    bernoulli_ = random_coin.bernoulli_
    cauchy_ = random_fill.cauchy_
    exponential_ = random_fill.exponential_
    geometric_ = random_fill.geometric_
    log_normal_ = random_fill.log_normal_
    multinomial = random_choice.multinomial
    normal_ = random_fill.normal_
    random_ = random_fill.random_
    uniform_ = random_fill.uniform_

    def bernoulli(self, p: Any = None, *, generator: Any = None) -> Any:
        """Ones where a coin falls that shows one with these probabilities; else zeros.

        >>> _ = torch.manual_seed(0)
        >>> torch.tensor([0.0, 0.8, 1.0]).bernoulli()
        tensor([0., 1., 1.])
        """
        return random_coin.bernoulli(self, p, generator=generator)
