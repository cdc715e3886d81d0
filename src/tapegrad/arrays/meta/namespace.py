"""The namespace of arrays without elements: the array standard's names and our kernels.

Each name is a rule that says the shape, the dtype and the strides of what the function of NumPy
arrays gives. Views are NumPy's own, of memory that is nowhere; elementwise functions have one rule
for all; the others have theirs in the files of this folder, by family. A function without a rule
is computed on ordinary arrays as long as they are small, and refuses beyond that: `stand_in.py`.
"""

from typing import Any

import numpy as np

from tapegrad.arrays.batched.rule_table import ELEMENTWISE, OPTIONAL
from tapegrad.arrays.meta.pointwise import of_elements, of_ufunc
from tapegrad.arrays.meta.rule_table import META_RULES
from tapegrad.arrays.numpy import namespace as _numpy
from tapegrad.core.dtype import BY_NAME
from tapegrad.core.lazy import found as rule_of
from tapegrad.core.meta_array import MetaArray

_DTYPES = (
    "bool complex64 complex128 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
    "e inf nan newaxis pi finfo iinfo isdtype"
)
_VIEWS = frozenset(
    "permute_dims expand_dims squeeze moveaxis matrix_transpose diagonal_view as_pairs from_pairs "
    "windows view_to unstack broadcast_arrays transpose swapaxes diagonal "
    "split array_split rollaxis".split()
)
_ELEMENTWISE = {*ELEMENTWISE.split(), *"round angle nan_to_num gelu_back".split()}


def __getattr__(name: str) -> Any:
    """The rule of a name, made or imported when first asked for."""
    if name.startswith("__") or name in OPTIONAL.split():
        raise AttributeError(f"the namespace of meta arrays has no {name}")
    found = rule_of(META_RULES, name)
    if found is not None:
        pass
    elif name in _DTYPES.split():
        found = getattr(_numpy, name)
    elif name in ("linalg", "fft"):
        found = _Package(name)
    elif name in BY_NAME:
        found = BY_NAME[name].numpy
    elif name in _VIEWS:
        found = _view(name, getattr(_numpy, name, None) or getattr(np, name))
    elif name in _ELEMENTWISE or _is_ufunc(name):
        found = of_elements(name, getattr(_numpy, name, None) or getattr(np, name))
    else:
        from tapegrad.arrays.meta.stand_in import computed

        found = computed(name, getattr(_numpy, name))
    globals()[name] = found
    return found


class _Package:
    """`linalg` or `fft` of NumPy: each function by its rule, or computed where arrays are small."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, name: str) -> Any:
        from tapegrad.arrays.meta.functions import of_package

        return of_package(self._name, name)


def _is_ufunc(name: str) -> bool:
    """Whether NumPy's function of that name works element by element."""
    function = getattr(_numpy, name, None)
    return isinstance(function, np.ufunc) and function.signature is None


def _view(name: str, plain: Any) -> Any:
    """A function that reads nothing, of the memory that is nowhere."""
    from tapegrad.core.meta_array import wrapped

    def view(*args: Any, **params: Any) -> Any:
        raw = [x.raw if type(x) is MetaArray else x for x in args]
        return wrapped(plain(*raw, **params))

    view.__name__ = name
    return view


def of_function(function: Any, args: Any, kwargs: Any) -> Any:
    """What a function of NumPy's own, not a ufunc, gives."""
    from tapegrad.arrays.meta.functions import called

    return called(function, args, kwargs)


__all__ = ["of_function", "of_ufunc"]
