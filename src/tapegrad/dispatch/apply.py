"""Calling an operator: unwrap, promote, compute, wrap, record.

`apply` does it for every operator and whatever a call can be: numbers, mixed dtypes, other array
libraries, a mode that takes part. The fast paths beside it, `fast_*.py`, do less for calls that
need less, and give the same: tests/laws/test_fast_paths.py holds them to it.
"""

import numpy as np

from tapegrad.arrays.float8 import is_float8
from tapegrad.arrays.namespaces import is_recorded, namespace_of, native_dtype
from tapegrad.arrays.narrow import is_narrow, rounded, widened
from tapegrad.arrays.numpy import namespace as numpy_namespace
from tapegrad.arrays.numpy.blocks import LARGE, blockwise
from tapegrad.arrays.signature import Like, signature_of
from tapegrad.autograd import operator_base
from tapegrad.autograd.mode import MODE
from tapegrad.autograd.node import Port
from tapegrad.autograd.operator_base import shape_error
from tapegrad.autograd.saved import CONSTANT, GRAD, RAW
from tapegrad.autograd.view import as_read, edge_of, mark_view, view_forward
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Array, Callable, DTypeLike, Namespace, OperatorLike, Out
from tapegrad.core.conj_neg_view import ConjNegView
from tapegrad.core.dtype import default
from tapegrad.core.meta_array import MetaArray
from tapegrad.core.promote_types import promote
from tapegrad.core.registration import DISPATCH_CLASSES, FRONT_DOOR
from tapegrad.core.torch_dispatch import StandIn
from tapegrad.dispatch.float8 import computes_float8
from tapegrad.dispatch.out import write_out

get_mode = MODE.get
new = object.__new__
born = tensor_base.BORN
ndarray = np.ndarray
F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
I64, BOOL = np.dtype(np.int64), np.dtype(np.bool_)
NUMBERS = (bool, int, float, complex, np.generic)


def apply(op: OperatorLike, inputs: tuple, params: dict) -> Any:
    """Run one operator on tensors, numbers or None; record it if an input requires grad."""
    mode = get_mode()
    if mode is not True and mode is not False:
        return mode.call(op.name, apply, (op, inputs, params), {})
    arrays: list[Any] = []
    edges: list[Any] = []
    kinds = ""
    dtype = None  # of the NumPy arrays, masks aside
    plain = op.promote is not None  # nothing to promote or refuse: one floating dtype
    nowhere = recorded = False  # an operand is on the meta device; one writes down what is done
    large = written = False  # an array is worth blocks; an input has a version counter
    ordered = op.ordered  # the order of the result in memory is looked after
    narrow = None  # float16 or bfloat16, computed in float32 as in PyTorch
    Tensor = tensor_base.Tensor
    for x in inputs:
        if isinstance(x, Tensor):
            array = x._array
            arrays.append(array)
            edge = x._node if x._view is None else edge_of(x)
            edges.append(edge)
            kinds += CONSTANT if edge is None else GRAD
            if x._counter is not None:
                written = True
            signature = x._signature
            if signature is None:
                signature = x._signature = signature_of(array)
            if signature is not False:
                large = large or signature.blocks
                ordered = ordered or not signature.row_major
                if dtype is None:
                    dtype = signature.dtype
                elif dtype is not signature.dtype:
                    plain = False
                continue
            if type(array) is not ndarray:
                if type(array) is ConjNegView and not op.view:
                    return apply(op, tuple(map(as_read, inputs)), params)
                if type(array) is MetaArray:
                    nowhere = ordered = True
                if type(array) is StandIn:
                    return DISPATCH_CLASSES().with_classes(apply, (op, inputs, params), {})
                if is_recorded(array):
                    recorded = True
                    ordered = ordered or not array.flags.c_contiguous
                plain = False
                continue
            if array.size > LARGE:
                large = True
            if array.ndim > 1 and not array.flags.c_contiguous:
                ordered = True
            if dtype is None and (array.dtype is not BOOL or not op.exempt):
                dtype = array.dtype
            elif array.dtype is not dtype and (array.dtype is not BOOL or not op.exempt):
                plain = False
        else:
            if not (x is None or (op.numbers and isinstance(x, NUMBERS))):
                raise wrong_argument(op, inputs, x)
            arrays.append(x)
            edges.append(None)
            kinds += RAW
            if dtype is None or not (x is None or type(x) is float or type(x) is int):
                plain = False
    given = arrays
    if plain and (dtype is F32 or dtype is F64):
        xp = numpy_namespace
    else:
        if op.promote is not None and not _may_come_first(op, inputs[0]):
            raise wrong_argument(op, inputs, inputs[0])
        if op.check is not None:
            try:
                op.check(*inputs)
            except NotImplementedError:
                _check_shapes(op, arrays)
                raise
        xp = numpy_namespace if plain else namespace_of(arrays)
        if nowhere:
            _check_devices(op, inputs)
        alike = plain and op.promote == "arith" and RAW not in kinds
        if op.promote is not None and not alike:
            arrays = promoted(op, xp, arrays)
        narrow = _narrow_dtype(op, arrays)
        if narrow is not None and op.widens:
            arrays = _widened_operands(op, given, arrays, narrow)
    try:
        out = _compute(op, xp, arrays, params, large)
    except ValueError as error:
        raise shape_error(op, arrays, error) from None
    except (MemoryError, OverflowError) as error:
        raise errors.beyond_memory(error) from None
    except NotImplementedError:
        _check_shapes(op, arrays)
        raise
    if narrow is not None:
        out = _rounded(op, out, narrow)
    if ordered and op.order is not None and (xp is numpy_namespace or nowhere or recorded):
        order = recorded_order(op.order) if recorded else op.order
        out = order(out, given, params)
    kind = type(out)
    several = kind is tuple or kind is list
    if kind is ndarray:
        tensor = new(Tensor)
        tensor._array = out
        tensor._node = tensor._counter = tensor._view = tensor._grad = tensor._signature = None
        tensor._born = born[0]
        outs: tuple = (tensor,)
    else:
        outs = tuple(map(tensor_base.wrap, out)) if several else (tensor_base.wrap(out),)
    if mode and GRAD in kinds and op.vjps:
        record(op, xp, inputs, given, edges, kinds, params, outs, written)
    if op.view:
        for i, tensor in enumerate(outs):
            mark_view(op, inputs[0], tensor, params, i if op.multi else None, mode)
    return outs if several else outs[0]


