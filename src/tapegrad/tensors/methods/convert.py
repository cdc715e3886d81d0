"""Methods that make something else of tensors: numbers, arrays, copies, text, new tensors."""

from typing import Any

import numpy as np

from tapegrad.core import errors
from tapegrad.core.lazy import method
from tapegrad.core.registration import NOTEBOOK
from tapegrad.operators.conversion import item_numpy_tolist
from tapegrad.operators.creation import new_methods
from tapegrad.operators.shape import clone as _clone
from tapegrad.tensors import copy_pickle
from tapegrad.tensors.printing import format_tensor

_APPLY = "tapegrad.operators.pointwise.apply_map"


class ConvertMethods:
    """Numbers, arrays, copies, text; new tensors of this one's dtype."""

    __slots__ = ()

    new = new_methods.new
    new_empty = new_methods.new_empty
    new_empty_strided = new_methods.new_empty_strided
    new_full = new_methods.new_full
    new_ones = new_methods.new_ones
    new_tensor = new_methods.new_tensor
    new_zeros = new_methods.new_zeros

    clone = _clone.clone
    contiguous = _clone.contiguous

    item = item_numpy_tolist.item
    tolist = item_numpy_tolist.tolist
    numpy = item_numpy_tolist.numpy
    __array__ = item_numpy_tolist.array
    __array_wrap__ = item_numpy_tolist.array_wrap
    __dlpack__ = item_numpy_tolist.dlpack
    __dlpack_device__ = item_numpy_tolist.dlpack_device
    __bool__ = item_numpy_tolist.to_bool
    __int__ = item_numpy_tolist.to_int
    __float__ = item_numpy_tolist.to_float
    __complex__ = item_numpy_tolist.to_complex
    __index__ = item_numpy_tolist.to_index

    apply_ = method(_APPLY)
    map_ = method(_APPLY)
    map2_ = method(_APPLY)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return NOTEBOOK().tensor_html(self)

    as_subclass = copy_pickle.as_subclass
    __reduce_ex__ = copy_pickle.reduce_tensor
    __deepcopy__ = copy_pickle.deepcopy_tensor

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """The functions of the array standard for tensors."""
        from tapegrad.tensors.arrays import namespace

        return namespace

    def __len__(self) -> int:
        shape = self._array.shape  # type: ignore[attr-defined]
        if not shape:
            raise errors.type_error("len() of a 0-d tensor", "It holds a single number.")
        return shape[0]

    def __iter__(self) -> Any:
        if not self._array.shape:  # type: ignore[attr-defined]
            raise errors.type_error(
                "iteration over a 0-d tensor", "It holds a single number: x.item()."
            )
        return iter(self.unbind(0))  # type: ignore[attr-defined]

    def __contains__(self, element: Any) -> bool:
        if not (
            hasattr(element, "_array") or isinstance(element, (int, float, complex, np.generic))
        ):
            raise errors.runtime_error(
                "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
                f"{type(element)}.",
                "Only numbers and tensors can be elements of a tensor.",
            )
        return bool((element == self).any().item())

    def __format__(self, spec: str) -> str:
        return format_tensor(self, spec)

    def __hash__(self) -> int:
        return id(self)
