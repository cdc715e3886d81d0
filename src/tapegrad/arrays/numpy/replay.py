"""Elementwise functions as the ufuncs they call, played again on other arrays.

A function of several ufuncs gives each result memory of its own, and the last one is copied to
where it is wanted. Once it is known which ufuncs it calls on what, they are called with memory
that is used in turn, and the last one writes its result in place.
"""

import numpy as np

from tapegrad.core.annotations import Any, Array, Callable


class _Watched(np.ndarray):
    """An array that writes down, in its list `calls`, which ufuncs it goes through."""

    calls: list

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [x.view(np.ndarray) if isinstance(x, _Watched) else x for x in inputs]
        if "out" in options:
            targets = options["out"]
            options["out"] = tuple(
                x.view(np.ndarray) if isinstance(x, _Watched) else x for x in targets
            )
        result = getattr(ufunc, method)(*plain, **options)
        calls = next((x.calls for x in inputs if hasattr(x, "calls")), None)
        if calls is None:
            return result
        if type(result) is np.ndarray and not options:
            result = _watch(result, calls)
        calls.append((ufunc if method == "__call__" and not options else None, inputs, result))
        return result


def _watch(x: Array, calls: list) -> Any:
    seen = x.view(_Watched)
    seen.calls = calls
    return seen


def watched(function: Callable, arrays: list) -> tuple:
    """What `function(*arrays)` gives, and the steps to play it again; None if that cannot be.

    A step is a ufunc, its operands and its result's dtype. An operand is the number of an array, or
    that of an earlier step counted from the number of arrays on, or `(x,)` for any other `x`.
    """
    if type(function) is np.ufunc:
        result = function(*arrays)
        return result, [(function, [*range(len(arrays))], getattr(result, "dtype", None))]
    calls: list = []
    arrays = list(arrays)
    for i, x in enumerate(arrays):
        if isinstance(x, np.ndarray):
            arrays[i] = _watch(x, calls)
    try:
        result = function(*arrays)
        steps = _steps(calls, arrays, result)
        return result.view(np.ndarray) if isinstance(result, _Watched) else result, steps
    finally:
        calls.clear()  # they refer to the arrays, and these to them


def _steps(calls: list, arrays: list, result: Any) -> list | None:
    """The calls as steps; None unless all are ufuncs of known arrays and the last one's is it."""
    places = {id(x): i for i, x in enumerate(arrays) if isinstance(x, np.ndarray)}
    steps = []
    for ufunc, inputs, found in calls:
        if ufunc is None or any(isinstance(x, np.ndarray) and id(x) not in places for x in inputs):
            return None
        if not isinstance(found, np.ndarray) or found.shape != result.shape:
            return None
        steps.append((ufunc, [places.get(id(x), (x,)) for x in inputs], found.dtype))
        places[id(found)] = len(arrays) + len(steps) - 1
    return steps if calls and calls[-1][2] is result else None


class Replay:
    """Steps played again on parts of arrays.

    Memory 0 is the result's own; a step may write where an operand stands that nobody needs later.
    """

    def __init__(self, steps: list, n_arrays: int):
        last_use = {n_arrays + k: k for k in range(len(steps))}
        for k, (_, operands, _) in enumerate(steps):
            last_use.update({x: k for x in operands if type(x) is int and x >= n_arrays})
        self.rooms = [steps[-1][2]]  # the dtype of each piece of memory
        self.calls: list[tuple] = []
        free, where = [0], dict[int, int]()
        for k, (ufunc, operands, dtype) in enumerate(steps):
            sources = [-1 - where[x] if x in where else x for x in operands]
            free += [where[x] for x in {*operands} & {*where} if last_use[x] == k]
            fitting = [i for i in free if self.rooms[i] == dtype]
            if k == len(steps) - 1:
                target = 0
            elif fitting:
                target = fitting[-1]
                free.remove(target)
            else:
                target = len(self.rooms)
                self.rooms.append(dtype)
            where[n_arrays + k] = target
            self.calls.append((ufunc, sources, target))

    def __call__(self, arrays: list, out: Array) -> None:
        """Write what the function gives for `arrays`, vectors and numbers, to `out`."""
        rooms = [out, *(np.empty(out.size, dtype) for dtype in self.rooms[1:])]
        for ufunc, sources, target in self.calls:
            operands = [
                x[0] if type(x) is tuple else arrays[x] if x >= 0 else rooms[-1 - x]
                for x in sources
            ]
            ufunc(*operands, out=rooms[target])
