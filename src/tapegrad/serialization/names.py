"""Names in files: the functions, classes and dtypes that they may name."""

import codecs
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

from tapegrad.core.device import device
from tapegrad.core.dtype import BY_NAME
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.size import Size
from tapegrad.nn.parameter import Parameter
from tapegrad.operators.creation.legacy_constructor import TYPES
from tapegrad.serialization import rebuild
from tapegrad.serialization.machine import as_key
from tapegrad.serialization.message import malformed
from tapegrad.tensors.tensor import Tensor


class StorageType:
    """What `torch.FloatStorage` is in a file: the dtype of memory, or None for bytes."""

    __slots__ = ("dtype", "module", "name")

    def __init__(self, module: str, name: str, dtype: Dtype | None) -> None:
        self.module, self.name, self.dtype = module, name, dtype

    def __repr__(self) -> str:
        return f"<class '{self.module}.{self.name}'>"


_TYPED = {
    "float32": "Float",
    "float64": "Double",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "int64": "Long",
    "int32": "Int",
    "int16": "Short",
    "int8": "Char",
    "uint8": "Byte",
    "bool": "Bool",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}

UNTYPED = StorageType("torch.storage", "UntypedStorage", None)
#: dtype -> its storage; the other dtypes lie in memory of bytes
STORAGE_TYPES = {
    BY_NAME[name]: StorageType("torch", f"{word}Storage", BY_NAME[name])
    for name, word in _TYPED.items()
}

#: name in a file -> what it is here
GLOBALS: dict[str, Any] = {
    "torch._utils._rebuild_tensor": rebuild.rebuild_tensor,
    "torch._utils._rebuild_tensor_v2": rebuild.rebuild_tensor_v2,
    "torch._utils._rebuild_tensor_v3": rebuild.rebuild_tensor_v3,
    "torch._utils._rebuild_meta_tensor_no_storage": rebuild.rebuild_meta_tensor,
    "torch._utils._rebuild_wrapper_subclass": rebuild.rebuild_wrapper_subclass,
    "torch._utils._rebuild_sparse_tensor": rebuild.rebuild_sparse_tensor,
    "torch._utils._rebuild_parameter": rebuild.rebuild_parameter,
    "torch._utils._rebuild_parameter_with_state": rebuild.rebuild_parameter_with_state,
    "torch._tensor._rebuild_from_type_v2": rebuild.rebuild_from_type,
    "torch.serialization._get_layout": rebuild.get_layout,
    "torch.Tensor": Tensor,
    "torch.nn.parameter.Parameter": Parameter,
    "torch.Size": Size,
    "torch.device": device,
    "torch.storage.UntypedStorage": UNTYPED,
    **{f"torch.{each.name}": each for each in STORAGE_TYPES.values()},
    **{f"torch.cuda.{each.name}": each for each in STORAGE_TYPES.values()},
    **{f"torch.{name}": each for name, each in BY_NAME.items()},
    **{f"torch.{name}": each for name, each in TYPES.items()},
    "collections.OrderedDict": OrderedDict,
    "collections.Counter": Counter,
    "builtins.set": set,
    "builtins.complex": complex,
    "builtins.bytearray": bytearray,
    "_codecs.encode": codecs.encode,
}

# Named by files that PyTorch loads with weights_only=True, and not to be had here.
LACKING = {
    "torch._utils._rebuild_nested_tensor": "nested tensors",
    "torch._utils._rebuild_qtensor": "quantized tensors",
    "torch._utils._rebuild_device_tensor_from_numpy": "tensors on other devices",
    "torch._utils._rebuild_device_tensor_from_cpu_tensor": "tensors on other devices",
}
BLOCKED = ("sys", "os", "posix", "nt")


def _ordered_dict(*args: object) -> OrderedDict:
    found: OrderedDict = OrderedDict()
    for pair in _items(args):
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise malformed("an OrderedDict is made of something that is no pair")
        found[as_key(pair[0])] = pair[1]
    return found


def _set(*args: object) -> set:
    return {as_key(x) for x in _items(args)}


def _items(args: tuple) -> Any:
    if len(args) > 1 or (args and not isinstance(args[0], (list, tuple))):
        raise malformed("a container is made of something that is no list")
    return args[0] if args else ()


def _counter(*args: object) -> Counter:
    found: Counter = Counter()
    for given in args:
        if not isinstance(given, dict):
            raise malformed("a Counter is made of something that is no dict")
        dict.update(found, given)
    return found


def _complex(real: Any, imag: Any) -> complex:
    if not all(type(x) in (int, float) for x in (real, imag)):
        raise malformed("a complex number is made of something that is no number")
    return complex(real, imag)


def _bytearray(*args: object) -> bytearray:
    if not args:
        return bytearray()
    if len(args) == 1 and isinstance(args[0], (bytes, bytearray)):
        return bytearray(args[0])
    if len(args) != 2:  # a number would ask for that much memory
        raise malformed("a bytearray is made of something that is no bytes")
    return bytearray(_encode(*args))


_LATIN1 = ("latin1", "latin-1")


def _encode(text: Any, encoding: Any) -> bytes:
    if type(text) is not str or type(encoding) is not str or encoding not in _LATIN1:
        raise malformed("bytes are made of something that is no text of bytes")
    try:
        return text.encode("latin1")
    except UnicodeEncodeError as error:
        raise malformed("bytes are made of something that is no text of bytes") from error


def _size(*args: object) -> Size:
    if len(args) != 1 or not isinstance(args[0], (list, tuple)):
        raise malformed("a Size is made of something that is no tuple")
    if not all(rebuild.is_int64(n) for n in args[0]):
        raise malformed("a Size is made of something that is no integer")
    return Size(args[0])


def _device(*args: object) -> device:
    if not args or type(args[0]) is not str:
        raise malformed("a device is made of something that is no name")
    if not all(map(rebuild.is_int64, args[1:])):
        raise malformed("the index of a device is no integer of 64 bits")
    return device(*args)


CALLS: dict[Any, Callable] = {
    **{
        each: each
        for each in GLOBALS.values()
        if getattr(each, "__module__", "") == rebuild.__name__
    },
    Size: _size,
    device: _device,
    OrderedDict: _ordered_dict,
    Counter: _counter,
    set: _set,
    complex: _complex,
    bytearray: _bytearray,
    codecs.encode: _encode,
}

#: functions that make a tensor of its memory
REBUILDING = (rebuild.rebuild_tensor_v2, rebuild.rebuild_tensor_v3, rebuild.rebuild_meta_tensor)
