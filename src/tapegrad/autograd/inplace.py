"""In-place operators: compute out of place, write the result, rewrite the history.

    x.mul_(y)       r = x * y, recorded as ever; x's memory takes r's values; x takes r's node
    v.mul_(y)       for a view v of x: x gets a `CopySlices` node, which sends the part of the
                    gradient that v covers through the operator and the rest past it

Nothing is written before everything that can fail has been tried.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tapegrad import errors
from tapegrad import tensor as _tensor
from tapegrad.arrays import numpy as numpy_namespace
from tapegrad.arrays.find import namespace_of
from tapegrad.autograd.graph import (
    INFERENCE,
    AccumulateGrad,
    MultiNode,
    Node,
    Port,
    next_sequence,
    version_of,
)
from tapegrad.autograd.mode import MODE, is_grad_enabled
from tapegrad.autograd.view import (
    MULTI_OUTPUT,
    NO_GRAD,
    Step,
    View,
    adjoint,
    edge_of,
    shares_memory,
)
from tapegrad.dtype import of
from tapegrad.promotion import can_cast


def in_place(function: Callable, name: str | None = None) -> Callable:
    """The in-place form of an operator: `mul_ = in_place(mul)`."""
    ufunc_name = getattr(getattr(function, "op", None), "ufunc", None)
    ufunc = getattr(np, ufunc_name) if ufunc_name else None
    nin = ufunc.nin if ufunc is not None else 0
    plain = name or function.__name__ + "_"

    def method(input: Any, *args: Any, **kwargs: Any) -> Any:
        if ufunc is not None and not kwargs and MODE.get() is False and len(args) == nin - 1:
            if _write_directly(ufunc, plain, input, args):
                return input
        return update(plain, input, lambda x: function(x, *args, **kwargs))

    method.__name__ = method.__qualname__ = plain
    method.__doc__ = f"In-place form of `{plain[:-1]}`."
    method.__module__ = function.__module__
    method.out_of_place = function  # type: ignore[attr-defined]
    return method


def in_place_view(function: Callable) -> Callable:
    """The in-place form of a view operator: the tensor itself gets the other shape."""
    plain = function.__name__ + "_"

    def method(input: Any, *args: Any, **kwargs: Any) -> Any:
        check_writable(input)
        before = stand_in(input)
        result = function(before, *args, **kwargs)
        if result is before:
            return input
        old = input._node
        input._array = result._array
        if is_grad_enabled():
            input._node = result._node
            _move_retained(input, old, result._node)
        view = input._view
        if view is not None:
            made = result._view
            input._view = View(view.base, (*view.steps, *made.steps), view.made, view.seen)
        written(input, plain)
        if view is not None:
            input._view.seen = version_of(input).value
        return input

    method.__name__ = method.__qualname__ = plain
    method.__doc__ = f"In-place form of `{plain[:-1]}`: the memory stays as it is."
    method.__module__ = function.__module__
    method.out_of_place = function  # type: ignore[attr-defined]
    return method


def stand_in(x: Any) -> Any:
    """A tensor with the memory, the node and the counter of `x`, which may itself change."""
    before = _tensor.wrap(x._array)
    before._node = edge_of(x)
    before._counter = version_of(x)
    return before


def _write_directly(ufunc: Any, name: str, x: Any, args: tuple) -> bool:
    """Without a graph, for arrays of one floating dtype: let NumPy write where it should."""
    array = x._array
    if type(array) is not np.ndarray or array.dtype.kind != "f" or x._counter is INFERENCE:
        return False
    operands = []
    for other in args:
        kind = type(other)
        if kind is float or kind is int:
            operands.append(other)
            continue
        other = getattr(other, "_array", None)
        if type(other) is not np.ndarray or other.dtype is not array.dtype:
            return False
        if other.shape != array.shape and (other.ndim > array.ndim or other.size > array.size):
            return False
        operands.append(other)
    try:
        ufunc(array, *operands, array)
    except ValueError:
        return False  # the general path says what is wrong
    written(x, name)
    return True


def update(name: str, x: Any, compute: Callable) -> Any:
    """Let `x` take the value and the history of `compute(x)`; returns `x`."""
    check_writable(x)
    check_storable(x)
    edge = edge_of(x)
    before = stand_in(x)
    with_grad = is_grad_enabled()
    mode = MODE.get()
    result = compute(before) if type(mode) is bool else mode.in_place(name, compute, before)
    check_fits(name, x, result)
    if result is before:
        return x
    if with_grad and result._node is not None:
        _keep_value_before(before, result._node)
    write(x._array, result._array)
    written(x, name)
    if with_grad:
        node = result._node
        if node is not None and node is not edge:
            rewrite_history(x, node, result)
        elif node is None and edge is not None and x.requires_grad:
            x._node = None
    return x


def _keep_value_before(before: Any, node: Any) -> None:
    """Where a rule asks for the tensor as it was before the write, keep a copy of that."""
    saved = (node.node if type(node) is Port else node).saved
    if saved is not None and any(each is before for each in saved):
        before._array = namespace_of((before._array,)).asarray(before._array, copy=True)
        before._counter = None


def overwrite(name: str, op: Any, inputs: tuple, params: dict, store: Callable) -> None:
    """Record `op`, which only writes into its first input, and let `store()` do the writing."""
    mode = MODE.get()
    if type(mode) is not bool:
        mode.call(name, lambda *call: overwrite(name, *call, store), (op, inputs, params), {})
        return
    from tapegrad.autograd.plan import CONSTANT, GRAD, RAW
    from tapegrad.call import record

    x = inputs[0]
    edges = tuple([edge_of(t) if isinstance(t, _tensor.TensorCore) else None for t in inputs])
    check_writable(x)
    store()
    written(x, name)
    if mode and any(edge is not None for edge in edges):
        kinds = [
            GRAD if e is not None else CONSTANT if hasattr(t, "_array") else RAW
            for t, e in zip(inputs, edges, strict=True)
        ]
        result = _tensor.wrap(x._array)
        record(op.op, numpy_namespace, inputs, [], edges, tuple(kinds), params, (result,))
        if result._node is not None:
            rewrite_history(x, result._node, result)


def check_writable(x: Any) -> None:
    """Raise where PyTorch forbids a write: leaves that require grad, some views, inference."""
    if x._counter is INFERENCE:
        from tapegrad.autograd.mode import is_inference_mode_enabled

        if not is_inference_mode_enabled():
            raise errors.advised(
                RuntimeError(
                    "Inplace update to inference tensor outside InferenceMode is not allowed."
                    "You can make a clone to get a normal tensor before doing inplace update."
                    "See https://github.com/pytorch/rfcs/pull/17 for more details."
                ),
                "clone() the tensor first.",
            )
    if not is_grad_enabled():
        return
    view = x._view
    if view is None:
        if type(x._node) is AccumulateGrad:
            raise errors.leaf_in_place()
        return
    edge = edge_of(x)
    if type(view.base._node) is AccumulateGrad:
        raise errors.leaf_in_place(is_view=True)
    if edge is None and view.base._node is None and view.made is not MULTI_OUTPUT:
        return
    if view.made is not NO_GRAD and view.made is not MULTI_OUTPUT:
        return
    what = "A view" if edge is None else f"Output {_output_nr(edge)} of {_name(edge)} is a view and"
    if view.made is NO_GRAD:
        raise errors.advised(
            RuntimeError(
                f"{'A view' if edge is None else what.removesuffix(' and')} was created in no_grad "
                "mode and is being modified inplace with grad mode enabled. Given that this use "
                "case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
                "moving both the view and the inplace either both inside the no_grad block (if you "
                "don't want the inplace to be tracked) or both outside (if you want the inplace to "
                "be tracked)."
            ),
            "Make the view again outside the block, or write inside one.",
        )
    if edge is not None:
        raise errors.advised(
            RuntimeError(
                f"{what} is being modified inplace. This view is the output of a function that "
                "returns multiple views. Such functions do not allow the output views to be "
                "modified inplace. You should replace the inplace operation by an out-of-place "
                "one."
            ),
            "Index the tensor instead (x[0] for x.unbind()[0]): such a view may be written.",
        )


def _output_nr(edge: Any) -> int:
    return edge.index if type(edge) is Port else 0


def _name(edge: Any) -> str:
    return edge.node.name() if type(edge) is Port else edge.name()


def check_fits(name: str, x: Any, result: Any) -> None:
    """Raise unless `result` can be written into `x`: its shape the same, its dtype no wider."""
    shape = x._array.shape
    if result._array.shape != shape:
        raise errors.advised(
            RuntimeError(
                f"output with shape {list(shape)} doesn't match the broadcast shape "
                f"{list(result._array.shape)}"
            ),
            "An in-place operator cannot enlarge its tensor: use the out-of-place form.",
        )
    if result._array.dtype != x._array.dtype:
        have, want = of(result._array.dtype), of(x._array.dtype)
        if not can_cast(have, want):
            raise errors.advised(
                RuntimeError(
                    f"result type {have.scalar_name} can't be cast to the desired output type "
                    f"{want.scalar_name}"
                ),
                "Convert the tensor first, or use the out-of-place form.",
            )


def check_storable(x: Any) -> None:
    """Raise where several elements of `x` are one place in memory."""
    array = x._array
    if (array.size and 0 in array.strides) and any(
        not step and n > 1 for n, step in zip(array.shape, array.strides, strict=True)
    ):
        raise errors.advised(
            RuntimeError(
                "unsupported operation: more than one element of the written-to tensor refers to "
                "a single memory location. Please clone() the tensor before performing the "
                "operation."
            ),
            "expand() repeats without copying: clone() makes elements of their own.",
        )


def check_apart(out: Any, *inputs: Any) -> None:
    """Raise where `out=` lies in the memory of an input that is read while it is written."""
    for x in inputs:
        if out is not None and np.may_share_memory(out._array, x._array):
            raise errors.advised(
                RuntimeError(
                    "unsupported operation: some elements of the input tensor and the written-to "
                    "tensor refer to a single memory location. Please clone() the tensor before "
                    "performing the operation."
                ),
                "Give an out tensor with memory of its own.",
            )


def write(target: Any, source: Any) -> None:
    """Copy values between arrays of one shape, with a cast."""
    if source.dtype.kind == "c" and target.dtype.kind not in "cb":
        source = source.real
    np.copyto(target, source, casting="unsafe")


def written(x: Any, name: str) -> None:
    """Count a write to `x` and remember which line of the user's file made it."""
    version = version_of(x)
    if version is INFERENCE:
        return
    version.value += 1
    version.operator = name
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("tapegrad."):
        frame = frame.f_back
    version.line = (frame.f_code.co_filename, frame.f_lineno) if frame is not None else None


