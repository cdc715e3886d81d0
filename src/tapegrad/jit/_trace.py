"""`torch.jit.trace`: the calls of one run, replayed."""

from __future__ import annotations

import functools
import inspect
import warnings

import tapegrad
from tapegrad.core.annotations import Any, Callable
from tapegrad.core.errors import advised, runtime_error, warn
from tapegrad.jit import _state
from tapegrad.jit._script import ScriptModule, script
from tapegrad.jit.program import Program, Step
from tapegrad.jit.recorder import Recorder, TracerWarning
from tapegrad.jit.trace_check import TracingCheckError, check
from tapegrad.jit.traced_module import (
    TopLevelTracedModule,
    TracedFunction,
    TracedMethod,
    TracedModule,
    tree,
)
from tapegrad.jit.traced_number import TracedNumber
from tapegrad.nn.modules.module import Module
from tapegrad.tensors.tensor import Tensor

__all__ = [
    "TopLevelTracedModule",
    "TracedModule",
    "TracerWarning",
    "TracingCheckError",
    "is_tracing",
    "script_if_tracing",
    "trace",
    "trace_module",
]

_AS_A_WHOLE = (
    "might cause the trace to be incorrect, this is only valid if the container structure does not "
    "change based on the module's inputs. Consider using a constant container instead (e.g. for "
    "`list`, use a `tuple` instead. for `dict`, use a `NamedTuple` instead). If you absolutely "
    "need this and know the side effects, pass strict=False to trace() to allow this behavior."
)


def is_tracing() -> bool:
    """Whether calls are being recorded by `torch.jit.trace`.

    >>> torch.jit.is_tracing()
    False
    """
    return _state.RECORDER.get() is not None


def script_if_tracing(fn: Callable) -> Callable:
    """A function that a trace calls as a whole, so that it branches on what it is then given.

    >>> @torch.jit.script_if_tracing
    ... def positive(x):
    ...     return x if x.sum() > 0 else -x
    >>> traced = torch.jit.trace(lambda x: positive(x) + 1, torch.ones(1))
    >>> traced(-torch.ones(1))
    tensor([2.])
    """

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return script(fn)(*args, **kwargs) if is_tracing() else fn(*args, **kwargs)

    marks: Any = wrapper
    setattr(marks, "__original_fn", fn)  # no mangling
    setattr(marks, "__script_if_tracing_wrapper", True)
    return wrapper


# --- recording ------------------------------------------------------------------------------------


def record(
    function: Callable, name: str, inputs: tuple, names: list[str], state: dict, strict: bool
) -> Program:
    """The calls that `function` makes on clones of `inputs`."""
    recorder = Recorder(state)
    given = cloned(inputs)
    structure = [recorder.entered(x) for x in given]
    token = _state.RECORDER.set(recorder)
    try:
        with recorder:
            result = function(*given)
        output = _output(recorder, result, strict)
    finally:
        _state.RECORDER.reset(token)
    return Program(name, names, structure, recorder.steps, output)


