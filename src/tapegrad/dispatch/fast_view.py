"""Calling a view operator: the fast path for one NumPy array in and one view of it out."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tapegrad.arrays.numpy import namespace as numpy_namespace
from tapegrad.autograd.mode import MODE
from tapegrad.autograd.node import INFERENCE, version_of
from tapegrad.autograd.saved import GRAD
from tapegrad.autograd.view import Step, View, edge_of, shares_memory
from tapegrad.autograd.view_origin import NO_GRAD, ORDINARY
from tapegrad.core import tensor_base
from tapegrad.core.errors import beyond_memory
from tapegrad.dispatch.apply import apply

get_mode = MODE.get
ndarray = np.ndarray
new = object.__new__
born = tensor_base.BORN


def viewing(op: Any) -> Callable:
    """The function of a view operator of one tensor."""
    forward = op.forward
    plan: Any = None
    Tensor: Any = None

    def call(x: Any, **params: Any) -> Any:
        nonlocal plan, Tensor
        array = getattr(x, "_array", None)
        mode = get_mode()
        if type(array) is not ndarray or (mode is not True and mode is not False):
            return apply(op, (x,), params)
        kind = array.dtype.kind
        version = x._counter
        if version is INFERENCE or kind == "c":
            return apply(op, (x,), params)
        try:
            out = forward(numpy_namespace, array, **params)
        except (ValueError, OverflowError) as error:
            raise beyond_memory(error) from None
        base = out.base
        if base is not array and base is not array.base and not shares_memory(out, array):
            return apply(op, (x,), params)
        if version is None:
            version = version_of(x)
        if plan is None:
            Tensor = tensor_base.Tensor
            plan = op.plan(GRAD, False, numpy_namespace)  # last: threads may meet here
        tensor = new(Tensor)
        tensor._array = out
        tensor._counter = version
        tensor._grad = tensor._signature = None
        tensor._born = born[0]
        view = x._view
        step = Step(op, params, None)
        made = ORDINARY if mode else NO_GRAD
        if view is None:
            edge = x._node
            tensor._view = View(x, x._array, (step,), made, version.value)
        else:
            edge = edge_of(x)
            if mode:
                made = view.made
            steps = (*view.steps, step)
            tensor._view = View(view.base, view.array, steps, made, version.value)
        if edge is None or mode is False:
            tensor._node = None
            return tensor
        tensor._node = plan.node_of_small(x, edge, tensor, params)
        return tensor

    return call