def rewrite_history(x: Any, node: Any, result: Any) -> None:
    """Put `x`, just written, behind the node that computed what was written."""
    maker = node.node if type(node) is Port else node
    _keep_written_output(maker, x, result)
    view = x._view
    if view is None:
        old = x._node
        x._node = node
        _move_retained(x, old, node)
        return
    base = view.base
    copy = CopySlices()
    copy.plan = COPY_SLICES
    copy.edges = (base._node, *maker.edges[1:])
    copy.saved = (maker, view.steps, base._array.shape, base._array.dtype)
    copy.versions = copy.restore = copy.hooks = copy.output_version = None
    copy.sequence = next_sequence()
    old = base._node
    base._node = copy
    _move_retained(base, old, copy)
    view.seen = -1  # the next who asks makes the view's node from the base's new one


def _keep_written_output(node: Any, x: Any, result: Any) -> None:
    """A node that kept its output keeps the memory the output was written to."""
    plan = node.plan
    if not any(where == "output" for where, _, _ in getattr(plan, "keeps", ())):
        return
    node.saved = tuple(
        x._array if where == "output" and value is result._array else value
        for (where, _, _), value in zip(plan.keeps, node.saved, strict=True)
    )
    version = version_of(x)
    if isinstance(node, MultiNode):
        node.output_version = {0: version}
    else:
        node.output_version = version
    node.versions = tuple(
        version.value if where == "output" else (0 if old is None else old)
        for (where, _, _), old in zip(
            plan.keeps, node.versions or (None,) * len(plan.keeps), strict=True
        )
    )


