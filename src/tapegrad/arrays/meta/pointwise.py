"""Elementwise functions of arrays without elements: broadcast shapes, NumPy's dtype and order.

The dtype of a result is what the function gives of one element.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tapegrad.arrays.kernel import meta_rule
from tapegrad.core.memory_format import axes_by_stride
from tapegrad.core.meta_array import MetaArray, no_data, nowhere
from tapegrad.core.registration import META_NAMESPACE

ARRAYS = (MetaArray, np.ndarray)


def one_element(x: Any) -> Any:
    """One element for an array; anything else as it is."""
    if type(x) in ARRAYS:
        return np.ones((1,) * x.ndim, x.dtype)
    return x


def of_elements(name: str, plain: Callable) -> Callable:
    """The rule of an elementwise function."""

    def rule(*args: Any, **params: Any) -> Any:
        arrays = [x for x in (*args, *params.values()) if type(x) in ARRAYS]
        with np.errstate(all="ignore"):
            one = plain(
                *[one_element(x) for x in args], **{k: one_element(x) for k, x in params.items()}
            )
        return spread(one, arrays)

    rule.__name__ = name
    return rule


def spread(one: Any, arrays: list) -> Any:
    """What is one element each, for all elements of arrays that are broadcast."""
    shape = np.broadcast_shapes(*[x.shape for x in arrays])
    raws = [x.raw if type(x) is MetaArray else x for x in arrays]
    order = None
    if not all([x.flags.c_contiguous for x in raws]):
        order = axes_by_stride(*raws)
    if type(one) is tuple or type(one) is list:
        return type(one)([nowhere(shape, x.dtype, order) for x in one])
    return nowhere(shape, one.dtype, order)


def of_ufunc(ufunc: np.ufunc, method: str, args: tuple, kwargs: dict) -> Any:
    """What one of NumPy's ufuncs, or a method of it, gives."""
    out = kwargs.pop("out", None)
    if method == "at":
        return None
    made = _without_out(ufunc, method, args, kwargs)
    if out is None:
        return made
    for target, source in zip(out, made if type(made) is tuple else (made,), strict=False):
        if target is not None:
            if type(target) is not MetaArray:
                raise no_data()
            target[...] = source
    return out if len(out) > 1 else out[0]


def _without_out(ufunc: np.ufunc, method: str, args: tuple, kwargs: dict) -> Any:
    xp = META_NAMESPACE()
    if method == "reduce":
        x, axis, dtype, _, keepdims = (*args, *(0, None, None, False)[len(args) - 1 :])[:5]
        from tapegrad.arrays.meta.reduction import reduced

        axis, keepdims = kwargs.get("axis", axis), kwargs.get("keepdims", keepdims)
        dtype = kwargs.get("dtype", dtype)
        one = ufunc.reduce(np.ones(1, x.dtype), 0, dtype)
        return reduced(x, axis, keepdims, one.dtype)
    if method == "accumulate":
        return nowhere(
            args[0].shape,
            kwargs.get("dtype") or (args[2] if len(args) > 2 else None) or args[0].dtype,
        )
    if method == "__call__" and ufunc.signature is not None:
        return getattr(xp, ufunc.__name__)(*args, **kwargs)
    if method == "__call__":
        kwargs.pop("where", None)
        return of_elements(ufunc.__name__, ufunc)(*args, **kwargs)
    from tapegrad.arrays.meta.stand_in import computed

    return computed(f"{ufunc.__name__}.{method}", getattr(ufunc, method))(*args, **kwargs)


@meta_rule
def pointwise(function: Callable, arrays: tuple) -> Any:
    present = [x for x in arrays if type(x) in ARRAYS]
    with np.errstate(all="ignore"):
        one = function(*[one_element(x) for x in arrays])
    return spread(one, present)
