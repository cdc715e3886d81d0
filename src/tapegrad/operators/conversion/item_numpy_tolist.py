"""Out of tensors: Python numbers and lists, NumPy arrays, DLPack."""

import numpy as np

from tapegrad.arrays.float8 import is_float8
from tapegrad.arrays.namespaces import is_batched
from tapegrad.autograd.mode import MODE, is_grad_enabled
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, DeviceLike, DTypeLike, Scalar, Tensor
from tapegrad.core.argument_check import require_tensors
from tapegrad.core.conj_neg_view import ConjNegView
from tapegrad.core.device import require_cpu
from tapegrad.core.storage import lend
from tapegrad.core.warn_once import warn_once
from tapegrad.operators.conversion.metadata import require
from tapegrad.operators.creation.factory_options import build
from tapegrad.operators.creation.tensor import supported

get_mode = MODE.get


def item(self: Tensor) -> Any:
    """The only element, as a Python number.

    >>> torch.tensor([2.5]).item()
    2.5
    """
    array = self._array
    if array.size != 1:
        text = f"a Tensor with {array.size} elements cannot be converted to Scalar"
        raise errors.runtime_error(text, "tolist() gives all elements.")
    mode = get_mode()
    if mode is not True and mode is not False:
        mode.cut(self, None, "item()")
    return array.item() if array.dtype.kind != "V" else _value(array)


def tolist(self: Tensor) -> Any:
    """The elements as nested lists of Python numbers; a number for a tensor without dimensions.

    >>> torch.ones(2, 2).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    array = self._array
    mode = get_mode()
    if mode is not True and mode is not False:
        mode.cut(self, None, "tolist()")
    return array.tolist() if array.dtype.kind != "V" else array.astype(np.float32).tolist()


def numpy(self: Tensor, *, force: bool = False) -> np.ndarray:
    """The elements as a NumPy array that shares the tensor's memory, which cannot grow any more.

    Args:
        force: of a tensor that requires grad, too, where operators record.

    >>> torch.ones(2).numpy()
    array([1., 1.], dtype=float32)
    """
    if self.requires_grad and not force and is_grad_enabled():
        raise errors.runtime_error(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
            "No gradient flows through NumPy: pass x.detach(), to np.array() too.",
        )
    array = self._array
    if type(array) is ConjNegView:
        if not force:
            which = ("conjugate", "conj") if array.conj else ("negative", "neg")
            raise errors.runtime_error(
                f"Can't call numpy() on Tensor that has {which[0]} bit set. Use "
                f"tensor.resolve_{which[1]}().numpy() instead.",
                "NumPy's arrays show their memory as it is.",
            )
        array = array.resolved()
    if array.dtype.kind == "V" or is_float8(array.dtype):
        text = f"Got unsupported ScalarType {self.dtype.scalar_name}"
        raise errors.type_error(text, "NumPy has no such type: convert with .float() first.")
    mode = get_mode()
    if mode is not True and mode is not False:
        mode.cut(self, None, "numpy()")
    if type(array) is not np.ndarray:
        return np.asarray(array)
    lend(array)
    return array


def array(self: Tensor, dtype: DTypeLike = None, copy: bool | None = None) -> np.ndarray:
    """What `numpy.asarray(tensor)` gives: the shared memory, or a copy in another dtype."""
    found = numpy(self)
    if dtype is not None and found.dtype != dtype:
        if copy is False:
            text = "Unable to avoid copy while creating an array as requested."
            raise errors.value_error(text, f"The tensor is {self.dtype}: leave copy=False away.")
        return found.astype(dtype)
    return found.copy() if copy else found


def array_wrap(
    self: Tensor, array: Any, context: object = None, return_scalar: bool = False
) -> Any:
    """The result of a NumPy function of tensors, as a tensor; truth values become uint8."""
    array = np.asarray(array)
    if array.dtype == np.bool_:
        array = array.astype(np.uint8)
    return tensor_base.wrap(supported(array))


# --- one number -----------------------------------------------------------------------------------


def _single(self: Tensor, how: str) -> Any:
    """The only element, on the way to a Python number: gradients do not follow it."""
    if self._array.size != 1:
        text = "only one element tensors can be converted to Python scalars"
        advice = f"This one has {self._array.size} elements: tolist() gives them all."
        raise errors.value_error(text, advice)
    if self.requires_grad and how != "int()":
        warn_once(
            "Converting a tensor with requires_grad=True to a scalar may lead to unexpected "
            "behavior.\nConsider using tensor.detach() first."
        )
    mode = get_mode()
    if mode is True or mode is False:
        return item(self)
    mode.cut(self, None, how)
    return _value(self._array)


def _value(array: Any) -> Any:
    """The only element of an array, one of bfloat16 among them, as a Python number."""
    return array.item() if array.dtype.kind != "V" else float(array.astype(np.float32).item())


def _real(value: Scalar, name: str) -> Any:
    if isinstance(value, complex):
        if value.imag:
            text = f"value cannot be converted to type {name} without overflow"
            raise errors.runtime_error(text, "It is a complex number: take its .real first.")
        return value.real
    return value


def to_bool(self: Tensor) -> bool:
    """Whether the only element is not zero."""
    array = self._array
    if is_batched(array):
        return bool(array)
    if array.size != 1:
        what = "more than one value" if array.size else "no values"
        text = f"Boolean value of Tensor with {what} is ambiguous"
        raise errors.runtime_error(text, "Say what is meant: x.any(), x.all() or x.numel() > 0.")
    return bool(array.item())


def to_int(self: Tensor) -> int:
    """The only element as an integer, cut off towards zero."""
    return int(_real(_single(self, "int()"), "int64_t"))


def to_float(self: Tensor) -> float:
    """The only element as a float."""
    return float(_real(_single(self, "float()"), "double"))


def to_complex(self: Tensor) -> complex:
    """The only element as a complex number."""
    return complex(_single(self, "complex()"))


def to_index(self: Tensor) -> int:
    """The only element, an integer, as an index."""
    array = self._array
    if array.size != 1 or array.dtype.kind not in "iub":
        text = "only integer tensors of a single element can be converted to an index"
        raise errors.type_error(text, "Convert it first: int(x).")
    return int(array.item())


# --- DLPack ---------------------------------------------------------------------------------


def dlpack(self: Tensor, *, stream: object = None, **options: object) -> Any:
    """A capsule through which other libraries share the tensor's memory."""
    if stream is not None and not isinstance(stream, int):
        text = "stream must be ``int`` or ``none``"
        raise errors.type_error(text, "Tensors on the CPU have no stream: leave it away.")
    if stream not in (None, -1):
        text = "stream should be None on cpu."
        advice = "Tensors on the CPU have no stream: leave it away."
        raise errors.advised(AssertionError(text), advice)
    if self.requires_grad:
        error = BufferError("Can't export tensors that require gradient, use tensor.detach()")
        raise errors.advised(error, "No gradient flows through other libraries.")
    if type(self._array) is ConjNegView:
        _refuse_turned(self._array)
    return self._array.__dlpack__(**options)