def _move_retained(x: Any, old: Any, new: Any) -> None:
    """`retain_grad()` follows a tensor to its new node."""
    if old is None or type(old) is AccumulateGrad or type(new) is Port or type(old) is Port:
        return
    if old.hooks is not None and 0 in old.hooks.retained:
        reference = old.hooks.retained[0]
        if reference() is x:
            from tapegrad.autograd.graph import hooks_of

            del old.hooks.retained[0]
            hooks_of(new).retained[0] = reference


class CopySlices(Node):
    """The node of a tensor that was written through a view."""

    __slots__ = ()

    def _release(self) -> None:
        maker = self.saved[0] if self.saved is not None else None
        if maker is not None:
            maker.saved = None


class _CopySlices:
    """How it runs: the part of the gradient that the view covers goes through the operator."""

    __slots__ = ()
    keeps = ()
    keeps_tensors = True

    def run(self, node: Node, g: Any) -> list:
        maker, steps, _, _ = node.saved
        xp = namespace_of((g,))
        if maker.saved is None:
            raise errors.freed()
        rest = (
            xp.asarray(g, copy=True, order="C")
            if xp is numpy_namespace
            else xp.asarray(g, copy=True)
        )
        part = rest
        for step in steps:
            part = step.forward(xp, part)
        if not shares_memory(part, rest):
            raise NotImplementedError(
                "gradient of a write through as_strided() on a tensor that is not contiguous"
            )
        grads = list(_run(maker, xp.asarray(part, copy=True), False))
        if node.edges[0] is not None:
            part[...] = 0 if grads[0] is None else grads[0]
            grads[0] = rest
        return grads

    def run_on_tensors(self, node: Node, g: Any) -> list:
        from tapegrad import namespace as xp

        maker, steps, shape, dtype = node.saved
        if maker.saved is None:
            raise errors.freed()
        part = g
        for step in steps:
            out = step.op.call(part, **step.params)
            part = out if step.index is None else out[step.index]
        grads = list(_run(maker, part, True))
        if node.edges[0] is not None:
            ones = np.ones(tuple(part.shape), dtype)
            covered = adjoint(namespace_of((ones,)), steps, ones, shape, dtype) != 0
            rest = xp.where(_tensor.wrap(covered), xp.zeros_like(g), g)
            if grads[0] is not None:
                rest = rest + adjoint(xp, steps, grads[0], shape, dtype)
            grads[0] = rest
        return grads

    def kept(self, node: Node, name: str) -> Any:
        raise AttributeError(f"'{type(node).__name__}' object has no attribute '_saved_{name}'")


