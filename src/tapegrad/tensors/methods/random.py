"""Methods that draw random numbers."""

from tapegrad.core.annotations import Any, Source
from tapegrad.operators.random import bernoulli as _bernoulli
from tapegrad.operators.random import multinomial as _multinomial
from tapegrad.operators.random import normal_uniform


class RandomMethods:
    """Filling with random numbers, and draws whose parameters are in the tensor."""

    __slots__ = ()

    bernoulli_ = _bernoulli.bernoulli_
    cauchy_ = normal_uniform.cauchy_
    exponential_ = normal_uniform.exponential_
    geometric_ = normal_uniform.geometric_
    log_normal_ = normal_uniform.log_normal_
    multinomial = _multinomial.multinomial
    normal_ = normal_uniform.normal_
    random_ = normal_uniform.random_
    uniform_ = normal_uniform.uniform_

    def bernoulli(self, p: Any = None, *, generator: Source = None) -> Any:
        """Ones where a coin falls that shows one with these probabilities; else zeros.

        >>> _ = torch.manual_seed(0)
        >>> torch.tensor([0.0, 0.8, 1.0]).bernoulli()
        tensor([0., 1., 1.])
        """
        return _bernoulli.bernoulli(self, p, generator=generator)
