"""The namespace of recorded arrays: NumPy's, each call of which becomes an instruction."""

from tapegrad.arrays.numpy import namespace as _numpy
from tapegrad.arrays.traced.record import record
from tapegrad.core import dtype as dtypes
from tapegrad.core.annotations import Any

_UNRECORDED = frozenset("isdtype finfo iinfo".split())
"""Functions of dtypes alone."""


_OTHER_DTYPES = frozenset(
    "bfloat16 float16 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz".split()
)
"""Dtypes that NumPy has from elsewhere."""


_OF_PARTS = frozenset("pointwise conj_view neg_view".split())
"""Kernels that compute with operators of arrays alone: each of those is an instruction."""


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"the namespace of recorded arrays has no {name}")
    if name in _OTHER_DTYPES:
        return getattr(dtypes, name).numpy
    real = getattr(_numpy, name)
    real = getattr(real, "in_numpy", real)  # a program says itself what is done in C
    found = globals()[name] = _recorded(f"xp.{name}", real)
    return found


def _recorded(text: str, real: Any) -> Any:
    """A name of the namespace: a function that is recorded, a package of them, or what it is."""
    if isinstance(real, type) or text[3:] in _UNRECORDED or text[3:] in _OF_PARTS:
        return real
    if not callable(real):
        return _Package(text, real) if hasattr(real, "__dict__") else real

    def function(*args: Any, **kwargs: Any) -> Any:
        return record(text, real, args, kwargs)

    return function


class _Package:
    """`linalg` or `fft`: each of its functions, recorded."""

    def __init__(self, text: str, package: Any):
        self._text, self._package = text, package

    def __getattr__(self, name: str) -> Any:
        return _recorded(f"{self._text}.{name}", getattr(self._package, name))
