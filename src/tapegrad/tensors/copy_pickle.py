"""Copying and pickling tensors."""

import copy
import copyreg

import numpy as np

from tapegrad.arrays.namespaces import is_batched
from tapegrad.autograd.hooks import warn_if_has_hooks
from tapegrad.autograd.mode import MODE, no_grad
from tapegrad.autograd.node import make_leaf
from tapegrad.core import errors, tensor_base, torch_dispatch
from tapegrad.core.annotations import Any, Tensor
from tapegrad.core.conj_neg_view import ConjNegView, memory_of, resolved, turned
from tapegrad.core.device import require_cpu
from tapegrad.core.meta_array import MetaArray
from tapegrad.core.registration import DISPATCH_CLASSES
from tapegrad.core.storage import elements_of, offset_of, owner_of, shaped
from tapegrad.core.torch_function import DisableTorchFunctionSubclass, undisturbed
from tapegrad.operators.creation.legacy_constructor import retyped
from tapegrad.operators.shape.as_strided import alias


def rebuild_tensor(
    cls: type | None,
    array: np.ndarray,
    requires_grad: bool,
    state: dict,
    conj: bool = False,
    neg: bool = False,
) -> Any:
    """The tensor that `reduce_tensor` took apart."""
    found = tensor_base.wrap(turned(array, conj, neg) if conj or neg else array)
    if cls is not None:
        found = retyped(found, cls)
    if requires_grad:
        make_leaf(found)
    return restore(found, state) if state else found


def rebuild_wrapper(cls: type, parts: tuple, state: Any) -> Any:
    """The tensor without memory that `reduce_tensor` took apart."""
    return restore(DISPATCH_CLASSES().made_wrapper(cls, *parts), state)


def state_of(x: Tensor) -> Any:
    """The attributes of a tensor, as its class says; with those in `__slots__`, if there are."""
    cls: Any = type(x)
    if cls.__getstate__ is not object.__getstate__:
        return x.__getstate__()
    state = {name: value for name, value in x.__dict__.items() if name != "_resting_hooks"}
    if cls is tensor_base.Tensor:
        return state
    names = set(copyreg._slotnames(cls)) - set(tensor_base.TensorBase.__slots__)  # type: ignore
    slots = {name: getattr(x, name) for name in sorted(names) if hasattr(x, name)}
    return (state, slots) if slots else state


def restore(x: Tensor, state: Any) -> Any:
    """`x` with the attributes that `state_of` gave."""
    if hasattr(x, "__setstate__"):
        x.__setstate__(state)
        return x
    attributes, slots = state if isinstance(state, tuple) else (state, {})
    x.__dict__.update(attributes)
    for name, value in slots.items():
        setattr(x, name, value)
    return x


