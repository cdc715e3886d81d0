"""What a file may name: the list, what calling each of it does, and what users add to it."""

from __future__ import annotations

import codecs
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np

from tapegrad.device import device
from tapegrad.dtype import BY_NAME
from tapegrad.dtype import dtype as Dtype
from tapegrad.errors import advised
from tapegrad.nn.parameter import Parameter
from tapegrad.ops.typed import TYPES
from tapegrad.serialization import numpy_value, rebuild
from tapegrad.serialization.machine import as_key
from tapegrad.serialization.message import blocked_global, lacking, malformed, refused_global
from tapegrad.size import Size
from tapegrad.tensor import Tensor


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
_LACKING = {
    "torch._utils._rebuild_sparse_tensor": "sparse tensors",
    "torch._utils._rebuild_nested_tensor": "nested tensors",
    "torch._utils._rebuild_qtensor": "quantized tensors",
    "torch._utils._rebuild_meta_tensor_no_storage": "tensors on the meta device",
    "torch._utils._rebuild_device_tensor_from_numpy": "tensors on other devices",
    "torch._utils._rebuild_device_tensor_from_cpu_tensor": "tensors on other devices",
    "torch._utils._rebuild_wrapper_subclass": "wrapper subclasses of tensors",
}
_BLOCKED = ("sys", "os", "posix", "nt")


# --- calls --------------------------------------------------------------------------------------


def _ordered_dict(*args: Any) -> OrderedDict:
    found: OrderedDict = OrderedDict()
    for pair in _items(args):
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise malformed("an OrderedDict is made of something that is no pair")
        found[as_key(pair[0])] = pair[1]
    return found


def _set(*args: Any) -> set:
    return {as_key(x) for x in _items(args)}


def _items(args: tuple) -> Any:
    if len(args) > 1 or (args and not isinstance(args[0], (list, tuple))):
        raise malformed("a container is made of something that is no list")
    return args[0] if args else ()


def _counter(*args: Any) -> Counter:
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


def _bytearray(*args: Any) -> bytearray:
    if not args:
        return bytearray()
    if len(args) == 1 and isinstance(args[0], (bytes, bytearray)):
        return bytearray(args[0])
    if len(args) != 2:  # a number would ask for that much memory
        raise malformed("a bytearray is made of something that is no bytes")
    return bytearray(_encode(*args))


def _encode(text: Any, encoding: Any) -> bytes:
    if type(text) is not str or encoding not in ("latin1", "latin-1"):
        raise malformed("bytes are made of something that is no text of bytes")
    try:
        return text.encode("latin1")
    except UnicodeEncodeError as error:
        raise malformed("bytes are made of something that is no text of bytes") from error


def _size(*args: Any) -> Size:
    if len(args) != 1 or not isinstance(args[0], (list, tuple)):
        raise malformed("a Size is made of something that is no tuple")
    if not all(type(n) is int and abs(n) < 2**63 for n in args[0]):
        raise malformed("a Size is made of something that is no integer")
    return Size(args[0])


def _device(*args: Any) -> device:
    if not args or type(args[0]) is not str:
        raise malformed("a device is made of something that is no name")
    return device(*args)


CALLS: dict[Any, Callable] = {
    rebuild.rebuild_tensor: rebuild.rebuild_tensor,
    rebuild.rebuild_tensor_v2: rebuild.rebuild_tensor_v2,
    rebuild.rebuild_tensor_v3: rebuild.rebuild_tensor_v3,
    rebuild.rebuild_parameter: rebuild.rebuild_parameter,
    rebuild.rebuild_parameter_with_state: rebuild.rebuild_parameter_with_state,
    rebuild.rebuild_from_type: rebuild.rebuild_from_type,
    rebuild.get_layout: rebuild.get_layout,
    Size: _size,
    device: _device,
    OrderedDict: _ordered_dict,
    Counter: _counter,
    set: _set,
    complex: _complex,
    bytearray: _bytearray,
    codecs.encode: _encode,
}


# --- what weights_only=False adds ---------------------------------------------------------------


def _default_dict(*args: Any) -> defaultdict:
    if len(args) > 1 or (args and args[0] not in (None, int, float, list, dict, set, str, bool)):
        raise malformed("a defaultdict is made of something that is no plain type")
    return defaultdict(*args)


def _plain(cls: type, kinds: tuple) -> Callable:
    def call(*args: Any) -> Any:
        if not 1 <= len(args) <= 3 or not all(type(x) in kinds for x in args):
            raise malformed(f"a {cls.__name__} is made of something strange")
        return cls(*args)

    return call


_PLAIN: dict[str, Any] = {
    "numpy.dtype": np.dtype,
    "numpy.ndarray": np.ndarray,
    "numpy.core.multiarray.scalar": numpy_value.make_scalar,
    "numpy._core.multiarray.scalar": numpy_value.make_scalar,
    "numpy.core.multiarray._reconstruct": numpy_value.make_array,
    "numpy._core.multiarray._reconstruct": numpy_value.make_array,
    "collections.defaultdict": defaultdict,
    "builtins.slice": slice,
    "builtins.range": range,
    **{f"builtins.{each.__name__}": each for each in (int, float, list, dict, tuple, str, bool)},
}
_PLAIN_CALLS: dict[Any, Callable] = {
    np.dtype: numpy_value.make_dtype,
    numpy_value.make_scalar: numpy_value.make_scalar,
    numpy_value.make_array: numpy_value.make_array,
    defaultdict: _default_dict,
    slice: _plain(slice, (int, type(None))),
    range: _plain(range, (int,)),
}


