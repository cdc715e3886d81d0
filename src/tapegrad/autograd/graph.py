"""`torch.autograd.graph`: nodes, edges as gradients' targets, hooks on what a graph saves."""

from weakref import WeakKeyDictionary

from tapegrad.autograd.engine import BACKWARD_PASS
from tapegrad.autograd.hooks import RemovableHandle
from tapegrad.autograd.node import Node
from tapegrad.autograd.view import edge_of
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, Callable, Sequence
from tapegrad.core.lazy import found
from tapegrad.core.missing import missing


class _MultiHandle(RemovableHandle):
    """The handle of a hook on several tensors."""

    def __init__(self, handles: tuple[RemovableHandle, ...]):
        self.handles = handles

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


_MultiHandle.__module__ = "torch.autograd.graph"


def register_multi_grad_hook(
    tensors: Sequence, fn: Callable, *, mode: str = "all"
) -> RemovableHandle:
    """Call `fn` once in each backward pass that reaches `tensors`; returns a handle.

    Args:
        tensors: those whose gradients are waited for.
        fn: gets, with mode "all", a list with the gradient of each tensor, None for those that the
            pass does not reach; with mode "any" the gradient that is known first. What it returns
            is ignored.
        mode: "all" or "any". With "any", tensors that need no gradient are left out.

    Raises:
        ValueError: for another mode.
        AssertionError: with "all", for a tensor that needs no gradient.

    >>> a = torch.ones(2, requires_grad=True)
    >>> b = torch.ones(2, requires_grad=True)
    >>> handle = torch.autograd.graph.register_multi_grad_hook((a, b), print)
    >>> (a * 2 + b * 3).sum().backward()
    [tensor([2., 2.]), tensor([3., 3.])]
    """
    if mode not in ("all", "any"):
        raise errors.value_error(
            f"Expects mode to be one of ('all', 'any') but got {mode}",
            "'all' waits for all gradients, 'any' for one.",
        )
    add = _of_all if mode == "all" else _of_any
    return _MultiHandle(add(list(tensors), fn))


def _of_all(tensors: list, fn: Callable) -> tuple[RemovableHandle, ...]:
    for x in tensors:
        if not x.requires_grad:
            raise errors.assertion_error(
                "Expected gradient function to be set", "Each tensor has to require grad."
            )
    nodes = [_node(x) for x in tensors]
    arrived: WeakKeyDictionary[Any, list] = WeakKeyDictionary()  # pass -> [still to come, grads]

    def hook_of(i: int) -> Callable:
        def hook(g: Array) -> None:
            backward = BACKWARD_PASS.get()
            state = arrived.get(backward)
            if state is None:
                expected = sum(backward.will_run(node) for node in nodes)
                state = arrived[backward] = [expected, [None] * len(nodes)]
            state[0] -= 1
            state[1][i] = g
            if state[0] == 0:
                del arrived[backward]
                fn(state[1])

        return hook

    return tuple(x.register_hook(hook_of(i)) for i, x in enumerate(tensors))


def _of_any(tensors: list, fn: Callable) -> tuple[RemovableHandle, ...]:
    called: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()

    def hook(g: Array) -> None:
        backward = BACKWARD_PASS.get()
        if backward not in called:
            called[backward] = True
            fn(g)

    return tuple(x.register_hook(hook) for x in tensors if x.requires_grad)


def _node(x: object) -> Any:
    edge = edge_of(x)
    return getattr(edge, "node", edge)


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Accepted as in PyTorch; there are no streams, so there is nothing to warn of.

    >>> torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False)
    """
    _check_bool(enabled)


def set_override_stale_capture_stream(enabled: bool) -> None:
    """Accepted as in PyTorch; there are no streams to override.

    >>> torch.autograd.graph.set_override_stale_capture_stream(True)
    """
    _check_bool(enabled)


def _check_bool(enabled: bool) -> None:
    if not isinstance(enabled, bool):
        raise errors.runtime_error(
            f"enabled must be a bool, but got {type(enabled).__name__}", "Pass True or False."
        )


_PUBLIC = {
    "tapegrad.autograd.gradient_edge": "GradientEdge get_gradient_edge increment_version",
    "tapegrad.autograd.mutation": "allow_mutation_on_saved_tensors",
    "tapegrad.autograd.saved_tensor_hooks": (
        "disable_saved_tensors_hooks save_on_cpu saved_tensors_hooks"
    ),
}
"""For each file, the names of `torch.autograd.graph` that it has."""

__all__ = [
    "Node", "register_multi_grad_hook", "set_override_stale_capture_stream",
    "set_warn_on_accumulate_grad_stream_mismatch", *" ".join(_PUBLIC.values()).split(),
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """A name of a file that is loaded on its first use."""
    value = found(_PUBLIC, name)
    if value is None:
        raise missing(__name__, name)
    globals()[name] = value
    return value
