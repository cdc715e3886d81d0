"""`torch.while_loop`: a function applied again and again to what it computes."""

from collections.abc import Callable
from typing import Any

from tapegrad.compat.torch._higher_order_ops.body import call, check_alike, compute, uncaptured
from tapegrad.core.dtype import bool_
from tapegrad.core.errors import advised, runtime_error
from tapegrad.tensors.tensor import Tensor
from tapegrad.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

__torch__ = "while_loop"


def while_loop(cond_fn: Callable, body_fn: Callable, carried_inputs: Any) -> Any:
    """`carried = body_fn(*carried)` as long as `cond_fn(*carried)` is true; the last of it.

    It is Python's `while`: gradients are those of all steps, and where there is no step, copies
    are given back.

    Args:
        cond_fn: A function to a tensor of type bool without dimensions, or to a bool that it
            computes of the integers that are carried.
        body_fn: A function to what is carried into the next step: the same shapes and dtypes.
        carried_inputs: A tuple or list of tensors and integers, which may be in containers.

    Raises:
        RuntimeError: What should be a function or a tuple is none.
        UncapturedHigherOrderOpError: A step gives other shapes or dtypes, writes into what is
            carried or gives it back as it is, or the loop would have no end.

    >>> i, x = torch.tensor(0), torch.ones(2)
    >>> torch.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, 2 * x), (i, x))
    (tensor(3), tensor([8., 8.]))
    """
    if not (callable(cond_fn) and callable(body_fn)):
        raise runtime_error(
            "Expect cond_fn and body_fn to be callable.", "Both are functions of what is carried."
        )
    if not isinstance(carried_inputs, tuple | list):
        raise runtime_error(
            f"Expect carried_inputs to be a tuple or list, but got {carried_inputs}",
            "Pass (x,) for one tensor.",
        )
    carried, tree = tree_flatten(tuple(carried_inputs))
    kinds = tuple(type(x) for x in carried)
    if not all(isinstance(x, Tensor | int) for x in carried):
        text = (
            f"{carried} can only be of (<class 'torch.Tensor'>, <class 'int'>, "
            f"<class 'torch.SymInt'>) but got {kinds}"
        )
        raise advised(AssertionError(text), "Carry torch.tensor(x) instead of another number.")
    result = None
    while _goes_on(cond_fn, tree_unflatten(carried, tree)):
        result = compute("torch.while_loop", body_fn, tree_unflatten(carried, tree), Tensor | int)
        following = tree_leaves(result)
        check_alike("body_fn_output", "carried_inputs", following, carried)
        carried = following
    if result is None:
        return tree_unflatten([x.clone() if isinstance(x, Tensor) else x for x in carried], tree)
    return result


def _goes_on(cond_fn: Callable, carried: tuple) -> bool:
    """Whether there is a further step."""
    found = call("torch.while_loop", cond_fn, carried)
    if isinstance(found, Tensor):
        if found.dtype is not bool_ or found.dim():
            raise uncaptured(
                "torch.while_loop: unsupported cond_fn return type: expected a scalar tensor or a "
                f"bool but got {found.dtype} of {found.shape}",
                "Compare, and reduce by any() or all().",
            )
        return bool(found)
    if not isinstance(found, bool):
        raise runtime_error(
            f"cond_fn must return a boolean scalar tensor or a boolean but got {found}",
            "Return what a comparison of tensors gives: i < 3.",
        )
    if found and all(isinstance(x, Tensor) for x in tree_leaves(carried)):
        raise uncaptured(
            "torch.while_loop: infinite loop detected: cond_fn returns True, and no integer that "
            "it could be computed of is carried",
            "Return the comparison of tensors as it is, without bool() or item().",
        )
    return found
