"""The fast path of most operators: float tensors of one dtype, numbers, options.

What `apply` does, without what such calls do not need: no promotion, no other array library, no
blocks over threads. Whatever does not fit goes to `apply`.
"""

import numpy as np

from tapegrad.arrays.numpy import namespace as numpy_namespace
from tapegrad.arrays.signature import signature_of
from tapegrad.autograd.mode import MODE
from tapegrad.autograd.saved import CONSTANT, GRAD, RAW
from tapegrad.autograd.view import edge_of
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Callable, OperatorLike
from tapegrad.core.meta_array import MetaArray
from tapegrad.dispatch.apply import apply, record, shape_error

get_mode = MODE.get
ndarray = np.ndarray
new = object.__new__
born = tensor_base.BORN


def _is_index(x: object) -> bool:
    """Whether an input is a NumPy array of integers or truth values."""
    array = getattr(x, "_array", None)
    return type(array) is ndarray and array.dtype.kind in "iub"


def plain(op: OperatorLike) -> Callable:
    """The function of an operator: `call(*inputs, **options)`."""
    if op.multi or op.view or op.exempt or op.variadic:
        return lambda *inputs, **params: apply(op, inputs, params)
    forward = op.forward
    takes_numbers = op.numbers
    elementwise = op.promote is not None
    several = op.output_names is not None
    order, ordered = op.order, op.ordered
    indices = () if elementwise or op.check is not None else op.hidden
    Tensor: Any = None

    def call(*inputs: Tensor, **params: object) -> Any:
        nonlocal Tensor
        mode = get_mode()
        if mode is not True and mode is not False:
            return apply(op, inputs, params)
        arrays: list[Any] = []
        edges: list[Any] = []
        kinds = ""
        dtype: Any = None
        first: Any = None
        written = broadcast = False
        for x in inputs:
            kind = type(x)
            if x is None or (takes_numbers and (kind is float or kind is int)):
                arrays.append(x)
                edges.append(None)
                kinds += RAW
                continue
            signature: Any = getattr(x, "_signature", False)
            if signature is None:
                signature = x._signature = signature_of(x._array)
            if signature is False or (elementwise and signature.apart):
                if len(arrays) in indices and _is_index(x):
                    arrays.append(x._array)
                    edges.append(None)
                    kinds += CONSTANT
                    if x._counter is not None:
                        written = True
                    continue
                return apply(op, inputs, params)
            if first is None:
                first, dtype = signature, signature.dtype
            elif signature is not first:
                if signature.dtype is not dtype:
                    return apply(op, inputs, params)
                broadcast = elementwise
            arrays.append(x._array)
            edge = x._node if x._view is None else edge_of(x)
            edges.append(edge)
            kinds += CONSTANT if edge is None else GRAD
            if x._counter is not None:
                written = True
        if kinds[0] == RAW:
            return apply(op, inputs, params)
        try:
            out = forward(numpy_namespace, *arrays, **params)
        except ValueError as error:
            raise shape_error(op, arrays, error) from None
        except (MemoryError, OverflowError) as error:
            raise errors.beyond_memory(error) from None
        if ordered or first is None or not first.row_major:
            out = order(out, arrays, params)
        if type(out) is not ndarray:
            if several:
                outs = tuple(map(tensor_base.wrap, out))
                if mode and GRAD in kinds and op.vjps:
                    xp = numpy_namespace
                    record(op, xp, inputs, arrays, edges, kinds, params, outs, written)
                return outs
            if type(out) is not MetaArray:
                out = np.asarray(out)
        if Tensor is None:
            Tensor = tensor_base.Tensor
        tensor = new(Tensor)
        tensor._array = out
        tensor._node = tensor._counter = tensor._view = tensor._grad = tensor._signature = None
        tensor._born = born[0]
        if mode is False or GRAD not in kinds or not op.vjps:
            return tensor
        plan = op.quick.get(kinds)
        if plan is None or out.dtype is not dtype or broadcast:
            record(op, numpy_namespace, inputs, arrays, edges, kinds, params, (tensor,), written)
            return tensor
        tensor._node = plan.node_of_call(inputs, edges, params, (tensor,), None, written)
        return tensor

    if len(op.inputs) != 1 or several:
        return call

    def call_of_one(*inputs: Tensor, **params: object) -> Any:
        """`call` for one small tensor that is row-major."""
        input = inputs[0]
        mode = get_mode()
        signature: Any = getattr(input, "_signature", None)
        if not signature or len(inputs) > 1 or (mode is not True and mode is not False):
            return call(*inputs, **params)
        array = input._array
        try:
            out = forward(numpy_namespace, array, **params)
        except ValueError as error:
            raise shape_error(op, [array], error) from None
        except (MemoryError, OverflowError) as error:
            raise errors.beyond_memory(error) from None
        if ordered:
            out = order(out, [array], params)
        tensor = new(tensor_base.Tensor)
        kind = type(out)
        tensor._array = out if kind is ndarray or kind is MetaArray else np.asarray(out)
        tensor._node = tensor._counter = tensor._view = tensor._grad = tensor._signature = None
        tensor._born = born[0]
        edge = input._node if input._view is None else edge_of(input)
        if edge is None or mode is False or not op.vjps:
            return tensor
        plan = op.quick.get(GRAD)
        written = input._counter is not None
        if plan is None or tensor._array.dtype is not signature.dtype:
            record(op, numpy_namespace, inputs, [array], [edge], GRAD, params, (tensor,), written)
            return tensor
        tensor._node = plan.node_of_call(inputs, (edge,), params, (tensor,), None, written)
        return tensor

    return call_of_one