# --- what users add -----------------------------------------------------------------------------

_lock = Lock()
_added: list[Any] = []


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let files name these classes and functions, which `load` then calls as the file says.

    Each is a class or function, or a pair of it and the name that files have for it. Those that
    run code of a file's choice, such as `eval`, must never be among them.

    >>> class Options:
    ...     pass
    >>> torch.serialization.add_safe_globals([Options])
    >>> torch.serialization.clear_safe_globals()
    """
    given = list(safe_globals)
    for each in given:
        _name_of(each)
    with _lock:
        _added.extend(each for each in given if each not in _added)


def get_safe_globals() -> list[Any]:
    """What `add_safe_globals` has added.

    >>> torch.serialization.get_safe_globals()
    []
    """
    return list(_added)


def clear_safe_globals() -> None:
    """Forget what `add_safe_globals` has added.

    >>> torch.serialization.clear_safe_globals()
    """
    with _lock:
        _added.clear()


class safe_globals:
    """While it lasts, files may name these classes and functions: see `add_safe_globals`.

    >>> class Options:
    ...     pass
    >>> with torch.serialization.safe_globals([Options]):
    ...     len(torch.serialization.get_safe_globals())
    1
    """

    def __init__(self, safe_globals: list[Any]) -> None:
        self._given = list(safe_globals)

    def __enter__(self) -> None:
        self._before = get_safe_globals()
        add_safe_globals(self._given)

    def __exit__(self, *exception: Any) -> None:
        with _lock:
            _added[:] = self._before


def _name_of(given: Any) -> str:
    if isinstance(given, tuple) and len(given) == 2 and type(given[1]) is str:
        return given[1]
    if not callable(given) or not hasattr(given, "__qualname__"):
        raise advised(
            TypeError(f"a safe global is a class or function, not {type(given).__name__}"),
            "For another name than its own, pass the pair (object, 'module.name').",
        )
    return f"{given.__module__}.{given.__qualname__}"


def _object_of(given: Any) -> Any:
    return given[0] if isinstance(given, tuple) else given


# --- the list as one load sees it ---------------------------------------------------------------


class Allowed:
    """What one call of `load` lets a file name and do.

    Args:
        plain: also classes of `tapegrad.nn`, Python and NumPy that hold data (weights_only=False)
    """

    def __init__(self, plain: bool = False) -> None:
        self._plain = plain
        added = get_safe_globals()
        self._added = {_name_of(each): _object_of(each) for each in added}
        self._callable = [each for each in self._added.values() if callable(each)]
        self._modules: set[type] = set()

    def find(self, module: str, name: str) -> Any:
        """What a file means by `name` of `module`."""
        module, name = NAME_MAPPING.get((module, name), (module, name))  # of Python 2
        module = IMPORT_MAPPING.get(module, module)
        full = f"{module}.{name}"
        if full in self._added:
            return self._added[full]
        if full in GLOBALS:
            return GLOBALS[full]
        if module.partition(".")[0] in _BLOCKED:
            raise blocked_global(module, name)
        if full in _LACKING:
            raise lacking(_LACKING[full], full)
        if self._plain and full in _PLAIN:
            return _PLAIN[full]
        found = _layer(module, name)
        if found is not None and (self._plain or found in self._callable):
            self._modules.add(found)
            return found
        raise refused_global(name if module == "builtins" else full)

    def call(self, function: Any, args: tuple, new: bool = False) -> Any:
        """`function(*args)`, if it may be called; with `new` an object without its state."""
        if isinstance(function, type) and function in self._modules:
            made: Any = function
            return made.__new__(made)
        for each in self._callable:
            if function is each:
                return function.__new__(function, *args) if new else function(*args)
        table = CALLS
        is_known = callable(function) and getattr(type(function), "__hash__", None) is not None
        if self._plain and is_known and function in _PLAIN_CALLS:
            table = _PLAIN_CALLS
        if not is_known or function not in table:
            raise malformed(f"the file calls what cannot be called: {_short(function)}")
        try:
            return table[function](*args)
        except TypeError as error:
            raise malformed(f"the file calls {_short(function)} wrongly: {error}") from error

    def build(self, found: Any, state: Any) -> None:
        """Give `found` the state that a file has for it."""
        kind = type(found)
        if kind is OrderedDict:
            rebuild.with_metadata(found, state)
        elif self._plain and kind is np.ndarray:
            numpy_value.fill_array(found, state)
        elif self._plain and isinstance(found, np.dtype):
            numpy_value.check_dtype(found, state)
        elif kind in self._modules:
            from tapegrad.nn import Module

            if type(state) is not dict:
                raise malformed("the state of a module is no dict")
            Module.__init__(found)  # a file of an older version may lack a table
            _restore(found, state)
        elif any(kind is each for each in self._callable):
            _restore(found, state)
        else:
            raise malformed(f"the file gives a {kind.__name__} a state, which has none")


def _layer(module: str, name: str) -> Any:
    """The class of `tapegrad.nn` of that name, wherever PyTorch has it."""
    if not (module == "torch.nn" or module.startswith("torch.nn.modules.")):
        return None
    from tapegrad import nn

    found = vars(nn).get(name)
    return found if isinstance(found, type) and issubclass(found, nn.Module) else None


def _restore(found: Any, state: Any) -> None:
    restore = getattr(type(found), "__setstate__", None)
    if restore is None:
        rebuild.with_metadata(found, state)
    else:
        restore(found, state)


def _short(x: Any) -> str:
    name = getattr(x, "__name__", None)
    return name if isinstance(name, str) else type(x).__name__
