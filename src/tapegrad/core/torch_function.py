"""Overriding: who takes part in a call besides tapegrad, `__torch_function__` and function modes.

Plain tensors pay nothing for it. Public functions look at nothing: they read `input._array`. A
tensor whose class overrides (`tensors/overriding.py` guards it), any tensor while a function mode
is on, and what is no tensor but has a `__torch_function__` refuse that with an `AttributeError`.
The outermost public function that fails asks here who takes part (`core/argument_check.py`), and
hands the call over. Who "the outermost" is says the module of the code that called.
"""

import sys
import warnings
from collections.abc import Callable
from contextvars import ContextVar, Token
from enum import Enum
from typing import Any

from tapegrad.core import errors, tensor_base
from tapegrad.core.missing import torch_name
from tapegrad.core.registration import FRONT_DOOR

__torch__ = "DisableTorchFunction DisableTorchFunctionSubclass"

ON, SUBCLASSES_OFF, ALL_OFF = range(3)
STATE: ContextVar[int] = ContextVar("tapegrad_torch_function", default=ON)
MODES: ContextVar[tuple] = ContextVar("tapegrad_torch_function_modes", default=())
"""The function modes of the current context, the innermost last."""

SKIP: ContextVar[bool] = ContextVar("tapegrad_torch_function_skip", default=False)
"""Whether the next question whether somebody overrides is to be answered with no."""

IN_USE: list[type] = []
"""What overrides in this process: classes of tensors, and `TorchFunctionMode` once one was on.

While it is empty nothing has to be asked."""

PROGRAM, INSIDE, ENGINE = range(3)
_INSIDE = tuple(
    "amp.cast arrays core dispatch operators tensors fft linalg special nn.functional".split()
)  # what a public function calls within itself: the public function hands over
_ENGINE = ("autograd", "amp", "serialization.rebuild")  # written in C in PyTorch: asks nobody
_PROGRAM = tuple(
    "autograd.functional autograd.gradcheck autograd.grad_mode autograd.graph autograd.profiler "
    "autograd.variable operators.nn.upsample operators.pointwise.foreach tensors.overriding".split()
)
_known: dict[str, int] = {}
_HANDS_ON = __file__.replace("torch_function", "overridable")


def caller_of(frame: Any) -> str:
    """The module that called a public function in `frame`, past what hands the call on: a function
    that may be overridden, a profiler that notes the call."""
    while frame.f_code.co_filename == _HANDS_ON:
        frame = frame.f_back
    if "NOTES_CALLS" in frame.f_globals:
        while "NOTES_CALLS" in frame.f_globals:
            frame = frame.f_back
        frame = frame.f_back  # of the function itself, whose code the profiler has exchanged
    return frame.f_globals.get("__name__", "")


class Overridden(AttributeError):
    """Something that only an override may do was tried without asking it."""


def asking(module: str) -> int:
    """In whose name code of `module` runs: the program's, a public function's, or the engine's."""
    kind = _known.get(module)
    if kind is None:
        kind = _known[module] = _kind_of(module)
    return kind


def _kind_of(module: str) -> int:
    root, _, name = module.partition(".")
    if root != "tapegrad":
        return PROGRAM
    for kind, prefixes in ((PROGRAM, _PROGRAM), (INSIDE, _INSIDE), (ENGINE, _ENGINE)):
        if any(name == each or name.startswith(each + ".") for each in prefixes):
            return kind
    return PROGRAM


