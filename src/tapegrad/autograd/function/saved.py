"""Saved tensors of custom functions: what a node holds of what `save_for_backward` got.

Of results it keeps the arrays alone: a result leads back to the node.
"""

from tapegrad.autograd.errors import modified
from tapegrad.autograd.mode import MODE
from tapegrad.autograd.node import INFERENCE, Port, counter_of
from tapegrad.autograd.plan import placed
from tapegrad.autograd.saved import origin_of, origin_of_saved, version_now
from tapegrad.autograd.view import edge_of
from tapegrad.core import errors
from tapegrad.core.annotations import Any, EdgeLike, NodeLike
from tapegrad.core.tensor_base import TensorBase, wrap

FREED: Any = type("Freed", (), {"__slots__": ()})()  # in place of what was saved
TAKEN: Any = type("Taken", (), {"__slots__": ()})()  # the same, where it may be asked for once


class Saved:
    """One tensor that `save_for_backward` was given, and its version then.

    It stands for results, and for tensors that have a version counter: those are saved as such.
    """

    __slots__ = ("index", "value", "version")

    def __init__(self, x: Any, index: int | None):
        self.index = index  # which result of the function it is; None: another tensor
        self.version = version_now(x)
        # a result leads back to the node, which may therefore not hold it
        self.value = x if index is None else x._array

    def tensor(self, node: NodeLike) -> Any:
        """The tensor, with its place in the graph; raises if it was written since."""
        index = self.index
        if index is None:
            return _unwritten(self.value, self.version)
        x = wrap(self.value)
        x._node = Port(node, index)
        x._counter = counter = counter_of(node, index)
        if counter is not None and counter.value != self.version:
            raise modified(self.value, counter, self.version, origin_of(x._node))
        return x


def _unwritten(x: Any, version: int) -> Any:
    """A tensor that was saved at `version`; raises if it was written since."""
    counter = x._counter
    if counter is not None and counter is not INFERENCE and counter.value != version:
        raise modified(x._array, counter, version, origin_of_saved(x, counter, None, x))
    return x


class SavedPacked:
    """The same where saved-tensor hooks are on: what the pack hook gave for the tensor."""

    __slots__ = ("edge", "index", "packed")

    def __init__(self, packed: Any, edge: EdgeLike, index: int | None):
        self.packed = packed
        self.edge = edge  # behind another tensor than a result; None where it has no gradient
        self.index = index

    def tensor(self, node: NodeLike) -> Any:
        """The tensor that the unpack hook gives now, with its place in the graph."""
        if self.index is None and self.edge is None and not self.packed.batches:
            x = self.packed.given()
            return x if x._node is None else wrap(x._array)
        x = self.packed.tensor()
        if self.index is not None:
            x._node = Port(node, self.index)
            return x
        return placed(x._array, self.edge)


def keep(node: NodeLike) -> None:
    """Keep what was given to `save_for_backward`, now that the results have their place."""
    tensors = node.ctx.to_save
    if tensors is None:
        return
    saved: list[Any] = []
    packs = type(MODE.get()) is not bool  # a mode may want to pack what is saved
    for i, x in enumerate(tensors):
        if x is None:
            saved.append(None)
            continue
        if not isinstance(x, TensorBase):
            raise errors.type_error(
                f"save_for_backward can only save variables, but argument {i} is of type "
                f"{type(x).__name__}",
                "Keep anything but tensors as an attribute: ctx.name = value.",
            )
        edge = x._node
        index = edge.index if type(edge) is Port and edge.node is node else None
        packed = _packed(x, index) if packs else None
        if packed is not None:
            saved.append(packed)
        else:
            saved.append(x if index is None and x._counter is None else Saved(x, index))
    node.saved_values = tuple(saved)


def _packed(x: object, index: int | None) -> SavedPacked | None:
    from tapegrad.autograd.saved_tensor_hooks import packed_by_mode

    packed = packed_by_mode(x)
    if packed is None:
        return None
    return SavedPacked(packed, edge_of(x) if index is None else None, index)


def saved_value(saved: Any) -> Any:
    """What a node holds of a tensor that it saved: the tensor, its array, or what it was packed to.

    For who describes it.
    """
    if type(saved) is Saved:
        return saved.value
    return saved.packed if type(saved) is SavedPacked else saved


def saved_tensor(node: NodeLike, saved: Any) -> Any:
    """A tensor that a node saved, with its place in the graph; raises if it was written since."""
    if type(saved) is Saved or type(saved) is SavedPacked:
        return saved.tensor(node)
    return saved if saved is None or saved._counter is None else _unwritten(saved, 0)
