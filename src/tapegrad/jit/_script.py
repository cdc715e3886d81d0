"""`torch.jit.script`: functions and modules that run as the Python they are.

PyTorch compiles what it is given to TorchScript, a part of Python. Here nothing is compiled:
`script` wraps, so that what programs ask of a scripted function or module is there.
"""

from __future__ import annotations

import functools
import inspect
import sys
import textwrap
from types import FunctionType, MethodType

from tapegrad.core.annotations import Any, Callable
from tapegrad.core.errors import advised, deprecated, not_implemented, runtime_error
from tapegrad.jit import _state
from tapegrad.jit.modifiers import Attribute, interface, is_ignored_fn, script_method
from tapegrad.nn.modules.module import Module

__torch__ = "ScriptModule"
__all__ = [
    "Attribute",
    "CompilationUnit",
    "RecursiveScriptModule",
    "ScriptFunction",
    "ScriptMethod",
    "ScriptModule",
    "ScriptWarning",
    "interface",
    "script",
    "script_method",
]


class ScriptWarning(Warning):
    """A warning about what is scripted."""


def no_graph(name: str) -> NotImplementedError:
    """The error for the graph of what runs as Python."""
    return not_implemented(
        f"{name} runs as the Python it is: tapegrad makes no TorchScript graph of it",
        "torch.jit.trace(function, example_inputs).graph shows the operators of one call.",
    )


class Scripted:
    """What functions and methods that were scripted have in common."""

    _function: Callable

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _state.run_scripted(self._function, args, kwargs)

    @property
    def name(self) -> str:
        """The name of the function."""
        return self._function.__name__

    @property
    def code(self) -> str:
        """The source of the function. PyTorch shows TorchScript here."""
        return textwrap.dedent(inspect.getsource(self._function))

    @property
    def graph(self) -> Any:
        """Raises NotImplementedError: what runs as Python has no graph."""
        raise no_graph(f"'{self.name}'")

    inlined_graph = graph


class ScriptFunction(Scripted):
    """A function that went through `torch.jit.script`: calling it calls the function.

    It has the function's name, docstring, signature and attributes, and is pickled as its name.

    >>> @torch.jit.script
    ... def scaled(x, factor: float = 2.0):
    ...     "x times a factor."
    ...     return x * factor
    >>> scaled(torch.ones(2)), scaled.__doc__
    (tensor([2., 2.]), 'x times a factor.')
    """

    def __init__(self, function: Callable):
        functools.update_wrapper(self, function)
        self._function = function
        given = getattr(function, "__annotations__", {})
        self._floats = [name for name, kind in given.items() if kind in (float, "float")]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._floats:
            args, kwargs = self._as_declared(args, kwargs)
        recorder = _state.RECORDER.get()
        if recorder is not None:
            return recorder.whole(self, args, kwargs)
        return _state.run_scripted(self._function, args, kwargs)

    def _as_declared(self, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        """The arguments, integers as floats where the function declares a float."""
        names = self._function.__code__.co_varnames
        positional = tuple(
            float(x) if type(x) is int and name in self._floats else x
            for name, x in zip(names, args, strict=False)
        )
        named = {
            name: float(x) if type(x) is int and name in self._floats else x
            for name, x in kwargs.items()
        }
        return positional + args[len(positional) :], named

    @property
    def qualified_name(self) -> str:
        """The name by which TorchScript knows the function."""
        module = self._function.__module__
        inside = "" if module == "__main__" else f"{module}."
        return f"__torch__.{inside}{self.name}"

    def save(self, f: Any, _extra_files: dict | None = None) -> None:
        """As `torch.jit.save`."""
        from tapegrad.jit._serialization import write

        write(self, f, _extra_files)

    def save_to_buffer(self, _extra_files: dict | None = None) -> bytes:
        """What `torch.jit.save` writes, as bytes."""
        from tapegrad.jit._serialization import saved_bytes

        return saved_bytes(self, _extra_files)

    def __reduce__(self) -> Any:
        function: Any = self._function
        name = function.__qualname__
        found: Any = sys.modules.get(function.__module__)
        for part in name.split("."):
            found = getattr(found, part, None)
        # where its name stands for the scripted one, the function itself cannot be found
        return name if found is self else (ScriptFunction, (function,))


class ScriptMethod(Scripted):
    """A method of a scripted module."""

    def __init__(self, method: Any, owner: Module):
        functools.update_wrapper(self, method)
        self._function, self.owner = method, owner


class ScriptModule(Module):
    """A module of TorchScript. Subclasses are ordinary modules here, as Python runs them."""

    @property
    def original_name(self) -> str:
        """The name of the class that was scripted."""
        return type(self).__name__

    @property
    def code(self) -> str:
        """The source of `forward`. PyTorch shows TorchScript here."""
        return textwrap.dedent(inspect.getsource(self.forward))

    @property
    def graph(self) -> Any:
        """Raises NotImplementedError: what runs as Python has no graph."""
        raise no_graph(self.original_name)

    @property
    def inlined_graph(self) -> Any:
        """As `graph`."""
        return self.graph

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value.value if isinstance(value, Attribute) else value)

    def save(self, f: Any, _extra_files: dict | None = None) -> None:
        """As `torch.jit.save`."""
        from tapegrad.jit._serialization import write

        write(self, f, _extra_files)

    def save_to_buffer(self, _extra_files: dict | None = None) -> bytes:
        """What `torch.jit.save` writes, as bytes."""
        from tapegrad.jit._serialization import saved_bytes

        return saved_bytes(self, _extra_files)


