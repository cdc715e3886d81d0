"""Checks of `gradcheck` besides Jacobians: zero cotangents, and missing ones."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapegrad.autograd import forward_ad as fwAD
from tapegrad.autograd.backward_grad import grad
from tapegrad.autograd.function import Function
from tapegrad.autograd.gradcheck.analytical import as_tuple, is_inexact, with_gradient
from tapegrad.autograd.gradcheck.message import (
    UNDEFINED_NOT_ZERO,
    UNDEFINED_REFUSED,
    UNDEFINED_WARNING,
    GradcheckError,
    wrong,
)
from tapegrad.core.errors import advised, warn
from tapegrad.core.generator import Generator
from tapegrad.core.tensor_base import TensorBase, wrap
from tapegrad.operators import allclose, zeros_like
from tapegrad.operators.random.rand_randint_randperm import rand


class UndefinedGrad(Function):
    """The identity, through which no gradient comes back."""

    @staticmethod
    def forward(ctx: object, x: Any) -> Any:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, g: Any) -> None:
        return None


def check_multiplied(outputs: Sequence, inputs: Sequence) -> None:
    """Raise unless cotangents of zero give gradients of zero, like their inputs."""
    differentiable = _differentiable(inputs)
    zeros = [zeros_like(o) for o in outputs]
    found = grad(outputs, differentiable, zeros, retain_graph=True, allow_unused=True)
    for g, x in zip(found, differentiable, strict=True):
        if g is None:
            continue
        if (g._array != 0).any():
            raise wrong(
                "backward not multiplied by grad_output",
                "A gradient is linear in what backward is given.",
            )
        if g.dtype is not x.dtype:
            raise wrong("grad is incorrect type", f"It has the dtype of its input, {x.dtype}.")
        if g.shape != x.shape:
            raise wrong("grad is incorrect size", f"It has the shape of its input, {x.shape}.")


def _differentiable(inputs: Sequence) -> list:
    found = with_gradient(inputs)
    if not found:
        raise wrong("no Tensors requiring grad found in input", "Call requires_grad_() on one.")
    return found


# --- missing cotangents ----------------------------------------------------------------------


def check_undefined(function: Callable, inputs: Sequence) -> None:
    """Raise unless backward takes None for zeros: for all cotangents at once, and for each."""
    differentiable = _differentiable(inputs)
    outputs = with_gradient(as_tuple(function(*inputs)))
    _check_without(outputs, range(len(outputs)), differentiable)
    if len(outputs) > 1:
        for i in range(len(outputs)):
            _check_without(with_gradient(as_tuple(function(*inputs))), (i,), differentiable)


def _check_without(outputs: list, missing: Sequence[int], inputs: list) -> None:
    """Cotangents of zero, and none for the outputs `missing`: gradients are zero or None."""
    ends = [UndefinedGrad.apply(o) if i in missing else o for i, o in enumerate(outputs)]
    try:
        found = grad(ends, inputs, [zeros_like(o) for o in outputs], allow_unused=True)
    except RuntimeError as error:
        warn(UNDEFINED_WARNING, 4)
        advice = "Return None for a cotangent that is None, or let zeros be made of it."
        raise wrong(UNDEFINED_REFUSED, advice) from error
    if any(g is not None and (g._array != 0).any() for g in found):
        warn(UNDEFINED_WARNING, 4)
        raise wrong(UNDEFINED_NOT_ZERO, "A gradient is linear in what backward is given.")


# --- missing tangents ------------------------------------------------------------------------


def check_undefined_forward(function: Callable, inputs: Sequence) -> None:
    """Raise unless an input without a tangent counts as one with a tangent of zeros."""
    generator = Generator()
    tangents: dict[int, Any] = {}
    for i, x in enumerate(inputs):
        if isinstance(x, TensorBase) and x.requires_grad:
            vector = rand(x.numel(), generator=generator).to(x.dtype)
            tangents[i] = (vector / vector.norm()).reshape(x.shape)
    for i, x in enumerate(inputs):
        if i not in tangents:
            continue
        zero = wrap(np.zeros(x.shape, x._array.dtype))
        with_zeros = _tangents(function, inputs, {**tangents, i: zero})
        without = _tangents(function, inputs, {**tangents, i: None})
        for place, (a, b) in enumerate(zip(with_zeros, without, strict=True)):
            if a is not None and b is not None and not allclose(a, b):
                error = GradcheckError(  # PyTorch's message is such a tuple
                    "Mismatch in tangent values for output with index: ",
                    place,
                    " when input: ",
                    x,
                    " has an undefined tangent value. ",
                    " Got: ",
                    a,
                    " but expected: ",
                    b,
                )
                raise advised(error, "An input without a tangent does not move.")


def _tangents(function: Callable, inputs: Sequence, tangents: dict[int, Any]) -> list:
    with fwAD.dual_level():
        given = []
        for i, x in enumerate(inputs):
            if i in tangents:
                t = tangents[i]
                x = x.detach() if t is None else fwAD.make_dual(x.detach(), t)
            given.append(x)
        results = [y for y in as_tuple(function(*given)) if is_inexact(y)]
        return [fwAD.unpack_dual(y).tangent for y in results]
