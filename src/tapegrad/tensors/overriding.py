"""Guards: attributes of tensors that ask first whether somebody overrides them.

A subclass of `Tensor` that overrides gets a base class between itself and `Tensor`, in which every
attribute is a guard; plain tensors have none of it. While a function mode is on, `Tensor` itself
has a base class of guards. `torch.Tensor.add` and `torch.Tensor.shape` are the same objects either
way: only what instances are asked goes through a guard.
"""

import sys
import threading
from functools import update_wrapper
from types import MethodType
from typing import Any

from tapegrad.core import tensor_base, torch_dispatch
from tapegrad.core import torch_function as overriding
from tapegrad.core.registration import DISPATCH_CLASSES
from tapegrad.core.torch_dispatch import CLASSES
from tapegrad.core.torch_function import (
    ALL_OFF,
    ENGINE,
    IN_USE,
    INSIDE,
    MODES,
    ON,
    PROGRAM,
    STATE,
    Overridden,
    asked_in_turn,
    asking,
    hand_over,
    overrides,
    taking_part,
    undisturbed,
)
from tapegrad.tensors.methods import Methods
from tapegrad.tensors.tensor import Tensor, TensorCore

PLAIN = -1  # nobody overrides

_UNGUARDED = frozenset(
    "__annotations__ __array_namespace__ __array_priority__ __class_getitem__ __delitem__ __dict__ "
    "__doc__ __getattr__ __hash__ __init__ __init_subclass__ __iter__ __module__ __new__ __slots__ "
    "__torch_dispatch__ __torch_function__ __weakref__ _are_matrices _array _born _counter "
    "_check_takes_hooks _dispatches _grad _make_subclass _make_wrapper_subclass _node _repr_html_ "
    "_require _signature _typed_storage _view as_subclass dtype_of".split()
)

_OF_OBJECT = {"__eq__", "__ge__", "__gt__", "__le__", "__lt__", "__ne__", "__repr__", "__format__"}
_OF_OBJECT |= {"__reduce_ex__"}

REPORTED = {
    "__abs__": "abs", "__add__": "add", "__div__": "div", "__ge__": "ge", "__gt__": "gt",
    "__iadd__": "add_", "__idiv__": "div_", "__ifloordiv__": "floor_divide_",
    "__imod__": "remainder_", "__imul__": "mul_", "__isub__": "sub_", "__itruediv__": "div_",
    "__le__": "le", "__lt__": "lt", "__matmul__": "matmul", "__mod__": "remainder",
    "__mul__": "mul", "__ne__": "ne", "__neg__": "neg", "__pos__": "positive", "__radd__": "add",
    "__rand__": "bitwise_and", "__rmul__": "mul", "__ror__": "bitwise_or",
    "__rtruediv__": "__rdiv__", "__rxor__": "bitwise_xor", "__sub__": "sub", "__truediv__": "div",
}  # fmt: skip
"""Methods behind Python's operators that are handed over as another one, as in PyTorch."""

LEAVING = frozenset(
    f"__{kind}{name}__"
    for name in "add sub mul matmul truediv div floordiv mod pow lshift rshift and xor or".split()
    for kind in ("", "r", "i")
) | {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}
"""Methods that leave to Python what nobody knows: it asks the other operand, or raises."""

_NOT_ASKING = frozenset(
    "__and__ __array__ __bool__ _conj _neg_view lu new_empty new_ones new_zeros norm "
    "__complex__ __contains__ __deepcopy__ __dlpack__ __dlpack_device__ "
    "__float__ __floordiv__ __format__ __index__ __int__ __invert__ __len__ __lshift__ __or__ "
    "__reduce_ex__ __repr__ __reversed__ __rshift__ __str__ __xor__ apply_ bfloat16 bool "
    "broadcast_to byte cdouble cfloat chalf char contiguous cpu data_ptr dense_dim detach dim "
    "dim_order double element_size expand float half int is_contiguous is_shared item long "
    "ndimension new numpy polygamma register_hook register_post_accumulate_grad_hook "
    "requires_grad_ resize resize_ retain_grad share_memory_ short size split storage "
    "storage_offset storage_type stride to tolist type untyped_storage view".split()
)
"""Methods whose functions do not ask by themselves who overrides, as those of operators do."""


def plain_attribute(name: str) -> Any:
    """What `Tensor` has under `name` besides guards: a function, a property, or a value."""
    for home in (Methods, TensorCore):
        if any(name in vars(base) for base in home.__mro__[:-1]):
            return getattr(home, name)
    raise AttributeError(name)


