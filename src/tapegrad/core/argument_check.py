"""The boundary of public functions: arguments that Python or a kernel refuses.

Functions do not look at what they are given: they read `input._array` and go on. Where that fails,
`@require_tensors` asks how PyTorch's native function of that name binds the arguments: the call is
then made again under the names it knows, or PyTorch's error says which argument is wrong. A
function for which a tenth of a microsecond counts does without it and has a `try` of its own around
the first thing it reads.
"""

import inspect
import sys
from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from tapegrad.core import errors, tensor_base, torch_function


def require_tensors(
    function: Callable | None = None, *, name: str = "", as_method: Callable | None = None
) -> Any:
    """A public function that names an argument which is no tensor; `name` is PyTorch's for it.

    Its method is `as_method`, if that is given.

    >>> torch.fliplr([[1, 2]])
    Traceback (most recent call last):
    TypeError: fliplr(): argument 'input' (position 1) must be Tensor, not list
    Make a tensor of it first: torch.tensor(...).
    """
    if function is None:
        return lambda function: require_tensors(function, name=name)
    given = function

    def make(method: bool) -> Callable:
        called = as_method if method and as_method is not None else given

        def call(*args: object, **kwargs: object) -> Any:
            try:
                return called(*args, **kwargs) if kwargs else called(*args)
            except Exception as error:
                again = respelled(call, args, kwargs, error, name, method)
                if again is None:
                    raise
            return again()

        return call if method else update_wrapper(call, given)

    return with_method(make)


def takes_a_tuple(function: Callable) -> Any:
    """`require_tensors` for a function of a tensor and a tuple of integers.

    Its method takes the integers one by one, too: `x.flip(0, 1)` for `torch.flip(x, (0, 1))`.
    """

    def as_method(*args: Any, **kwargs: Any) -> Any:
        if len(args) > 1 and not isinstance(args[1], (tuple, list)):
            args = args[0], args[1:]
        return function(*args, **kwargs)

    return require_tensors(function, as_method=as_method)


def two_operands(quick: Callable | None = None) -> Callable:
    """`require_tensors` for a function of two operands, at half its price.

    Where nothing else is given, `quick(a, b)` is called in place of the function, if there is one.
    """

    def decorate(function: Callable) -> Any:
        plain = function if quick is None else quick

        def make(method: bool) -> Callable:
            def call(a: Any = MISSING, b: Any = MISSING, /, *extra: Any, **options: Any) -> Any:
                try:
                    if b is MISSING:
                        return function(*given_of((a, b, *extra)), **options)
                    if options or extra:
                        return function(a, b, *extra, **options)
                    return plain(a, b)
                except Exception as error:
                    again = respelled(call, given_of((a, b, *extra)), options, error, "", method)
                    if again is None:
                        raise
                return again()

            return call if method else update_wrapper(call, function)

        return with_method(make)

    return decorate


def chosen_by(*flags: str, names: Callable[..., str]) -> Callable:
    """A function that PyTorch chooses among several by its flags.

    The one it calls, `names(*flags)`, is what refuses an argument that none of them has.
    """

    def decorate(function: Callable) -> Any:
        signature = inspect.signature(function)

        def call(*args: Any, **kwargs: Any) -> Any:
            for given in kwargs:
                if given not in signature.parameters:
                    found = signature.bind_partial(
                        *args, **{k: x for k, x in kwargs.items() if k in signature.parameters}
                    ).arguments
                    name = names(*[bool(found.get(flag)) for flag in flags])
                    raise errors.type_error(
                        f"{name}() got an unexpected keyword argument '{given}'",
                        f"It takes {', '.join(signature.parameters)}.",
                    )
            try:
                return function(*args, **kwargs)
            except Exception:
                again = torch_function.overridden(call, args, kwargs)
                if again is None:
                    raise
            return again()

        return update_wrapper(call, function)

    return decorate


class Missing:
    """An argument that was not given."""


MISSING: Any = Missing()
ALL: Any = Missing()
"""No `dim`, where `dim=None` is another overload: signatures show it as None."""


def given_of(args: tuple) -> tuple:
    """The arguments before the first that was not given."""
    n = next((i for i, x in enumerate(args) if x is MISSING), len(args))
    return args[:n]


def mending(function: Any) -> Any:
    """A function whose body ends in `except Exception as error: return mended(...)`.

    That costs a call nothing that succeeds. It takes any arguments, as `extra` and `names`; its
    signature shows those that it is meant to take.
    """
    shown = []
    for p in inspect.signature(function).parameters.values():
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            default = p.empty if p.default is MISSING else None if p.default is ALL else p.default
            shown.append(p.replace(default=default))
    function.__signature__ = inspect.Signature(shown, return_annotation=Any)
    return function


