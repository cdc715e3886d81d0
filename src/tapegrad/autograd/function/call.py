"""Calling a custom function: its forward runs unrecorded, its results go behind its node.

    y = F.apply(x)        y is what forward returned, behind the node
    x is returned         y is a view of x
    x was written         y is x, with a new history
    a view of x           y is that view; it may not be written in place: whose gradient would it be

Under a mode (forward mode, vmap, a profiler) the call is that of under_modes.py.
"""

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

from numpy import ndarray

from tapegrad.arrays.namespaces import namespace_of
from tapegrad.arrays.numpy import namespace as numpy
from tapegrad.autograd.function.node import BackwardCFunction
from tapegrad.autograd.function.saved import keep
from tapegrad.autograd.history import rewrite_history
from tapegrad.autograd.mode import EVERYWHERE, MODE, TRANSFORMS
from tapegrad.autograd.node import INFERENCE, AccumulateGrad, Port
from tapegrad.autograd.saved import like
from tapegrad.autograd.view import edge_of
from tapegrad.autograd.view_origin import IN_FUNCTION, MULTI_OUTPUT
from tapegrad.autograd.writable import check_view, written
from tapegrad.core import errors, tensor_base
from tapegrad.core.errors import warn
from tapegrad.core.tensor_base import SPARSE, TensorBase
from tapegrad.core.torch_function import IN_USE, hand_over, taking_part


def with_defaults(forward: Callable, args: tuple, kwargs: dict) -> tuple:
    """All arguments by position, defaults among them."""
    if not kwargs and type(forward) is FunctionType and not forward.__dict__:
        code = forward.__code__  # bind() costs ten times as much as all the rest of a call
        if len(args) == code.co_argcount and not code.co_kwonlyargcount:
            return args
    bound = inspect.signature(forward).bind(*args, **kwargs)
    bound.apply_defaults()
    if bound.kwargs:
        raise _unexpected(next(iter(bound.kwargs)))
    return bound.args


def in_order(forward: Callable, args: tuple, kwargs: dict) -> tuple:
    """All arguments that are given, by position: those behind `ctx` and `args` by their names."""
    parameters = list(inspect.signature(forward).parameters.values())[1:]
    names = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    for name in kwargs:
        if name not in names:
            raise _unexpected(name)
    found = list(args)
    for i, name in enumerate(names[len(args) :], len(args)):
        if name in kwargs:
            if len(found) < i:
                raise errors.type_error(
                    f"forward() missing required argument: '{names[len(found)]}' (position "
                    f"{len(found)})",
                    "Give the arguments before it, too.",
                )
            found.append(kwargs[name])
    given_twice = [name for name in names[: len(args)] if name in kwargs]
    if given_twice:
        raise TypeError(f"forward() got multiple values for argument '{given_twice[0]}'")
    return tuple(found)


def _unexpected(name: str) -> TypeError:
    return errors.type_error(
        f"forward() got an unexpected keyword argument '{name}'",
        "Arguments of a custom function have a position.",
    )


def call(function: Any, args: tuple, separate: bool) -> Any:
    """Call a custom function on all its arguments; `separate`: it has a `setup_context`."""
    mode = MODE.get()
    if type(mode) is not bool or (not separate and TRANSFORMS.get()):
        from tapegrad.autograd.function.under_modes import call_under

        return call_under(mode, function, args, separate)
    node = function._backward_cls()
    recorded = connect(node, args, mode)
    token = MODE.set(False)
    try:
        found = placed(node, args, run_forward(function, node.ctx, args, separate), recorded)
    finally:
        MODE.reset(token)
    if recorded:
        keep(node)
    forget_marks(node.ctx)
    return found


def run_forward(function: Any, ctx: Any, args: tuple, separate: bool, forward: Any = None) -> Any:
    """What the function's `forward` returns, or `forward` if it is given, and its context set up.

    With a `setup_context` of its own.
    """
    if not separate:
        result = function.forward(ctx, *args)
        return tuple(result) if isinstance(result, tuple) else result  # named tuples, too
    result = function.forward(*args) if forward is None else forward()
    if type(result) is not tuple and isinstance(result, tuple):
        result = tuple(result)
    function.setup_context(ctx, args, result)
    if ctx.to_save:
        _check_saved(ctx, args, result if type(result) is tuple else (result,))
    return result