def _asked(tensor: Any) -> int:
    """Who asks `tensor` for an attribute, two frames up; PLAIN if nobody overrides."""
    state = STATE.get()
    if state == ALL_OFF or not (MODES.get() or (state == ON and overrides(tensor))):
        return PLAIN
    return asking(sys._getframe(2).f_globals.get("__name__", ""))


class GuardedMethod:
    """A method that hands its call over."""

    __slots__ = ("_calls", "name")

    def __init__(self, name: str):
        self.name = name
        self._calls: Any = None

    def __get__(self, tensor: Any, owner: Any = None) -> Any:
        if tensor is None:
            return plain_attribute(self.name)
        asked = _asked(tensor)
        if asked == PLAIN:
            return plain_attribute(self.name).__get__(tensor, owner)
        if asked == INSIDE:
            if self.name != "__index__":
                raise Overridden(f"{self.name} is overridden", name=self.name, obj=tensor)
            asked = PROGRAM if overrides(tensor) else ENGINE  # a size: only it is asked
        if self._calls is None:
            self._calls = _calls(self.name)
        return MethodType(self._calls[asked == ENGINE], tensor)


def _calls(name: str) -> tuple:
    """The method handed over, and the method undisturbed."""
    plain = plain_attribute(name)
    reported = plain_attribute(REPORTED.get(name, name))
    leaves, asks = name in LEAVING, name not in _NOT_ASKING

    def call(*args: Any, **kwargs: Any) -> Any:
        found = taking_part(args, kwargs)
        if found is None:
            return plain(*args, **kwargs)
        modes = MODES.get()
        given = reported if asks or len(modes) < 2 else _InTurn(reported)
        if leaves:
            return asked_in_turn(given, args, kwargs, found, modes)
        return hand_over(given, args, kwargs, found)

    def quietly(*args: Any, **kwargs: Any) -> Any:
        return undisturbed(plain, *args, **kwargs)

    return update_wrapper(call, plain), update_wrapper(quietly, plain)


class _InTurn:
    """A method, or access to a property, as a mode in other modes gets it: it asks those, in turn.

    It equals what it stands for, `Tensor.item` or `Tensor.shape.__get__`, and has its name.
    """

    __slots__ = ("_access",)

    def __init__(self, access: Any):
        self._access = access

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        found = taking_part(args, kwargs)
        if found is None:
            return self._access(*args, **kwargs)
        given = self if len(MODES.get()) > 1 else self._access
        return hand_over(given, args, kwargs, found)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._access, name)

    def __eq__(self, other: object) -> bool:
        return self._access == (other._access if isinstance(other, _InTurn) else other)

    def __hash__(self) -> int:
        return hash(self._access)


class GuardedProperty:
    """A property that hands over reading, `Tensor.shape.__get__`, and writing, `__set__`."""

    __slots__ = ("_constant", "name")

    def __init__(self, name: str):
        self.name = name
        value = plain_attribute(name)
        self._constant = None if isinstance(value, property) else _constant(name, value)

    @property
    def whole(self) -> property:
        """The property that is guarded."""
        return self._constant or plain_attribute(self.name)

    def __get__(self, tensor: Any, owner: Any = None) -> Any:
        if tensor is None:
            return plain_attribute(self.name)
        return self._through(_asked(tensor), self.whole.__get__, tensor)

    def __set__(self, tensor: Any, value: Any) -> None:
        self._through(_asked(tensor), self.whole.__set__, tensor, value)

    def __delete__(self, tensor: Any) -> None:
        self._through(_asked(tensor), self.whole.__delete__, tensor)

    def _through(self, asked: int, access: Any, *args: Any) -> Any:
        if asked == PROGRAM:
            given = _InTurn(access) if len(MODES.get()) > 1 else access
            return hand_over(given, args, {}, taking_part(args, {}) or [])
        if asked == INSIDE:
            raise Overridden(f"{self.name} is overridden", name=self.name, obj=args[0])
        return access(*args) if asked == PLAIN else undisturbed(access, *args)


def _constant(name: str, value: Any) -> property:
    """A property for what all tensors have alike: `is_cuda`."""

    def of(self: Any) -> Any:
        return value

    of.__name__ = name
    of.__qualname__ = f"Tensor.{name}"
    return property(of)


class GuardedSlot:
    """What functions read of a tensor to compute with it: they must not where it overrides."""

    __slots__ = ("name", "slot")

    def __init__(self, name: str):
        self.name = name
        self.slot = vars(tensor_base.TensorBase)[name]

    def __get__(self, tensor: Any, owner: Any = None) -> Any:
        if tensor is None:
            return self.slot
        if _asked(tensor) == INSIDE:
            raise Overridden(f"{self.name} is overridden", name=self.name, obj=tensor)
        return self.slot.__get__(tensor)

    def __set__(self, tensor: Any, value: Any) -> None:
        self.slot.__set__(tensor, value)


