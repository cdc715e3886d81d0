"""TensorBase: the slots of a tensor, and the class of which new tensors are.

The class `Tensor` stands above the operators that are its methods. What is below it tells tensors
from other objects by `TensorBase` and makes them with `wrap`.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

new = object.__new__


class TensorBase:
    """An array and its place in the graph, without operators."""

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_array",  # the values: an ndarray, or an array of another library
        "_born",  # how many transforms of `torch.func` had begun when it was made: BORN
        "_counter",  # None, or the version counter shared with views
        "_grad",  # the tensor behind .grad
        "_node",  # None: no gradient. A leaf: its AccumulateGrad. Else the Node or Port behind it
        "_signature",  # its signature, where it is small: arrays/signature.py; None: not known yet
        "_view",  # None, or what a view knows of its base
    )
    __array_priority__ = 1000  # NumPy leaves operators between an array and a tensor to us

    _array: Any
    _born: Any
    _counter: Any
    _grad: Any
    _signature: Any
    _node: Any
    _view: Any

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """What `Tensor` adds, for type checkers."""


Tensor: Any = TensorBase  # the class of new tensors; `register` puts `torch.Tensor` here
KeptView: Any = TensorBase  # that of views as nodes save them


BORN = [0]  # how many transforms of `torch.func` have begun, in all threads
SPARSE: list[type] = []  # the class of sparse tensors, once there was one
VALUES_OF = "_values_of"  # attribute of the values of a leaf that is sparse: a tensor like it
SHARDED: list[Any] = []  # that of tensors spread over ranks, once there was one
REFUSING = [0]  # how many are running that refuse writes to what was made before them


def register(tensor: type, kept_view: type) -> None:
    """Name the classes of new tensors, and of views as nodes save them."""
    global Tensor, KeptView
    Tensor, KeptView = tensor, kept_view


def wrap(array: Any) -> Any:
    """A tensor on `array`, without history."""
    if isinstance(array, np.generic):
        array = np.asarray(array)
    tensor = new(Tensor)
    tensor._array = array
    tensor._node = tensor._counter = tensor._view = tensor._grad = tensor._signature = None
    tensor._born = BORN[0]
    return tensor