def forget_marks(ctx: Any) -> None:
    """Let go of the tensors that the call was told of: none is held beyond it."""
    if ctx.to_save is not None:
        ctx.to_save = None
    if ctx.saved_for_forward is not None:
        ctx.saved_for_forward = None
    if ctx.dirty_tensors is not None:
        ctx.dirty_tensors = None
    if ctx.non_differentiable is not None:
        ctx.non_differentiable = None


def connect(node: BackwardCFunction, args: tuple, grad: bool) -> bool:
    """Say whose gradients are wanted; where any is and `grad`, make the edges: is it recorded?"""
    needs, order, edges, input_metadata = [], [], [], []
    for i, x in enumerate(args):
        if not isinstance(x, TensorBase):
            needs.append(False)
            continue
        if SPARSE and x.is_sparse:
            refuse_sparse_leaf(x)
            needs.append(False)
            continue
        edge, array = x._node, x._array
        needs.append(edge is not None or (x._view is not None and x.requires_grad))
        order.append(i)
        edges.append(edge)
        input_metadata.append((array.shape, array.dtype))
    node.ctx.needs_input_grad = tuple(needs)
    if not grad or True not in needs:
        return False
    for k, i in enumerate(order):
        if args[i]._view is not None:
            edges[k] = edge_of(args[i])
    node.input_order, node.edges, node.input_metadata = order, tuple(edges), input_metadata
    for each in EVERYWHERE:
        each.made(node)
    return True


def refuse_sparse_leaf(x: Any) -> None:
    """Raise where a custom function shall give the gradient of a sparse tensor."""
    if x.requires_grad:
        raise errors.not_implemented(
            "a custom function of a sparse tensor that requires grad is not supported",
            "Pass its values(), and make the sparse tensor within.",
        )


def _put_first(node: BackwardCFunction, i: int) -> None:
    """Let the edge of argument `i` be the first: whose view is written is looked for there."""
    k = node.input_order.index(i)
    turn = [k, *[j for j in range(len(node.input_order)) if j != k]]
    node.input_order = [node.input_order[j] for j in turn]
    node.edges = tuple([node.edges[j] for j in turn])
    node.input_metadata = [node.input_metadata[j] for j in turn]


# --- results -------------------------------------------------------------------------------------


def placed(node: BackwardCFunction, args: tuple, result: Any, recorded: bool) -> Any:
    """What `forward` returned, its tensors behind the node."""
    if type(result) is tuple:
        return tuple(_all_placed(node, args, result, recorded))
    if not _is_fresh(result, args, node.ctx):
        return _all_placed(node, args, (result,), recorded)[0]
    if recorded and (result._signature or is_differentiable(node.ctx, result)):
        node.n_outputs = 1
        node.result_metadata = [_output_like(result)]
        result._node = Port(node, 0)
    return result


def _is_fresh(x: Any, args: tuple, ctx: Any) -> bool:
    """Whether a result is a tensor that nobody else knows: most are."""
    if not isinstance(x, TensorBase):
        return False
    if x._node is not None or x._view is not None or x._counter is not None:
        return False
    if ctx.dirty_tensors is not None or ctx.non_differentiable is not None:
        return False
    for each in args:  # any() would cost 300 ns
        if each is x:
            return False
    return True


def _output_like(x: object) -> Any:
    """What zeros in place of the gradient of a result are made from; None if it is no tensor."""
    if not isinstance(x, TensorBase):
        return None
    array = x._array
    return (numpy if type(array) is ndarray else namespace_of((array,))), like(x), x._signature


def _all_placed(node: BackwardCFunction, args: tuple, results: tuple, recorded: bool) -> list:
    """The results behind the node, each as what it is to the arguments."""
    inputs = {id(x): i for i, x in enumerate(args) if isinstance(x, TensorBase)}
    ctx = node.ctx
    marked = ctx.dirty_tensors is not None or ctx.non_differentiable is not None
    dirty = _dirty(ctx, inputs, results, recorded) if marked else ()
    moving = [recorded and is_differentiable(ctx, x) for x in results]
    if recorded:
        node.n_outputs = len(results)
        zeros = ctx._materialize_non_diff_grads
        node.result_metadata = [
            _output_like(x) if m or zeros else None for x, m in zip(results, moving, strict=True)
        ]
    made = MULTI_OUTPUT if sum(moving) > 1 else IN_FUNCTION
    found = list(results)
    for i, x in enumerate(results):
        if not isinstance(x, TensorBase):
            continue
        edge = Port(node, i) if moving[i] else None
        if id(x) in dirty:
            if edge is not None:
                _check_written(x, len(results))
            written(x, type(node)._forward_cls.__name__)
            if edge is not None:
                if x._view is not None:
                    _put_first(node, inputs[id(x)])
                _remember_version(edge, x)
                rewrite_history(x, edge, x)
            elif x.requires_grad:
                found[i] = x.detach()
        elif edge is None and x.requires_grad:
            if id(x) in inputs or x._view is None:
                found[i] = x.detach()
        else:
            if id(x) in inputs:
                found[i] = x = _viewed(x)
            if x._view is not None:
                x._view.made = made
            if edge is not None:
                _remember_version(edge, x)
                x._node = edge
                if x._view is not None and x._counter is not INFERENCE:
                    x._view.seen = x._counter.value  # what forward has written is in it
    return found


