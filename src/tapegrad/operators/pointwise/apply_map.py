"""Python functions of single elements, called for each."""

import numpy as np

from tapegrad.core import errors
from tapegrad.core.annotations import Any, Callable, Tensor
from tapegrad.core.overridable import overridable
from tapegrad.dispatch.in_place import check_writable, written
from tapegrad.operators.conversion.metadata import require
from tapegrad.operators.creation.nested_list import filled


def apply_(self: Tensor, callable: Callable) -> Any:
    """Replace each element by what a Python function makes of it: slow, and without gradients.

    >>> torch.tensor([1.0, 2.0]).apply_(lambda x: x * 10)
    tensor([10., 20.])
    """
    return _replace("apply_", self, map(callable, self._array.reshape(-1).tolist()))


@overridable
def map_(self: Any, tensor: Tensor, callable: Callable) -> Any:
    """Replace each element by what a Python function makes of it and of that of another tensor.

    >>> torch.tensor([1.0, 2.0]).map_(torch.tensor([3.0, 4.0]), max)
    tensor([3., 4.])
    """
    other = np.broadcast_to(require("map_", tensor, "tensor")._array, self._array.shape)
    pairs = zip(self._array.reshape(-1).tolist(), other.reshape(-1).tolist(), strict=True)
    return _replace("map_", self, (callable(a, b) for a, b in pairs))


@overridable
def map2_(self: Any, x: Tensor, y: Tensor, callable: Callable) -> Any:
    """The same with the elements of two other tensors.

    >>> torch.tensor([1.0, 2.0]).map2_(torch.ones(2), torch.ones(2), lambda a, b, c: a + b + c)
    tensor([3., 4.])
    """
    others = [
        np.broadcast_to(require("map2_", t, "x")._array, self._array.shape).reshape(-1).tolist()
        for t in (x, y)
    ]
    triples = zip(self._array.reshape(-1).tolist(), *others, strict=True)
    return _replace("map2_", self, (callable(*each) for each in triples))


def _replace(name: str, x: Tensor, values: Any) -> Any:
    if x.requires_grad:
        raise errors.runtime_error(
            f"Can't call {name}() on Variable that requires grad. "
            f"Use var.detach().{name}() instead.",
            "No gradient flows through Python functions of single elements.",
        )
    check_writable(x)
    found = list(values)
    for value in found:
        if not isinstance(value, (bool, int, float, complex, np.generic)):
            text = f"must be real number, not {errors.type_name(value)}"
            raise errors.type_error(text, "The function has to return a number for each element.")
    x._array[...] = filled(found, x._array.shape, x.dtype)
    written(x, name)
    return x
