"""Calling a custom function under modes: vmap, forward mode, profilers, traces.

Where an argument has a tangent, `jvp` runs after `forward` and gives the results theirs.
"""

import functools

from tapegrad.autograd.forward.mode import Forward, enabled, forward_modes
from tapegrad.autograd.forward.tangent import own_tensor
from tapegrad.autograd.function.call import (
    connect,
    forget_marks,
    is_differentiable,
    placed,
    run_forward,
)
from tapegrad.autograd.function.node import BackwardCFunction
from tapegrad.autograd.function.saved import keep
from tapegrad.autograd.mode import TRANSFORMS, Mode, Under
from tapegrad.autograd.saved import version_now
from tapegrad.core import errors
from tapegrad.core.annotations import Any, Array, ModeLike
from tapegrad.core.registration import CUSTOM_FUNCTIONS, FRONT_DOOR
from tapegrad.core.tensor_base import TensorBase


def push(
    node: BackwardCFunction, forward: Forward, tangents: list, args: tuple, results: list
) -> None:
    """Run `jvp` under the mode below a forward mode; note the tangents of the results there."""
    ctx = node.ctx
    if ctx.saved_for_forward is None:
        ctx.saved_for_forward = ()  # what is saved for backward is not there yet
    with Under(forward.under):
        given = _given(node, tangents, args)
        versions = [0 if t is None else version_now(t) for t in given]
        found = node.apply_jvp(*given)
        found = found if isinstance(found, tuple) else (found,)
        _check(found, len(results))
        for i, (x, t) in enumerate(zip(results, found, strict=True)):
            if not isinstance(x, TensorBase):
                continue
            if not is_differentiable(ctx, x):
                if t is not None:
                    raise errors.runtime_error(
                        f"Function's jvp returned a gradient at position {i}, but  the "
                        "corresponding forward output is not a differentiable Tensor."
                        "You should return None at that position instead.",
                        "Integers, and what was marked, have no tangent.",
                    )
            elif any(x is each for each in ctx.dirty_tensors or ()):
                k = next(k for k, each in enumerate(args) if each is x)
                if tangents[k] is None:
                    _check_tangent(x, t)
                    forward.assign(x, t, False)
                else:
                    _check_written(t, given[k], versions[k])
            else:
                if x._view is not None:
                    _check_view(x, t, given, args)
                _check_tangent(x, t)
                if x._view is None and t.dtype is x.dtype:
                    t = own_tensor(t, x, {id(g._array) for g in given if g is not None})
                forward.level.set(x._array, t)


def _given(node: BackwardCFunction, tangents: list, args: tuple) -> list:
    """What `jvp` is called with: zeros for what does not change, unless nobody wants them."""
    return [
        FRONT_DOOR().zeros_like(x)
        if t is None
        and node.ctx.materialize_grads
        and isinstance(x, TensorBase)
        and (x.dtype.is_floating_point or x.dtype.is_complex)
        else t
        for x, t in zip(args, tangents, strict=True)
    ]


def _check(found: tuple, n: int) -> None:
    for i, t in enumerate(found):
        if not (t is None or isinstance(t, TensorBase)):
            raise errors.runtime_error(
                f"expected Variable or None (got {type(t).__name__}) for grad output {i}.",
                "jvp returns a tensor, or a tuple of them.",
            )
    if len(found) != n:
        raise errors.runtime_error(
            "Function's jvp returned an invalid number of forward gradients (expected "
            f"{n} but got {len(found)})",
            "jvp returns one tangent for each result of forward.",
        )


def _check_tangent(x: Any, t: Any) -> None:
    """Raise unless `t` may be the tangent of the result `x`."""
    if t is None or not (t.dtype.is_floating_point or t.dtype.is_complex):
        raise errors.runtime_error(
            "Expected both tensor and its forward grad to be floating point or complex",
            "For a result that does not change return zeros, not None.",
        )
    if t._array.shape != x._array.shape:
        raise errors.tangent_size(x, t)


