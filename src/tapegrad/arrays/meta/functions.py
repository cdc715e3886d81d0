"""NumPy's own functions of arrays without elements: those that operators call by NumPy's names."""

from typing import Any

import numpy as np

from tapegrad.arrays.meta.rule_table import META_RULES
from tapegrad.arrays.meta.stand_in import computed
from tapegrad.core.lazy import found as rule_of
from tapegrad.core.meta_array import MetaArray, no_data
from tapegrad.core.registration import META_NAMESPACE

_STANDARD = {  # NumPy's name: the array standard's
    "amax": "max",
    "amin": "min",
    "concatenate": "concat",
    "cumprod": "cumulative_prod",
    "cumsum": "cumulative_sum",
    "dot": "matmul",
    "swapaxes": "swapaxes",
    "transpose": "transpose",
}
_SAME = frozenset(
    "argwhere compress extract flatnonzero nonzero unique "
    "all any argmax argmin argsort astype broadcast_arrays broadcast_to clip count_nonzero "
    "diagonal empty_like expand_dims flip full_like imag matmul matrix_transpose max mean min "
    "moveaxis nan_to_num ones_like prod ravel real repeat reshape roll rollaxis round sort split "
    "squeeze stack sum take take_along_axis tensordot tile tril triu unstack where "
    "zeros_like".split()
)


def called(function: Any, args: Any, kwargs: Any) -> Any:
    """What `function(*args, **kwargs)` gives, as the rule of its name says."""
    name = function.__name__
    if function is np.copyto:
        return _copied(*args[:2])
    if function in (np.may_share_memory, np.shares_memory):
        return _shares(*args[:2])
    if function is np.result_type:
        return np.result_type(*[x.dtype if type(x) is MetaArray else x for x in args])
    if function in (np.ndim, np.shape, np.size):
        return getattr(args[0], name)
    if function in (np.iscomplexobj, np.isrealobj):
        return (args[0].dtype.kind == "c") is (function is np.iscomplexobj)
    if kwargs.get("out") is not None:
        out = kwargs.pop("out")
        made = called(function, args, kwargs)
        _copied(out, made)
        return out
    if name in _SAME or name in _STANDARD:
        return getattr(META_NAMESPACE(), _STANDARD.get(name, name))(*args, **kwargs)
    return computed(name, function)(*args, **kwargs)


def of_package(package: str, name: str) -> Any:
    """A function of `numpy.linalg` or `numpy.fft`: a view, or by the rule of its name."""
    if name in ("diagonal", "matrix_transpose"):
        return getattr(META_NAMESPACE(), "last_diagonal" if name == "diagonal" else name)
    found = rule_of(META_RULES, f"{package}_{name}")
    return computed(name, getattr(getattr(np, package), name)) if found is None else found


def _copied(target: Any, source: Any) -> None:
    if type(target) is not MetaArray:
        raise no_data()
    target[...] = source


def _shares(a: Any, b: Any) -> bool:
    """Whether two arrays may have a place in common."""
    if type(a) is not MetaArray or type(b) is not MetaArray:
        return False
    from tapegrad.core.storage import owner_of

    return owner_of(a) is owner_of(b) and np.may_share_memory(a.raw, b.raw)
