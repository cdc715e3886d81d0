"""Finding the namespace of arrays."""

import numpy as np

from tapegrad.arrays.numpy import namespace as numpy_namespace
from tapegrad.core.annotations import Any, Array, Namespace, Sequence
from tapegrad.core.meta_array import MetaArray


def namespace_of(arrays: Sequence[Array]) -> Any:
    """The namespace of the first array among `arrays`: NumPy's unless another library made it.

    >>> import numpy as np
    >>> tapegrad.arrays.namespaces.namespace_of([2.0, np.ones(3)]).__name__
    'tapegrad.arrays.numpy.namespace'
    """
    for x in arrays:
        kind = type(x)
        if kind is np.ndarray or kind is float or kind is int:
            continue
        if hasattr(kind, "__array_namespace__") and not isinstance(x, np.generic):
            return x.__array_namespace__()
    return numpy_namespace


def native_dtype(xp: Namespace, dtype: Any) -> Any:
    """What the namespace calls one of our dtypes."""
    return dtype.numpy if xp is numpy_namespace else getattr(xp, dtype.name)


def is_batched(x: object) -> bool:
    """Whether something is an array of `vmap`, with numbers of its own for each sample or not."""
    return hasattr(x, "mapped")


def is_recorded(x: object) -> bool:
    """Whether something is an array that writes down what is computed with it."""
    return hasattr(type(x), "program")


def prepared(function: Any, *args: Any) -> Any:
    """What `function` gives of plain arrays and numbers: what an operator makes of their values.

    Where one of the arrays is recorded, the call is written down as one instruction: the shapes of
    what it gives have to be the same again, and are no views of the arguments.
    """
    if not any(map(is_recorded, args)):
        return function(*args)
    from tapegrad.arrays.traced.record import record_prepared

    return record_prepared(function, args)


def laid_out(x: Array) -> Any:
    """The array whose shape and strides `x` has: its own numbers where `x` is recorded."""
    return x.array if is_recorded(x) else x


def elements(array: Array) -> Any:
    """All elements of an array, of every member where it is batched: for checks of values.

    An array of the meta device has none.
    """
    array = below_batches(array)
    if type(array) is MetaArray:
        return np.empty((0,) * max(array.ndim, 1), array.dtype)
    return array


def below_batches(array: Array) -> Any:
    """The array of all members where one is batched, else itself."""
    while is_batched(array):
        array = array.value
    return array


def anywhere(condition: Any) -> bool:
    """Whether a condition holds for any element, of any member where it is batched."""
    array = elements(getattr(condition, "_array", condition))
    return bool(namespace_of((array,)).any(array))


def is_mapped(array: Array) -> bool:
    """Whether an array holds numbers of its own for each member of a batch, of any level."""
    while is_batched(array):
        if array.mapped:
            return True
        array = array.value
    return False


def mapped_beyond(x: Array, target: Array) -> bool:
    """Whether `x` has numbers of its own for each member of a batch where `target` has not."""
    levels = []
    while is_batched(target):
        if target.mapped:
            levels.append(target.level)
        target = target.value
    while is_batched(x):
        if x.mapped and x.level not in levels:
            return True
        x = x.value
    return False


def refuse_meta(name: str, *tensors: Any) -> None:
    """Raise where the elements of a tensor are asked for, and it has none."""
    for x in tensors:
        if type(below_batches(x._array)) is MetaArray:
            from tapegrad.arrays.meta.indexing import unknown_size

            raise unknown_size(name)


def refuse_batch(name: str, *arrays: Array) -> None:
    """Raise where the shape of a result depends on values that are not one array's.

    Those of an array that is mapped over are several, and one of the meta device has none.
    """
    for x in arrays:
        if type(below_batches(x)) is MetaArray:
            from tapegrad.arrays.meta.indexing import unknown_size

            raise unknown_size("nonzero" if name in ("where", "index") else name)
        while is_batched(x):
            if x.mapped:
                from tapegrad.arrays.batched.refusal import dynamic_shape

                raise dynamic_shape(name)
            x = x.value
