"""NumPy arrays of whatever a writer is given."""

from typing import Any

import numpy as np

import tapegrad
from tapegrad.tensors.tensor import Tensor


def as_array(x: Any) -> np.ndarray:
    """A tensor, an array or a number as an array; a number has the shape (1,).

    Raises:
        NotImplementedError: `x` is something else.

    >>> from tapegrad.utils.tensorboard.array import as_array
    >>> as_array(torch.ones(2, requires_grad=True)), as_array(3)
    (array([1., 1.], dtype=float32), array([3]))
    """
    if isinstance(x, np.ndarray):
        return x
    if np.isscalar(x):
        return np.array([x])
    if isinstance(x, Tensor):
        x = x.detach()
        if x.dtype is tapegrad.bfloat16:
            x = x.float()
        return x.numpy(force=True)
    raise NotImplementedError(f"Got {type(x)}, but numpy array or torch tensor are expected.")


def as_number(x: Any) -> float:
    """The one element of `x`.

    >>> from tapegrad.utils.tensorboard.array import as_number
    >>> as_number(torch.tensor([2]))
    2.0
    """
    element = as_array(x).squeeze()
    if element.ndim:
        raise AssertionError(
            "Tensor should contain one element (0 dimensions). Was given size: "
            f"{element.size} and {element.ndim} dimensions."
        )
    return float(element)
