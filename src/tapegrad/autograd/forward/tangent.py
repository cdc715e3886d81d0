"""The tangents of one call: how the forward rules run, and where their results lie.

On arrays, where nothing is recorded; on tensors, under the mode below, where a tangent takes part
in a graph or has tangents itself, or where the call computed in several dtypes.
"""

from collections.abc import Collection, Sequence

import numpy as np

from tapegrad.arrays.batched import namespace as batched_namespace
from tapegrad.arrays.batched.array import Batched
from tapegrad.arrays.namespaces import namespace_of
from tapegrad.arrays.numpy import namespace as numpy_namespace
from tapegrad.arrays.signature import Like
from tapegrad.autograd.forward.jvp import along, asked_names, jvp
from tapegrad.autograd.mode import Under
from tapegrad.autograd.view import shares_memory
from tapegrad.core.annotations import Any, Array, ModeLike, Namespace, OperatorLike
from tapegrad.core.promote_types import promote
from tapegrad.core.registration import TANGENT_VIEWS, TENSOR_NAMESPACE
from tapegrad.core.tensor_base import wrap

ndarray = np.ndarray
_ARRAYS = (ndarray, Batched)  # those that rules run on at once


def tangents_of_call(
    op: OperatorLike,
    under: ModeLike,
    inputs: Sequence,
    tangents: list,
    params: dict,
    outs: Sequence,
) -> list:
    """The tangent of each output of a call under the mode `under`; None where it has none.

    It has memory of its own, or is a view where the output is one.
    """
    if op.kind == "constant" or not outs:
        return [None] * len(outs)
    lists = _on_arrays(op, under, inputs, tangents, outs)
    if lists is not None:
        arrays, ts, ys = lists
        xp = numpy_namespace if _all_numpy(ys, ts) else batched_namespace
        found = jvp(op, xp, arrays, ts, params, ys, arrays)
        taken = (*arrays, *ts, *ys)
        return [t if t is None else wrap(_own(t, ys[i], taken)) for i, t in enumerate(found)]
    moving = [y.dtype.is_floating_point or y.dtype.is_complex for y in outs]
    if True not in moving:
        return [None] * len(outs)
    with Under(under):
        if op.view and shares_memory(outs[0]._array, inputs[0]._array):
            view = op.call(*tangents, **params)
            return list(view) if op.multi else [view]
        plain = _without_tangents(op, inputs, tangents, outs)
        found = _on_tensors(op, *plain, params)
        used = {id(x._array) for x in (*inputs, *tangents, *outs) if hasattr(x, "_counter")}
        return [
            None if t is None or not moves else own_tensor(t, y, used)
            for t, y, moves in zip(found, outs, moving, strict=True)
        ]


def _on_arrays(
    op: OperatorLike, under: ModeLike, inputs: Sequence, tangents: list, outs: Sequence
) -> tuple[list, list, list] | None:
    """The arrays of inputs, tangents and outputs, if the rules may run on them.

    They may on NumPy arrays of one dtype, where nothing is recorded and nobody else takes part.
    """
    if not (type(under) is bool or only_maps(under)) or op.view:
        return None
    recording = under if type(under) is bool else under.grad
    first = outs[op.differentiable_output]._array
    dtype = first.dtype
    if type(first) not in _ARRAYS or dtype.kind not in "fc" or dtype.itemsize == 2:
        return None
    arrays: list[Any] = []
    ts: list[Any] = []
    for found, values in ((arrays, inputs), (ts, tangents)):
        for x in values:
            array = getattr(x, "_array", None)
            if array is None:
                found.append(x)
                continue
            if type(array) not in _ARRAYS:
                return None
            if array.dtype is not dtype and (op.promote is not None or array.dtype.kind in "fcV"):
                return None
            if recording and (x._node is not None or (x._view is not None and x.requires_grad)):
                return None
            found.append(array)
    return arrays, ts, [y._array for y in outs]


def only_maps(mode: ModeLike) -> bool:
    """Whether a mode is levels of `vmap` and nothing else."""
    while type(mode) is not bool:
        if not mode.maps:
            return False
        mode = mode.under
    return True


def _all_numpy(ys: list, ts: list) -> bool:
    """Whether neither results nor tangents are batched."""
    for x in (*ys, *ts):
        if type(x) is Batched:
            return False
    return True


def _without_tangents(
    op: OperatorLike, inputs: Sequence, tangents: Sequence, outs: Sequence
) -> tuple[Sequence, Sequence, Sequence]:
    """What goes in and what came out, without tangents: those of tangents are of other levels."""
    if op.kind == "linear":
        return inputs, tangents, outs
    asked = frozenset(op.inputs) if op.variadic else asked_names(op, tangents)
    names = op.inputs * len(inputs) if op.variadic else op.inputs
    plain = [
        TANGENT_VIEWS().primal_view(x) if t is not None and name in asked else x
        for name, x, t in zip(names, inputs, tangents, strict=True)
    ]
    if op.variadic or not asked.isdisjoint(("y", *(op.output_names or ()))):
        outs = [TANGENT_VIEWS().primal_view(y) for y in outs]
    return plain, tangents, outs