def _refuse_turned(array: ConjNegView) -> None:
    """Raise for memory that is read with another sign than other libraries would."""
    which = ("conjugate", "conj") if array.conj else ("negative", "neg")
    error = BufferError(f"Can't export tensors with the {which[0]} bit set")
    raise errors.advised(error, f"resolve_{which[1]}() makes a copy without it.")


@require_tensors
def to_dlpack(tensor: Tensor, /) -> Any:
    """A capsule through which another library takes the tensor's memory, once.

    >>> torch.from_dlpack(torch.to_dlpack(torch.ones(2)))
    tensor([1., 1.])
    """
    array = require("to_dlpack", tensor, "tensor")._array
    if type(array) is ConjNegView:
        _refuse_turned(array)
    return array.__dlpack__()


class _Capsule:
    """A bare capsule, as an object that NumPy asks for one."""

    __slots__ = ("capsule",)

    def __init__(self, capsule: Any):
        self.capsule = capsule

    def __dlpack__(self, **options: object) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def dlpack_device(self: Tensor) -> tuple[int, int]:
    """Where the memory is, in DLPack's terms: (1, 0), the CPU."""
    return self._array.__dlpack_device__()


def from_dlpack(ext_tensor: Any, *, device: DeviceLike = None, copy: bool | None = None) -> Any:
    """A tensor on the memory of another library's array.

    Shape: that of the array.
    Raises: RuntimeError for a capsule that has been used.

    >>> import numpy as np
    >>> torch.from_dlpack(np.ones(2))
    tensor([1., 1.], dtype=torch.float64)
    """
    is_capsule = type(ext_tensor).__name__ == "PyCapsule"
    if is_capsule and '"dltensor"' in repr(ext_tensor):
        ext_tensor = _Capsule(ext_tensor)
    if not hasattr(ext_tensor, "__dlpack__"):
        raise errors.runtime_error(
            "from_dlpack received an invalid capsule. Note that DLTensor capsules can be "
            "consumed only once, so you might have already constructed a tensor from it once.",
            "Pass the array itself: an object with __dlpack__ and __dlpack_device__.",
        )
    return build("from_dlpack", _from_dlpack, ext_tensor, device, copy)


_TAKES_COPY = not np.__version__.startswith("2.0.")  # NumPy 2.0 always shares memory


def _from_dlpack(x: Tensor, device: DeviceLike, copy: bool | None) -> np.ndarray:
    require_cpu(device)
    if isinstance(x, tensor_base.Tensor) and not copy:
        return x.detach()._array
    found = np.from_dlpack(x, copy=copy) if _TAKES_COPY else np.from_dlpack(x)
    if copy and not _TAKES_COPY:
        found = found.copy()
    if not found.flags.writeable:  # NumPy marks what it imports: others write to it all the same
        found = _writable(found)
    return supported(found)


def _writable(array: np.ndarray) -> np.ndarray:
    """The same memory without the mark."""
    interface = dict(array.__array_interface__)
    interface["data"] = (interface["data"][0], False)
    return np.asarray(_Memory(interface, array))


class _Memory:
    """Memory described to NumPy, kept alive by its owner."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, interface: dict, owner: Any):
        self.__array_interface__ = interface
        self.owner = owner


__all__ = ["from_dlpack", "to_dlpack"]
