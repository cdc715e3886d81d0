"""Writing random numbers to a tensor, in the order of its memory.

What was there before gets a gradient of zero.
"""

import functools

import numpy as np

from tapegrad.autograd.captured import refuse_captured
from tapegrad.autograd.mode import MODE, check_memory, is_grad_enabled
from tapegrad.autograd.node import INFERENCE
from tapegrad.core import errors, tensor_base
from tapegrad.core.annotations import Any, Callable, OperatorLike, Out, Tensor
from tapegrad.core.argument_check import respelled, with_method
from tapegrad.core.meta_array import MetaArray
from tapegrad.core.registration import RANDOMNESS
from tapegrad.core.storage import grown_like
from tapegrad.core.streams import exponential_cauchy, normal
from tapegrad.core.streams.mersenne_twister import Twister, laid_out_like
from tapegrad.core.tensor_base import REFUSING
from tapegrad.dispatch.in_place import check_writable, update, write, written
from tapegrad.dispatch.op import primitive
from tapegrad.operators.random.argument import mismatch


def level_mode() -> Any:
    """The innermost level of `vmap` of the current context; None outside of all of them."""
    mode = MODE.get()
    while type(mode) is not bool and mode is not None:
        if mode.maps:
            return mode
        mode = mode.under
    return None


def of_tensors(function: Callable, like: bool = False) -> Callable:
    """A random function of tensors; `like`: only the shape of its first argument counts."""

    def make(method: bool) -> Callable:
        @functools.wraps(function)
        def wrapper(*args: object, **kwargs: object) -> Any:
            mode = MODE.get()
            try:
                if type(mode) is bool or level_mode() is None:
                    return function(*args, **kwargs)
                if not any(hasattr(x, "_array") for x in (*args, *kwargs.values())):
                    return function(*args, **kwargs)  # of numbers: it makes a tensor, as `rand`
            except Exception as error:
                again = respelled(wrapper, args, kwargs, error, method=method)
                if again is None:
                    raise
                return again()
            return RANDOMNESS().drawn_of(wrapper, like, level_mode().level, args, kwargs)

        return wrapper

    return with_method(make)


def in_place(function: Callable) -> Callable:
    """A random function that fills its first argument."""

    @functools.wraps(function)
    def wrapper(x: Tensor, *args: object, **kwargs: object) -> Any:
        mode = MODE.get()
        try:
            if REFUSING[0]:
                refuse_captured(function.__name__, x, *args)
            if type(mode) is bool or level_mode() is None:
                if mode:
                    check_writable(x)
                return function(x, *args, **kwargs)
        except Exception as error:
            again = respelled(wrapper, (x, *args), kwargs, error, method=True)
            if again is None:
                raise
            return again()
        return RANDOMNESS().filled_in(wrapper, level_mode().level, x, args, kwargs)

    return wrapper


def replacement(name: str, node: str) -> Any:
    """An operator whose output does not depend on its input, but has its place in the graph."""

    def forward(xp, input, *, drawn):
        """The array `drawn` takes the place of `input`."""
        return xp.asarray(drawn)

    forward.__name__ = name
    op = primitive(node=node)(forward)
    op.vjp(input=lambda xp, g: xp.zeros_like(g))
    op.jvp(input=lambda xp, t: xp.zeros_like(t))
    return op


def filled(
    name: str,
    op: OperatorLike,
    x: Tensor,
    draw: Callable,
    stream: Twister,
    *params: Any,
    others: tuple = (),
) -> Any:
    """Let `x` take what `draw(stream, shape, dtype, *params)` gives."""
    array = x._array
    if not others and _is_plain(x, array):
        if draw in _WRITING:
            draw(stream, array.shape, array.dtype, *params, out=array)
        else:
            write(array, draw(stream, array.shape, array.dtype, *params))
        written(x, name)
        return x

    def replaced(before: Any) -> Any:
        return op(before, *others, drawn=drawn_like(array, draw, stream, *params))

    return update(name, x, replaced)


_WRITING = (normal.normal, exponential_cauchy.uniform)  # they take the memory to write to


def _is_plain(x: Any, array: Any) -> bool:
    """Whether nothing has to be known of a write but the numbers: no mode, no graph, no layout."""
    mode = MODE.get()
    if mode is not False and (mode is not True or x._node is not None or x._view is not None):
        return False
    if type(array) is not np.ndarray or x._counter is INFERENCE:
        return False
    return array.flags.c_contiguous and array.flags.writeable


def drawn_like(array: np.ndarray, draw: Callable, stream: Twister, *params: Any) -> np.ndarray:
    """What `draw(stream, shape, dtype, *params)` gives for the memory of `array`."""
    is_expanded = any(
        n > 1 and not step for n, step in zip(array.shape, array.strides, strict=True)
    )
    if is_expanded and array.size:
        raise errors.runtime_error(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation.",
            "An expanded tensor has fewer elements in memory than it shows.",
        )
    if type(array) is MetaArray:
        return array  # nothing is drawn
    if draw is normal.normal:
        params = (*params, not array.flags.c_contiguous)
    return laid_out_like(array, lambda shape: draw(stream, shape, array.dtype, *params))


def prepare_out(function: str, out: Out, shape: tuple, others_require_grad: bool = False) -> None:
    """Check the tensor given as `out=` and make it as large as it must be."""
    if not isinstance(out, tensor_base.Tensor):
        name = function.removeprefix("aten::")
        raise mismatch(name, (), {"out": out}, "out= takes a tensor.")
    if is_grad_enabled() and (others_require_grad or out.requires_grad):
        raise errors.out_in_graph(function)
    check_memory(function, out)
    if out._array.shape != shape:
        out._array = grown_like(out._array, shape, None, out.storage_offset())
        out._signature = None


def fill_out(function: str, out: Any, draw: Callable, stream: Twister, *params: Any) -> Any:
    """Fill the tensor given as `out=`, which `prepare_out` has accepted."""
    write(out._array, drawn_like(out._array, draw, stream, *params))
    written(out, function)
    return out