def _viewed(x: Any) -> Any:
    """A view of an argument that is returned as it is: its class may say otherwise."""
    asked = taking_part((x, x), {}) if IN_USE else None
    if asked is None:
        return x.view_as(x)
    return hand_over(tensor_base.Tensor.view_as, (x, x), {}, asked)


def is_differentiable(ctx: Any, x: Any) -> bool:
    """Whether a result of a custom function is one that derivatives go through."""
    if not isinstance(x, TensorBase):
        return False
    if not x._signature and not (x.dtype.is_floating_point or x.dtype.is_complex):
        return False
    return ctx.non_differentiable is None or all(x is not each for each in ctx.non_differentiable)


def _remember_version(edge: Port, x: Any) -> None:
    if x._counter is not None and x._counter is not INFERENCE:
        edge.watch(x._counter)


def _dirty(ctx: Any, inputs: dict, results: tuple, recorded: bool) -> set[int]:
    """The results that are arguments written in place."""
    for name, what in (
        ("dirty_tensors", "mark_dirty can only accept variables, but argument "),
        ("non_differentiable", "mark_non_differentiable only accepts variable arguments, but got "),
    ):
        for i, x in enumerate(getattr(ctx, name) or ()):
            if not isinstance(x, TensorBase):
                advice = f"Pass tensors only: argument {i} is of type {type(x).__name__}."
                raise errors.runtime_error(what, advice)
    returned = {id(x) for x in results}
    for x in ctx.dirty_tensors or ():
        if id(x) not in returned:
            raise errors.runtime_error(
                "Some elements marked as dirty during the forward method were not returned as "
                "output. The inputs that are modified inplace must all be outputs of the "
                "Function.",
                "Return what was written.",
            )
        if recorded and id(x) not in inputs:
            warn(
                "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that "
                "have been mutated should be passed to ctx.mark_dirty().",
                6,
            )
    return {id(x) for x in ctx.dirty_tensors or () if id(x) in inputs}


def _check_written(x: Any, n_results: int) -> None:
    """Raise where an argument may not be written with a gradient."""
    view = x._view
    if view is None:
        if type(x._node) is AccumulateGrad:
            raise errors.runtime_error(
                "a leaf Variable that requires grad has been used in an in-place operation.",
                "Pass a tensor that is no leaf (x.clone()), or do not write it.",
            )
        return
    check_view(x)
    if type(view.base._node) is AccumulateGrad:
        raise errors.leaf_in_place(is_view=True)
    if n_results > 1:
        raise errors.runtime_error(
            "If your Function modifies inplace an input that is a view of another Tensor, your "
            "Function cannot return more than one Tensor. This is not supported by the current "
            "autograd engine. You should either make sure the input is not a view (using "
            ".clone() for example) or make your Function only return one Tensor (potentially "
            "splitting it into two Functions: one doing the inplace that returns a single "
            "Tensor and a second one that does the other operations). You can ask on the forum "
            "https://discuss.pytorch.org/ if you need help to do this change.",
            "clone() the view first.",
        )


def _check_saved(ctx: Any, args: tuple, results: tuple) -> None:
    """Raise where `setup_context` saves an argument that is returned as it is."""
    for x in ctx.to_save:
        if not isinstance(x, TensorBase) or any(x is each for each in ctx.dirty_tensors or ()):
            continue
        if any(x is each for each in results) and any(x is each for each in args):
            raise errors.runtime_error(
                "An input that has been returned as-is as output is being saved for backward. "
                "This is not supported if you override setup_context. You should return and "
                "save a view of the input instead, e.g. with x.view_as(x) or setup ctx inside "
                "the forward function itself.",
                "Return x.view_as(x).",
            )