_TABLES = (
    "_parameters _buffers _modules _non_persistent_buffers_set _backward_pre_hooks _backward_hooks "
    "_forward_hooks _forward_hooks_with_kwargs _forward_hooks_always_called _forward_pre_hooks "
    "_forward_pre_hooks_with_kwargs _state_dict_hooks _state_dict_pre_hooks "
    "_load_state_dict_pre_hooks _load_state_dict_post_hooks"
).split()


class RecursiveScriptModule(ScriptModule):
    """A module that went through `torch.jit.script`, with the children that did with it.

    It holds an object of the original class whose attributes, by one shared `__dict__`, are its
    own: that object's `forward` and other methods run as they are. Parameters and buffers are those
    of the module that was scripted; what else is set on either later, the other does not see.

    >>> layer = torch.nn.Linear(2, 1)
    >>> scripted = torch.jit.script(layer)
    >>> scripted
    RecursiveScriptModule(original_name=Linear)
    >>> scripted.weight is layer.weight
    True
    """

    __slots__ = ("_python",)
    _python: Module

    def __init__(self, python: Module):
        # without Module.__init__: all attributes are those of the object it holds
        object.__setattr__(self, "_python", python)
        object.__setattr__(self, "__dict__", python.__dict__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        recorder = _state.RECORDER.get()
        if recorder is not None:
            return recorder.whole(self, args, kwargs)
        return super().__call__(*args, **kwargs)

    @property
    def original_name(self) -> str:
        return type(self._python).__name__

    @property
    def forward(self) -> Any:
        """The original `forward`, bound to what this module has."""
        return ScriptMethod(self._python.forward, self)

    @property
    def code(self) -> str:
        if type(self._python).forward is Module.forward:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute 'code'")
        return self.forward.code

    def extra_repr(self) -> str:
        return f"original_name={self.original_name}"

    def __getattr__(self, name: str) -> Any:
        for table in ("_parameters", "_modules", "_buffers"):
            found = self.__dict__.get(table, {})
            if name in found:
                return found[name]
        try:
            value = getattr(self._python, name)
        except AttributeError as error:
            if error.obj is not self._python or error.name != name:
                raise  # a property's own
            text = f"'{type(self).__name__}' object has no attribute '{name}'"
            raise AttributeError(text, name=name, obj=self) from None
        is_method = isinstance(value, MethodType) and value.__self__ is self._python
        return ScriptMethod(value, self) if is_method and not is_ignored_fn(value) else value

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Module) and not isinstance(value, ScriptModule):
            raise _not_scripted(name, value)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        if any(name in self.__dict__[table] for table in ("_parameters", "_modules", "_buffers")):
            raise runtime_error(
                "cannot delete methods or parameters of a script module",
                "Delete it from the module, and script that.",
            )
        super().__delattr__(name)

    def add_module(self, name: str, module: Any) -> None:
        if isinstance(module, Module) and not isinstance(module, ScriptModule):
            raise _not_scripted(name, module)
        super().add_module(name, module)

    def register_parameter(self, name: str, param: Any) -> None:
        if name not in self._parameters:
            raise runtime_error(
                f"Can't add a new parameter after ScriptModule construction. Tried to add '{name}",
                "Add it to the module, and script that.",
            )
        super().register_parameter(name, param)

    def __reduce__(self) -> Any:
        return RecursiveScriptModule, (self._python,)

    def __copy__(self) -> RecursiveScriptModule:
        return RecursiveScriptModule(_copied(self._python))

    # Python looks for these on the class alone.

    def __len__(self) -> int:
        return len(self._container())

    def __getitem__(self, index: Any) -> Any:
        return self._container()[index]

    def __iter__(self) -> Any:
        return iter(self._container())

    def __contains__(self, x: object) -> bool:
        return x in self._container()

    def __bool__(self) -> bool:
        return True

    def _container(self) -> Any:
        if hasattr(type(self._python), "__len__"):
            return self._python
        raise not_implemented(
            f"'{self.original_name}' is no container", "Only a container has elements."
        )


def _not_scripted(name: str, module: Module) -> RuntimeError:
    return runtime_error(
        "Cannot re-assign modules in a ScriptModule with non-scripted module, tried to replace "
        f"existing module '{name}': {module}",
        "Assign torch.jit.script(module).",
    )


def _copied(module: Module) -> Module:
    """Another object with the same parameters, buffers, children and other attributes."""
    found: Any = object.__new__(type(module))
    found.__dict__.update(module.__dict__)
    for table in _TABLES:
        if table in found.__dict__:
            found.__dict__[table] = found.__dict__[table].copy()
    for name, value in found.__dict__.items():
        if isinstance(value, Attribute):
            found.__dict__[name] = value.value
        elif isinstance(value, MethodType) and value.__self__ is module:
            found.__dict__[name] = MethodType(value.__func__, found)
    return found


