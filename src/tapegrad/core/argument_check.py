"""The boundary of public functions: an argument that should be a tensor and is not.

Functions do not look at what they are given: they read `input._array` and go on. Where that fails,
`@require_tensors` says what PyTorch says. A function for which a tenth of a microsecond counts does
without it and has a `try` of its own around the first thing it reads.
"""

import sys
from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from tapegrad.core import errors, tensor_base


def require_tensors(function: Callable | None = None, *, name: str = "") -> Any:
    """A public function that names an argument which is no tensor; `name` is PyTorch's for it.

    >>> torch.fliplr([[1, 2]])
    Traceback (most recent call last):
    TypeError: fliplr(): argument 'input' (position 1) must be Tensor, not list
    Make a tensor of it first: torch.tensor(...).
    """
    if function is None:
        return lambda function: require_tensors(function, name=name)
    called = function

    def call(*args: object, **kwargs: object) -> Any:
        try:
            return called(*args, **kwargs)
        except (AttributeError, TypeError) as error:
            refusal = refused(called, args, kwargs, error, name)
            if refusal is None:
                raise
            raise refusal from None

    return update_wrapper(call, called)


def refused(
    function: Callable, args: tuple, kwargs: dict, error: Exception, name: str = ""
) -> TypeError | None:
    """PyTorch's error if `error` came about because an argument is no tensor, else None.

    It did if what lacks an attribute of tensors is itself what was passed for an argument.
    """
    x = getattr(error, "obj", None)
    attribute = getattr(error, "name", None)
    if (
        attribute is None
        or isinstance(x, tensor_base.TensorBase)
        or not hasattr(tensor_base.Tensor, attribute)
    ):
        return None
    name = name or function.__name__
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = function.__code__
    optional = len(function.__defaults__ or ())
    for i, argument in enumerate(code.co_varnames[: code.co_argcount]):
        absent = x is None and i >= code.co_argcount - optional
        given = args[i] if i < len(args) else kwargs.get(argument, errors)
        if given is x and not absent:
            return errors.must_be(name, argument, i + 1, "Tensor", x)
    if code.co_argcount:
        return None
    listed = args[0] if len(args) == 1 and isinstance(args[0], (tuple, list)) else ()
    for i, given in (*enumerate(args), *enumerate(listed)):  # tensors one by one, or in a list
        if given is x:
            text = f"expected Tensor as element {i} in argument 0, but got {errors.type_name(x)}"
            return errors.no_tensor(TypeError(text), x)
    return None


def users_level() -> int:
    """The `stacklevel` of a warning that names the line of the program, not one of tapegrad's."""
    level = 1
    frame: Any = sys._getframe(1)
    while frame.f_globals.get("__name__", "").startswith("tapegrad.") and frame.f_back is not None:
        level += 1
        frame = frame.f_back
    return level
