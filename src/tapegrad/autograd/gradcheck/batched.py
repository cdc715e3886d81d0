"""Derivatives for several cotangents or tangents at once, by `vmap`, against one by one."""

import numpy as np

from tapegrad.autograd import forward_ad
from tapegrad.autograd.backward_grad import grad
from tapegrad.autograd.gradcheck.analytical import as_tuple, is_inexact, with_gradient
from tapegrad.autograd.gradcheck.message import BATCHED, BATCHED_FORWARD, wrong
from tapegrad.core.annotations import Any, Array, Callable, Sequence
from tapegrad.core.tensor_base import TensorBase, wrap
from tapegrad.operators import allclose, stack
from tapegrad.operators.random.rand_like import randn_like

_ADVICE = "The derivative treats the dimension of the batch as one of its own."


def check_batched_gradients(outputs: Sequence, inputs: Sequence) -> None:
    """Raise unless the gradients of a batch of cotangents are those of each."""
    differentiable = with_gradient(inputs)
    for i, output in enumerate(outputs):

        def pull(g: Array, output: Any = output) -> tuple:
            found = grad(output, differentiable, g, retain_graph=True, allow_unused=True)
            return tuple(
                _zero(x).expand(x.shape) if dx is None else dx
                for dx, x in zip(found, differentiable, strict=True)
            )

        _compare(pull, output, i, None, BATCHED)


def check_batched_tangents(function: Callable, inputs: Sequence) -> None:
    """Raise unless the tangents of a batch of tangents of an input are those of each."""
    for i, x in enumerate(inputs):
        if not (isinstance(x, TensorBase) and x.requires_grad):
            continue

        def push(tangent: Array, i: int = i) -> tuple:
            with forward_ad.dual_level():
                given = [x.detach() if isinstance(x, TensorBase) else x for x in inputs]
                given[i] = forward_ad.make_dual(given[i], tangent)
                results = [y for y in as_tuple(function(*given)) if is_inexact(y)]
                found = [forward_ad.unpack_dual(y) for y in results]
                return tuple(_zero(y).expand(y.shape) if t is None else t for y, t in found)

        _compare(push, x, None, i, BATCHED_FORWARD)


def _zero(x: Any) -> Any:
    return wrap(np.zeros((), x._array.dtype))


def _compare(
    derivative: Callable, like: Any, output: int | None, input: int | None, text: str
) -> None:
    """Compare `derivative` of two random tensors at once with that of each."""
    from tapegrad.func import vmap

    given = [randn_like(like).detach() for _ in range(2)]
    wanted = [stack(each) for each in zip(*map(derivative, given), strict=True)]
    try:
        found = vmap(derivative)(stack(given))
    except RuntimeError as error:
        raise wrong(
            f"While computing batched gradients, got: {error}\n\n{text}", _ADVICE
        ) from error
    for i, (ours, exact) in enumerate(zip(found, wanted, strict=True)):
        if not allclose(ours, exact):
            o, k = (output, i) if input is None else (i, input)
            raise wrong(
                f"For output {o} and input {k}:\n\n{text}\n\nGot:\n{ours}\n\nExpected:\n{exact}",
                _ADVICE,
            )