operator_base.APPLY = apply


def recorded_order(order: Callable) -> Callable:
    """A rule of the order in memory for arrays that write down what is done with them."""
    from tapegrad.arrays.traced.record import in_order

    return in_order(order)


def _check_devices(op: OperatorLike, inputs: tuple) -> None:
    """Raise where tensors with elements meet tensors on the meta device.

    A number as a tensor may, and indices of what has none.
    """
    first = None
    for x in inputs:
        if not isinstance(x, tensor_base.Tensor) or not (x.ndim or x.is_meta):
            continue
        if op.promote is None and x._array.dtype.kind in "iub":
            continue
        if first is None:
            first = x.device
        elif x.device is not first:
            raise errors.runtime_error(
                f"Tensor on device {x.device} is not on the expected device {first}!",
                "Move one of them: x.to('meta') forgets its elements.",
            )


def _check_shapes(op: OperatorLike, arrays: list) -> None:
    """Raise for shapes that do not broadcast: PyTorch looks at them before it asks for a kernel."""
    if op.promote is None:
        return
    try:
        np.broadcast_shapes(*[getattr(x, "shape", ()) for x in arrays])
    except ValueError as error:
        raise shape_error(op, arrays, error) from None


def _narrow_dtype(op: OperatorLike, arrays: list) -> Any:
    """The floating dtype of 16 bits, or 8, that a call computes in float32, if there is one.

    The operands were promoted to it, or all numbers with a fraction are of it. Views and casts
    leave numbers as they are.
    """
    found = None
    for x in arrays:
        dtype = getattr(x, "dtype", None)
        if dtype is F32 or dtype is F64:
            if op.promote is None or not op.exempt:
                return None
            continue
        if dtype is None or (getattr(dtype, "kind", "i") in "iub"):
            continue
        if not is_narrow(dtype):
            if is_float8(dtype):
                if not computes_float8(op, arrays, dtype):
                    return None
            else:
                if op.promote is None:
                    return None
                continue
        if found is not None and dtype != found:
            return None
        found = dtype
    return None if op.view or "dtype" in op.params else found


