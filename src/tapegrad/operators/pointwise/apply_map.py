"""Python functions of single elements, called for each."""

import numpy as np

from tapegrad.autograd.writable import is_repeated
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
    return _replace("apply_", self, callable)


@overridable
def map_(self: Any, tensor: Tensor, callable: Callable) -> Any:
    """Replace each element by what a Python function makes of it and of that of another tensor.

    >>> torch.tensor([1.0, 2.0]).map_(torch.tensor([3.0, 4.0]), max)
    tensor([3., 4.])
    """
    return _replace("map_", self, callable, require("map_", tensor, "other"))


@overridable
def map2_(self: Any, x: Tensor, y: Tensor, callable: Callable) -> Any:
    """The same with the elements of two other tensors.

    >>> torch.tensor([1.0, 2.0]).map2_(torch.ones(2), torch.ones(2), lambda a, b, c: a + b + c)
    tensor([3., 4.])
    """
    return _replace("map2_", self, callable, *(require("map2_", t, "x") for t in (x, y)))


def _replace(name: str, x: Tensor, callable: Callable, *others: Tensor) -> Any:
    """Each element of `x` as a function of it and of those of others."""
    array = x._array
    if any(each.requires_grad for each in (x, *others)):
        raise errors.runtime_error(
            f"Can't call {name}() on Variable that requires grad. "
            f"Use var.detach().{name}() instead.",
            "No gradient flows through Python functions of single elements.",
        )
    for role, other in zip(("x", "y") if len(others) > 1 else ("other",), others, strict=False):
        if other.dtype is not x.dtype:
            what = f"argument '{role}'" if role != "other" else "'other'"
            raise errors.type_error(
                f"{name}: expected {x.type()} for {what} (got {other.type()})",
                "All have one dtype.",
            )
    given = [other.expand(array.shape)._array.reshape(-1).tolist() for other in others]
    check_writable(x)
    # elements that are one place in memory are replaced one after another
    places = _places(array) if is_repeated(array) else range(array.size)
    now = dict(zip(places, array.reshape(-1).tolist(), strict=True))
    for place, *rest in zip(places, *given, strict=True):
        value = now[place] = callable(now[place], *rest)
        if not isinstance(value, (bool, int, float, complex, np.generic)):
            text = f"must be real number, not {errors.type_name(value)}"
            raise errors.type_error(text, "The function has to return a number for each element.")
    found = [now[place] for place in places]
    array[...] = filled(found, array.shape, x.dtype)
    written(x, name)
    return x


def _places(array: Any) -> list:
    """Where each element is in memory, as a number."""
    steps = zip(np.indices(array.shape), array.strides, strict=True)
    return sum(indices * step for indices, step in steps).reshape(-1).tolist()
