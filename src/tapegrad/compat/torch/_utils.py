"""`torch._utils`: what programs use of PyTorch's helpers."""

import copyreg
import sys
import traceback
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from tapegrad.compat.absent_device import ADVICE as _ADVICE
from tapegrad.core import errors as _errors
from tapegrad.core.device import device as _Device
from tapegrad.core.missing import refuses as _refuses
from tapegrad.operators.shape.cat_stack import cat as _cat
from tapegrad.serialization.rebuild import rebuild_meta_tensor as _rebuild_meta_tensor_no_storage
from tapegrad.serialization.rebuild import rebuild_parameter as _rebuild_parameter
from tapegrad.serialization.rebuild import (
    rebuild_parameter_with_state as _rebuild_parameter_with_state,
)
from tapegrad.serialization.rebuild import rebuild_tensor as _rebuild_tensor
from tapegrad.serialization.rebuild import rebuild_tensor_v2 as _rebuild_tensor_v2
from tapegrad.serialization.rebuild import rebuild_tensor_v3 as _rebuild_tensor_v3
from tapegrad.serialization.rebuild import rebuild_wrapper_subclass as _rebuild_wrapper_subclass
from tapegrad.tensors.tensor import Tensor

__all__ = [
    "ExceptionWrapper",
    "KeyErrorMessage",
    "_rebuild_meta_tensor_no_storage",
    "_rebuild_parameter",
    "_rebuild_parameter_with_state",
    "_rebuild_tensor",
    "_rebuild_tensor_v2",
    "_rebuild_tensor_v3",
    "_rebuild_wrapper_subclass",
]


# --- lists of tensors ----------------------------------------------------------------------------


def _flatten_dense_tensors(tensors: Iterable[Tensor]) -> Tensor:
    """All elements of some tensors of one dtype, one after another.

    >>> torch._utils._flatten_dense_tensors([torch.zeros(1), torch.ones(1, 2)])
    tensor([0., 1., 1.])
    """
    return _cat([each.contiguous().view(-1) for each in tensors])