def reduce_tensor(self: Tensor, protocol: Any) -> tuple:
    """What a tensor is made of, for pickle and copy: history and gradient stay behind."""
    _refuse_batch(self)
    if self._backward_hooks:
        warn_if_has_hooks(self)
    array = self._array
    if type(array) is torch_dispatch.StandIn and array.inside is None:
        steps = tuple([step // array.itemsize for step in array.strides])
        made = (array.shape, steps, array.offset, self.dtype, self.requires_grad)
        return rebuild_wrapper, (type(self), made, state_of(self))
    if type(array) is torch_dispatch.StandIn:
        array = array.inside
    parts = (_class(self), memory_of(array), self.requires_grad, state_of(self))
    if type(array) is ConjNegView:
        return rebuild_tensor, (*parts, array.conj, array.neg)
    return rebuild_tensor, parts


def _refuse_batch(x: Tensor) -> None:
    """Raise inside `vmap`, where a tensor stands for each member of a batch."""
    if is_batched(x._array):
        from tapegrad.arrays.batched.refusal import no_memory

        raise no_memory()


def _class(x: Tensor) -> type | None:
    """None for a plain tensor: its class goes by a name that may be PyTorch's elsewhere."""
    return None if type(x) is tensor_base.Tensor else type(x)


def as_subclass(self: Tensor, cls: type) -> Any:
    """The same tensor as an object of another class of tensors."""
    if not isinstance(cls, type):
        raise errors.type_error(
            f"cls must be a type (got {errors.type_name(cls)})",
            "Pass a class derived from torch.Tensor.",
        )
    return retyped(alias(self), cls)


def made_subclass(cls: type, data: Tensor, require_grad: bool) -> Any:
    """The values of `data` as a new leaf of the class `cls`."""
    if not isinstance(cls, type):
        raise errors.must_be("_make_subclass", "cls", 1, "type", cls)
    if not isinstance(data, tensor_base.TensorBase):
        raise errors.must_be("_make_subclass", "data", 2, "Tensor", data)
    found = undisturbed(lambda: retyped(data.detach(), cls))
    return make_leaf(found) if require_grad else found


def made_wrapper_subclass(
    cls: Any, size: Any, strides: Any, dtype: Any, device: Any, requires_grad: bool, others: dict
) -> Any:
    """A tensor of the class `cls`, which dispatches, without memory."""
    if not torch_dispatch.dispatches(cls):
        raise errors.type_error(
            f"{getattr(cls, '__name__', cls)} must define __torch_dispatch__",
            "Without it nothing says what operators do with such a tensor.",
        )
    offset = others.pop("storage_offset", None) or 0
    for name, value in others.items():
        if value and not (name == "memory_format" and str(value) == "torch.contiguous_format"):
            raise errors.not_implemented(
                f"_make_wrapper_subclass: {name}={value!r} is not supported in tapegrad",
                "Leave it away; strides= says how the elements lie.",
            )
    require_cpu(device)
    return DISPATCH_CLASSES().made_wrapper(cls, size, strides, offset, dtype, requires_grad)


def deepcopy_tensor(self: Tensor, memo: dict) -> Any:
    """A copy of a leaf, its gradient and its attributes; views of one memory stay that."""
    _refuse_batch(self)
    if not self.is_leaf:
        raise errors.runtime_error(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol at the moment.  If you were attempting to deepcopy a module, this may be "
            "because of a torch.nn.utils.weight_norm usage, see "
            "https://github.com/pytorch/pytorch/pull/103001",
            "detach() the tensor, or clone() it to keep its place in the graph.",
        )
    found = memo.get(id(self))
    if found is not None:
        return found
    if type(self._array) is torch_dispatch.StandIn:
        found = memo[id(self)] = _cloned(self)
    else:
        _require_its_own(self)
        found = memo[id(self)] = _copied_memory(self, memo)
    restore(found, copy.deepcopy(state_of(self), memo))
    if self._grad is not None:
        found._grad = copy.deepcopy(self._grad, memo)
    mode = MODE.get()
    if type(mode) is not bool:
        mode.copied(self, found, "copy.deepcopy()")
    return found


def _cloned(x: Tensor) -> Any:
    """The copy of a tensor without memory of its own: what its class gives as a clone."""
    with no_grad():
        found = x.clone()
    if type(found) is not type(x):
        raise _not_its_own("wrapper", "clone", "cloning")
    return make_leaf(found) if x.requires_grad else found


def _require_its_own(x: Tensor) -> None:
    """Raise for a subclass whose objects do not make others of their class."""
    if type(x) is tensor_base.Tensor:
        return
    with DisableTorchFunctionSubclass(), no_grad():
        if not x._array.size:
            if type(x.clone()) is not type(x):
                raise _not_its_own("wrapper", "clone", "cloning")
        elif type(x.new_empty([])) is not type(x):
            raise _not_its_own("non-wrapper", "new_empty", "that function")


def _not_its_own(kind: str, name: str, doing: str) -> RuntimeError:
    return errors.runtime_error(
        f"The default implementation of __deepcopy__() for {kind} subclasses only works for "
        f"subclass types that implement {name}() and for which {doing} returns another instance "
        f"of the same subclass. You should either properly implement {name}() for your subclass "
        f"or override __deepcopy__() if it is intended behavior for {name}() to return an "
        "instance of a different type.",
        f"Return type(self)(...) from {name}(), or write __deepcopy__(self, memo).",
    )


def _copied_memory(x: Tensor, memo: dict) -> Any:
    array = resolved(x._array)
    nowhere = type(array) is MetaArray
    owner = array if nowhere else owner_of(array)
    copied = copy.deepcopy(owner, memo)
    if owner is not array:
        strides = tuple(step // array.itemsize for step in array.strides)
        elements = elements_of(copied.view(array.dtype) if owner.dtype != array.dtype else copied)
        copied = shaped(elements, offset_of(array), array.shape, strides)
    return rebuild_tensor(_class(x), copied, x.requires_grad, {})
