"""What stands in the array namespace in the place of a kernel: it calls C where it can.

A call is known by the shapes, strides and dtypes of its arrays and by its other arguments. The
first one of a kind is made by NumPy's kernel, and by what that gives the call of C is planned.
"""

import numpy as np

from tapegrad.arrays.signature import Like
from tapegrad.arrays.traced.program import RECORDING
from tapegrad.backends.native.libraries import library
from tapegrad.backends.native.plan import FAILED, Plan, first_call
from tapegrad.compiler.c_backend.blas import found
from tapegrad.core.annotations import Any, Callable

_MOST = 4096  # kinds of calls of a kernel that are planned: NumPy makes those that come later
_PLAIN = frozenset((int, float, bool, str, type(None)))
_OF_KERNELS = "tapegrad.arrays.numpy."
ndarray = np.ndarray


def _is_small_product(x: Any, y: Any) -> bool:
    return x.size < 4096 or y.size < 4096


def _is_small_sum(x: Any, **_: Any) -> bool:
    return x.size < 2**15


def _are_small(arrays: Any, *_: Any, **__: Any) -> bool:
    return sum([x.size for x in arrays]) < 2**15


def _is_small_lookup(x: Any, index: Any, **_: Any) -> bool:
    return index.size < 64


def _is_small_choice(condition: Any, *_: Any) -> bool:
    return condition.size < 1024


_SMALL: dict[str, Callable] = {
    "add_product": lambda input, x, y: _is_small_product(x, y),
    "concat": _are_small,
    "matmul": _is_small_product,
    "sum": _is_small_sum,
    "take": _is_small_lookup,
    "where": _is_small_choice,
}
"""Calls of kernels that NumPy makes sooner than a call of C is found."""

_FOR_THREADS = ("add_product", "concat", "matmul", "sum", "take")
"""Kernels in which NumPy is as quick, but for threads."""

_PRODUCTS = ("add_product", "matmul")


def _is_for_threads(name: str) -> bool:
    """Whether a kernel is called in C only where threads share it."""
    return name in _FOR_THREADS and not (name in _PRODUCTS and found().convention == "own")


def front(name: str, kernel: Callable) -> Callable:
    """The kernel `name` in C where there is a library, else by NumPy's `kernel`."""
    runs: dict[tuple, Any] = {}  # functions of arrays; None where C does not do it
    plans: dict[tuple, Plan] = {}  # that wait for their library
    is_small = _SMALL.get(name)

    def native(*args: Any, **options: Any) -> Any:
        if is_small is not None and is_small(*args, **options):
            return kernel(*args, **options)
        arrays: list[Any] = []
        key: list[Any] = []
        for x in args:
            kind = type(x)
            if kind is ndarray:
                arrays.append(x)
                key += (x.shape, x.strides, x.dtype)
            elif kind in _PLAIN:
                key.append(x if x and x == x else repr(x))  # two zeros, and nan
            elif not _read(x, arrays, key):
                return kernel(*args, **options)
        for k, x in options.items():
            if type(x) not in _PLAIN and not _is_axes(x):
                return kernel(*args, **options)
            key += (k, x)
        known = tuple(key)
        run = runs.get(known, FAILED)
        if run is FAILED:
            run = started(known)
            if run is FAILED:
                return begin(known, args, options)
        if run is not None:
            out = run(arrays)
            if out is not FAILED:
                return out
        return kernel(*args, **options)

    def started(known: tuple) -> Any:
        """What runs calls of a kind that were planned; None while there is no library."""
        plan = plans.get(known)
        if plan is None:
            return FAILED
        enter = library(plan.function)
        if enter is None:
            return None
        runs[known] = run = plan.bound_to(enter)
        plans.pop(known, None)  # another thread may have been first
        return run

    def begin(known: tuple, args: tuple, options: dict) -> Any:
        """The first call of a kind."""
        if len(runs) + len(plans) >= _MOST or RECORDING.get() is not None:
            return kernel(*args, **options)
        out, plan = first_call(name, kernel, args, options)
        if plan is None or (not plan.shared and _is_for_threads(name)):
            runs[known] = None
        else:
            plans[known] = plan
            library(plan.function)  # which is built from now on
        return out

    native.in_numpy = kernel  # type: ignore[attr-defined]
    native.__name__, native.__doc__ = name, kernel.__doc__
    return native


def _is_axes(x: Any) -> bool:
    return type(x) is tuple and all([type(i) is int for i in x])


def _read(x: Any, arrays: list, key: list) -> bool:
    """Add what tells an argument from others, and its arrays; False for one that C cannot take."""
    kind = type(x)
    if kind is tuple or kind is list:
        key.append(len(x))
        return all([_read(each, arrays, key) for each in x])
    if kind is ndarray:
        arrays.append(x)
        key += (x.shape, x.strides, x.dtype)
    elif kind in _PLAIN:
        key.append(x if x and x == x else repr(x))
    elif kind is Like:
        key += (x.shape, x.dtype)
    elif kind.__hash__ is object.__hash__ and kind.__module__.startswith(_OF_KERNELS):
        key.append(x)  # windows of pooling and the like, which stay as they are
    else:
        return False
    return True
