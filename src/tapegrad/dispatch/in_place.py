"""In-place operators: compute out of place, write the result, rewrite the history.

Nothing is written before everything that can fail has been tried.
"""

import inspect
import sys

import numpy as np

from tapegrad.arrays.float8 import is_float8, to_float8
from tapegrad.arrays.namespaces import namespace_of, native_dtype
from tapegrad.autograd.captured import refuse_captured
from tapegrad.autograd.history import rewrite_history
from tapegrad.autograd.mode import MODE, is_grad_enabled, is_inference
from tapegrad.autograd.node import EVERY, INFERENCE, Port, Version, next_sequence, version_of
from tapegrad.autograd.saved import CONSTANT, GRAD, RAW, origin_of
from tapegrad.autograd.view import View, edge_of, move_retained, renamed
from tapegrad.autograd.writable import (
    check_apart,
    check_fits,
    check_out,
    check_overlap,
    check_storable,
    check_target,
    check_view,
    check_writable,
    is_repeated,
    output_shape,
    warn_repeated,
    written,
)
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Callable, EdgeLike, NodeLike, OperatorLike
from tapegrad.core.argument_check import MISSING, respelled, with_method
from tapegrad.core.conj_neg_view import resolved
from tapegrad.core.dtype import FLOAT8_IN_USE
from tapegrad.core.promote_types import promote
from tapegrad.core.registration import OVERWRITES
from tapegrad.core.tensor_base import REFUSING
from tapegrad.dispatch.op import REGISTRY, leads_to

_LOGICAL = frozenset(("logical_and_", "logical_not_", "logical_or_", "logical_xor_"))
_SIGNATURE = inspect.signature(lambda input, *args, **kwargs: None)


def in_place(
    function: Callable,
    name: str | None = None,
    *,
    reads_numbers: bool = False,
    apart: bool | None = False,
    check: Callable | None = None,
    first: Callable | None = None,
    refused: Callable | None = None,
    repeats: str = "",
) -> Callable:
    """The in-place form of an operator: `mul_ = in_place(mul)`.

    With `reads_numbers`, a tensor without dimensions is read before anything is written: it may be
    part of the one that is written to. With `apart`, no operand may be the tensor itself; with
    None, operands may lie in part of its memory: they are read first. `check` raises in the words
    of the in-place form, where they are its own; `first` checks all arguments before anything else;
    `refused` says of a call that failed, given the same, what PyTorch finds wrong with it first.
    What only puts one number in some places may be written where several elements are one place in
    memory: `repeats` is then "written", or "warned" of.
    """
    ufunc_name = getattr(getattr(function, "op", None), "ufunc", None)
    ufunc = getattr(np, ufunc_name) if ufunc_name else None
    nin = ufunc.nin if ufunc is not None else 0
    plain = name or function.__name__ + "_"
    renew = _assign if plain in _LOGICAL else update

    def make(is_method: bool) -> Callable:
        def method(input: Any = MISSING, *args: object, **kwargs: object) -> Any:
            try:
                if REFUSING[0]:
                    refuse_captured(plain, input, *args, *kwargs.values())
                if ufunc is not None and not kwargs and len(args) == nin - 1:
                    mode = MODE.get()
                    if (
                        mode is False or (mode is True and _is_apart(input, args))
                    ) and _write_directly(ufunc, plain, input, args):
                        return input
                if first is not None:
                    first(input, *args, **kwargs)
                others = args
                if kwargs:
                    others = (*args, *kwargs.values())
                if apart is None:
                    others = ()
                if others and reads_numbers:
                    others = tuple([x for x in others if getattr(x, "ndim", 0)])
                if check is not None:
                    check_writable(input)
                    check(input)
                if repeats == "warned":
                    warn_repeated(plain, input)

                def compute(x: Any) -> Any:
                    return function(x, *args, **kwargs)

                return renew(plain, input, compute, others, bool(apart), bool(repeats))
            except Exception as error:
                if refused is not None and input is not MISSING and hasattr(input, "_array"):
                    refused(input, *args, **kwargs)
                again = _again(method, plain, input, args, kwargs, error, is_method)
            return again()

        return _described(method, function, plain, "")

    return with_method(make)


