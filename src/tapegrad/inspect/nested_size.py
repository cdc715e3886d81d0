"""The size of what goes into a layer and of what comes out, however it is nested."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from tapegrad.tensors.tensor import Tensor


def size_of(value: Any, batch_dim: int | None = None) -> tuple[list, int]:
    """The shape that stands for `value`, and the bytes of one of its elements.

    Of several tensors the first one stands for all, of a dict's the last one. Where `batch_dim`
    is given, that dimension is shown as 1.

    Args:
        value: what a layer was called with (a tuple) or what it returned.

    Raises:
        TypeError: a layer returned something that is no tensor and holds none.

    >>> from tapegrad.inspect.nested_size import size_of
    >>> size_of((torch.ones(2, 3), torch.ones(5)))
    ([2, 3], 4)
    >>> size_of({"loss": torch.ones(()), "logits": torch.ones(2, 10)})
    ([2, 10], 4)
    """
    if value is None:
        return [], 0
    if isinstance(value, Tensor | np.ndarray):
        return _first_size(value)
    if isinstance(value, dict):
        if not value:
            return [], 0
        shape, n_bytes = _first_size(list(value.values())[-1])
        if batch_dim is not None:
            shape = [[*shape[:batch_dim], 1, *shape[batch_dim + 1 :]]]
        return shape, n_bytes
    if isinstance(value, list | tuple):
        shape, n_bytes = _first_size(value)
        if batch_dim is not None and -len(shape) <= batch_dim < len(shape):
            shape[batch_dim] = 1
        return shape, n_bytes
    raise TypeError(
        "Model contains a layer with an unsupported input or output type: "
        f"{value}, type: {type(value)}"
    )


def _first_size(value):
    """The shape of the first tensor in `value`, and the bytes of one of its elements."""
    while True:
        if hasattr(value, "tensors"):
            value = value.tensors
        elif isinstance(value, Tensor):
            return list(value.shape), value.element_size()
        elif isinstance(value, np.ndarray):
            return list(value.shape), value.itemsize
        elif not hasattr(value, "__getitem__") or not value:
            return [], 0
        elif isinstance(value, dict):
            value = next(iter(value.values()))
        elif callable(getattr(value, "size", None)) and callable(
            getattr(value, "element_size", None)
        ):
            return list(value.size()), value.element_size()
        elif isinstance(value, list | tuple):
            value = value[0]
        else:
            return [], 0


def product(sizes: Iterable) -> int:
    """The product of numbers that may be nested: `[2, [3, 4]]` gives 24.

    >>> from tapegrad.inspect.nested_size import product
    >>> product([2, [3, 4]])
    24
    """
    result = 1
    for size in sizes:
        result *= product(size) if isinstance(size, Iterable) else size
    return result
