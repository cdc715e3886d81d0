"""The namespace of batched arrays: the array standard's names and our kernels, for a whole batch.

Each name is a function that shifts axes, aligns dimensions or folds the batch into another axis,
and calls the function of the same name below. Families are files of this folder. A name without a
rule of its own runs once for each sample of the batch, and says so: `per_sample.py`.
"""

import numpy as np

from tapegrad.arrays.batched.array import Batched, Level
from tapegrad.arrays.batched.rule_table import ELEMENTWISE, OPTIONAL, RULES, TRAILING
from tapegrad.arrays.numpy import namespace as _numpy
from tapegrad.core.annotations import Any, Array
from tapegrad.core.lazy import found as rule_of

_CREATION = "arange empty eye full linspace ones zeros"
_DTYPES = (
    "bool complex64 complex128 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
    "e inf nan newaxis pi finfo iinfo isdtype"
)
_ELEMENTWISE = {*ELEMENTWISE.split(), "imag", "real", "round"}  # and the ufuncs
_TRAILING = {*TRAILING.split(), "tril", "triu"}


def __getattr__(name: str) -> Any:
    """The function of a name, made or imported when first asked for."""
    if name.startswith("__") or name in OPTIONAL.split():
        raise AttributeError(f"the namespace of batched arrays has no {name}")
    found = rule_of(RULES, name)
    if found is not None:
        pass
    elif name in _ELEMENTWISE or _is_ufunc(name):
        found = _pointwise(name)
    elif name in _CREATION.split() or name in _DTYPES.split():
        found = getattr(_numpy, name)
    elif name in _TRAILING:
        found = _trailing(name)
    elif name == "bfloat16":
        from tapegrad.core.dtype import bfloat16

        found = bfloat16.numpy
    elif name == "float16":
        from tapegrad.core.dtype import float16

        found = float16.numpy
    else:
        from tapegrad.arrays.batched.per_sample import looped

        getattr(_numpy, name)  # an error for what no namespace has
        found = looped(name)
    globals()[name] = found
    return found


def _is_ufunc(name: str) -> bool:
    """Whether NumPy's function of that name works element by element."""
    function = getattr(_numpy, name, None)
    return isinstance(function, np.ufunc) and function.signature is None


def _pointwise(name: str) -> Any:
    from tapegrad.arrays.batched.array import pointwise, top_level
    from tapegrad.arrays.namespaces import namespace_of

    plain = getattr(_numpy, name)

    def function(*arrays: Array, **params: object) -> Any:
        if top_level(arrays) is None:
            return plain(*arrays, **params)

        def below(*values: Any, **params: object) -> Any:
            xp = namespace_of(values)
            return (plain if xp is _numpy else getattr(xp, name))(*values, **params)

        return pointwise(below, arrays, params)

    function.__name__ = name
    return function


def _trailing(name: str) -> Any:
    """A function of one array that acts on its last axes, or on none."""

    def function(x: Array, *args: object, **params: object) -> Any:
        if type(x) is not Batched:
            return getattr(_numpy, name)(x, *args, **params)
        from tapegrad.arrays.batched.array import closed
        from tapegrad.arrays.namespaces import namespace_of

        below = getattr(namespace_of((x.value,)), name)
        return closed(x.level, below(x.value, *args, **params), x.mapped)

    function.__name__ = name
    return function


__all__ = ["Batched", "Level"]