def in_place_view(
    function: Callable,
    shift: int = 1,
    inverse: Callable | None = None,
    check: Callable | None = None,
) -> Callable:
    """The in-place form of a view operator: the tensor itself gets the other shape.

    `inverse(step, shape)` is the step of a view that undoes `step` and gives `shape` again: views
    made before begin with it. `check` raises in the words of the in-place form, where they are its
    own. PyTorch numbers the node of the in-place form on: `t_` makes `TBackward1`.
    """
    plain = function.__name__ + "_"

    def make(is_method: bool) -> Callable:
        def method(input: Any = MISSING, *args: object, **kwargs: object) -> Any:
            try:
                if REFUSING[0]:
                    refuse_captured(plain, input)
                check_writable(input)
                if check is not None:
                    check(input)
                version = input._counter
                seen_by_others = version is not None and sys.getrefcount(version) > 3
                before = stand_in(input)
                result = function(before, *args, **kwargs)
            except Exception as error:
                again = _again(method, plain, input, args, kwargs, error, is_method)
                return again()
            if result is before:
                return input
            old, view, made = input._node, input._view, result._view
            kept = view is None and seen_by_others
            if kept and inverse is not None and made is not None:  # None: of another library
                way = (input._array, result._array, inverse(made.steps[0], input._array.shape))
                input._counter.reshaped = (*getattr(input._counter, "reshaped", ()), way)
            input._array = result._array
            input._signature = None
            recorded = is_grad_enabled() and result._node is not None
            if recorded:
                input._node = renamed(result._node, shift)
                move_retained(input, old, input._node)
                version_of(input).origin = origin_of(input._node)
            written(input, plain)
            if view is not None:
                seen = version_of(input).value if recorded else view.seen
                steps = (*view.steps, *made.steps)
                input._view = View(view.base, view.array, steps, view.made, seen)
            return input

        return _described(method, function, plain, ": the memory stays as it is")

    return with_method(make)


def _again(
    method: Callable,
    plain: str,
    input: Any,
    args: tuple,
    kwargs: dict,
    error: Exception,
    is_method: bool,
) -> Callable:
    """The failed call in another spelling; raises the error where there is none."""
    given = (input, *args)
    if input is MISSING:  # perhaps it has another name
        given, error = (), TypeError(f"{plain}() was given no tensor")
    again = respelled(method, given, kwargs, error, method=is_method, above=1)
    if again is None:
        if isinstance(error, AttributeError):
            errors.need_tensors(plain, input=input)
        if isinstance(error, NotImplementedError):
            function = method.out_of_place  # type: ignore[attr-defined]
            _check_before_kernel(function, plain, input, args)
        try:
            raise error
        finally:  # the traceback knows this frame: together they would keep what it keeps
            del error
    return again


def _check_before_kernel(function: Callable, plain: str, input: Any, args: tuple) -> None:
    """Raise for a shape or dtype that does not fit: PyTorch looks at them before the kernel."""
    op = getattr(function, "op", None) or REGISTRY.get(plain.rstrip("_"))
    if op is None or op.promote is None or op.kind not in ("elementwise", "constant"):
        return
    operands = [getattr(x, "_array", x) for x in (input, *args)[: len(op.inputs)]]
    shape = input._array.shape
    for x in operands[1:]:
        try:
            wide = np.broadcast_shapes(shape, getattr(x, "shape", ()))
        except ValueError:
            raise errors.broadcast(shape, x.shape) from None
        if wide != shape:
            raise output_shape(shape, wide, "Use the out-of-place form.")
    dtype = promote(operands)
    if op.name in _OF_TRUTH:
        return
    kind = native_dtype(namespace_of((input._array,)), dtype)
    check_fits(plain, input, tensor_base.wrap(np.broadcast_to(np.empty((), kind), shape)))


_OF_TRUTH = frozenset("eq ne lt le gt ge logical_and logical_or logical_xor logical_not".split())


