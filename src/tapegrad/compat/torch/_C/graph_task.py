"""What a backward pass says of itself, and weak references to tensors."""

import itertools
import weakref

from tapegrad.autograd.engine import BACKWARD_PASS
from tapegrad.autograd.node import AccumulateGrad, Node
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Tensor

_numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
_next = itertools.count()


def _current_graph_task_id() -> int:
    """A number of the backward pass that runs; -1 where none does.

    >>> torch._C._current_graph_task_id()
    -1
    """
    backward = BACKWARD_PASS.get()
    if backward is None:
        return -1
    if backward not in _numbers:
        _numbers[backward] = next(_next)
    return _numbers[backward]


def _will_engine_execute_node(node: object) -> bool:
    """Whether the backward pass that runs will run a node, a `grad_fn`.

    Raises:
        RuntimeError: it is none, no pass runs, or it is a leaf's in a pass of `autograd.grad`.
    """
    if not isinstance(node, Node):
        raise errors.runtime_error(
            f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}",
            "Pass tensor.grad_fn.",
        )
    backward = BACKWARD_PASS.get()
    if backward is None:
        raise errors.runtime_error(
            "_get_should_execute_nodes should only be called during the backward pass",
            "Ask in a hook, or in the backward of a custom function.",
        )
    if backward.restricted and not backward.keep and type(node) is AccumulateGrad:
        raise errors.runtime_error(
            "A leaf node was passed to _will_engine_execute_node but we are currently running "
            "autograd.grad(). This is currently not supported.",
            "Its gradient is returned, and its node does not run.",
        )
    return backward.will_run(node)


class _WeakTensorRef:
    """A weak reference to a tensor, which only says whether that is gone."""

    def __init__(self, tensor: Tensor):
        self._found = weakref.ref(tensor)

    def expired(self) -> bool:
        """Whether nobody holds the tensor any more.

        >>> torch._C._WeakTensorRef(torch.ones(1)).expired()
        True
        """
        return self._found() is None


_WeakTensorRef.__module__ = "torch._C"
