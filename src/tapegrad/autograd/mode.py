"""Grad mode: whether operators record, for each thread and each asynchronous task.

One `ContextVar` holds the mode of the current context: `True` (record), `False` (do not), or a
`Mode`, an object that takes part in every call (a profiler, inference mode). Operators look once:

    mode = MODE.get()
    if mode is not True and mode is not False:
        return mode.call(name, function, args, kwargs)
"""

from __future__ import annotations

import functools
import inspect
import warnings
from contextvars import ContextVar, Token
from typing import Self, TypeVar, cast, overload

from tapegrad.autograd.node import mark_inference
from tapegrad.core.annotations import Any, Callable, ModeLike, NodeLike, Out

_Function = TypeVar("_Function", bound=Callable)

MODE: ContextVar[Any] = ContextVar("tapegrad_mode", default=True)
EVERYWHERE: list[Any] = []  # anomaly mode, while it is on: in all contexts and threads at once


class Mode:
    """A mode that takes part in calls. `grad` says whether operators record under it."""

    __slots__ = ("grad",)
    under: Any = None  # the mode that this one adds something to, where it does
    at_bottom = False  # whether modes that differentiate go on top of it
    on_tensors = False  # whether a backward pass has to run on tensors, whoever records it
    nests = False  # whether a mode that comes later goes on top of it, as its transform does
    maps = False  # whether it is a level of `vmap`
    records = False  # whether it only writes down what is computed
    fast_jvp: bool = (
        False  # forward mode on top of a plain grad mode: autograd/forward/jvp_pointwise.py
    )

    def __init__(self, grad: bool):
        self.grad = grad

    def over(self, under: ModeLike) -> Mode:
        """The same mode on top of another one."""
        raise NotImplementedError(f"{type(self).__name__} adds nothing to another mode")

    def with_grad(self, grad: bool) -> Mode:
        """The same mode with recording switched on or off."""
        raise NotImplementedError(f"{type(self).__name__} cannot change its grad mode")

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        """Run one operator: here, under the plain grad mode and nothing else.

        `args` are the operator, its inputs (a tuple) and its options (a dictionary).
        """
        token = MODE.set(self.grad)
        try:
            return function(*args, **kwargs)
        finally:
            MODE.reset(token)

    def in_place(self, name: str, compute: Callable, x: object) -> Any:
        """Compute `compute(x)`, which is to be written into the memory of `x`."""
        return compute(x)

    def custom(self, overload: Any, bound: Any, compute: Callable) -> Any:
        """Compute an operator that a program defined: `compute(bound)`, its arguments."""
        under = self.under
        return under.custom(overload, bound, compute) if isinstance(under, Mode) else compute(bound)

    def backward_node(self, node: NodeLike, function: Callable, args: tuple) -> Any:
        """Run one node of the backward pass: `args` are its owner and what reached it, first."""
        return function(*args)

    def runner(self) -> Callable | None:
        """What runs a node as `Plan.run` does, `run(node, g, retain)`; None: `backward_node`.

        Asked once for each backward pass.
        """
        return None

    def around(self, name: str, run: Callable) -> Any:
        """Run the forward of the custom function `name`: `run()`."""
        return self.under.around(name, run) if isinstance(self.under, Mode) else run()

    def applied(self, name: str, args: tuple, results: list) -> None:
        """The custom function `name` was called on `args`; its results have their nodes."""
        if isinstance(self.under, Mode):
            self.under.applied(name, args, results)

    def called(self, function: Any, args: tuple, results: list) -> None:
        """The custom function, a class, was called; its results have their nodes."""
        if isinstance(self.under, Mode):
            self.under.called(function, args, results)

    # What happens to tensors besides operators: a mode hears of it and tells the mode below.

    def writes(self, x: object) -> None:
        """`x` is about to be written by no operator."""
        if isinstance(self.under, Mode):
            self.under.writes(x)

    def stands_in(self, x: object, before: Any) -> None:
        """`before` takes the place of `x` while what is to be written into `x` is computed."""
        if isinstance(self.under, Mode):
            self.under.stands_in(x, before)

    def read_as(self, x: object, found: Any) -> None:
        """`found` has the numbers of `x`, a conjugate or negative view, as they are read."""
        if isinstance(self.under, Mode):
            self.under.read_as(x, found)

    def wrote(self, x: object, result: object) -> None:
        """`x` was given the values of `result` in place."""
        if isinstance(self.under, Mode):
            self.under.wrote(x, result)

    def check_out(self, name: str, result: object, out: Out) -> None:
        """Raise if `result` may not be written into `out`, given as `out=`."""
        if isinstance(self.under, Mode):
            self.under.check_out(name, result, out)

    def check_memory(self, name: str, x: object) -> None:
        """Raise if `x` may not be given other memory, as `name` does."""
        if isinstance(self.under, Mode):
            self.under.check_memory(name, x)

    def move(self, x: object, array: Any) -> None:
        """`x` is about to hold `array`."""
        if isinstance(self.under, Mode):
            self.under.move(x, array)

    def alone(self, array: Any) -> Any:
        """The array of a tensor that is to share the memory of `array` and nothing else."""
        return self.under.alone(array) if isinstance(self.under, Mode) else array

    def forget(self, x: object) -> None:
        """`x` is cut off from its history."""
        if isinstance(self.under, Mode):
            self.under.forget(x)

    def cut(self, x: object, result: object, how: str) -> None:
        """`result` has the values of `x` but not its history; `how` is what was called.

        It is None where the values went to Python or NumPy.
        """
        if isinstance(self.under, Mode):
            self.under.cut(x, result, how)

    def copied(self, x: object, copy: bool | None, how: str) -> None:
        """`copy` is a leaf like `x` by a call that copies objects."""
        if isinstance(self.under, Mode):
            self.under.copied(x, copy, how)

    def cleared(self, leaves: Any, how: str) -> None:
        """The `.grad` of `leaves` was set to None by the call `how`."""
        if isinstance(self.under, Mode):
            self.under.cleared(leaves, how)

    def backward_begins(self, walk: Any) -> None:
        """A backward pass is about to run."""
        if isinstance(self.under, Mode):
            self.under.backward_begins(walk)

    def hook_failed(self, node: NodeLike, received: object, error: Exception) -> None:
        """A hook of a node raised `error`."""
        if isinstance(self.under, Mode):
            self.under.hook_failed(node, received, error)


