"""Throwing coins: ones and zeros, each with its probability."""

import numpy as np

from tapegrad.autograd.writable import check_out, check_overlap
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Out, Source, Tensor
from tapegrad.core.dtype import of
from tapegrad.core.memory_format import axes_by_stride
from tapegrad.core.scalar import float_of
from tapegrad.core.streams import exponential_cauchy
from tapegrad.dispatch.op import jvp, primitive, vjp
from tapegrad.operators.no_formula import in_graph
from tapegrad.operators.random import argument, fill

__all__ = ["bernoulli"]

bernoulli_draw = fill.replacement("bernoulli_draw", "BernoulliBackward0")
bernoulli_fill = fill.replacement("bernoulli_fill", "BernoulliBackward2")


@jvp(
    input=lambda xp, t: xp.zeros_like(t),
    p=lambda xp, input_like: xp.zeros(input_like.shape, dtype=input_like.dtype),
)
@vjp(
    input=lambda xp, g: xp.zeros_like(g),
    p=lambda xp, p_like: xp.zeros(p_like.shape, dtype=p_like.dtype),
)
@primitive(node="BernoulliBackward1")
def bernoulli_tensor_fill(xp, input, p, *, drawn):
    """The array `drawn`, with the probabilities `p`, takes the place of `input`."""
    return xp.asarray(drawn)


@fill.of_tensors
def bernoulli(input: Tensor, p: Any = None, *, generator: Source = None, out: Out = None) -> Any:
    """Ones where a coin falls that shows one with the probability `input`; else zeros.

    With a number `p`, all coins have that probability, and `input` gives shape and dtype only.

    Shape: that of `input`.
    Raises: RuntimeError for what is no probability.

    >>> _ = torch.manual_seed(0)
    >>> torch.bernoulli(torch.tensor([0.0, 0.8, 1.0]))
    tensor([0., 1., 1.])
    """
    errors.need_tensor("bernoulli", "input", 1, input)
    stream, array = argument.stream_of("bernoulli", generator), input._array
    if p is not None:
        if isinstance(p, tensor_base.Tensor) and not p.ndim and not p.requires_grad:
            p = p.item()
        if out is not None or not isinstance(p, (int, float, np.number)):
            advice = "bernoulli(input) or bernoulli(input, p), where p is a number."
            raise argument.mismatch(
                "bernoulli", (input, p), {} if out is None else {"out": out}, advice
            )
        found = bernoulli_(
            tensor_base.wrap(np.empty(array.shape, array.dtype)), p, generator=generator
        )
        return in_graph("bernoulli", (found,), input)[0]
    if array.dtype.kind == "c" and array.size:
        raise argument.not_implemented("bernoulli_tensor_cpu_self_", input.dtype)
    _check_probabilities(array)
    if out is None:
        drawn = exponential_cauchy.bernoulli(stream, array.shape, array.dtype, array)
        return bernoulli_draw(input, drawn=drawn)
    check_out(out, input)
    fill.prepare_out("bernoulli", out, array.shape, input.requires_grad)
    p = array.transpose(axes_by_stride(out._array))
    return fill.fill_out("bernoulli", out, exponential_cauchy.bernoulli, stream, p)


@fill.in_place
def bernoulli_(input: Tensor, p: Any = 0.5, *, generator: Source = None) -> Any:
    """Fill the tensor with ones, of probability `p`, and zeros; `p` is a number or a tensor.

    >>> _ = torch.manual_seed(0)
    >>> torch.empty(4).bernoulli_(0.5)
    tensor([0., 0., 1., 0.])
    """
    stream, dtype = argument.stream_of("bernoulli_", generator), input.dtype
    is_known = not dtype.is_complex and dtype.name not in argument.UNSIGNED
    if isinstance(p, tensor_base.Tensor):
        if not is_known and input._array.size:
            raise argument.not_implemented("bernoulli_tensor_cpu_self_", dtype)
        check_overlap(input, (p,))
        chances = _expanded(p, input._array.shape)
        _check_probabilities(chances)
        chances = chances.transpose(axes_by_stride(input._array))
        return fill.filled(
            "bernoulli_",
            bernoulli_tensor_fill,
            input,
            exponential_cauchy.bernoulli,
            stream,
            chances,
            others=(p,),
        )
    if not isinstance(p, (int, float, np.number)):
        raise argument.mismatch(
            "bernoulli_", (p,), {}, "bernoulli_(p=0.5) with a number or a tensor."
        )
    p = float_of("bernoulli_", "p", 1, p)
    argument.require(0 <= p <= 1, "bernoulli_", "p to be in [0, 1]", f"got p={p:g}")
    if not is_known and input._array.size:
        raise argument.not_implemented("bernoulli_scalar_cpu_", dtype)
    return fill.filled("bernoulli_", bernoulli_fill, input, exponential_cauchy.bernoulli, stream, p)


def _expanded(p: Any, shape: tuple) -> np.ndarray:
    given = p._array.shape
    advice = f"Probabilities of shape {list(given)} do not broadcast to {list(shape)}."
    errors.check_expand(given, shape, advice, p.dtype)
    return np.broadcast_to(p._array, shape)


def _check_probabilities(p: np.ndarray) -> None:
    """Raise unless these are probabilities, of a floating-point dtype."""
    dtype = of(p.dtype)
    if not dtype.is_floating_point and p.size:
        raise argument.not_implemented("bernoulli_tensor_cpu_p_", dtype)
    if not ((p >= 0) & (p <= 1)).all():
        advice = "Each element must be a probability, between 0 and 1."
        raise errors.unmet("p_in >= 0 && p_in <= 1", advice)
