"""The recorder of a trace: a function mode that writes down each call of a function or method."""

from __future__ import annotations

import sys
import warnings

from tapegrad.autograd.layered_mode import Layered
from tapegrad.autograd.mode import MODE
from tapegrad.core.annotations import Any, Callable
from tapegrad.core.errors import runtime_error
from tapegrad.core.size import Size
from tapegrad.core.torch_function import undisturbed
from tapegrad.jit._state import RECORDER
from tapegrad.jit.program import Ref, Step, name_of
from tapegrad.jit.traced_number import TracedNumber
from tapegrad.overrides import TorchFunctionMode
from tapegrad.tensors.tensor import Tensor

_CONSTANT = (
    "might cause the trace to be incorrect. We can't record the data flow of Python values, so "
    "this value will be treated as a constant in the future. This means that the trace might not "
    "generalize to other inputs!"
)
_READS = {
    "__bool__": "boolean",
    "__int__": "integer",
    "__float__": "float",
    "__complex__": "complex",
    "__index__": "index",
    "item": "number",
    "tolist": "list",
}
_LEN = (
    "Using len to get tensor shape might cause the trace to be incorrect. Recommended usage would "
    "be tensor.shape[0]. Passing a tensor of different shape might lead to errors or silently give "
    "incorrect results."
)
_ITERATING = (
    "Iterating over a tensor might cause the trace to be incorrect. Passing a tensor of different "
    "shape won't change the number of iterations executed (and might lead to errors or silently "
    "give incorrect results)."
)
_NEW = (
    "torch.{} results are registered as constants in the trace. You can safely ignore this warning "
    "if you use this function to create tensors out of constant variables that would be the same "
    "every time you call this function. In any other case, this might cause the trace to be "
    "incorrect."
)
_MAKERS = ("tensor", "as_tensor", "from_numpy", "from_dlpack", "frombuffer", "asarray")


class TracerWarning(Warning):
    """A warning that a trace may not be what the function does for other inputs."""

    @staticmethod
    def ignore_lib_warnings() -> None:
        """Have no warnings for lines of the library itself; there are none."""


