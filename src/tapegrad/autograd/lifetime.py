"""Arrays that operators and nodes make, and when they are freed."""

import weakref
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from tapegrad.arrays.namespaces import is_batched
from tapegrad.autograd.describe import saved_by
from tapegrad.autograd.node import AccumulateGrad, Port
from tapegrad.core.annotations import Any, NodeLike
from tapegrad.core.storage import owner_of as owner


def owners(value: Any) -> Iterator[np.ndarray]:
    """Whose memory a tensor, an array or each of several uses; batched ones, that of the batch."""
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from owners(each)
        return
    while not isinstance(value, np.ndarray):
        value = value.value if is_batched(value) else getattr(value, "_array", None)
        if value is None:
            return
    yield owner(value)


def ids(arrays: Iterable[np.ndarray]) -> set[int]:
    """What tells arrays apart while they are alive."""
    return {id(array) for array in arrays}


def node_behind(result: object) -> Any:
    """The node that a call has recorded, None if it has not."""
    first = result[0] if type(result) is tuple and result else result
    node = getattr(first, "_node", None)
    node = node.node if type(node) is Port else node
    return None if type(node) is AccumulateGrad else node


def saved_arrays(node: NodeLike) -> list[np.ndarray]:
    """Whose memory is saved by a node for the backward pass."""
    return list(owners(list(saved_by(node).values())))


def made_by_node(node: NodeLike, given: set[int], result: object) -> list[np.ndarray]:
    """What a node of the backward pass has made; `given` is what it was given or saved."""
    if type(node) is AccumulateGrad and node.variable is not None:
        result = node.variable.grad
    return [array for array in owners(result) if id(array) not in given]


class Lives:
    """Arrays that were born, until they are freed."""

    __slots__ = ("_alive", "freed")

    def __init__(self, freed: Callable[[Any, int], None]):
        self._alive: dict[int, tuple[weakref.ref, Any]] = {}
        self.freed = freed  # called with the note on an array and its bytes

    def born(self, array: np.ndarray, note: Any) -> bool:
        """Follow an array from here on; whether it is new and has any bytes."""
        key, n_bytes = id(array), array.nbytes
        if key in self._alive or not n_bytes:
            return False

        def gone(_: Any) -> None:
            del self._alive[key]
            self.freed(note, n_bytes)

        self._alive[key] = weakref.ref(array, gone), note
        return True

    def note(self, array: np.ndarray) -> Any:
        """The note on an array that is alive, else None."""
        found = self._alive.get(id(array))
        return None if found is None else found[1]
