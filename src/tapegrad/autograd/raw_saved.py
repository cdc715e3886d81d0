"""Raw saved tensors: `node._raw_saved_self` and the like."""

from tapegrad.autograd.errors import freed
from tapegrad.autograd.function.saved import FREED, TAKEN, Saved, SavedPacked, saved_tensor
from tapegrad.autograd.packed import Packed, PackedPlan, hold, not_callable
from tapegrad.autograd.saved import RAW
from tapegrad.autograd.view import edge_of
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Callable, NodeLike


class SavedTensor:
    """What the node of an operator keeps of one tensor."""

    __slots__ = ("_i", "_j", "_node")

    def __new__(cls, *args: object) -> Any:
        if not args:
            raise errors.runtime_error(
                "Trying to create a SavedTensor object from Python is forbidden.",
                "grad_fn._raw_saved_self and the like are some.",
            )
        return object.__new__(cls)

    def __init__(self, node: NodeLike, i: int, j: int | None = None):
        self._node = node
        self._i = i  # which of what the node keeps
        self._j = j  # which of the operands, where it keeps all of them in one

    def register_hooks(self, *hooks: Callable) -> None:
        """Pack this one tensor now, and unpack it when it is used: `register_hooks(pack, unpack)`.

        >>> y = torch.ones(2, requires_grad=True) ** 2
        >>> y.grad_fn._raw_saved_self.register_hooks(lambda x: x.numpy(), torch.from_numpy)
        >>> y.grad_fn._saved_self
        tensor([1., 1.], requires_grad=True)
        """
        if len(hooks) != 2 or not all(map(callable, hooks)):
            own = "self: torch._C._autograd.SavedTensor, "
            raise not_callable("register_hooks", own, self, *hooks)
        if self._is_freed():
            raise errors.runtime_error(
                "Calling register_hooks on a saved tensor after it has been freed. Saved "
                "intermediate values of the graph are freed when you call .backward() or "
                "autograd.grad(). Specify retain_graph=True if you need to backward through "
                "the graph a second time or if you need to access saved variables after "
                "calling backward.",
                "Register them before the backward pass.",
            )
        if self._packed() is not None:
            raise errors.runtime_error(
                "Calling register_hooks on a saved tensor whose hooks have already been set. "
                "Hint: only one pair of hooks is allowed at a time.",
                "Compose the functions into one pair.",
            )
        x = self.unpack()
        if x is None:
            raise errors.runtime_error(
                "Calling register_hooks on a saved tensor with value None is forbidden",
                "There is nothing to pack.",
            )
        self._replace(Packed(x.detach(), *hooks))

    @property
    def data(self) -> Any:
        """What is saved: what the pack hook gave, or the tensor."""
        packed = self._packed()
        return self.unpack() if packed is None else packed.value

    @property
    def unpack_hook(self) -> Callable | None:
        """The hook that unpacks it; None where there is none."""
        packed = self._packed()
        return None if packed is None else packed.unpack_hook

    def unpack(self) -> Any:
        """The tensor, with its place in the graph."""
        x = self._node.plan.tensor_at(self._node, self._i)
        return x if self._j is None else x[self._j]

    def _is_freed(self) -> bool:
        return self._node.saved is None

    def _packed(self) -> Packed | None:
        if self._is_freed():
            raise freed(self._node)
        value = self._node.saved[self._i]
        value = value if self._j is None else value[self._j]
        return value if type(value) is Packed else None

    def _replace(self, packed: Packed) -> None:
        values = list(self._node.saved)
        value: Any = packed
        if self._j is not None:
            value = tuple([packed if j == self._j else x for j, x in enumerate(values[self._i])])
        values[self._i] = value
        hold(self._node, values)


class SavedByFunction(SavedTensor):
    """What the node of a custom function keeps of one tensor."""

    __slots__ = ()

    def unpack(self) -> Any:
        if self._is_freed():
            raise freed(self._node)
        return saved_tensor(self._node, self._node.saved_values[self._i])

    def _is_freed(self) -> bool:
        return self._node.saved_values is FREED or self._node.saved_values is TAKEN

    def _packed(self) -> Packed | None:
        if self._is_freed():
            raise freed(self._node)
        saved = self._node.saved_values[self._i]
        return saved.packed if type(saved) is SavedPacked else None

    def _replace(self, packed: Packed) -> None:
        saved = list(self._node.saved_values)
        old = saved[self._i]
        x, index = (old.value, old.index) if type(old) is Saved else (old, None)
        saved[self._i] = SavedPacked(packed, edge_of(x) if index is None else None, index)
        self._node.saved_values = tuple(saved)


SavedTensor.__module__ = SavedByFunction.__module__ = "torch._C._autograd"
SavedByFunction.__name__ = SavedByFunction.__qualname__ = "SavedTensor"


def raw_saved(node: NodeLike, name: str) -> Any:
    """The value of `node._raw_saved_<name>`: of several operands a tuple."""
    plan = node.plan
    i = plan.place_of(node, name, "_raw_saved_")
    where, key, _ = (plan.original if type(plan) is PackedPlan else plan).saves[i]
    if where == "inputs":
        return tuple([SavedTensor(node, i, j) for j in range(len(node.saved[i]))])
    if "output" in where or (where == "input" and plan.kinds[key] != RAW):
        return SavedTensor(node, i)
    raise errors.advised(
        AttributeError(f"'{type(node).__name__}' object has no attribute '_raw_saved_{name}'"),
        "It is no tensor.",
    )
