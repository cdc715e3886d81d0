"""The older kind of checkpoint: a custom function whose backward is a backward pass of its own."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from tapegrad.autograd.backward_grad import backward as run_backward
from tapegrad.autograd.engine import BACKWARD_PASS
from tapegrad.autograd.function import Function
from tapegrad.autograd.mode import enable_grad, no_grad
from tapegrad.core import errors
from tapegrad.core.tensor_base import TensorBase
from tapegrad.utils.checkpoint.surroundings import Surroundings


class CheckpointFunction(Function):
    """What `checkpoint(..., use_reentrant=True)` applies."""

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.surroundings = Surroundings(preserve_rng_state)
        ctx.inputs = [None if isinstance(x, TensorBase) else x for x in args]
        ctx.places = [i for i, x in enumerate(args) if isinstance(x, TensorBase)]
        ctx.save_for_backward(*[args[i] for i in ctx.places])
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        inputs = list(ctx.inputs)
        for i, x in zip(ctx.places, ctx.saved_tensors, strict=True):
            inputs[i] = x
        inputs = list(detach_variable(tuple(inputs)))
        with ctx.surroundings.again(), enable_grad():
            outputs = ctx.run_function(*inputs)
        outputs = (outputs,) if isinstance(outputs, TensorBase) else outputs
        pairs = [
            (y, g)
            for y, g in zip(outputs, grads, strict=False)
            if isinstance(y, TensorBase) and y.requires_grad
        ]
        if not pairs:
            raise errors.runtime_error(
                "none of output has requires_grad=True, this checkpoint() is not necessary",
                "Call the function itself.",
            )
        run_backward([y for y, _ in pairs], [g for _, g in pairs])
        found = [x.grad if isinstance(x, TensorBase) else None for x in inputs]
        return (None, None, *found)


def apply(function: Any, preserve_rng_state: bool, args: tuple) -> Any:
    """Apply it, and have it refuse passes in which leaves do not accumulate."""
    result = CheckpointFunction.apply(function, preserve_rng_state, *args)
    for x in result if isinstance(result, tuple) else (result,):
        node = x.grad_fn if isinstance(x, TensorBase) else None
        if node is not None:
            node.register_prehook(_check_pass)
            break
    return result


def _check_pass(grads: tuple) -> None:
    if BACKWARD_PASS.get().restricted:
        raise errors.runtime_error(
            "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
            "passing an `inputs` parameter to .backward(). To resolve this error, you can "
            "either set use_reentrant=False, or call .backward() without passing the `inputs` "
            "argument.",
            "Pass use_reentrant=False.",
        )


def check_backward_validity(inputs: Iterable) -> None:
    """Warn if none of the tensors among `inputs` requires grad.

    >>> torch.utils.checkpoint.check_backward_validity([torch.ones(1, requires_grad=True)])
    """
    if not any(x.requires_grad for x in inputs if isinstance(x, TensorBase)):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None",
            UserWarning,
            stacklevel=2,
        )


def detach_variable(inputs: tuple) -> tuple:
    """The tensors of a tuple without history, each requiring grad if it did; the rest as it is.

    >>> x = torch.ones(1, requires_grad=True)
    >>> torch.utils.checkpoint.detach_variable((x * 2, "name"))
    (tensor([2.], requires_grad=True), 'name')
    """
    if not isinstance(inputs, tuple):
        raise errors.runtime_error(
            "Only tuple of tensors is supported. Got Unsupported input type: "
            f"{type(inputs).__name__}",
            "Pass a tuple.",
        )
    found = []
    for x in inputs:
        if isinstance(x, TensorBase):
            wanted, x = x.requires_grad, x.detach()
            x.requires_grad = wanted
        found.append(x)
    return tuple(found)