def _described(method: Any, function: Any, plain: str, more: str) -> Any:
    method.__name__ = method.__qualname__ = plain
    method.__doc__ = f"In-place form of `{plain[:-1]}`{more}."
    method.__module__ = function.__module__
    method.__signature__ = _SIGNATURE
    leads_to(function, method)
    method.out_of_place = function
    return method


def stand_in(x: Any, as_read: bool = False) -> Any:
    """A tensor with the memory, the node and the counter of `x`, which may itself change.

    `as_read`: that of a conjugate or negative view has a copy of the numbers, as they are read.
    """
    before = tensor_base.wrap(resolved(x._array) if as_read else x._array)
    before._node = edge_of(x)
    before._counter = version_of(x)
    mode = MODE.get()
    if type(mode) is not bool:
        mode.stands_in(x, before)
    return before


def _is_apart(x: Any, args: tuple) -> bool:
    """Whether what is written and what is read have no place in the graph, nor views."""
    if getattr(x, "_node", x) is not None or x._view is not None:
        return False
    for other in args:
        if getattr(other, "_node", None) is not None or getattr(other, "_view", None) is not None:
            return False
    return True


_WHOLE = (np.add, np.subtract, np.multiply)  # the same for integers as PyTorch's


def _write_directly(ufunc: Any, name: str, x: Any, args: tuple) -> bool:
    """Without a graph, for arrays of one dtype: let NumPy write where it should."""
    array = x._array
    if type(array) is not np.ndarray or x._counter is INFERENCE:
        return False
    if array.dtype.char not in "fd" and not (array.dtype.char in "bBhilq" and ufunc in _WHOLE):
        return False
    if 0 in array.strides:
        return False  # perhaps several elements are one place in memory
    operands = []
    for other in args:
        kind = type(other)
        if kind is int or (kind is float and array.dtype.kind == "f"):
            operands.append(other)
            continue
        if other is not x and x._counter is not None:
            if getattr(other, "_counter", None) is x._counter:
                return False  # perhaps they overlap
        other = getattr(other, "_array", None)
        if type(other) is not np.ndarray or other.dtype is not array.dtype:
            return False
        if other.shape != array.shape and (other.ndim > array.ndim or other.size > array.size):
            return False
        operands.append(other)
    try:
        ufunc(array, *operands, array)
    except (ValueError, OverflowError):
        return False  # the general path says what is wrong, or wraps a large int around
    written(x, name)
    return True


def update(
    name: str,
    x: Any,
    compute: Callable,
    others: tuple = (),
    apart: bool = False,
    repeats: bool = False,
) -> Any:
    """Let `x` take the value and the history of `compute(x)`, which reads `others`; returns `x`."""
    check_target(x, others, apart, repeats)
    with_grad = is_grad_enabled()
    before = stand_in(x, True)
    since = next_sequence()
    mode = MODE.get()
    result = compute(before) if type(mode) is bool else mode.in_place(name, compute, before)
    check_fits(name, x, result)
    if result is before:
        return x
    edge = result._node
    if with_grad and edge is not None:
        check_view(x)
        _keep_value_before(before, edge, since)
    if repeats and is_repeated(x._array):  # a place is written if one of its elements is
        np.copyto(x._array, result._array, casting="unsafe", where=result._array != x._array)
    else:
        write(x._array, result._array)
    written(x, name)
    if type(mode) is not bool:
        mode.wrote(x, result)
    if not with_grad or edge is before._node:
        return x
    if edge is None:  # what was written does not depend on what was there
        edge = OVERWRITES().cut_off(before)._node
    maker = edge.node if type(edge) is Port else edge
    if x._view is not None and before._node is not None and maker.edges[0] is not before._node:
        edge = OVERWRITES().replace(before, result)._node  # several operators: their result
    rewrite_history(x, edge, result)
    return x


