"""`torch.utils.swap_tensors`: two tensors become each other, for all who hold them."""

import gc
import weakref
from contextlib import suppress
from copyreg import _slotnames  # type: ignore[attr-defined]
from sys import getrefcount
from typing import Any, NoReturn

from tapegrad.autograd.node import AccumulateGrad
from tapegrad.autograd.view import View
from tapegrad.core.errors import runtime_error

_NOTHING = object()


def swap_tensors(t1: Any, t2: Any) -> None:
    """Exchange class, values, gradient and attributes of two tensors; each stays the same object.

    A graph that was recorded from one of them before has nowhere left to put its gradient.

    Raises:
        RuntimeError: somebody refers to one of them weakly, a view of it is alive, or their classes
            have different slots.

    >>> a, b = torch.nn.Parameter(torch.zeros(2)), torch.ones(3)
    >>> torch.utils.swap_tensors(a, b)
    >>> a
    tensor([1., 1., 1.])
    >>> b
    Parameter containing:
    tensor([0., 0.], requires_grad=True)
    """
    for name, x in (("t1", t1), ("t2", t2)):
        _check(name, x)
    slots = set(_slotnames(type(t1)))
    if slots != set(_slotnames(type(t2))):
        raise runtime_error(
            "Cannot swap t1 and t2 if they have different slots",
            f"{type(t1).__name__} and {type(t2).__name__} have attributes of their own.",
        )
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__
    for slot in slots:
        one, other = getattr(t1, slot, _NOTHING), getattr(t2, slot, _NOTHING)
        _put(t1, slot, other)
        _put(t2, slot, one)
    for x in (t1, t2):
        if type(x._node) is AccumulateGrad:
            _follow(x)


def _follow(x: Any) -> None:
    """Have the node of a leaf, which came with its values, know it; graphs of before are closed."""
    node = x._node
    if getrefcount(node) > 3:  # the leaf, `node` and the argument: more are edges of a graph
        x._node = AccumulateGrad(x)
        x._node.hooks, x._node.output_version = node.hooks, node.output_version
        node.leaf = _poisoned
    else:
        node.leaf = weakref.ref(x)


def _poisoned() -> NoReturn:
    raise runtime_error(
        "Trying to execute AccumulateGrad node that was poisoned by swap_tensors this can happen "
        "when you try to run backward on a tensor that was swapped. For a module m with "
        "`torch.__future__.set_swap_module_params_on_conversion(True)` you should not change the "
        "device or dtype of the module (e.g. `m.cpu()` or `m.half()`) between running forward and "
        "backward. To resolve this, please only change the device/dtype before running forward (or "
        "after both forward and backward).",
        "Swap before the forward pass, or after the backward pass.",
    )


def _put(x: Any, slot: str, value: Any) -> None:
    if value is not _NOTHING:
        object.__setattr__(x, slot, value)
    else:
        with suppress(AttributeError):  # neither has it
            object.__delattr__(x, slot)


def _check(name: str, x: Any) -> None:
    own = x._node.leaf if type(x._node) is AccumulateGrad else None
    if any(each is not own for each in weakref.getweakrefs(x)):
        raise runtime_error(
            f"Cannot swap {name} because it has weakref associated with it",
            "Who refers to it weakly would see the other.",
        )
    if x._counter is not None and any(
        isinstance(each, View) and each.base is x for each in gc.get_referrers(x)
    ):
        raise runtime_error(
            f"Expected use_count of {name} to be 1 or 2 with an AccumulateGrad node: a view of it "
            "is alive",
            "make sure you are not holding references to the tensor in other places.",
        )
