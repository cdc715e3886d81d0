"""Methods that turn tensors into something else: numbers, arrays, copies, text, iterators."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapegrad.core import errors
from tapegrad.core.registration import NOTEBOOK
from tapegrad.operators.conversion import item_numpy_tolist as _export
from tapegrad.operators.pointwise import apply_map as _each
from tapegrad.operators.shape import clone as _copy
from tapegrad.tensors import copy_pickle as _persistence


class ConvertMethods:
    """Numbers, arrays, copies, text."""

    __slots__ = ()

    clone = _copy.clone
    contiguous = _copy.contiguous

    item = _export.item
    tolist = _export.tolist
    numpy = _export.numpy
    __array__ = _export.array
    __array_wrap__ = _export.array_wrap
    __dlpack__ = _export.dlpack
    __dlpack_device__ = _export.dlpack_device
    __bool__ = _export.to_bool
    __int__ = _export.to_int
    __float__ = _export.to_float
    __complex__ = _export.to_complex
    __index__ = _export.to_index

    apply_ = _each.apply_
    map_ = _each.map_
    map2_ = _each.map2_

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return NOTEBOOK().tensor_html(self)

    as_subclass = _persistence.as_subclass
    __reduce_ex__ = _persistence.reduce_tensor
    __deepcopy__ = _persistence.deepcopy_tensor

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
        from tapegrad.tensors.printing import format_tensor

        return format_tensor(self, spec)

    def __hash__(self) -> int:
        return id(self)