def cloned(value: Any) -> Any:
    """Inputs that calls may write to."""
    if isinstance(value, Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if isinstance(value, dict):
        return {key: cloned(each) for key, each in value.items()}
    return type(value)(map(cloned, value))


def _output(recorder: Recorder, result: Any, strict: bool, top: bool = True) -> Any:
    if isinstance(result, Tensor):
        return recorder.ref(result)
    if isinstance(result, TracedNumber):
        made = tapegrad.tensor(result.value)
        args = (recorder.ref(result),)
        recorder.steps.append(Step("torch.tensor", tapegrad.tensor, args, {}, recorder.new(made)))
        return recorder.ref(made)
    if result is None and top:
        raise runtime_error(
            "The traced function didn't return any values! Side-effects are not captured in "
            "traces, so it would be a no-op.",
            "Return tensors.",
        )
    if isinstance(result, dict):
        if strict:
            text = f"Encountering a dict at the output of the tracer {_AS_A_WHOLE}"
            raise runtime_error(text, "torch.jit.trace(..., strict=False)")
        for value in result.values():
            if not isinstance(value, Tensor | tuple):
                raise runtime_error(
                    f"output 1 ({result}) of traced region cannot be understood by the tracer, "
                    "only outputs matching dict[Union[str, Tensor], Union[Tensor, Tuple[Tensor, "
                    "...]]] can be a dictionary output of a traced function",
                    "Return tensors.",
                )
        return {key: _output(recorder, each, strict, False) for key, each in result.items()}
    if isinstance(result, list) and strict:
        text = f"Encountering a list at the output of the tracer {_AS_A_WHOLE}"
        warnings.warn(text, TracerWarning, stacklevel=5)
    if isinstance(result, list | tuple):
        found = [_output(recorder, each, strict, False) for each in result]
        return found if isinstance(result, list) else tuple(found)
    raise runtime_error(
        "Only tensors, lists, tuples of tensors, or dictionary of tensors can be output from "
        "traced functions",
        f"The function returned a {type(result).__name__}.",
    )


def _names(function: Any, n: int) -> list[str]:
    """The names of the first `n` parameters of a function."""
    try:
        found = list(inspect.signature(function).parameters.values())
    except ValueError:
        found = []
    names = [each.name for each in found if each.kind in (0, 1)]
    return names[:n] + [f"argument_{i}" for i in range(len(names[:n]), n)]


def _positional(function: Any, kwargs: dict) -> tuple[tuple, list[str]]:
    """Arguments by name as those by place."""
    bound = inspect.signature(function).bind(**kwargs)
    return tuple(bound.arguments.values()), list(bound.arguments)


def _as_inputs(example_inputs: Any) -> tuple:
    if isinstance(example_inputs, Tensor | dict):
        return (example_inputs,)
    inputs = tuple(example_inputs)
    if not all(map(_can_be_traced, inputs)):
        raise runtime_error(
            f"Type '{_type_text(inputs)}' cannot be traced. Only Tensors and (possibly nested) "
            "Lists, Dicts, and Tuples of Tensors can be traced",
            "Bind other arguments with functools.partial.",
        )
    return inputs


def _can_be_traced(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_can_be_traced, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_can_be_traced, value))
    return isinstance(value, Tensor)


def _type_text(value: Any) -> str:
    if isinstance(value, Tensor):
        return "Tensor"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__.title()}[{', '.join(map(_type_text, value))}]"
    return type(value).__name__


# --- what programs call ---------------------------------------------------------------------------


def trace(
    func: Any,
    example_inputs: Any = None,
    optimize: None = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: Any = None,
    _compilation_unit: Any = None,
    example_kwarg_inputs: dict | None = None,
    _store_inputs: bool = True,
) -> Any:
    """Record the calls that a function or module makes on example inputs, to be replayed on others.

    What it replays are the functions and methods of tensors that were called, whatever the new
    inputs: an `if` is frozen as it went, and so are numbers that Python read and modes of training.
    Sizes are followed, parameters and buffers looked up, random numbers drawn anew. As in PyTorch,
    blocks such as `no_grad` are not recorded.

    Args:
        func: a function; or a module, of which `forward` is traced
        example_inputs: a tensor, or a tuple with an argument for each parameter
        check_trace: trace again, and compare with what the function gives
        check_inputs: tuples of other arguments to compare with
        check_tolerance: how far results may differ
        strict: refuse a dict as result, and warn of a list
        example_kwarg_inputs: arguments by name, instead of `example_inputs`

    Raises:
        RuntimeError: an input or output is no tensor, or a tensor that requires grad is neither
            an input nor a parameter of the module
        TracingCheckError: the second trace is another one

    Warns:
        TracerWarning: data was read, which is a constant from then on; or results differ

    >>> traced = torch.jit.trace(lambda x: x.view(x.size(0), -1) * 2, torch.ones(2, 2, 2))
    >>> traced(torch.ones(3, 1, 2)).shape
    torch.Size([3, 2])
    """
    _state.outdated("trace", _state.SWITCH)
    if not _state._enabled:
        return func
    if isinstance(func, ScriptModule):
        warn(
            "The input to trace is already a ScriptModule, tracing it is a no-op. Returning the "
            "object as is."
        )
        return func
    if isinstance(getattr(func, "__self__", None), Module):
        if func.__name__ != "forward":
            raise advised(
                AttributeError(
                    "trace doesn't support compiling individual module's functions.\n"
                    "Please use trace_module"
                ),
                "torch.jit.trace_module(module, {'method': inputs})",
            )
        func = func.__self__
    checking = check_trace, check_inputs, check_tolerance
    if isinstance(func, Module):
        if example_kwarg_inputs is not None:
            inputs, names = _positional(func.forward, example_kwarg_inputs)
        else:
            inputs = _as_inputs(example_inputs)
            names = _names(func.forward, len(inputs))
        _state.outdated("trace_method", _state.SWITCH)
        return _traced_module(func, {"forward": (inputs, names)}, strict, checking)
    if example_kwarg_inputs is not None:
        inputs, names = _positional(func, example_kwarg_inputs)
    else:
        inputs = _as_inputs(example_inputs)
        names = _names(func, len(inputs))
    name = getattr(func, "__name__", "forward").replace("<lambda>", "_lambda")

    def again(given: tuple) -> TracedFunction:
        return TracedFunction(func, record(func, name, given, names, {}, strict))

    def anew(given: tuple) -> TracedFunction:
        _state.outdated("trace", _state.SWITCH)
        return again(given)

    found = again(inputs)
    check(found, anew, func, inputs, checking)
    return found