class _Disabled:
    """`_disabled_torch_function_impl`: as `__torch_function__` of a class, it does not override."""

    __name__ = __qualname__ = "_disabled_torch_function_impl"
    __module__ = "torch._C"

    def __call__(self, func: Callable, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
        with DisableTorchFunctionSubclass():
            return func(*args, **kwargs or {})

    def __repr__(self) -> str:
        return "<built-in function _disabled_torch_function_impl>"

    def __reduce__(self) -> str:
        return "disabled"


disabled: Any = _Disabled()


class Switched:
    """A block in which overriding is switched to a state; it may be entered again."""

    __slots__ = ("_tokens",)
    to = ON

    def __init__(self) -> None:
        self._tokens: list[Token] = []

    def __enter__(self) -> None:
        self._tokens.append(STATE.set(self.to))

    def __exit__(self, *error: object) -> None:
        STATE.reset(self._tokens.pop())


class DisableTorchFunctionSubclass(Switched):
    """A block in which no `__torch_function__` of a class is asked; function modes are."""

    __slots__ = ()
    to = SUBCLASSES_OFF

    def __enter__(self) -> None:
        self._tokens.append(STATE.set(max(SUBCLASSES_OFF, STATE.get())))


class DisableTorchFunction(Switched):
    """A block in which nobody overrides."""

    __slots__ = ()
    to = ALL_OFF


class _EnableTorchFunction(Switched):
    """A block in which classes and modes are asked, whatever is around it."""

    __slots__ = ()


for _each in (DisableTorchFunction, DisableTorchFunctionSubclass, _EnableTorchFunction):
    _each.__module__ = "torch._C"


class _TorchFunctionState(Enum):
    """Who is asked."""

    ENABLED = ON
    SUBCLASSES_DISABLED = SUBCLASSES_OFF
    ALL_DISABLED = ALL_OFF


def _get_torch_function_state() -> _TorchFunctionState:
    return _TorchFunctionState(STATE.get())


def _is_torch_function_enabled() -> bool:
    """Whether classes are asked."""
    return STATE.get() == ON


def _is_torch_function_all_disabled() -> bool:
    return STATE.get() == ALL_OFF


def undisturbed(function: Callable, *args: Any, **kwargs: Any) -> Any:
    """`function(*args, **kwargs)` with nobody overriding."""
    token = STATE.set(ALL_OFF)
    try:
        return function(*args, **kwargs)
    finally:
        STATE.reset(token)


def check_modes(name: str) -> None:
    """Raise where a function mode is to be asked for a function that takes no tensor."""
    if name not in _UNASKED and MODES.get() and STATE.get() != ALL_OFF:
        raise Overridden(f"{name} is overridden", name=name, obj=None)


def overrides(x: object) -> bool:
    """Whether `x` has a `__torch_function__` that is to be asked."""
    kind = type(x)
    if kind is tensor_base.Tensor or issubclass(kind, type):
        return False
    function = getattr(kind, "__torch_function__", None)
    return function is not None and function is not disabled


def add_overriding(found: list, x: object) -> None:
    """Add `x` to those that take part unless its class has: subclasses before superclasses."""
    kind = type(x)
    place = len(found)
    for i, other in enumerate(found):
        if type(other) is kind:
            return
        if place == len(found) and issubclass(kind, type(other)):
            place = i
    found.insert(place, x)


def overriding_of(given: Any) -> list:
    """The first of each class among `given` that overrides, in the order in which they are asked.

    Where subclasses are switched off there are none.
    """
    found: list = []
    if STATE.get() == ON:
        for x in given:
            if overrides(x):
                add_overriding(found, x)
    return found


def taking_part(args: tuple, kwargs: dict) -> list | None:
    """Who overrides a call with these arguments, in the order of asking; None if nobody does.

    The list is empty where only function modes do. What lies in lists and tuples counts.
    """
    state = STATE.get()
    if state == ALL_OFF:
        return None
    found: list = []
    if state == ON:
        for x in (*args, *kwargs.values()):
            if type(x) is tuple or type(x) is list:
                _look_into(x, found, 2)
            elif overrides(x):
                add_overriding(found, x)
    return found if found or MODES.get() else None


def _look_into(sequence: Any, found: list, depth: int) -> None:
    for x in sequence:
        if overrides(x):
            add_overriding(found, x)
        elif depth > 1 and (type(x) is tuple or type(x) is list):
            _look_into(x, found, depth - 1)


def hand_over(function: Callable, args: tuple, kwargs: dict, found: list) -> Any:
    """The result of a call as the first that knows one gives it: the innermost mode, then `found`.

    Raises PyTorch's TypeError if all say NotImplemented.
    """
    modes = MODES.get()
    result = asked_in_turn(function, args, kwargs, found, modes)
    if result is NotImplemented:
        raise _nobody(function, found, modes)
    return result


def asked_in_turn(function: Callable, args: tuple, kwargs: dict, found: list, modes: tuple) -> Any:
    """The first result that is not NotImplemented; NotImplemented if there is none.

    As in PyTorch, native functions that are given nothing by name have None for `kwargs`.
    """
    types = tuple(map(type, found))
    named = kwargs or ({} if is_written_in_python(function) else None)
    if modes:
        require_plain_method(modes[-1], "__torch_function__")
        token = MODES.set(modes[:-1])
        try:
            result = modes[-1].__torch_function__(function, types, args, named)
        finally:
            MODES.reset(token)
        if result is not NotImplemented:
            return result
    for x in found:
        handler = x.__torch_function__
        if getattr(handler, "__self__", None) is x and handler is not disabled:
            _warn_of_plain_method(is_written_in_python(function))
        result = handler(function, types, args, named)
        if result is not NotImplemented:
            return result
    return NotImplemented


def _warn_of_plain_method(in_python: bool) -> None:
    from tapegrad.core.argument_check import users_level
    from tapegrad.core.warn_once import warn_once

    text = (
        "Defining your `__torch_function__{} as a plain method is deprecated and will be an error "
        "in future, please define it as a classmethod."
    )
    if in_python:
        warnings.warn(text.format(""), DeprecationWarning, stacklevel=users_level())
    else:
        warn_once(text.format("`"))


def require_plain_method(mode: Any, name: str) -> None:
    """Raise where the handler of a mode does not get the mode."""
    if getattr(getattr(mode, name), "__self__", None) is not mode:
        raise errors.runtime_error(
            f"Defining your mode's `{name}` as a classmethod is not supported, please make it a "
            "plain method",
            f"def {name}(self, func, types, args=(), kwargs=None): ...",
        )


_IN_PYTHON = frozenset(
    "__array__ __array_wrap__ __contains__ __deepcopy__ __dir__ __floordiv__ __format__ __len__ "
    "__rdiv__ __reduce_ex__ __repr__ __reversed__ __rfloordiv__ __rlshift__ __rmatmul__ __rmod__ "
    "__rpow__ __rrshift__ __rsub__ __rtruediv__ __setstate__ align_to atleast_1d atleast_2d "
    "atleast_3d backward block_diag broadcast_shapes broadcast_tensors cartesian_prod cdist "
    "chain_matmul dim_order einsum is_shared istft lu meshgrid module_load norm pca_lowrank "
    "refine_names register_hook register_post_accumulate_grad_hook rename rename_ resize resize_as "
    "share_memory_ split stft storage storage_type svd_lowrank tensordot to_sparse_coo unflatten "
    "unique unique_consecutive unravel_index".split()
)
"""Functions and methods of tensors that PyTorch has written in Python."""


def is_written_in_python(function: Any) -> bool:
    """Whether PyTorch has written a function in Python, not natively; so are those of programs."""
    module = getattr(function, "__module__", None) or ""
    root, _, home = module.partition(".")
    if root not in ("tapegrad", "torch") and not hasattr(function, "__self__"):
        return True
    if getattr(function, "__name__", "") in _IN_PYTHON:
        return True
    if not home.startswith(("nn.functional", "operators.nn")):
        return False
    from tapegrad.core.native_arguments import forms_of

    return not forms_of(function)[1]


def _nobody(function: Any, found: list, modes: tuple) -> TypeError:
    name = name_of(function)
    if name.startswith("torch.nn.functional."):
        return unknown_to_all(name, found, modes)
    handlers = [f"mode object {mode}" for mode in reversed(modes)][:1]
    handlers += [f"tensor subclass {type(x)}" for x in found]
    listed = "".join(f"  - {each}\n" for each in handlers)
    return errors.type_error(
        f"Multiple dispatch failed for '{name}'; all __torch_function__ handlers "
        f"returned NotImplemented:\n\n{listed}\n"
        "For more information, try re-running with TORCH_LOGS=not_implemented",
        "Return a result for it, or super().__torch_function__(func, types, args, kwargs).",
    )


def unknown_to_all(name: str, found: list, modes: tuple) -> TypeError:
    """The error for a function written in Python for which all say NotImplemented."""
    text = (
        f"no implementation found for '{name}' on types that implement __torch_function__: "
        f"{[type(x) for x in found]}"
    )
    if modes:
        text += f" nor in mode {modes[-1]}"
    return errors.type_error(text, "Return a result for it from __torch_function__.")


def name_of(function: Any) -> str:
    """The name by which PyTorch's errors call a public function."""
    public = FRONT_DOOR()
    name = getattr(function, "__name__", "")
    of = getattr(function, "__self__", None)
    if isinstance(of, property):
        known = [n for home in public.Tensor.__mro__ for n, x in vars(home).items() if x is of]
        own = known[0] if known else getattr(of.fget, "__name__", "")
        return f"torch.Tensor.{own}.{name}"
    for home in ("Tensor", "nn.init", "nn.functional", "", "linalg", "fft", "special"):
        space: Any = public
        for part in home.split(".") if home else ():
            space = getattr(space, part)
        if getattr(space, name, None) is function and (home != "nn.init" or name[-1] == "_"):
            prefix = f"{home}_" if home in ("linalg", "fft", "special") else ""
            return ".".join(part for part in ("torch", home, prefix + name) if part)
    known = [n for home in public.Tensor.__mro__ for n, x in vars(home).items() if x is function]
    if known:  # another name of a method
        return f"torch.Tensor.{known[0]}"
    return f"{torch_name(getattr(function, '__module__', None) or '')}.{name}"


OPERATORS = {
    "floor_divide": "__floordiv__", "pow": "__pow__", "eq": "__eq__", "rsub": "__rsub__",
    "bitwise_and": "__and__", "bitwise_or": "__or__", "bitwise_xor": "__xor__",
    "bitwise_left_shift": "__lshift__", "bitwise_right_shift": "__rshift__",
    "bitwise_and_": "__iand__", "bitwise_or_": "__ior__", "bitwise_xor_": "__ixor__",
    "bitwise_left_shift_": "__ilshift__", "bitwise_right_shift_": "__irshift__",
    "pow_": "__ipow__",
}  # fmt: skip
"""Functions behind Python's operators that are handed over as their method, not by their name."""

REVERSED = {
    "floor_divide": "__rfloordiv__", "remainder": "__rmod__", "pow": "__rpow__",
    "bitwise_left_shift": "__rlshift__", "bitwise_right_shift": "__rrshift__",
    "matmul": "__rmatmul__", "div": "__rdiv__",
}  # fmt: skip


_UNASKED = frozenset(("from_numpy", "frombuffer"))
"""Functions that make tensors and of which no mode hears."""

_OF_DATA = frozenset("tensor as_tensor asarray new_tensor".split())
"""Functions that take a tensor for numbers: its class is not asked, only modes are."""


def operated(name: str, reverse: bool, a: Any, b: Any, above: int = 2) -> Callable | None:
    """What to do of the operator behind which the function `name` is; None if nobody overrides.

    It gives NotImplemented where nobody knows a result: Python then asks the other operand.
    """
    found = taking_part((a, b), {})
    if found is None or asking(caller_of(sys._getframe(above))) != PROGRAM:
        return None
    names = REVERSED if reverse else OPERATORS
    function = getattr(tensor_base.Tensor, names.get(name, name))
    return lambda: asked_in_turn(function, (a, b), {}, found, MODES.get())


def overridden(
    function: Callable, args: tuple, kwargs: dict | None = None, above: int = 2
) -> Callable | None:
    """What to do of a failed call in place of raising its error; None if nobody overrides it.

    A body ends in

        except Exception:
            again = overridden(f, (input, other))
            if again is None:
                raise
        return again()

    where nothing else mends a call.
    """
    kwargs = kwargs or {}
    found = taking_part(args, kwargs)
    if found is None:
        return dispatched(function, args, kwargs)
    return again(function, args, kwargs, found, above)


def dispatched(function: Callable, args: tuple, kwargs: dict) -> Callable | None:
    """What to do of a failed call in which a class with a `__torch_dispatch__` takes part."""
    from tapegrad.core import torch_dispatch

    return torch_dispatch.dispatched(function, args, kwargs) if torch_dispatch.CLASSES else None


def handed_to_mode(function: Any, args: tuple, scope: dict) -> Callable | None:
    """What to do of a call of a function that makes tensors; None where no mode is on.

    `scope` has its arguments by keyword, among other names.
    """
    if not MODES.get() or STATE.get() == ALL_OFF:
        return None
    return overridden(function, args, _named(function, scope), above=3)


def handed_to_argument(function: Any, args: tuple, scope: dict) -> Callable | None:
    """What to do of a failed call of a function that makes tensors; None where no argument
    overrides: a size, a device or a dtype may be one of a program that is traced."""
    return overridden(function, args, _named(function, scope), above=3)


def _named(function: Any, scope: dict) -> dict:
    given = function.__kwdefaults__ or {}
    return {name: scope[name] for name, default in given.items() if scope[name] is not default}


def again(
    function: Callable, args: tuple, kwargs: dict, found: list, above: int
) -> Callable | None:
    """What to do of a failed call in which `found` take part, made `above` frames up.

    A public function that another one called leaves the error to that one: None.
    """
    kind = asking(caller_of(sys._getframe(above + 1)))
    if kind == INSIDE:
        return None
    if function.__name__ in _OF_DATA:
        found = []
    home, _, name = sys._getframe(above).f_code.co_qualname.rpartition(".")
    if home == "Tensor":  # the code of the method, `torch.Tensor.sum`, whose body names `torch.sum`
        function = getattr(tensor_base.Tensor, name, function)
    if kind == ENGINE or not (found or MODES.get()):
        return lambda: undisturbed(function, *args, **kwargs)
    return lambda: hand_over(function, args, kwargs, found)