def _unflatten_dense_tensors(flat: Tensor, tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """The elements put back into tensors of the shapes of `tensors`."""
    found, start = [], 0
    for each in tensors:
        found.append(flat.narrow(0, start, each.numel()).view_as(each))
        start += each.numel()
    return tuple(found)


def _take_tensors(tensors: Iterable[Tensor], size_limit: int) -> Iterator[list[Tensor]]:
    """Tensors in groups of one dtype, each group of about `size_limit` bytes.

    A tensor that is larger by itself has a group of its own.
    """
    waiting: dict[Any, list] = defaultdict(lambda: [[], 0])
    for each in tensors:
        size = each.numel() * each.element_size()
        group = waiting[each.type()]
        if group[0] and group[1] + size > size_limit:
            yield group[0]
            group = waiting[each.type()] = [[], 0]
        group[0].append(each)
        group[1] += size
    for group, _ in waiting.values():
        if group:
            yield group


def _reorder_tensors_as(tensors: Iterable[Tensor], ordered: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """Tensors of several dtypes in the order that the dtypes have in `ordered`."""
    by_type: dict[str, list[Tensor]] = defaultdict(list)
    for each in tensors:
        by_type[each.type()].append(each)
    rows = {kind: iter(row) for kind, row in by_type.items()}
    return tuple(next(rows[each.type()]) for each in ordered)


def _element_size(dtype: Any) -> int:
    """The bytes of an element.

    >>> torch._utils._element_size(torch.float16)
    2
    """
    return dtype.itemsize


# --- devices -------------------------------------------------------------------------------------


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int | None:
    """The index in a device, an index or a name; that of the CPU is -1, where it is allowed."""
    if isinstance(device, str):
        device = _Device(device)
    if isinstance(device, _Device):
        if device.type == "cpu":
            if not allow_cpu:
                raise _errors.value_error(f"Expected a non cpu device, but got: {device}", _ADVICE)
            return -1
        if device.index is not None or optional:
            return device.index
    elif isinstance(device, int) or (device is None and optional):
        return device
    raise _errors.value_error(
        f"Expected a torch.device with a specified index or an integer, but got:{device}", _ADVICE
    )


def _get_available_device_type() -> str | None:
    """The kind of device beside the CPU: there is none."""
    return None


def _get_all_device_indices() -> list[int] | None:
    """The indices of the devices beside the CPU: there are none."""
    return None


# --- errors of other processes -------------------------------------------------------------------


class KeyErrorMessage(str):
    """A text that prints its line breaks, also as the argument of a KeyError."""

    def __repr__(self) -> str:
        return str(self)


class ExceptionWrapper:
    """The error being handled, with its traceback as text, to be raised again elsewhere."""

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        info = sys.exc_info() if exc_info is None else exc_info
        self.exc_type = info[0]
        self.exc_msg = "".join(traceback.format_exception(*info))
        self.where = where

    def reraise(self) -> NoReturn:
        """Raise the error, its message being where it was raised first."""
        kind: Any = self.exc_type
        text = f"Caught {kind.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if kind is KeyError:
            text = KeyErrorMessage(text)
        elif getattr(kind, "message", None):
            raise kind(message=text)
        try:
            error = kind(text)
        except Exception:  # whatever a class raises whose arguments are not one text
            raise RuntimeError(text) from None
        raise error


ExceptionWrapper.__module__ = KeyErrorMessage.__module__ = "torch._utils"


# --- objects -------------------------------------------------------------------------------------


def _import_dotted_name(name: str) -> Any:
    """What a dotted name stands for, from the module that it begins with."""
    first, *rest = name.split(".")
    found = __import__(first)
    for each in rest:
        found = getattr(found, each)
    return found


def _get_obj_state(obj: Any) -> Any:
    """The state of an object, for pickle: its attributes, and its slots if it has any."""
    state = getattr(obj, "__getstate__", None)
    if state is not None:
        return state()
    names = copyreg._slotnames(type(obj))  # type: ignore[attr-defined]
    if not names:
        return obj.__dict__
    return obj.__dict__, {n: getattr(obj, n) for n in names if hasattr(obj, n)}


def _set_obj_state(obj: Any, state: Any) -> Any:
    """The object with a state that `_get_obj_state` gave."""
    attributes, slots = state if isinstance(state, tuple) else (state, None)
    for each in (attributes, slots):
        for name, value in (each or {}).items():
            setattr(obj, name, value)
    return obj


def get_tensor_metadata(tensor: Tensor) -> dict[str, bool]:
    """What a file says of a tensor besides its place: whether it is a conjugate, or negated."""
    found = {"conj": tensor.is_conj(), "neg": tensor.is_neg()}
    return {name: True for name, value in found.items() if value}


class _ClassProperty:
    def __init__(self, function: Any) -> None:
        self.function = function

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self.function(type(instance) if owner is None else owner)


classproperty = _ClassProperty
"""A decorator: a property of the class itself."""


def _get_device_module(device_type: str) -> Any:
    """The module of a kind of device: `torch.cpu`, `torch.cuda`.

    Raises:
        RuntimeError: There is none of that name.

    >>> torch._utils._get_device_module("cpu") is torch.cpu
    True
    """
    import tapegrad

    module = getattr(tapegrad, device_type, None)
    if module is None:
        raise _errors.runtime_error(
            f"Device '{device_type}' does not have a corresponding module registered as "
            f"'torch.{device_type}'.",
            "torch.cpu is there, and torch.cuda and its kin by name.",
        )
    return module


def render_call(fn: Any, args: Any, kwargs: dict) -> str:
    """A call of a function as text.

    >>> torch._utils.render_call(torch.add, (1,), {"alpha": 2})
    'torch.add(1, alpha=2)'
    """
    from tapegrad.overrides import resolve_name

    given = [*map(repr, args), *(f"{name}={value!r}" for name, value in kwargs.items())]
    return f"{resolve_name(fn) or str(fn)}({', '.join(given)})"


__getattr__ = _refuses(__name__)