def _widened_operands(op: OperatorLike, given: list, arrays: list, narrow: Any) -> list:
    """Operands of 16 bits as float32, and numbers as what they round to in 16 bits.

    A factor or divisor, a number or a tensor without dimensions, is not rounded, as in PyTorch.
    """
    if op.promote is None:
        return [widened(x) for x in arrays]
    found = []
    for i, (x, array) in enumerate(zip(given, arrays, strict=True)):
        if i == 1 and op.exact_number and not getattr(x, "ndim", 0):
            wide = isinstance(x, NUMBERS) or getattr(x, "itemsize", 0) > 2
            found.append(x.astype(F32) if wide and hasattr(x, "astype") else widened(array))
        elif type(array) in (float, int):
            found.append(float(np.asarray(array, dtype=narrow)))
        else:
            found.append(widened(array))
    return found


def _rounded(op: OperatorLike, out: Any, dtype: Any) -> Any:
    """Results of float32 in `dtype`; statistics beside them, without gradient, as they are."""
    if type(out) is not tuple and type(out) is not list:
        return rounded(out, dtype)
    return type(out)(
        [x if i in op.constant_outputs else rounded(x, dtype) for i, x in enumerate(out)]
    )


def _compute(op: OperatorLike, xp: Namespace, arrays: list, params: dict, large: bool) -> Any:
    if op.view and type(arrays[0]) is ConjNegView:
        return view_forward(op, xp, arrays[0], params)
    if op.promote is not None and xp is numpy_namespace:
        if large and op.kind != "primitive" and op.kind != "linear":
            out = blockwise(forward_function(op, params), tuple(arrays))
            if out is not None:
                return out
        if op.ufunc is not None and not params:
            return getattr(np, op.ufunc)(*arrays)
    elif op.ufunc is not None and not params and any(map(is_recorded, arrays)):
        return getattr(np, op.ufunc)(*arrays)
    return op.forward(xp, *arrays, **params)


def forward_function(op: OperatorLike, params: dict | None = None) -> Callable:
    """The forward function on NumPy arrays alone: one call where NumPy has it."""
    forward = op.forward
    if params:
        return lambda *arrays: forward(numpy_namespace, *arrays, **params)
    if op.ufunc is not None:
        return getattr(np, op.ufunc)
    if len(op.inputs) == 1:
        return lambda x: forward(numpy_namespace, x)
    return lambda *arrays: forward(numpy_namespace, *arrays)


def promoted(op: OperatorLike, xp: Namespace, arrays: list) -> list:
    """The operands in their common dtype; numbers stay numbers where that is safe."""
    if op.exempt:
        rest = [None if n in op.exempt else x for n, x in zip(op.inputs, arrays, strict=True)]
        found = _promoted(op, xp, rest)
        return [
            x if n in op.exempt else new for n, x, new in zip(op.inputs, arrays, found, strict=True)
        ]
    return _promoted(op, xp, arrays)


def _promoted(op: OperatorLike, xp: Namespace, arrays: list) -> list:
    dtype = promote([x for x in arrays if x is not None])
    if op.promote == "float" and not (dtype.is_floating_point or dtype.is_complex):
        dtype = default()
    native = native_dtype(xp, dtype)
    found: list[Any] = []
    for x in arrays:
        if x is None:
            found.append(x)
        elif isinstance(x, NUMBERS):
            if isinstance(x, float) and dtype.itemsize < 4 and dtype.is_floating_point:
                x = float(x)  # of NumPy, or recorded: it is not rounded as a tensor is
            # a Python float or complex is weak in NumPy, too; an int might overflow there
            weak = type(x) in (float, int) and dtype.is_floating_point
            found.append(x if weak and len(arrays) > 1 else _number(xp, x, native, dtype))
        else:
            found.append(x if x.dtype == native else xp.astype(x, native))
    if all(x is None or isinstance(x, NUMBERS) for x in found):
        first = next(i for i, x in enumerate(found) if x is not None)
        found[first] = xp.asarray(found[first], dtype=native)
    return found


def _number(xp: Namespace, x: Array, native: Any, dtype: Any) -> Any:
    """A 0-d array of a number; integers wrap around as in PyTorch."""
    if dtype.category == 1 and isinstance(x, (int, np.integer)):
        if not -(2**63) <= x < 2**64:
            raise errors.advised(
                OverflowError("int too big to convert"),
                "Integers of a tensor have at most 64 bits; write it as a float.",
            )
        bits = 8 * dtype.itemsize
        x = int(x) % (1 << bits)
        if dtype.is_signed and x >= 1 << (bits - 1):
            x -= 1 << bits
    return xp.asarray(x, dtype=native)


