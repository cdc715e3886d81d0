"""The fast path of elementwise operators: tensors of one floating dtype on the CPU.

What `apply` does in general, written out for one and for two operands and worked out as far as
possible when the operator is declared. It is most of what a small call costs, so it saves steps
where others save lines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapegrad import errors
from tapegrad import tensor as _tensor
from tapegrad.arrays import numpy as numpy_namespace
from tapegrad.arrays.blocks import LARGE
from tapegrad.autograd.graph import next_sequence
from tapegrad.autograd.mode import MODE
from tapegrad.autograd.plan import (
    CONSTANT,
    GRAD,
    KEEP_BOTH,
    KEEP_FIRST,
    KEEP_NOTHING,
    KEEP_OUTPUT,
    KEEP_SECOND,
    KEEP_SWAPPED,
    RAW,
)
from tapegrad.autograd.view import edge_of
from tapegrad.call import (
    F32,
    F64,
    I64,
    NUMBERS,
    apply,
    finish,
    forward_function,
    restoration,
    wrong_argument,
)

get_mode = MODE.get
ndarray = np.ndarray
asarray = np.asarray
new = object.__new__


def unary(op: Any) -> Callable:
    """The function of an elementwise operator of one tensor."""
    compute: Any = None
    plan: Any = None
    Tensor: Any = None
    floats = op.name  # names the function in errors

    def first_call() -> None:
        nonlocal compute, plan, Tensor
        Tensor = _tensor.Tensor
        compute = forward_function(op)
        plan = op.plan(GRAD, False, numpy_namespace) if op.vjps else None

    def call(input: Any, *, out: Any = None) -> Any:
        if compute is None:
            first_call()
        x = getattr(input, "_array", None)
        if out is None and type(x) is ndarray and (x.dtype is F32 or x.dtype is F64):
            mode = get_mode()
            if (mode is True or mode is False) and x.size <= LARGE:
                z = compute(x)
                if type(z) is not ndarray:
                    z = asarray(z)
                tensor = new(Tensor)
                tensor._array = z
                tensor._counter = tensor._view = tensor._grad = None
                edge = input._node if input._view is None else edge_of(input)
                if edge is None or mode is False or plan is None:
                    tensor._node = None
                    return tensor
                node = plan.node_type()
                node.plan = plan
                node.edges = (edge,)
                node.versions = node.restore = node.hooks = node.output_version = None
                code = plan.code
                if code == KEEP_OUTPUT:
                    node.saved = (z,)
                elif code == KEEP_FIRST:
                    if input._counter is None:
                        node.saved = (x,)
                    else:
                        node.saved = plan.save((input,), {}, (tensor,))
                        node.versions = plan.versions(node.saved)
                else:
                    node.saved = plan.save((input,), {}, (tensor,))
                    if input._counter is not None:
                        node.versions = plan.versions(node.saved)
                node.sequence = next_sequence()
                tensor._node = node
                return tensor
        if x is None:
            raise wrong_argument(op, (input,), input)
        return finish(floats, apply(op, (input,), {}), out)

    return call


def binary(op: Any, leave: bool = False) -> Callable:
    """The function of an elementwise operator of two operands.

    With `leave` it is the method behind a Python operator, which leaves what it does not know to
    the other operand.
    """
    compute: Any = None
    Tensor: Any = None
    both: Any = None
    left: Any = None
    right: Any = None
    alone: Any = None
    whole = op.ufunc is not None and op.promote == "arith"  # int64 needs no more than floats

    def first_call() -> None:
        nonlocal compute, both, left, right, alone, Tensor
        Tensor = _tensor.Tensor
        compute = forward_function(op)
        if op.vjps:
            alone = op.plan(GRAD + RAW, False, numpy_namespace)
        if len(op.vjps) == 2:
            both = op.plan(GRAD + GRAD, False, numpy_namespace)
            left = op.plan(GRAD + CONSTANT, False, numpy_namespace)
            right = op.plan(CONSTANT + GRAD, False, numpy_namespace)

    def with_number(input: Any, other: Any, out: Any) -> Any:
        """The fast path of a tensor and a Python number, and the way to `apply` for the rest."""
        x = getattr(input, "_array", None)
        kind = type(other)
        if (kind is float or kind is int) and type(x) is ndarray and out is None and op.numbers:
            mode = get_mode()
            dtype = x.dtype
            known = dtype is F32 or dtype is F64 or (dtype is I64 and whole and kind is int)
            if known and x.size <= LARGE and (mode is True or mode is False):
                try:
                    z = compute(x, other)
                except OverflowError:  # an int beyond 64 bits, or one to be wrapped
                    return finish(op.name, apply(op, (input, other), {}), out)
                if type(z) is not ndarray:
                    z = asarray(z)
                tensor = new(Tensor)
                tensor._array = z
                tensor._counter = tensor._view = tensor._grad = None
                edge = input._node if input._view is None else edge_of(input)
                if edge is None or mode is False or alone is None:
                    tensor._node = None
                    return tensor
                node = alone.node_type()
                node.plan = alone
                node.edges = (edge, None)
                node.versions = node.restore = node.hooks = node.output_version = None
                code = alone.code
                if code == KEEP_NOTHING:
                    node.saved = ()
                elif code == KEEP_SECOND:
                    node.saved = (other,)
                elif code == KEEP_BOTH and input._counter is None:
                    node.saved = (x, other)
                else:
                    node.saved = alone.save((input, other), {}, (tensor,))
                    if input._counter is not None:
                        node.versions = alone.versions(node.saved)
                node.sequence = next_sequence()
                tensor._node = node
                return tensor
        if leave and not isinstance(other, (_tensor.Tensor, *NUMBERS)):
            return NotImplemented
        return finish(op.name, apply(op, (input, other), {}), out)

    def call(input: Any, other: Any, *, out: Any = None) -> Any:
        if compute is None:
            first_call()
        try:
            x = input._array
            y = other._array
        except AttributeError:
            return with_number(input, other, out)
        dtype = x.dtype
        if (
            dtype is y.dtype
            and (dtype is F32 or dtype is F64 or (dtype is I64 and whole))
            and type(x) is ndarray
        ):
            mode = get_mode()
            size = x.size
            if out is None and size <= LARGE and (mode is True or mode is False):
                try:
                    z = compute(x, y)
                except ValueError:
                    raise errors.broadcast(x.shape, y.shape) from None
                if type(z) is not ndarray:
                    z = asarray(z)
                tensor = new(Tensor)
                tensor._array = z
                tensor._counter = tensor._view = tensor._grad = None
                a = input._node if input._view is None else edge_of(input)
                b = other._node if other._view is None else edge_of(other)
                if a is None:
                    plan = None if b is None else right
                else:
                    plan = left if b is None else both
                if plan is None or mode is False:
                    tensor._node = None
                    return tensor
                node = plan.node_type()
                node.plan = plan
                node.edges = (a, b)
                node.versions = node.hooks = node.output_version = None
                if size == y.size and size == z.size and x.ndim == y.ndim and size:
                    node.restore = None  # nothing was broadcast, told at half the cost of shapes
                else:
                    node.restore = restoration([x, y], (a, b), z)
                code = plan.code
                if code == KEEP_NOTHING:
                    node.saved = ()
                elif input._counter is not None or other._counter is not None:
                    node.saved = plan.save((input, other), {}, (tensor,))
                    node.versions = plan.versions(node.saved)
                elif plan is both and code == KEEP_SWAPPED:
                    node.saved = (y, x)
                elif plan is left and code == KEEP_SECOND:
                    node.saved = (other,)
                elif plan is right and code == KEEP_FIRST:
                    node.saved = (input,)
                else:
                    node.saved = plan.save((input, other), {}, (tensor,))
                node.sequence = next_sequence()
                tensor._node = node
                return tensor
        return finish(op.name, apply(op, (input, other), {}), out)

    return call


def operator(function: Callable, reverse: bool = False) -> Callable:
    """The method behind a Python operator: what it does not know it leaves to the other operand."""
    op = getattr(function, "op", None)
    if op is not None and len(op.inputs) == 2 and not op.params and not reverse:
        return binary(op, leave=True)

    def method(self: Any, other: Any) -> Any:
        if isinstance(other, _tensor.Tensor) or isinstance(other, NUMBERS):
            return function(other, self) if reverse else function(self, other)
        return NotImplemented

    return method