COPY_SLICES = _CopySlices()


def _run(node: Any, g: Any, on_tensors: bool) -> Any:
    """Run the rules of the operator behind a CopySlices."""
    from tapegrad.autograd.engine import restored

    grads = node.plan.run_on_tensors(node, g) if on_tensors else node.plan.run(node, g)
    return grads if node.restore is None else restored(grads, node.restore)


def write_out(name: str, result: Any, out: Any) -> Any:
    """Write a result where `out=` says: resized if it must be, never part of a graph."""
    if isinstance(out, (tuple, list)):
        results = tuple(write_out(name, r, o) for r, o in zip(result, out, strict=True))
        return type(result)(results) if hasattr(result, "_fields") else results
    if not isinstance(out, _tensor.Tensor):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if is_grad_enabled() and (result.requires_grad or out.requires_grad):
        raise errors.advised(
            RuntimeError(
                f"{name}(): functions with out=... arguments don't support automatic "
                "differentiation, but one of the arguments requires grad."
            ),
            "Leave out= away, or compute inside `with torch.no_grad():`.",
        )
    have, want = of(result._array.dtype), of(out._array.dtype)
    if not can_cast(have, want):
        raise errors.advised(
            RuntimeError(
                f"result type {have.scalar_name} can't be cast to the desired output type "
                f"{want.scalar_name}"
            ),
            f"Give an out tensor of dtype {have}.",
        )
    check_storable(out)
    if out._array.shape != result._array.shape:
        if out._array.size:
            import warnings

            warnings.warn(
                "An output with one or more elements was resized since it had shape "
                f"{list(out._array.shape)}, which does not match the required output shape "
                f"{list(result._array.shape)}. This behavior is deprecated, and in a future "
                "PyTorch release outputs will not be resized unless they have zero elements. You "
                "can explicitly reuse an out tensor t by resizing it, inplace, to zero elements "
                "with t.resize_(0).",
                UserWarning,
                stacklevel=3,
            )
        out._array = np.empty(result._array.shape, out._array.dtype)
    write(out._array, result._array)
    written(out, name)
    return out


__all__ = [
    "CopySlices",
    "Step",
    "View",
    "check_apart",
    "check_fits",
    "check_storable",
    "check_writable",
    "in_place",
    "in_place_view",
    "overwrite",
    "update",
    "write",
    "write_out",
    "written",
]
