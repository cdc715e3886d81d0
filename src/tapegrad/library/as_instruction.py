"""A kernel that a program defined, called as one instruction where the call is recorded.

What it does inside is not looked at, as by PyTorch's compiler: it may read numbers of tensors, and
runs again, on what is there then, each time the recorded program does.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tapegrad.arrays.namespaces import is_recorded
from tapegrad.arrays.traced.program import RECORDING
from tapegrad.arrays.traced.record import PREPARED, record
from tapegrad.autograd.mode import MODE
from tapegrad.core.conj_neg_view import resolved
from tapegrad.core.tensor_base import TensorBase, wrap
from tapegrad.library.binding import Bound
from tapegrad.library.schema import FunctionSchema
from tapegrad.utils._pytree.tree import tree_flatten, tree_unflatten

_TENSOR = object()  # in the place of one among the arguments


def can_be(schema: FunctionSchema, bound: Bound) -> bool:
    """Whether a call is recorded, and gives nothing but new tensors."""
    tensors = bound.tensors()
    return (
        bool(tensors)
        and all(is_recorded(x._array) for x in tensors)
        and not schema.is_mutable
        and bool(schema.returns)
        and all(str(each.type) == "Tensor" and each.alias_info is None for each in schema.returns)
    )


def as_instruction(schema: FunctionSchema, kernel: Callable, bound: Bound) -> Any:
    """What the kernel gives, written down as one call of a function of arrays."""
    leaves, structure = tree_flatten((list(bound.args), bound.kwargs))
    plain = [_TENSOR if isinstance(x, TensorBase) else x for x in leaves]  # it keeps no tensors
    orders: list[list[int]] = []  # of the results' axes in memory, in the call that is recorded

    def run(*arrays: Any) -> Any:
        rest = map(wrap, arrays)
        args, kwargs = tree_unflatten([next(rest) if x is _TENSOR else x for x in plain], structure)
        mode, program = MODE.set(False), RECORDING.set(None)
        try:
            found = kernel(*args, **kwargs)
        finally:
            RECORDING.reset(program)
            MODE.reset(mode)
        results = [resolved(x._array) for x in (found if schema.several else (found,))]
        orders.extend([_order(x) for x in results] if not orders else ())
        results = [_laid_out(x, order) for x, order in zip(results, orders, strict=True)]
        return tuple(results) if schema.several else results[0]

    text = PREPARED + schema.full_name.replace("::", "_").replace(".", "_")
    found = record(text, run, tuple([x._array for x in bound.tensors()]), {})
    return tuple(map(wrap, found)) if schema.several else wrap(found)


def _order(x: Any) -> list[int]:
    """The axes of an array, that of the longest steps first."""
    return sorted(range(x.ndim), key=lambda i: -x.strides[i])


def _laid_out(x: Any, order: list[int]) -> Any:
    """A copy of an array with its axes in an order in memory: that of the recorded call."""
    found = np.empty([x.shape[i] for i in order], x.dtype)
    found = found.transpose([order.index(i) for i in range(x.ndim)])
    found[...] = x
    return found
