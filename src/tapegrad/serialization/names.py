"""What files call the functions, classes and dtypes that they may name."""

from __future__ import annotations

import codecs
from collections import Counter, OrderedDict, defaultdict
from typing import Any

import numpy as np

from tapegrad.core.device import device
from tapegrad.core.dtype import BY_NAME
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.size import Size
from tapegrad.nn.parameter import Parameter
from tapegrad.operators.creation.legacy_constructor import TYPES
from tapegrad.serialization import numpy_value, rebuild
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
    "torch._utils._rebuild_sparse_tensor": "sparse tensors",
    "torch._utils._rebuild_nested_tensor": "nested tensors",
    "torch._utils._rebuild_qtensor": "quantized tensors",
    "torch._utils._rebuild_meta_tensor_no_storage": "tensors on the meta device",
    "torch._utils._rebuild_device_tensor_from_numpy": "tensors on other devices",
    "torch._utils._rebuild_device_tensor_from_cpu_tensor": "tensors on other devices",
    "torch._utils._rebuild_wrapper_subclass": "wrapper subclasses of tensors",
}
BLOCKED = ("sys", "os", "posix", "nt")


#: what weights_only=False adds
PLAIN: dict[str, Any] = {
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
