"""Collation of a batch: tensors are stacked, containers taken apart."""

import copy
import re
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from tapegrad.core import errors
from tapegrad.core.dtype import float64
from tapegrad.operators.creation.from_numpy_asarray import as_tensor
from tapegrad.operators.creation.tensor import tensor
from tapegrad.operators.shape.cat_stack import stack
from tapegrad.tensors.tensor import Tensor

Functions = dict[Any, Callable]

np_str_obj_array_pattern = re.compile("[SaUO]")
"""Finds, in `dtype.str`, the types of arrays that cannot be tensors: text and objects."""


def default_convert(data: object) -> Any:
    """Arrays as tensors, inside containers, too; everything else as it is.

    >>> import numpy as np
    >>> torch.utils.data.default_convert({"x": np.array([1, 2]), "name": "a"})
    {'x': tensor([1, 2]), 'name': 'a'}
    """
    if isinstance(data, Tensor):
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        is_text = data.dtype.kind in "SUO"
        return data if is_text else as_tensor(data)
    if isinstance(data, Mapping):
        return _mapping(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple):
        return _tuple(data, [default_convert(item) for item in data])
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _sequence(data, [default_convert(item) for item in data])
    return data


def default_collate(batch: Any) -> Any:
    """One batch of a list of samples, as a DataLoader makes it.

    Tensors, arrays and numbers gain a first dimension that counts the samples; strings stay a list;
    of mappings, named tuples and sequences each entry is collated by itself.

    >>> torch.utils.data.default_collate([(1, "a"), (2, "b")])
    [tensor([1, 2]), ('a', 'b')]
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def collate(batch: Any, *, collate_fn_map: Functions | None = None) -> Any:
    """One batch of a list of samples, by a table from types of samples to functions.

    Args:
        collate_fn_map: type or tuple of types -> `f(batch, *, collate_fn_map)`; types that it lacks
            are taken apart if they are containers.

    >>> from tapegrad.utils.data._utils.collate import collate
    >>> collate([[1.0], [2.0]], collate_fn_map={float: lambda batch, *, collate_fn_map: sum(batch)})
    [3.0]
    """
    first = batch[0]
    function = _function(type(first), collate_fn_map or {})
    if function is not None:
        return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        columns = {
            key: collate([sample[key] for sample in batch], collate_fn_map=collate_fn_map)
            for key in first
        }
        return _mapping(first, columns)
    if not isinstance(first, Sequence):
        raise _unknown(type(first))
    if not isinstance(first, tuple) or not hasattr(first, "_fields"):
        n = len(first)
        if any(len(sample) != n for sample in batch):
            raise errors.runtime_error(
                "each element in list of batch should be of equal size",
                "Pad the samples, or pass a collate_fn that can join them.",
            )
    items = [collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch, strict=False)]
    return _tuple(first, items) if isinstance(first, tuple) else _sequence(first, items)


def _function(kind: type, functions: Functions) -> Callable | None:
    if kind in functions:
        return functions[kind]
    for kinds, function in functions.items():
        if issubclass(kind, kinds):
            return function
    return None


def _mapping(like: Any, items: dict) -> Any:
    """`items` in a mapping like `like`; a dictionary where there is no way to make one."""
    try:
        if isinstance(like, MutableMapping):
            clone = copy.copy(like)
            clone.update(items)
            return clone
        return type(like)(items)
    except TypeError:
        return items


def _tuple(like: tuple, items: list) -> Any:
    """A named tuple of `items`; of any other tuple a list, as in PyTorch."""
    return type(like)(*items) if hasattr(like, "_fields") else items


def _sequence(like: Any, items: list) -> Any:
    """`items` in a sequence like `like`; a list where there is no way to make one."""
    try:
        if isinstance(like, MutableSequence):
            clone = copy.copy(like)
            for i, item in enumerate(items):
                clone[i] = item
            return clone
        return type(like)(items)
    except TypeError:
        return items


def _unknown(what: Any) -> TypeError:
    return errors.type_error(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
        f"found {what}",
        "Pass a collate_fn to the DataLoader that can join such samples.",
    )


# --- the table of default_collate ------------------------------------------------------------


def collate_tensor_fn(batch: Any, *, collate_fn_map: Functions | None = None) -> Any:
    """Tensors of one shape, stacked."""
    if batch[0].is_sparse:
        raise errors.runtime_error(
            "Batches of sparse tensors are not currently supported by the default collate_fn; "
            "please provide a custom collate_fn to handle them appropriately.",
            "Pass collate_fn= to the DataLoader: torch.stack joins sparse tensors.",
        )
    return stack(batch, 0)


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: Functions | None = None) -> Any:
    """Arrays of one shape, as one tensor."""
    dtype = batch[0].dtype
    if dtype.kind in "SUO":
        raise _unknown(dtype)
    tensors = [as_tensor(array) for array in batch]
    return collate(tensors, collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: Functions | None = None) -> Any:
    """NumPy's numbers, as a tensor of their type."""
    return as_tensor(batch)


def collate_float_fn(batch: Any, *, collate_fn_map: Functions | None = None) -> Any:
    """Python's floats, as a tensor of float64."""
    return tensor(batch, dtype=float64)


def collate_int_fn(batch: Any, *, collate_fn_map: Functions | None = None) -> Any:
    """Python's ints and bools, as a tensor."""
    return tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: Functions | None = None) -> Any:
    """Strings as they are."""
    return batch


default_collate_fn_map: Functions = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}