def trace_module(
    mod: Any,
    inputs: Any,
    optimize: None = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: Any = None,
    _compilation_unit: Any = None,
    example_inputs_is_kwarg: bool = False,
    _store_inputs: bool = True,
) -> Any:
    """As `trace`, of several methods of a module.

    Args:
        inputs: for the name of each method, its example inputs

    >>> class Twice(torch.nn.Module):
    ...     def forward(self, x):
    ...         return x * 2
    ...
    ...     def back(self, x):
    ...         return x / 2
    >>> x = torch.ones(1)
    >>> torch.jit.trace_module(Twice(), {"forward": x, "back": x}).back(x)
    tensor([0.5000])
    """
    _state.outdated("trace_method", _state.SWITCH)
    if not _state._enabled:
        return mod
    if not isinstance(mod, Module):
        raise advised(
            AttributeError("expected torch.nn.Module as the first argument"),
            "torch.jit.trace() takes functions.",
        )
    if not isinstance(inputs, dict):
        raise advised(
            AttributeError("expected a dictionary of (method_name, input) pairs"),
            "torch.jit.trace_module(module, {'forward': x})",
        )
    given = {}
    for name, each in inputs.items():
        method = getattr(mod, name)
        if example_inputs_is_kwarg:
            given[name] = _positional(method, each)
        else:
            examples = _as_inputs(each)
            given[name] = examples, _names(method, len(examples))
    return _traced_module(mod, given, strict, (check_trace, check_inputs, check_tolerance))


def _traced_module(mod: Module, given: dict, strict: bool, checking: tuple) -> Any:
    state = {id(x): path for path, x in mod.named_buffers(remove_duplicate=False)}
    state |= {id(x): path for path, x in mod.named_parameters(remove_duplicate=False)}
    scripted = [x for x in mod.named_modules() if isinstance(x[1], ScriptModule)]
    state |= {id(x): path for path, x in scripted}
    found = tree(mod, TopLevelTracedModule)
    for name, (inputs, names) in given.items():
        call = mod if name == "forward" else getattr(mod, name)

        def again(inputs: tuple, name: str = name, names: list = names, call: Any = call) -> Any:
            _state.outdated("trace_method", _state.SWITCH)
            other = tree(mod, TopLevelTracedModule)
            other.add_program(record(call, name, inputs, names, state, strict))
            return TracedMethod(other, name)

        found.add_program(record(call, name, inputs, names, state, strict))
        on, others, tolerance = checking
        if others is not None:
            others = [each[name] if isinstance(each, dict) else each for each in others]
        check(TracedMethod(found, name), again, call, inputs, (on, others, tolerance))
    return found
