"""Arguments and results of `torch.autograd.functional`: the checks, in PyTorch's words."""

from typing import Any

from tapegrad import operators
from tapegrad.autograd.backward_grad import grad as _grad_of
from tapegrad.autograd.mode import TRANSFORMS
from tapegrad.autograd.node import make_leaf
from tapegrad.core import errors
from tapegrad.core.tensor_base import TensorBase

_NOT_STRICT = "Pass strict=False to get zeros."
OUTPUTS = "outputs of the user-provided function"


# --- what comes in ---


def as_tuple(x: object, what: str, function: str | None) -> tuple[bool, tuple]:
    """Whether `x`, the `what` of a function, is several tensors; and a tuple of them."""
    if isinstance(x, TensorBase):
        return False, (x,)
    if not isinstance(x, tuple):
        raise errors.type_error(
            f"The {what} given to {function} must be either a Tensor or a tuple of Tensors but "
            f"the given {what} has type {type(x)}.",
            "A list has to be made a tuple.",
        )
    for i, each in enumerate(x):
        if not isinstance(each, TensorBase):
            raise errors.type_error(
                f"The {what} given to {function} must be either a Tensor or a tuple of Tensors "
                f"but the value at index {i} has type {type(each)}.",
                "Numbers have to be made tensors.",
            )
    return True, x


def prepare(inputs: tuple, create_graph: bool) -> tuple:
    """Leaves with the inputs' values; with `create_graph` aliases that keep their history."""
    return tuple(x.view_as(x) if create_graph and x.requires_grad else leaf_like(x) for x in inputs)


def leaf_like(x: Any) -> Any:
    """A leaf with the values of `x`."""
    if TRANSFORMS.get() or not (x.dtype.is_floating_point or x.dtype.is_complex):
        return x.detach().requires_grad_()  # an error
    return make_leaf(x.detach())


def directions(v: Any, like: tuple, function: str, missing: str) -> tuple | None:
    """The given vectors, checked against what they are to be multiplied with; None for a 1."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise errors.runtime_error(missing, "Pass v, with the same shapes.")
        return None
    _, vectors = as_tuple(v, "v", function)
    if len(vectors) != len(like):
        if len(like) == 1:
            message = "The given v should contain a single Tensor."
        else:
            message = (
                f"v is a tuple of invalid length: should be {len(like)} but got {len(vectors)}."
            )
        raise errors.runtime_error(message, "One vector for each tensor it multiplies.")
    for i, (one, x) in enumerate(zip(vectors, like, strict=True)):
        if one.shape != x.shape:
            entry = f"Entry {i} in " if len(like) > 1 else ""
            raise errors.runtime_error(
                f"{entry}v has invalid size: should be {x.shape} but got {one.shape}.",
                "The vector has the shape of what it multiplies.",
            )
    return vectors


OF_INPUTS = (
    "The vector v can only be None if the input to the user-provided function is a single Tensor "
    "with a single element."
)
OF_OUTPUTS = (
    "The vector v can only be None if the user-provided function returns a single Tensor with a "
    "single element."
)


# --- what goes out ---


def released(x: tuple, several: bool, create_graph: bool) -> Any:
    """The result in the form the user gave, without a graph unless one was asked for."""
    if not create_graph:
        x = tuple(each.detach() if each.requires_grad else each for each in x)
    return x if several else x[0]


def require_outputs(outputs: tuple, strict: bool) -> None:
    """In strict mode every output has to depend on something."""
    for i, out in enumerate(outputs):
        if strict and not out.requires_grad:
            raise errors.runtime_error(
                f"Output {i} of the user-provided function does not require gradients. The "
                "outputs must be computed in a differentiable manner from the input when "
                "running in strict mode.",
                _NOT_STRICT,
            )


def number(outs: tuple, several: bool, function: str) -> Any:
    """The one number that a Hessian is of."""
    if several:
        raise errors.runtime_error(
            f"The function given to {function} should return a single Tensor",
            "A Hessian is of a number, not of a tuple.",
        )
    if outs[0].numel() != 1:
        raise errors.runtime_error(
            f"The Tensor returned by the function given to {function} should contain a single "
            "element",
            "A Hessian is of a number: sum() the result, or use jacobian.",
        )
    return outs[0]


# --- gradients, and what strict mode makes of those that are not there ---


def pull(outputs: tuple, inputs: tuple, cotangents: tuple | None, create_graph: bool) -> tuple:
    """`grad` of those outputs that depend on something; None where nothing does."""
    pairs = [
        (out, None if cotangents is None else g)
        for out, g in zip(outputs, cotangents or outputs, strict=True)
        if out.requires_grad
    ]
    if not pairs:
        return (None,) * len(inputs)
    outs, gs = zip(*pairs, strict=True)
    return _grad_of(
        outs, inputs, gs, allow_unused=True, create_graph=create_graph, retain_graph=True
    )


_MISSING = {
    "back": "The output of the user-provided function is independent of input {i}. This is not "
    "allowed in strict mode.",
    "back_trick": "The gradient with respect to the input is independent of entry {i} in the "
    "grad_outputs when using the double backward trick to compute forward mode gradients. This is "
    "not allowed in strict mode.",
    "double_back": "The jacobian of the user-provided function is independent of input {i}. This "
    "is not allowed in strict mode.",
    "double_back_trick": "The hessian of the user-provided function is independent of entry {i} in "
    "the grad_jacobian. This is not allowed in strict mode as it prevents from using the double "
    "backward trick to replace forward mode AD.",
}
"""By the stage: what a gradient is called that is None."""

CONSTANT = (
    "The {what} of the user-provided function is independent of input {i}. This is not allowed in "
    "strict mode when create_graph=True."
)
_UNCONNECTED = {
    "grad_inputs": "The gradient with respect to input {i} is independent of the inputs of the "
    "user-provided function. This is not allowed in strict mode.",
    "jacobian": "While computing the hessian, found that the jacobian of the user-provided "
    "function with respect to input {i} is independent of the input. This is not allowed in strict "
    "mode. You should ensure that your function is twice differentiable and that the jacobian "
    "depends on the inputs (this would be violated by a linear function for example).",
}
"""By what they are: gradients that depend on nothing."""


def independent(text: str, i: int, what: str = "") -> Exception:
    """The error of strict mode for what depends on nothing."""
    return errors.runtime_error(text.format(i=i, what=what), _NOT_STRICT)


def require_graph(grads: tuple, strict: bool, what: str) -> None:
    """In strict mode gradients that are to be differentiated have to depend on something."""
    for i, g in enumerate(grads if strict else ()):
        if g is None:
            raise independent(_MISSING["back"], i)
        if not g.requires_grad:
            raise independent(_UNCONNECTED[what], i)


def filled(grads: tuple, like: tuple, strict: bool, create_graph: bool, stage: str) -> tuple:
    """Zeros for what does not matter; an error in strict mode."""
    found = []
    for i, (g, x) in enumerate(zip(grads, like, strict=True)):
        if g is None:
            if strict:
                raise independent(_MISSING[stage], i)
            g = operators.zeros_like(x)
        elif strict and create_graph and not g.requires_grad:
            raise independent(CONSTANT, i, "hessian" if "double" in stage else "jacobian")
        found.append(g)
    return tuple(found)