def _assign(name: str, x: Any, compute: Callable, others: tuple, apart: bool, repeats: bool) -> Any:
    """Let `x`, be it a leaf, take the value of `compute(x)` and keep its history; returns `x`.

    So PyTorch does for logical operators, which have no place in a graph.
    """
    mode = MODE.get()
    if type(mode) is not bool or x._counter is INFERENCE:
        return update(name, x, compute, others, apart, repeats)
    check_storable(x)
    check_overlap(x, others, apart)
    result = compute(x)
    check_fits(name, x, result)
    write(x._array, result._array)
    written(x, name)
    return x


def _keep_value_before(before: Any, edge: EdgeLike, since: int) -> None:
    """Where a rule asks for the tensor as it was before the write, keep a copy of that.

    `since`: the nodes of this operator, or of the several it is made of, are younger.
    """
    maker = edge.node if type(edge) is Port else edge
    stack, seen = [maker], {maker}
    while stack:
        node = stack.pop()
        keeps = getattr(node.plan, "saves", ())
        for i, ((where, key, _), kept) in enumerate(zip(keeps, node.saved, strict=False)):
            first = key == 0 or node is not maker
            if where == "input" and first and getattr(kept, "_array", kept) is before._array:
                _keep_copy(node, i, kept)
        for each in node.edges:
            behind = each.node if type(each) is Port else each
            if behind is not None and behind.sequence > since and behind not in seen:
                seen.add(behind)
                stack.append(behind)


def _keep_copy(node: NodeLike, i: int, kept: Any) -> None:
    """Let a node keep a copy of the `i`-th thing it kept: what is written now is no write to it."""
    array = getattr(kept, "_array", kept)
    copy = namespace_of((array,)).asarray(array, copy=True)
    if kept is not array:
        version = Version()
        version.value = kept._counter.value
        kept._array, kept._counter = copy, version
        return
    saved, versions = list(node.saved), list(node.versions)
    saved[i], versions[i] = copy, EVERY
    node.saved, node.versions = tuple(saved), tuple(versions)


def overwrite(
    name: str,
    op: OperatorLike,
    inputs: tuple,
    params: dict,
    store: Callable,
    same: bool = False,
    inference: bool = False,
) -> None:
    """Record `op`, which only writes into its first input, and let `store()` do the writing.

    `same` says that all elements get the same: several may then be one place in memory.
    `inference` says that the caller is in inference mode, whose tensors may be written there.
    """
    mode = MODE.get()
    if type(mode) is not bool:
        inference = inference or is_inference(mode)

        def again(op: OperatorLike, inputs: tuple, params: dict) -> None:
            overwrite(name, op, inputs, params, store, same, inference)

        mode.call(name, again, (op, inputs, params), {})
        return
    x = inputs[0]
    if not (inference and x._counter is INFERENCE):
        check_writable(x)
    if not same:
        check_storable(x)
    if not mode:
        store()
        written(x, name)
        return
    edges = tuple([edge_of(t) if isinstance(t, tensor_base.TensorBase) else None for t in inputs])
    with_grad = any([edge is not None for edge in edges])
    if with_grad:
        check_view(x)
    result = tensor_base.wrap(x._array)
    if with_grad:
        from tapegrad.dispatch.apply import record

        kinds = [
            GRAD if e is not None else CONSTANT if hasattr(t, "_array") else RAW
            for t, e in zip(inputs, edges, strict=True)
        ]
        names = "".join(kinds)
        record(op.op, namespace_of((x._array,)), inputs, [], edges, names, params, (result,), True)
    store()
    written(x, name)
    if result._node is not None:
        rewrite_history(x, result._node, result)


def write(target: Any, source: Any) -> None:
    """Copy values between arrays of one shape, with a cast."""
    source = resolved(source)
    if source.dtype.kind == "c" and target.dtype.kind not in "cb":
        source = source.real
    if FLOAT8_IN_USE and is_float8(target.dtype):
        source = to_float8(source, target.dtype)
    np.copyto(target, source, casting="unsafe")


__all__ = [
    "check_apart", "check_fits", "check_out", "check_storable", "check_writable", "in_place",
    "in_place_view", "overwrite", "stand_in", "update", "write", "written",
]  # fmt: skip
