"""`torch.cond`: one of two functions, by a value."""

from collections.abc import Callable
from typing import Any

from tapegrad.arrays.namespaces import is_batched
from tapegrad.compat.torch._higher_order_ops.body import compute, uncaptured
from tapegrad.core.errors import runtime_error
from tapegrad.operators.pointwise.where_clamp import where
from tapegrad.tensors.tensor import Tensor
from tapegrad.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

__torch__ = "cond"


def cond(
    pred: bool | int | float | Tensor,
    true_fn: Callable,
    false_fn: Callable,
    operands: tuple | list = (),
) -> Any:
    """`true_fn(*operands)` where `pred` is true, else `false_fn(*operands)`.

    It is Python's `if`: only the branch that is taken runs, and gradients are those of its graph.
    An operand that it does not use has none, where PyTorch's is zero. Where `vmap` gives each
    sample a `pred` of its own, both branches run for all of them, and `torch.where` chooses.
    Under `torch.compile` a call with a tensor as `pred` is recorded for each branch, as one with
    an `if` is.

    Args:
        pred: A tensor of one element, or a number, with which the branches may be anything.
        true_fn: A function of the operands, to tensors or integers, alone or in containers.
        false_fn: The same, to as many.
        operands: A tuple or list of tensors, which may be in containers.

    Raises:
        RuntimeError: `pred` has not one element, a branch is no function, or an operand no tensor.
        UncapturedHigherOrderOpError: The branch writes into an operand, or gives one back.

    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> y = torch.cond(x.sum() > 2, torch.square, torch.neg, (x,))
    >>> y.sum().backward()
    >>> y, x.grad
    (tensor([1., 4.], grad_fn=<PowBackward0>), tensor([2., 4.]))
    """
    if isinstance(pred, bool | int | float):
        return true_fn(*operands) if pred else false_fn(*operands)
    _check(pred, true_fn, false_fn, operands)
    if is_batched(pred._array):
        return _of_each_sample(pred, true_fn, false_fn, operands)
    return compute("torch.cond", true_fn if pred else false_fn, operands, Tensor | int)


def _check(pred: Any, true_fn: Any, false_fn: Any, operands: Any) -> None:
    if not isinstance(pred, Tensor):
        raise runtime_error(
            f"Expected pred to be bool or tensor, but got {pred}.",
            "Compute it of tensors: x.sum() > 0.",
        )
    if pred.numel() != 1:
        raise runtime_error(
            f"Expected pred to be bool or single-element tensor, but got {pred}.",
            "Use pred.any() or pred.all(), or torch.where to choose for each element.",
        )
    if not (callable(true_fn) and callable(false_fn)):
        raise runtime_error(
            "Expect both branches to be callable.", "A branch is a function of the operands."
        )
    if not isinstance(operands, tuple | list) or not all(
        isinstance(x, Tensor) for x in tree_leaves(operands)
    ):
        raise runtime_error(
            "Expect operands to be a tuple of possibly nested dict/list/tuple that only consists "
            f"of tensor leaves, but got {operands}.",
            "Pass (x,) for one tensor; what is no tensor the branches can read from outside.",
        )


def _of_each_sample(pred: Tensor, true_fn: Callable, false_fn: Callable, operands: Any) -> Any:
    """Both branches, and the results of one or the other for each sample of a batch."""
    kinds = Tensor | int
    xs, tree = tree_flatten(compute("torch.cond", true_fn, operands, kinds))
    ys, other = tree_flatten(compute("torch.cond", false_fn, operands, kinds))
    if tree != other:
        raise uncaptured(
            f"torch.cond: differing branch outputs ({tree} and {other})",
            "Both branches have to return the same containers with as many tensors.",
        )
    return tree_unflatten([where(pred, x, y) for x, y in zip(xs, ys, strict=True)], tree)
