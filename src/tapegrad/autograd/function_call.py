"""Calling a custom function: its forward runs unrecorded, its results go behind its node.

    y = F.apply(x)        y is what forward returned, behind the node
    x is returned         y is a view of x
    x was written         y is x, with a new history
    a view of x           y is that view; it may not be written in place: whose gradient would it be

Where an argument has a tangent, `jvp` runs next and gives the results theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from tapegrad import errors
from tapegrad.arrays.find import namespace_of
from tapegrad.autograd.function_node import BackwardCFunction, keep
from tapegrad.autograd.graph import INFERENCE, AccumulateGrad, Port
from tapegrad.autograd.history import rewrite_history
from tapegrad.autograd.inplace import written
from tapegrad.autograd.kept import like
from tapegrad.autograd.mode import EVERYWHERE, MODE, TRANSFORMS, Mode
from tapegrad.autograd.origin import IN_FUNCTION, MULTI_OUTPUT
from tapegrad.autograd.view import edge_of
from tapegrad.autograd.writable import check_view
from tapegrad.tensor import TensorCore


def call(function: Any, args: tuple, separate: bool) -> Any:
    """Call a custom function on all its arguments; `separate`: it has a `setup_context`."""
    mode = MODE.get()
    if not separate and TRANSFORMS.get():
        from tapegrad.func import custom

        custom.own_rule(function, separate)  # an error
    mapping = None  # a level of vmap, where the function has a rule of its own for it
    if type(mode) is not bool and _maps(mode):
        from tapegrad.func import custom

        mapping = custom.mapping_of(mode, args)
        if mapping is not None and not custom.own_rule(function, separate):
            mapping = None
        if mapping is not None and custom.is_innermost(mapping):
            return custom.mapped(function, args, mapping)
    node = function._backward_cls()
    ctx = node.ctx
    ctx.needs_input_grad = tuple([isinstance(x, TensorCore) and x.requires_grad for x in args])
    recorded = (mode if type(mode) is bool else mode.grad) and True in ctx.needs_input_grad
    if recorded:
        _connect(node, args)
        for each in EVERYWHERE:
            each.made(node)
    levels = () if type(mode) is bool else _levels(mode, args)
    token = MODE.set(_quiet(mode))
    try:
        if type(mode) is bool:
            result = _forward(function, ctx, args, separate)
        else:
            name = function.__name__
            result = mode.around(name, lambda: _forward(function, ctx, args, separate, mapping))
        several = type(result) is tuple
        given = list(result) if several else [result]
        _check_saved(ctx, args, given, separate)
        found = _placed(node, args, given, recorded)
    finally:
        MODE.reset(token)
    if recorded:
        keep(node, ctx.to_save or (), found)
    ctx.to_save = None
    if type(mode) is not bool:
        mode.applied(function.__name__, args, found)
    if levels:
        from tapegrad.autograd.function_forward import push

        for forward, tangents in reversed(levels):  # from the outermost level to the innermost
            push(node, forward, tangents, args, found)
    ctx.saved_for_forward = ctx.dirty_tensors = ctx.non_differentiable = None
    return tuple(found) if several else found[0]


def _forward(function: Any, ctx: Any, args: tuple, separate: bool, mapping: Any = None) -> Any:
    if not separate:
        return function.forward(ctx, *args)
    if mapping is None:
        result = function.forward(*args)
    else:
        from tapegrad.func.custom import mapped

        result = mapped(function, args, mapping)
    function.setup_context(ctx, args, result)
    return result


def _maps(mode: Any) -> bool:
    """Whether a level of vmap takes part."""
    while isinstance(mode, Mode) and not mode.maps:
        mode = mode.under
    return isinstance(mode, Mode)


def _quiet(mode: Any) -> Any:
    """A mode with neither recording nor tangents."""
    if type(mode) is bool:
        return False
    from tapegrad.autograd.forward_mode import enabled

    return enabled(mode.with_grad(False), False)


def _levels(mode: Mode, args: tuple) -> list:
    """The forward modes in which an argument has a tangent, each with the tangents of all."""
    from tapegrad.autograd.forward_mode import forward_modes

    found = []
    for forward in forward_modes(mode):
        if forward.is_on:
            tangents = [forward.tangent(x) if isinstance(x, TensorCore) else None for x in args]
            if any(t is not None for t in tangents):
                found.append((forward, tangents))
    return found


def _connect(node: BackwardCFunction, args: tuple) -> None:
    """The edges of the node, one for each argument that is a tensor."""
    node.input_order = [i for i, x in enumerate(args) if isinstance(x, TensorCore)]
    node.edges = tuple([edge_of(args[i]) for i in node.input_order])
    node.input_likes = [(args[i]._array.shape, args[i]._array.dtype) for i in node.input_order]


def _put_first(node: BackwardCFunction, i: int) -> None:
    """Let the edge of argument `i` be the first: whose view is written is looked for there."""
    k = node.input_order.index(i)
    turn = [k, *[j for j in range(len(node.input_order)) if j != k]]
    node.input_order = [node.input_order[j] for j in turn]
    node.edges = tuple([node.edges[j] for j in turn])
    node.input_likes = [node.input_likes[j] for j in turn]


# --- results -------------------------------------------------------------------------------------


def _placed(node: BackwardCFunction, args: tuple, results: list, recorded: bool) -> list:
    """The results behind the node, each as what it is to the arguments."""
    inputs = {id(x): i for i, x in enumerate(args) if isinstance(x, TensorCore)}
    ctx = node.ctx
    marked = ctx.dirty_tensors is not None or ctx.non_differentiable is not None
    dirty = _dirty(ctx, inputs, results) if marked else ()
    if recorded:
        node.n_outputs = len(results)
        node.output_likes = [
            (namespace_of((x._array,)), like(x)) if isinstance(x, TensorCore) else None
            for x in results
        ]
    moving = [recorded and is_differentiable(ctx, x) for x in results]
    made = MULTI_OUTPUT if sum(moving) > 1 else IN_FUNCTION
    found = list(results)
    for i, x in enumerate(results):
        if not isinstance(x, TensorCore):
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
                found[i] = x = cast(Any, x).view_as(x)
            if x._view is not None:
                x._view.made = made
            if edge is not None:
                _remember_version(edge, x)
                x._node = edge
    return found


def is_differentiable(ctx: Any, x: Any) -> bool:
    """Whether a result of a custom function is one that derivatives go through."""
    if not isinstance(x, TensorCore):
        return False
    if not x._mark and not (x.dtype.is_floating_point or x.dtype.is_complex):
        return False
    return ctx.non_differentiable is None or all(x is not each for each in ctx.non_differentiable)


def _remember_version(edge: Port, x: Any) -> None:
    if x._counter is not None and x._counter is not INFERENCE:
        edge.watch(x._counter)


def _dirty(ctx: Any, inputs: dict, results: list) -> set[int]:
    """The results that are arguments written in place."""
    for name, what in (
        ("dirty_tensors", "mark_dirty can only accept variables, but argument "),
        ("non_differentiable", "mark_non_differentiable only accepts variable arguments, but got "),
    ):
        for i, x in enumerate(getattr(ctx, name) or ()):
            if not isinstance(x, TensorCore):
                advice = f"Pass tensors only: argument {i} is of type {type(x).__name__}."
                raise errors.advised(RuntimeError(what), advice)
    returned = {id(x) for x in results}
    for x in ctx.dirty_tensors or ():
        if id(x) not in returned:
            raise errors.advised(
                RuntimeError(
                    "Some elements marked as dirty during the forward method were not returned as "
                    "output. The inputs that are modified inplace must all be outputs of the "
                    "Function."
                ),
                "Return what was written.",
            )
        if id(x) not in inputs:
            import warnings

            warnings.warn(
                "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that "
                "have been mutated should be passed to ctx.mark_dirty().",
                UserWarning,
                stacklevel=5,  # the caller of apply
            )
    return {id(x) for x in ctx.dirty_tensors or () if id(x) in inputs}


def _check_written(x: Any, n_results: int) -> None:
    """Raise where an argument may not be written with a gradient."""
    view = x._view
    if view is None:
        if type(x._node) is AccumulateGrad:
            raise errors.advised(
                RuntimeError(
                    "a leaf Variable that requires grad has been used in an in-place operation."
                ),
                "Pass a tensor that is no leaf (x.clone()), or do not write it.",
            )
        return
    check_view(x)
    if type(view.base._node) is AccumulateGrad:
        raise errors.leaf_in_place(is_view=True)
    if n_results > 1:
        raise errors.advised(
            RuntimeError(
                "If your Function modifies inplace an input that is a view of another Tensor, your "
                "Function cannot return more than one Tensor. This is not supported by the current "
                "autograd engine. You should either make sure the input is not a view (using "
                ".clone() for example) or make your Function only return one Tensor (potentially "
                "splitting it into two Functions: one doing the inplace that returns a single "
                "Tensor and a second one that does the other operations). You can ask on the forum "
                "https://discuss.pytorch.org/ if you need help to do this change."
            ),
            "clone() the view first.",
        )


def _check_saved(ctx: Any, args: Sequence, results: list, separate: bool) -> None:
    """Raise where `setup_context` saves an argument that is returned as it is."""
    if not separate:
        return
    for x in ctx.to_save or ():
        if not isinstance(x, TensorCore) or any(x is each for each in ctx.dirty_tensors or ()):
            continue
        if any(x is each for each in results) and any(x is each for each in args):
            raise errors.advised(
                RuntimeError(
                    "An input that has been returned as-is as output is being saved for backward. "
                    "This is not supported if you override setup_context. You should return and "
                    "save a view of the input instead, e.g. with x.view_as(x) or setup ctx inside "
                    "the forward function itself."
                ),
                "Return x.view_as(x).",
            )
