"""What `summary` calls a model with: the user's data, or random numbers of given sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import tapegrad
from tapegrad.nn.utils.rnn import PackedSequence
from tapegrad.tensors.tensor import Tensor

_STORAGE_BYTES = 64  # counted with the elements of each memory: Python's part of it in PyTorch


def random_inputs(sizes: list, batch_dim: int | None, dtypes: list | None, device: Any) -> list:
    """A tensor of random numbers for each size.

    >>> from tapegrad.inspect.example_input import random_inputs
    >>> [x.shape for x in random_inputs([(3,), (4, 5)], 0, None, "cpu")]
    [torch.Size([1, 3]), torch.Size([1, 4, 5])]
    """
    inputs = []
    for size, dtype in zip(sizes, dtypes or [tapegrad.float32] * len(sizes), strict=False):
        x = tapegrad.rand(*size)
        if batch_dim is not None:
            x = x.unsqueeze(batch_dim)
        inputs.append(x.to(device).type(dtype))
    return inputs


def list_of_sizes(input_size: Any) -> list:
    """`input_size`, which may be one size or several, as a list of sizes.

    >>> from tapegrad.inspect.example_input import list_of_sizes
    >>> list_of_sizes((2, 3)), list_of_sizes([2, 3]), list_of_sizes([(2, 3), (5,)])
    ([(2, 3)], [(2, 3)], [(2, 3), (5,)])
    """
    if not isinstance(input_size, list | tuple):
        raise TypeError(
            "Input_size is not a recognized type. Please ensure input_size is valid.\n"
            "For multiple inputs to the network, ensure input_size is a list of tuple sizes. "
            "If you are having trouble here, please submit a GitHub issue."
        )
    if not input_size or any(size <= 0 for size in _flat(input_size)):
        raise ValueError("Input_data is invalid, or negative size found in input_data.")
    if isinstance(input_size, list):
        return [tuple(input_size)] if isinstance(input_size[0], int) else input_size
    return list(input_size) if isinstance(input_size[0], tuple) else [input_size]


def moved(data: Any, device: Any) -> Any:
    """`data` with every tensor in it on `device`; as it is for None.

    >>> from tapegrad.inspect.example_input import moved
    >>> moved({"x": [torch.ones(1), "text"]}, "cpu")
    {'x': [tensor([1.]), 'text']}
    """
    if device is None or isinstance(data, str | bytes | np.ndarray):
        return data
    if isinstance(data, Tensor | PackedSequence):
        return data.to(device)
    if isinstance(data, Mapping):
        return _like(data, {key: moved(value, device) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(moved(each, device) for each in data))
    if isinstance(data, list | tuple):
        return _like(data, [moved(each, device) for each in data])
    return data


def sizes_of(data: Any) -> Any:
    """`data` with the size of each tensor and NumPy array in it.

    >>> from tapegrad.inspect.example_input import sizes_of
    >>> sizes_of([torch.ones(2, 3), {"n": 4}])
    [torch.Size([2, 3]), {'n': 4}]
    """
    if isinstance(data, Tensor | np.ndarray):
        return tapegrad.Size(data.shape)
    if isinstance(data, Mapping):
        return {key: sizes_of(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return (list if isinstance(data, list) else tuple)([sizes_of(each) for each in data])
    return data


def bytes_of(data: Any) -> int:
    """The bytes of the memory that the tensors and NumPy arrays in `data` stand in.

    >>> from tapegrad.inspect.example_input import bytes_of
    >>> bytes_of([torch.ones(2, 3), "text"])
    88
    """
    if isinstance(data, np.ndarray):
        data = tapegrad.from_numpy(data)
    if isinstance(data, Tensor):
        return data.untyped_storage().nbytes() + _STORAGE_BYTES
    if isinstance(data, Mapping):
        data = data.values()
    elif not isinstance(data, list | tuple):
        return 0
    return sum(bytes_of(each) for each in data)


def _like(old: Any, new: Any) -> Any:
    """`new`, in the class of `old`."""
    return type(old)(new)


def _flat(sizes):
    for size in sizes:
        if isinstance(size, list | tuple):
            yield from _flat(size)
        else:
            yield size