def _scripted(module: Module, known: dict[int, ScriptModule]) -> ScriptModule:
    """A module and its children as scripted ones; `known` are those that were met before."""
    if isinstance(module, ScriptModule):
        return module
    if id(module) not in known:
        prepare = getattr(module, "__prepare_scriptable__", None)
        if prepare is not None:
            return known.setdefault(id(module), _scripted(prepare(), known))
        python = _copied(module)
        known[id(module)] = RecursiveScriptModule(python)
        for name, child in python._modules.items():
            if child is not None:
                python._modules[name] = _scripted(child, known)
    return known[id(module)]


def script(
    obj: Any,
    optimize: None = None,
    _frames_up: int = 0,
    _rcb: Any = None,
    example_inputs: Any = None,
) -> Any:
    """A function, method or module as a scripted one, which runs as the Python it is.

    Args:
        obj: a function gives a `ScriptFunction`, a module a `RecursiveScriptModule` that shares its
            parameters and buffers, a class itself.
        optimize: outdated, without effect.
        example_inputs: for PyTorch's compiler, to tell types; without effect.

    Raises:
        RuntimeError: for a class of modules, and for a lambda.
        TypeError: for a number, a string and the like.

    Differs from PyTorch: nothing is compiled, so what TorchScript cannot say runs as well,
    arguments are not checked against annotations, and errors are Python's own.

    >>> @torch.jit.script
    ... def relu6(x: torch.Tensor) -> torch.Tensor:
    ...     return x.clamp(0, 6)
    >>> relu6(torch.tensor([-1.0, 7.0]))
    tensor([0., 6.])
    """
    _state.outdated("script", _state.SWITCH)
    if not _state._enabled:
        return obj
    if optimize is not None:
        deprecated(
            "`optimize` is deprecated and has no effect. Use `with "
            "torch.jit.optimized_execution()` instead"
        )
    return _scripted_object(obj)


def _scripted_object(obj: Any) -> Any:
    if isinstance(obj, ScriptModule | ScriptFunction):
        return obj
    if isinstance(obj, Module):
        return _scripted(obj, {})
    if hasattr(obj, "__prepare_scriptable__"):
        return _scripted_object(obj.__prepare_scriptable__())
    if isinstance(obj, dict | list):
        return obj.copy()
    if isinstance(obj, type):
        if issubclass(obj, Module):
            raise runtime_error(
                f"Type '{obj}' cannot be compiled since it inherits from nn.Module, pass an "
                "instance instead",
                "Script an object of the class.",
            )
        return obj
    if isinstance(obj, FunctionType | MethodType):
        return _scripted_function(obj)
    if type(obj).__module__ == "builtins":
        raise advised(
            TypeError(f"{type(obj)} is a built-in class"), "Script a function, a module or a class."
        )
    return obj


def _scripted_function(function: Any) -> Any:
    plain = getattr(function, "__script_if_tracing_wrapper", False)
    if plain:
        function = function.__original_fn
    if function.__name__ == "<lambda>":
        code = function.__code__
        raise runtime_error(
            f"Expected a single top-level function: {code.co_filename}:{code.co_firstlineno}",
            "Write it with def.",
        )
    return ScriptFunction(function)


class CompilationUnit:
    """Functions that are given as source: each is an attribute.

    >>> unit = torch.jit.CompilationUnit('''
    ... def twice(x: Tensor) -> Tensor:
    ...     return x * 2
    ... ''')
    >>> unit.twice(torch.ones(1))
    tensor([2.])
    """

    def __init__(self, lang: str | None = None, _frames_up: int = 0):
        self._functions: dict[str, ScriptFunction] = {}
        if lang is not None:
            self.define(lang)

    def define(self, lang: str, rcb: Any = None, _frames_up: int = 0) -> None:
        """Add the functions of a source."""
        scope = _names_of_torchscript()
        before = set(scope)
        exec(compile(textwrap.dedent(lang), "<string>", "exec", dont_inherit=True), scope)
        for name in scope.keys() - before - {"__builtins__"}:
            if isinstance(scope[name], FunctionType):
                self._functions[name] = ScriptFunction(scope[name])

    def __getattr__(self, name: str) -> Any:
        found = self.__dict__.get("_functions", {}).get(name)
        if found is None:
            text = f"'CompilationUnit' has no attribute '{name}'"
            raise AttributeError(text, name=name, obj=self)
        return found


def _names_of_torchscript() -> dict[str, Any]:
    """What a source of TorchScript finds without an import."""
    import math
    import typing

    import tapegrad
    from tapegrad.jit.modifiers import annotate

    names = {name: getattr(typing, name) for name in "List Dict Tuple Optional Union Any".split()}
    return {
        "__name__": "__torch__",
        "torch": tapegrad,
        "Tensor": tapegrad.Tensor,
        "math": math,
        "annotate": annotate,
        **names,
    }