class Recorder(TorchFunctionMode):
    """Writes down the calls that are made while it is on.

    `state` names tensors of the module that is traced, and its parts that were scripted.
    """

    def __init__(self, state: dict[int, str]):
        super().__init__()
        self.steps: list[Step] = []
        self._state = state
        self._known: dict[int, Ref] = {}
        self._kept: list[Any] = []  # so that ids stay theirs
        self._n = 0

    def __enter__(self) -> Any:
        self._token = MODE.set(CustomFunctions(MODE.get(), self))
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        MODE.reset(self._token)

    # --- what is known ---

    def new(self, value: Any) -> Ref:
        """A tensor or number as a value of the program."""
        ref = Ref("value", self._n)
        self._n += 1
        self._known[id(value)] = ref
        self._kept.append(value)
        return ref

    def entered(self, value: Any) -> Any:
        """Inputs as values of the program, in their containers."""
        if isinstance(value, Tensor):
            return self.new(value)
        if isinstance(value, dict):
            return {key: self.entered(each) for key, each in value.items()}
        return [self.entered(each) for each in value]

    def ref(self, value: Any) -> Any:
        """Arguments with values of the program in the place of tensors and numbers."""
        if isinstance(value, Tensor | TracedNumber):
            return self._of(value)
        if isinstance(value, dict):
            return {key: self.ref(each) for key, each in value.items()}
        if isinstance(value, slice):
            return slice(*map(self.ref, (value.start, value.stop, value.step)))
        if type(value) is list:
            return [self.ref(each) for each in value]
        if isinstance(value, tuple):
            return tuple([self.ref(each) for each in value])
        return value

    def _of(self, x: Any) -> Any:
        found = self._known.get(id(x))
        if found is not None:
            return found
        if id(x) in self._state:
            return Ref("state", self._state[id(x)])
        if x.requires_grad:
            raise runtime_error(
                "Cannot insert a Tensor that requires grad as a constant. Consider making it a "
                f"parameter or input, or detaching the gradient\nTensor:\n{x.detach()}",
                "Trace a module that has the tensor as parameter.",
            )
        return x.detach().clone()

    # --- calls ---

    def __torch_function__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        plain_args, plain_kwargs = plain(args), plain(kwargs)
        if name in _READS or name in ("__len__", "numpy", "__array__"):
            self._warn_of_reading(name)
            return func(*plain_args, **plain_kwargs)
        refs = self._refs(func, args, kwargs)
        result = func(*plain_args, **plain_kwargs)
        if refs is None:  # made anew, as a constant
            self._warn(_NEW.format(name))
            return result
        full = name_of(func)
        if full is None:
            full = f"torch.{name}"
        if full in ("torch.Tensor.shape.__get__", "torch.Tensor.size", "torch.Tensor.numel"):
            return self._size(full, args, result, refs)
        if name == "unbind" and _is_iterating():
            self._warn(_ITERATING)
        results = self._results(result)
        if results is not None or result is None:
            self.steps.append(Step(full, func, refs[0], refs[1], results))
        return result

    def _refs(self, func: Any, args: tuple, kwargs: dict) -> Any:
        if getattr(func, "__name__", "") in _MAKERS:
            tensor = any(isinstance(x, Tensor) for x in args)
            return (self.ref(args), self.ref(kwargs)) if tensor else None
        return self.ref(args), self.ref(kwargs)

    def _results(self, result: Any) -> Any:
        """Tensors of a result as values of the program; None where there are none."""
        if isinstance(result, Tensor):
            return self.new(result)
        if isinstance(result, list | tuple):
            found = [self._results(each) for each in result]
            return None if all(each is None for each in found) else found
        return None

    def _size(self, full: str, args: tuple, result: Any, refs: Any) -> Any:
        if not isinstance(result, tuple):
            return self._number(full, refs[0], refs[1], result)
        x = refs[0][:1]
        lengths = [self._number("torch.Tensor.size", (*x, i), {}, n) for i, n in enumerate(result)]
        return tuple.__new__(Size, lengths)

    def _number(self, full: str, args: tuple, kwargs: dict, value: Any) -> TracedNumber:
        from tapegrad.jit.program import function_of

        found = TracedNumber(value, self)
        self.steps.append(Step(full, function_of(full), args, kwargs, self.new(found)))
        return found

    def number(self, function: Callable, args: tuple) -> Any:
        """A number computed from others."""
        value = function(*plain(args))
        full = f"operator.{function.__name__}"
        return self._number(full, self.ref(args), {}, value)

    def whole(self, function: Any, args: tuple, kwargs: dict) -> Any:
        """Call a scripted function or module, which is one step."""
        given = self.ref(args), self.ref(kwargs)
        token = RECORDER.set(None)
        try:
            result = undisturbed(function, *plain(args), **plain(kwargs))
        finally:
            RECORDER.reset(token)
        path = self._state.get(id(function))
        if path is not None:
            name = f"self.{path}"
        else:
            name = f"torch.{getattr(function, 'name', type(function).__name__)}"
        self.steps.append(Step(name, function, *given, self._results(result)))
        return result

    def custom(self, function: Any, args: tuple, results: Any) -> None:
        """A custom function was called."""
        found = self._results(results if len(results) > 1 else results[0])
        name = f"torch.{function.__name__}"
        self.steps.append(Step(name, function.apply, self.ref(args), {}, found))

    # --- warnings ---

    def reads(self, what: str) -> None:
        """A number is read."""
        self._warn(f"Converting a tensor to a Python {what} {_CONSTANT}")

    def _warn_of_reading(self, name: str) -> None:
        if name == "__len__":
            self._warn(_LEN)
        elif name in _READS:
            self.reads(_READS[name])
        else:
            self._warn(f"Converting a tensor to a NumPy array {_CONSTANT}")

    def _warn(self, text: str) -> None:
        level, frame = 1, sys._getframe(1)
        while frame.f_back is not None and _is_machinery(frame):
            level, frame = level + 1, frame.f_back
        if not frame.f_globals.get("__name__", "").startswith("tapegrad."):
            warnings.warn(text, TracerWarning, stacklevel=level + 1)


_MACHINERY = (
    "tapegrad.jit",
    "tapegrad.core",
    "tapegrad.tensors",
    "tapegrad.overrides",
    "tapegrad.operators",
)


def _is_machinery(frame: Any) -> bool:
    return frame.f_globals.get("__name__", "").startswith(_MACHINERY)


def _is_iterating() -> bool:
    """Whether a method is called because Python goes over the rows of a tensor."""
    from tapegrad.tensors.overriding import rows

    frame = sys._getframe(2)
    while frame.f_back is not None and _is_machinery(frame):
        if frame.f_code is rows.__code__:
            return True
        frame = frame.f_back
    return False


def plain(value: Any) -> Any:
    """Arguments with plain numbers in the place of those that are traced."""
    if type(value) is TracedNumber:
        return value.value
    if type(value) is dict:
        return {key: plain(each) for key, each in value.items()}
    if type(value) is slice:
        return slice(*map(plain, (value.start, value.stop, value.step)))
    if type(value) is list:
        return [plain(each) for each in value]
    if type(value) in (tuple, Size):
        return tuple([plain(each) for each in value])
    return value


class CustomFunctions(Layered):
    """Tells a recorder of custom functions, whose inside it does not see."""

    __slots__ = given = ("recorder",)
    recorder: Any  # what has a method `custom`

    def around(self, name: str, run: Callable) -> Any:
        return undisturbed(super().around, name, run)

    def called(self, function: Any, args: tuple, results: list) -> None:
        self.recorder.custom(function, args, results)