def record(
    op: OperatorLike,
    xp: Namespace,
    inputs: tuple,
    arrays: list,
    edges: Any,
    kinds: str,
    params: dict,
    outs: tuple,
    written: bool,
) -> None:
    """Make the node of a call and put its outputs behind it."""
    first = outs[0]._array.dtype
    kind = getattr(first, "kind", None)
    if kind is not None and kind not in "fcV" and not op.multi and op.output_names is None:
        return  # integers and booleans have no gradient
    conjugate = kind == "c" or _is_complex(xp, first)
    numpy = xp is numpy_namespace
    large = numpy and op.kind == "elementwise" and outs[0]._array.size > LARGE
    narrow = is_narrow(first) and bool(arrays)
    wide = F32 if narrow else first if kind and op.promote and _is_mixed(arrays) else None
    ordinary = numpy and not conjugate and not large and wide is None
    plan = op.quick.get(kinds) if ordinary else None
    if plan is None:
        plan = op.plan(kinds, conjugate, xp, large, wide)
        if ordinary:
            op.quick[kinds] = plan
    if op.promote is None and not narrow:
        restore = None
    else:
        restore = restoration(arrays, edges, outs[0]._array)
    node = plan.node_of_call(inputs, edges, params, outs, restore, written)
    if op.multi:
        node.output_metadata = [Like(t._array) for t in outs]
        node.n_outputs = len(outs)
        for i, tensor in enumerate(outs):
            if i not in op.constant_outputs:
                tensor._node = Port(node, i)
    else:
        outs[op.differentiable_output]._node = node


def _is_mixed(arrays: list) -> bool:
    """Whether operands have several dtypes: the rules then compute in that of the result."""
    dtypes = [x.dtype for x in arrays if hasattr(x, "dtype")]
    return len(dtypes) > 1 and any([dtype != dtypes[0] for dtype in dtypes[1:]])


def _is_complex(xp: Namespace, dtype: DTypeLike) -> bool:
    return xp is not numpy_namespace and xp.isdtype(dtype, "complex floating")


def restoration(arrays: Any, edges: Any, out: Any) -> tuple | None:
    """For each input what its gradient must be brought back to; None if nothing was changed.

    Rules on numbers of 16 bits may give wider ones, by a Python number or a kernel without them;
    so may those that meet an operand of another dtype, such as int64 beside float32.
    """
    shape, dtype = out.shape, out.dtype
    wider = getattr(dtype, "itemsize", 0) == 2
    for x in arrays:
        other = getattr(x, "dtype", dtype)
        wider = wider or (other is not dtype and other != dtype)
    spec: list[Any] = []
    changed = False
    for x, edge in zip(arrays, edges, strict=True):
        if edge is None or (not wider and x.shape == shape and x.dtype == dtype):
            spec.append(None)
        else:
            spec.append((x.shape, x.dtype))
            changed = True
    return tuple(spec) if changed else None


def wrong_argument(op: OperatorLike, inputs: tuple, x: object) -> TypeError:
    """The error for `x`, one of the inputs, which is neither a tensor nor stands for one."""
    position = next(i for i, each in enumerate(inputs) if each is x)
    name = op.inputs[0] if op.variadic else op.inputs[position] if position else "input"
    return errors.must_be(_public_name(op.name), name, position + 1, "Tensor", x)


def _may_come_first(op: OperatorLike, x: object) -> bool:
    """Whether `x` may be the first operand: a number may be it of two, nothing at all never."""
    if hasattr(x, "_array"):
        return True
    return x is not None and (len(op.inputs) == 2 or bool(op.exempt))


def _public_name(name: str) -> str:
    """What PyTorch's errors call an operator: those of `torch.special` alone carry its name."""
    public = FRONT_DOOR()
    alone = name in public.special.__all__ and not hasattr(public, name)
    return f"special_{name}" if alone else name


def finish(name: str, result: object, out: Out, *inputs: Any) -> Any:
    """Put a result where `out=` says, which must not lie partly in the memory of `inputs`."""
    return result if out is None else write_out(name, result, out, *inputs)