def mended(function: Callable, error: Exception | None, args: tuple, kwargs: dict) -> Any:
    """The result of a failed call as PyTorch binds its arguments, or PyTorch's error, or its own.

    `args` and `kwargs` may hold defaults, which were not given then. The error is None where the
    function has seen itself that arguments are missing, or were given by other names.
    """
    if error is None:
        error = TypeError(f"{function.__name__}() was given other arguments")
    parameters = list(inspect.signature(function).parameters.values())
    defaults = {p.name: p.default for p in parameters}
    kwargs = {k: x for k, x in kwargs.items() if x is not defaults.get(k, MISSING)}
    n = len(given_of(args))
    if n < len(args):
        for parameter, x in zip(parameters[n:], args[n:], strict=False):
            if x is not MISSING and x is not parameter.default:
                kwargs[parameter.name] = x
        args = args[:n]
    if kwargs.keys() - defaults.keys():
        # `axis` for `dim`: `keepdim` behind a default was not given by its position
        for i, (parameter, x) in enumerate(zip(parameters, args, strict=False)):
            if x is parameter.default and parameter.default is not MISSING:
                later = zip(parameters[i:], args[i:], strict=False)
                kwargs |= {p.name: x for p, x in later if x is not p.default}
                args = args[:i]
                break
    while args and len(args) <= len(parameters) and args[-1] is parameters[len(args) - 1].default:
        args = args[:-1]
    again = respelled(function, args, kwargs, error, above=1)
    if again is None:
        try:
            raise error
        finally:  # the traceback knows this frame: together they would keep what it keeps
            del error
    return again()


def with_method(make: Callable[[bool], Any]) -> Any:
    """The function `make(False)`. Its method is `make(True)`: its errors count without `self`.

    `torch.sum` and `torch.Tensor.sum` do the same, but PyTorch numbers their arguments differently.
    """
    function = make(False)
    function.method = function, make
    return function


def method_of(function: Any) -> Any:
    """The method of tensors that is a public function, or whatever else a class has."""
    of, make = getattr(function, "method", (None, method_of))
    made: Any = make(True) if of is function else None
    return function if made is None else update_wrapper(made, function)


def also_called(name: str, function: Callable) -> Any:
    """A public function that does what `function` does, under another name of its own.

    >>> torch.arctan is torch.atan, torch.arctan.__name__
    (False, 'arctan')
    """
    make = function.method[1]  # type: ignore[attr-defined]
    made = make(False)
    own = {key: x for key, x in vars(function).items() if key not in ("direct", "method")}
    made.__dict__.update(own)
    made.__doc__, made.__module__ = function.__doc__, function.__module__
    made.__name__ = made.__qualname__ = name
    made.__code__ = made.__code__.replace(co_name=name, co_qualname=name)
    made.method = made, make
    return made


def respelled(
    public: Callable,
    args: tuple,
    kwargs: dict,
    error: Exception,
    name: str = "",
    method: bool = False,
    above: int = 0,
    names_tensors: bool = False,
) -> Callable | None:
    """The failed call of a public function once more, as PyTorch binds its arguments.

    None if nothing is to be done but to raise `error`; raises PyTorch's TypeError for arguments
    that the native function refuses. The program's frame is `above` that of the caller.
    A function that `names_tensors` has said itself which argument is none. A call that somebody
    overrides is handed over.
    """
    taking = torch_function.taking_part(args, kwargs)
    if taking is not None:
        return torch_function.again(public, args, kwargs, taking, 2 + above)
    dispatched = torch_function.dispatched(public, args, kwargs)
    if dispatched is not None:
        return dispatched
    caller = torch_function.caller_of(sys._getframe(2 + above))
    if not caller.startswith("tapegrad."):
        from tapegrad.core.native_arguments import call_of

        try:
            again = call_of(public, args, kwargs, error, method)
        except TypeError as found:
            raise found.with_traceback(None) from None
        if again is not None:
            return again
    if names_tensors:
        return None
    refusal = refused(public, args, kwargs, error, name or public.__name__)
    if refusal is not None:
        raise refusal from None
    return None


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
    parameters = inspect.signature(function).parameters.values()
    positional = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    for i, parameter in enumerate(positional):
        absent = x is None and parameter.default is not parameter.empty
        given = args[i] if i < len(args) else kwargs.get(parameter.name, errors)
        if given is x and not absent:
            return errors.must_be(name, parameter.name, i + 1, "Tensor", x)
    if positional:
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
