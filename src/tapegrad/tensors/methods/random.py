"""Methods that draw random numbers."""

from tapegrad.core.argument_check import method_of
from tapegrad.core.lazy import method
from tapegrad.operators.random import bernoulli as _bernoulli
from tapegrad.operators.random import normal_uniform


class RandomMethods:
    """Filling with random numbers, and draws whose parameters are in the tensor."""

    __slots__ = ()

    bernoulli = method_of(_bernoulli.bernoulli)
    bernoulli_ = _bernoulli.bernoulli_
    cauchy_ = normal_uniform.cauchy_
    exponential_ = normal_uniform.exponential_
    geometric_ = normal_uniform.geometric_
    log_normal_ = normal_uniform.log_normal_
    multinomial = method("tapegrad.operators.random.multinomial")
    normal_ = normal_uniform.normal_
    random_ = normal_uniform.random_
    uniform_ = normal_uniform.uniform_