TRANSFORMS: ContextVar[Any] = ContextVar("tapegrad_transforms", default=None)
"""The transforms of `torch.func` whose function is running: None, or a tuple of those around the
innermost, its number from 1, and what it is known by: a level, or pairs (leaf, argument)."""


class Under:
    """A block in which `mode` is on."""

    __slots__ = ("mode", "token")

    def __init__(self, mode: ModeLike):
        self.mode = mode

    def __enter__(self) -> None:
        self.token = MODE.set(self.mode)

    def __exit__(self, *error: object) -> None:
        MODE.reset(self.token)


class InTransform(Under):
    """A block in which `mode` is on, inside a transform of `torch.func` known by `what`."""

    __slots__ = ("outside", "what")

    def __init__(self, mode: ModeLike, what: Any):
        self.mode, self.what = mode, what

    def __enter__(self) -> None:
        around = TRANSFORMS.get()
        self.token = MODE.set(self.mode)
        number = 1 if around is None else around[1] + 1
        self.outside = TRANSFORMS.set((around, number, self.what))

    def __exit__(self, *error: object) -> None:
        TRANSFORMS.reset(self.outside)
        MODE.reset(self.token)


def is_grad_enabled() -> bool:
    """Whether operators record in the current context.

    >>> torch.is_grad_enabled()
    True
    """
    mode = MODE.get()
    return mode if type(mode) is bool else mode.grad


def switched(grad: bool) -> Any:
    """The current mode with recording switched on or off."""
    mode = MODE.get()
    return bool(grad) if type(mode) is bool else mode.with_grad(grad)


def check_memory(name: str, x: object) -> None:
    """Raise if a mode forbids to give `x` other memory, as the function `name` does."""
    mode = MODE.get()
    if type(mode) is not bool:
        mode.check_memory(name, x)


class _Decorating:
    """A context manager that also decorates functions, generator functions and classes."""

    _tokens: list[Any]

    def _fresh(self) -> Any:
        """A new context manager for one call of a decorated function."""
        return type(self)()

    def _mode(self) -> Any:
        """The mode inside the block."""
        raise NotImplementedError(f"{type(self).__name__} does not say which mode it sets")

    def __enter__(self) -> None:
        self._tokens.append(MODE.set(self._mode()))

    def __exit__(self, *error: object) -> None:
        token = self._tokens.pop()
        try:
            MODE.reset(token)
        except ValueError:  # entered in another context, as a generator that moved may have been
            before = token.old_value
            MODE.set(True if before is Token.MISSING else before)

    def __call__(self, function: _Function) -> _Function:
        if isinstance(function, type):
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. You "
                "should only decorate functions or methods. To preserve the current behavior of "
                "class decoration, you can directly decorate the `__init__` method and nothing "
                "else.",
                FutureWarning,
                stacklevel=2,
            )
            function.__init__ = self(function.__init__)  # type: ignore[misc]
            return function
        if inspect.isgeneratorfunction(function):
            return cast("_Function", _decorate_generator(self, function))

        @functools.wraps(function)
        def wrapper(*args: object, **kwargs: object) -> Any:
            with self._fresh():
                return function(*args, **kwargs)

        return cast("_Function", wrapper)