def _on_tensors(
    op: OperatorLike, inputs: Sequence, tangents: Sequence, outs: Sequence, params: dict
) -> list:
    namespace = TENSOR_NAMESPACE()

    if op.kind == "linear":
        found = along(op, namespace, inputs, tangents, lambda *x: op.call(*x, **params))
        return list(found) if type(found) is tuple else [found]
    input_metadata = [Like(x._array) if hasattr(x, "_counter") else x for x in inputs]
    if op.promote is not None:
        inputs = _promoted(op, namespace, inputs)
    found = jvp(op, namespace, inputs, tangents, params, outs, input_metadata, True)
    k = 0 if op.output_names is None else op.differentiable_output
    t, y = found[k], outs[k]
    if len(op.inputs) > 1 and not op.multi and not t.requires_grad and y.requires_grad:
        for i, x in enumerate(inputs):
            if tangents[i] is None and _matters(op, i, x):
                zero: list[Any] = [None] * len(inputs)
                is_tensor = hasattr(x, "_counter")
                zero[i] = zeros_of(x) if is_tensor else namespace.zeros((), dtype=t.dtype)
                if jvp(op, namespace, inputs, zero, params, outs, input_metadata)[k].requires_grad:
                    found[k] = TANGENT_VIEWS().tied(
                        t if t.shape == y.shape else t.expand(y.shape), y
                    )
                    break
    return found


def _matters(op: OperatorLike, i: int, x: Any) -> bool:
    """Whether the tangent of an input that does not change is zero, and not absent, in PyTorch."""
    if op.inputs[i] not in op.jvps or x is None:
        return False
    return hasattr(x, "_counter") or op.exact_number


def _promoted(op: OperatorLike, xp: Namespace, inputs: Sequence) -> list:
    """The tensors among the operands in the dtype they were computed in."""
    names = [None if name in op.exempt else name for name in op.inputs]
    operands = [getattr(x, "_array", x) for x, n in zip(inputs, names, strict=True) if n]
    dtype = promote([x for x in operands if x is not None])
    if not (dtype.is_floating_point or dtype.is_complex):
        return list(inputs)
    return [
        xp.astype(x, dtype.numpy) if n and hasattr(x, "_counter") and x.dtype is not dtype else x
        for x, n in zip(inputs, names, strict=True)
    ]


def _own(t: Array, y: Array, taken: Sequence) -> Any:
    """The tangent `t` in the shape, the dtype and the layout of `y`, in memory of its own."""
    if type(t) is Batched or type(y) is Batched:
        return _own_batched(t, y, taken)
    if (
        type(t) is ndarray
        and t.base is None
        and t.shape == y.shape
        and t.dtype is y.dtype
        and (t.ndim < 2 or t.strides == y.strides)
    ):
        for x in taken:
            if x is t:
                break
        else:
            return t
    made = np.empty_like(y)
    if made.dtype.kind != "c" and np.iscomplexobj(t):
        t = t.real
    np.copyto(made, t, casting="unsafe")
    return made


def _own_batched(t: Array, y: Array, taken: Sequence) -> Any:
    """The same where one is batched: the memory is laid out as the tangent has it."""
    whole = t
    if tuple(t.shape) != tuple(y.shape):
        t = batched_namespace.broadcast_to(t, y.shape)
    if t.dtype != y.dtype:
        t = batched_namespace.astype(t, y.dtype)
    if t is whole and _memory(t).base is None:
        for x in taken:
            if x is t or _memory(x) is _memory(t):
                break
        else:
            return t
    return batched_namespace.copied(t, "K")


def _memory(x: object) -> Any:
    """The NumPy array that holds the numbers of a batched one."""
    while type(x) is Batched:
        x = x.value if x.factors is None else x.factors
    return x


def own_tensor(t: Array, y: Array, used: Collection[int] = ()) -> Any:
    """The same for tensors: a copy is recorded."""
    a, b = t._array, y._array
    if type(a) is Batched or type(b) is Batched:
        return _own_batched_tensor(t, y, used)
    if (
        t._view is None
        and getattr(a, "base", None) is None
        and a.shape == b.shape
        and a.dtype == b.dtype
        and (a.ndim < 2 or strides(t) == strides(y))
        and id(a) not in used
    ):
        return t
    if y.dtype.is_complex or not t.dtype.is_complex:
        return zeros_of(y).copy_(t)
    return zeros_of(y).copy_(t.real)


def _own_batched_tensor(t: Array, y: Array, used: Collection[int]) -> Any:
    """The same where one is batched."""
    whole = t
    if t.shape != y.shape:
        t = t.expand(y.shape)
    if t.dtype is not y.dtype:
        t = (t.real if t.dtype.is_complex and not y.dtype.is_complex else t).to(y.dtype)
    apart = t is whole and t._view is None and _memory(t._array).base is None
    return t if apart and id(t._array) not in used else t.clone()


def strides(x: Any) -> Any:
    """How a tensor is laid out; None where its array does not say."""
    return getattr(x._array, "strides", None)


def zeros_of(x: Any) -> Any:
    """Zeros in the layout of `x`."""
    return wrap(namespace_of((x._array,)).zeros_like(x._array))
