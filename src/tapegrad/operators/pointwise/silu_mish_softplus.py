"""Activations of neural networks that are smooth, each a function of one element."""

from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.result_order import row_major
from tapegrad.dispatch.op import elementwise, vjp
from tapegrad.operators.dtype_check import BOOL, INTEGER, floats_only, lacks
from tapegrad.operators.pointwise.sigmoid_logit_xlogy import logistic


def _silu_vjp(xp, g, input):
    s = logistic(xp, input)
    return g * (s * (1 + input * (1 - s)))


@vjp(input=_silu_vjp)
@elementwise(promote="float", node="SiluBackward0", check=lacks("silu_cpu", BOOL, INTEGER))
def silu(xp, input):
    """x * sigmoid(x) of each element.

    Source: Elfwing et al., "Sigmoid-Weighted Linear Units", 2017, eq. 6.

    >>> torch.nn.functional.silu(torch.tensor([-1.0, 2.0]))
    tensor([-0.2689,  1.7616])
    """
    return input * logistic(xp, input)


def log_one_plus_exp(xp, x):
    """log(1 + exp(x)) without overflow."""
    return xp.maximum(x, 0) + xp.log1p(xp.exp(-xp.abs(x)))


def _mish_vjp(xp, g, input):
    t = xp.tanh(log_one_plus_exp(xp, input))
    return g * (t + input * logistic(xp, input) * (1 - t) * (1 + t))


@vjp(input=_mish_vjp)
@elementwise(promote="float", node="MishBackward0", check=floats_only("mish_cpu"))
def mish(xp, input):
    """x * tanh(log(1 + exp(x))) of each element.

    Source: Misra, "Mish: A Self Regularized Non-Monotonic Activation Function", 2019.

    >>> torch.nn.functional.mish(torch.tensor([-1.0, 2.0]))
    tensor([-0.3034,  1.9440])
    """
    return input * xp.tanh(log_one_plus_exp(xp, input))


@vjp(
    input=lambda xp, g, input, beta, threshold: xp.where(
        input * beta > threshold, g, g * logistic(xp, input * beta)
    )
)
@elementwise(promote="float", node="SoftplusBackward0", check=floats_only("softplus_cpu"))
def softplus_beta(xp, input, *, beta, threshold):
    """log(1 + exp(beta x)) / beta, and x itself where beta x is above the threshold."""
    scaled = input * beta
    return xp.where(scaled > threshold, input, log_one_plus_exp(xp, scaled) / beta)


@require_tensors
def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Any:
    """log(1 + exp(beta x)) / beta of each element.

    Where `beta x` is above `threshold` it is x itself.

    Shape: any, and that of the result.

    >>> torch.nn.functional.softplus(torch.tensor([-1.0, 2.0]))
    tensor([0.3133, 2.1269])
    """
    return softplus_beta(input, beta=beta, threshold=threshold)


@vjp(input=lambda xp, g, input: g * logistic(xp, -input))
@elementwise(
    promote="float",
    node="LogSigmoidBackward0",
    check=floats_only("log_sigmoid_cpu"),
    order=row_major,
)
def log_sigmoid(xp, input):
    """log(1 / (1 + exp(-x))) of each element.

    >>> torch.nn.functional.logsigmoid(torch.tensor([-1.0, 2.0]))
    tensor([-1.3133, -0.1269])
    """
    return -log_one_plus_exp(xp, -input)