def rows(self: Any) -> Any:
    """The rows of a tensor one by one: `dim` and `unbind` are what is overridden."""
    if self.dim() == 0:
        return undisturbed(Methods.__iter__, self)
    return iter(self.unbind(0))


def _as_subclass(self: Any, cls: type) -> Any:
    """`as_subclass`, which nobody overrides."""
    return undisturbed(Methods.as_subclass, self, cls)


def guarded_names() -> set[str]:
    """The names of what may be overridden of a tensor, those that are not there yet aside."""
    names = {name for home in (*Methods.__mro__, *TensorCore.__mro__) for name in vars(home)}
    return {
        name
        for name in names - _UNGUARDED - set(vars(object)) | _OF_OBJECT
        if type(plain_static(name)).__name__ != "Missing"
    }


def _guards() -> dict[str, Any]:
    """A guard for each attribute of tensors."""
    found: dict[str, Any] = {"__slots__": (), "__hash__": Methods.__hash__, "__iter__": rows}
    for name in sorted(guarded_names()):
        value = plain_static(name)
        is_value = isinstance(value, property) or not hasattr(type(value), "__get__")
        found[name] = GuardedProperty(name) if is_value else GuardedMethod(name)
    found["as_subclass"] = _as_subclass
    found["_array"] = GuardedSlot("_array")
    found["_signature"] = GuardedSlot("_signature")
    return found


def plain_static(name: str) -> Any:
    """What `Tensor` has under `name`, without asking a descriptor."""
    homes = (*Methods.__mro__[:-1], *TensorCore.__mro__[:-1])
    return next(vars(home)[name] for home in homes if name in vars(home))


_lock = threading.RLock()
_made: list[type] = []  # the base classes of guards, once they are made: of subclasses, of Tensor
_users = 0  # blocks of function modes that are entered, in all threads


def _bases() -> list[type]:
    with _lock:
        if not _made:
            guards = _guards()
            _made.append(type("Tensor", (Tensor,), {**guards, "__module__": "torch"}))
            _made.append(type("Tensor", (), {**guards, "__module__": "torch"}))
        return _made


def guard(cls: type) -> None:
    """Let the attributes of a new subclass of `Tensor` be guarded."""
    if "_array" in vars(cls):  # the guards themselves
        return
    guarded = _bases()[0]
    if any(issubclass(base, guarded) for base in cls.__bases__):
        return
    bases = [guarded if base is Tensor else base for base in cls.__bases__]
    if guarded not in bases:
        last = max(i for i, base in enumerate(bases) if issubclass(base, Tensor))
        bases.insert(last + 1, guarded)
    cls.__bases__ = tuple(bases)
    IN_USE.append(cls)


def enter_mode(mode: Any) -> None:
    """Put a function mode on top of those of the context."""
    global _users
    with _lock:
        _users += 1
        if _users == 1:
            Tensor.__bases__ = (_bases()[1], *Tensor.__bases__)
            IN_USE.append(Tensor)
    MODES.set((*MODES.get(), mode))


def leave_mode() -> None:
    """Take the innermost function mode of the context off."""
    global _users
    MODES.set(MODES.get()[:-1])
    with _lock:
        _users -= 1
        if _users == 0:
            Tensor.__bases__ = tuple(b for b in Tensor.__bases__ if b is not _bases()[1])
            IN_USE.remove(Tensor)


def default(cls: type, func: Any, types: Any, args: tuple, kwargs: dict) -> Any:
    """`Tensor.__torch_function__`: compute, and let results be of the class."""
    if not all(issubclass(cls, each) for each in types):
        return NotImplemented
    token = STATE.set(max(STATE.get(), overriding.SUBCLASSES_OFF))
    try:
        own = DISPATCH_CLASSES().is_asked_in_place_of(func, args) if CLASSES else None
        result = (own or func)(*args, **kwargs)
        if CLASSES and torch_dispatch.dispatches(cls):  # it says itself of which class results are
            return result
        return result if func in nowrap() else of_class(result, cls)
    finally:
        STATE.reset(token)


def nowrap() -> set:
    """Functions whose results the default leaves as they are."""
    return {Tensor._base.__get__, Tensor.grad.__get__}


def of_class(result: Any, cls: type) -> Any:
    """Tensors among `result` as objects of `cls`."""
    if cls is Tensor:
        return result
    if isinstance(result, Tensor) and not isinstance(result, cls):
        return result.as_subclass(cls)
    if isinstance(result, (tuple, list)):
        return type(result)(of_class(each, cls) for each in result)
    return result