def _check_written(t: Array, given: object, version: int) -> None:
    """Raise unless `jvp` wrote into the tangent `given`, of `version` before, and returned it."""
    if t is None or version_now(t) <= version:
        raise errors.runtime_error(
            "An inplace custom Function is not modifying the forward mode gradients inplace. "
            "If the forward is modifying an input inplace, then the jvp function must modify "
            "the corresponding gradient inplace.",
            "Write into the tangent that jvp was given, and return it.",
        )
    if t is not given:
        raise errors.runtime_error(
            "An inplace custom Function is not returning the forward mode gradients as-is. If "
            "the forward is modifying an input inplace, then the jvp function must modify the "
            "gradient inplace and return it as-is.",
            "Return the tangent that jvp was given, not a view of it.",
        )


def _check_view(x: Any, t: Array, given: list, args: tuple) -> None:
    """Raise where a view of an argument has a tangent that is no view of the argument's."""
    base = x._view.base
    for each, tangent in zip(args, given, strict=True):
        if tangent is None or (each is not base and base is not _base(each)):
            continue
        if t is None:
            raise errors.runtime_error(
                "cannot call get_autograd_meta() on undefined tensor",
                "jvp returned None for a view: return the same view of the tangent.",
            )
        if t._view is None:
            raise errors.runtime_error(
                "A custom Function's forward is returning a view (or an input as-is) but the "
                "jvp is not returning a view.",
                "Return the same view of the tangent: for an argument as it is, t.view_as(t).",
            )
        if t._view.base is not tangent and t._view.base is not _base(tangent):
            same = "" if tangent._view is None else "the same base as "
            raise errors.runtime_error(
                "A custom Function is returning a view but the jvp is not returning a view of "
                f"{same}the given grad input.",
                "Return the same view of the tangent.",
            )


def _base(x: Any) -> Any:
    return None if x._view is None else x._view.base


def call_under(mode: Any, function: Any, args: tuple, separate: bool) -> Any:
    """Call a custom function on all its arguments; `separate`: it has a `setup_context`."""
    if not separate and TRANSFORMS.get():
        CUSTOM_FUNCTIONS().own_rule(function, separate)  # an error
    mapping = None  # a level of vmap, where the function has a rule of its own for it
    if _maps(mode):
        mapping = CUSTOM_FUNCTIONS().mapping_of(mode, args)
        if mapping is not None and not CUSTOM_FUNCTIONS().own_rule(function, separate):
            mapping = None
        if mapping is not None and CUSTOM_FUNCTIONS().is_innermost(mapping):
            return CUSTOM_FUNCTIONS().mapped(function, args, mapping)
    node = function._backward_cls()
    ctx = node.ctx
    recorded = connect(node, args, mode.grad)
    levels = _levels(mode, args)
    given = None
    if mapping is not None:
        given = functools.partial(CUSTOM_FUNCTIONS().mapped, function, args, mapping)
    with Under(enabled(mode.with_grad(False), False)):  # neither recording nor tangents
        result = mode.around(
            function.__name__, lambda: run_forward(function, ctx, args, separate, given)
        )
        found = placed(node, args, result, recorded)
    if recorded:
        keep(node)
    ctx.to_save = None
    several = type(found) is tuple
    results = list(found) if several else [found]
    mode.applied(function.__name__, args, results)
    mode.called(function, args, results)
    for forward_level, tangents in reversed(levels):  # from the outermost to the innermost
        push(node, forward_level, tangents, args, results)
    forget_marks(ctx)
    return tuple(results) if several else results[0]


def _maps(mode: ModeLike) -> bool:
    """Whether a level of vmap takes part."""
    while isinstance(mode, Mode) and not mode.maps:
        mode = mode.under
    return isinstance(mode, Mode)


def _levels(mode: Mode, args: tuple) -> list:
    """The forward modes in which an argument has a tangent, each with the tangents of all."""
    found = []
    for forward in forward_modes(mode):
        if forward.is_on:
            tangents = [forward.tangent(x) if isinstance(x, TensorBase) else None for x in args]
            if any(t is not None for t in tangents):
                found.append((forward, tangents))
    return found
