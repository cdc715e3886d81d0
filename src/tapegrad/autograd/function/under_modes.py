"""Calling a custom function under modes: vmap, forward mode, profilers, traces.

Where an argument has a tangent, `jvp` runs after `forward` and gives the results theirs.
"""

import functools

from tapegrad.autograd.forward.mode import enabled, forward_modes
from tapegrad.autograd.function.call import connect, forget_marks, placed, run_forward
from tapegrad.autograd.function.jvp import push
from tapegrad.autograd.function.saved import keep
from tapegrad.autograd.mode import MODE, TRANSFORMS, Mode
from tapegrad.core.annotations import Any, ModeLike
from tapegrad.core.registration import CUSTOM_FUNCTIONS
from tapegrad.core.tensor_base import TensorBase


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
    token = MODE.set(enabled(mode.with_grad(False), False))  # neither recording nor tangents
    try:
        result = mode.around(
            function.__name__, lambda: run_forward(function, ctx, args, separate, given)
        )
        found = placed(node, args, result, recorded)
    finally:
        MODE.reset(token)
    if recorded:
        keep(node)
    ctx.to_save = None
    several = type(found) is tuple
    results = list(found) if several else [found]
    mode.applied(function.__name__, args, results)
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
