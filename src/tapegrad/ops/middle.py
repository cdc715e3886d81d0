"""The element in the middle: median, nanmedian."""

from __future__ import annotations

from typing import Any

from tapegrad import return_types
from tapegrad.call import finish
from tapegrad.op import primitive
from tapegrad.ops.peak import CHOICE, along, choice_rules, choose


@primitive(node="MedianBackward1", kernels=("median_index", "put_along"), **CHOICE)
def median_along(xp, x, *, axis, keepdims, ignore_nan):
    """The lower median along one axis, and where it is."""
    return choose(xp, x, xp.median_index(x, axis, ignore_nan), axis, keepdims)


choice_rules(median_along)


def _median(name: str, input: Any, dim: Any, keepdim: bool, ignore_nan: bool, out: Any) -> Any:
    def operator(x: Any, *, axis: int, keepdims: bool) -> Any:
        return median_along(x, axis=axis, keepdims=keepdims, ignore_nan=ignore_nan)

    if dim is None:
        if not input._array.size:
            return finish(name, input.sum() * float("nan"), out)
        return finish(name, operator(input.reshape(-1), axis=0, keepdims=False)[0], out)
    result = getattr(return_types, name)
    return along(name, operator, result, input, dim, keepdim, out)


def median(input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The lower median; with `dim` a pair (values, indices); nan if there is one.

    >>> torch.median(torch.tensor([1.0, 4.0, 3.0, 2.0]))
    tensor(2.)
    """
    return _median("median", input, dim, keepdim, False, out)


def nanmedian(input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """The lower median of the elements that are not nan.

    >>> torch.nanmedian(torch.tensor([1.0, float("nan"), 3.0]))
    tensor(1.)
    """
    return _median("nanmedian", input, dim, keepdim, True, out)