def _decorate_generator(manager: _Decorating, function: Callable) -> Callable:
    """Enter the mode for each stretch of the generator's own code, leave it at each `yield`."""

    @functools.wraps(function)
    def wrapper(*args: object, **kwargs: object) -> Any:
        with manager._fresh():
            generator = function(*args, **kwargs)
            try:
                value = next(generator)
            except StopIteration as stop:
                return stop.value
        while True:
            try:
                sent = yield value
            except GeneratorExit:
                with manager._fresh():
                    generator.close()
                raise
            except BaseException as error:
                resume, given = generator.throw, error
            else:
                resume, given = generator.send, sent
            with manager._fresh():
                try:
                    value = resume(given)
                except StopIteration as stop:
                    return stop.value

    return wrapper


class _Plain(_Decorating):
    """A mode without arguments: `@no_grad` works as `@no_grad()` does."""

    @overload
    def __new__(cls, function: _Function) -> _Function: ...  # type: ignore[misc]
    @overload
    def __new__(cls, function: None = None) -> Self: ...
    def __new__(cls, function: Any = None) -> Any:
        manager = super().__new__(cls)
        manager._tokens = []
        return manager if function is None else manager(function)


class no_grad(_Plain):
    """Operators in the block or function do not record.

    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    def _mode(self) -> Any:
        return switched(False)


class enable_grad(_Plain):
    """Operators in the block or function record, inside a `no_grad` block too.

    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.no_grad(), torch.enable_grad():
    ...     y = x * 2
    >>> y.requires_grad
    True
    """

    def _mode(self) -> Any:
        return switched(True)


class set_grad_enabled(_Decorating):
    """Switch recording on or off: at once as a statement, for a block as a context manager.

    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.set_grad_enabled(False):
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    def __init__(self, mode: bool):
        self._grad = bool(mode)
        self._tokens = [MODE.set(switched(self._grad))]

    def _fresh(self) -> Any:
        return set_grad_enabled(self._grad)

    def __enter__(self) -> None:
        """The mode was set when the object was made; leaving the block takes it back."""

    def __call__(self, function: _Function) -> _Function:
        MODE.reset(self._tokens.pop())  # a decorator changes the calls, not its surroundings
        return super().__call__(function)


class _Inference(Mode):
    """Results are inference tensors: without a version counter, never part of a graph."""

    __slots__ = ()

    def with_grad(self, grad: bool) -> Mode:
        return _Inference(grad)

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        return mark_inference(super().call(name, function, args, kwargs))


class inference_mode(_Decorating):
    """`no_grad` for good: results can never take part in a graph, and cost a little less.

    >>> with torch.inference_mode():
    ...     y = torch.ones(2) * 2
    >>> y.is_inference()
    True
    """

    @overload
    def __new__(cls, mode: _Function) -> _Function: ...  # type: ignore[misc]
    @overload
    def __new__(cls, mode: bool = True) -> Self: ...
    def __new__(cls, mode: Any = True) -> Any:
        manager = super().__new__(cls)
        if callable(mode):
            cls.__init__(manager, True)
            return manager(mode)
        return manager

    def __init__(self, mode: bool = True):
        self._on = bool(mode)
        self._tokens = []

    def _fresh(self) -> Any:
        return inference_mode(self._on)

    def _mode(self) -> Any:
        return _with_inference(MODE.get(), self._on)


def _with_inference(mode: ModeLike, on: bool) -> Any:
    """`mode` with inference switched on or off, below whatever else takes part."""
    if isinstance(mode, Mode) and mode.under is not None:
        return mode.over(_with_inference(mode.under, on))
    if on:
        return _Inference(False)
    return True if isinstance(mode, _Inference) else mode


def is_inference_mode_enabled() -> bool:
    """Whether the current context is in inference mode.

    >>> torch.is_inference_mode_enabled()
    False
    """
    return is_inference(MODE.get())


def infers(mode: ModeLike) -> bool:
    """Whether a mode is inference mode without gradients, and nothing else takes part."""
    return type(mode) is _Inference and not mode.grad


def is_inference(mode: ModeLike) -> bool:
    """Whether a mode is inference mode, below whatever else takes part."""
    while isinstance(mode, Mode) and mode.under is not None:
        mode = mode.under
    return isinstance(mode, _Inference)


def outside_inference(transform: _Function) -> _Function:
    """A transform, which takes derivatives in inference mode as in `no_grad`."""

    @functools.wraps(transform)
    def call(*args: Any, **kwargs: Any) -> Any:
        mode = MODE.get()
        if type(mode) is bool or not is_inference(mode):
            return transform(*args, **kwargs)
        token = MODE.set(_with_inference(mode, False))
        try:
            MODE.set(switched(False))
            return transform(*args, **kwargs)
        finally:
            MODE.reset(token)

    return call  # type: ignore[return-value]
