"""What a trace is: a function, or a module with parts, that replays recorded calls."""

from __future__ import annotations

import functools
import inspect

from tapegrad.core.annotations import Any, Callable
from tapegrad.core.errors import runtime_error
from tapegrad.jit._errors import interpreted
from tapegrad.jit._script import ScriptFunction, ScriptModule
from tapegrad.jit.program import Graph, Program
from tapegrad.nn.modules.module import Module
from tapegrad.tensors.tensor import Tensor


class TracedFunction(ScriptFunction):
    """What `torch.jit.trace` makes of a function: the recorded calls."""

    def __init__(self, function: Any, program: Program):
        self.__dict__["__name__"] = program.name
        if inspect.isfunction(function):
            functools.update_wrapper(self, function)
        self._program = program
        self._function = called_with(program, program.compiled(None), None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    @property
    def name(self) -> str:
        return self._program.name

    @property
    def code(self) -> str:
        """The recorded calls as Python. PyTorch shows TorchScript here."""
        return self._program.source(is_method=False)[0]

    @property
    def graph(self) -> Any:
        """The recorded calls, one a line."""
        return Graph(self._program)

    inlined_graph = graph

    def __reduce__(self) -> Any:
        from tapegrad.jit.trace_saving import packed_program, unpacked_function

        return unpacked_function, (packed_program(self._program),)


class TracedModule(ScriptModule):
    """A part of a traced module: parameters, buffers and parts under their names."""

    def __init__(self, name: str):
        super().__init__()
        self.__dict__["_name"] = name

    @property
    def original_name(self) -> str:
        return self.__dict__["_name"]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Raises RuntimeError: only the whole was traced."""
        raise runtime_error(
            "Trace submodules cannot be called.", "Trace the part by itself: torch.jit.trace(part)."
        )

    def _get_name(self) -> str:
        return self.original_name

    def extra_repr(self) -> str:
        return f"original_name={self.original_name}"

    def __getattr__(self, name: str) -> Any:
        for table in ("_parameters", "_modules", "_buffers"):
            found = self.__dict__.get(table, {})
            if name in found:
                return found[name]
        text = f"'{type(self).__name__}' object has no attribute '{name}'"
        raise AttributeError(text, name=name, obj=self)


class TopLevelTracedModule(TracedModule):
    """What `torch.jit.trace` makes of a module: the recorded calls, on its parameters and buffers.

    They are those of the module that was traced, looked up at each call: training either trains
    both. Modes of training and evaluation are as they were recorded.
    """

    def __init__(self, name: str):
        super().__init__(name)
        self.__dict__["_programs"] = {}
        self.__dict__["_compiled"] = {}

    def add_program(self, program: Program) -> None:
        """Let a method be a program."""
        program = self._programs[program.name] = program.bound_to(self)
        run = program.compiled(functools.partial(_place, self))
        self._compiled[program.name] = called_with(program, run, self.original_name)

    @property
    def forward(self) -> Any:
        """The recorded calls."""
        return TracedMethod(self, "forward")

    @property
    def code(self) -> str:
        """The recorded calls of `forward` as Python. PyTorch shows TorchScript here."""
        return self.forward.code

    @property
    def graph(self) -> Any:
        """The recorded calls of `forward`, one a line."""
        return self.forward.graph

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("_compiled", ()):
            return TracedMethod(self, name)
        return super().__getattr__(name)

    def __reduce__(self) -> Any:
        from tapegrad.jit.trace_saving import packed_module, unpacked_module

        return unpacked_module, (packed_module(self),)

    def __deepcopy__(self, memo: dict) -> Any:
        from copy import deepcopy

        return rebuilt(self, lambda x: deepcopy(x, memo))


class TracedMethod:
    """A method of a traced module."""

    def __init__(self, owner: TopLevelTracedModule, name: str):
        if name not in owner._compiled:
            text = f"'{type(owner).__name__}' object has no attribute '{name}'"
            raise AttributeError(text, name=name, obj=owner)
        self.owner, self.name = owner, name
        self._run, self._program = owner._compiled[name], owner._programs[name]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._run(*args, **kwargs)

    @property
    def code(self) -> str:
        """The recorded calls as Python."""
        return self._program.source(is_method=True)[0]

    @property
    def graph(self) -> Graph:
        """The recorded calls, one a line."""
        return Graph(self._program)

    inlined_graph = graph


def rebuilt(module: Any, copied: Callable[[Any], Any]) -> Any:
    """A traced module like another one, with tensors that `copied` gives."""
    found = type(module)(module.original_name)
    found.__dict__["training"] = module.training
    for table in ("_parameters", "_buffers"):
        found.__dict__[table] = {k: copied(x) for k, x in module.__dict__[table].items()}
    found.__dict__["_non_persistent_buffers_set"] = set(module._non_persistent_buffers_set)
    for name, child in module._modules.items():
        is_traced = isinstance(child, TracedModule)
        found._modules[name] = rebuilt(child, copied) if is_traced else copied(child)
    for program in module.__dict__.get("_programs", {}).values():
        found.add_program(program)
    return found


def _place(module: Module, path: str) -> tuple[dict, str]:
    """The table that has the tensor `path` of a module, and its name there."""
    *parts, name = path.split(".")
    for part in parts:
        module = module._modules[part]
    table = module._parameters if name in module._parameters else module._buffers
    return table, name


def tree(module: Module, cls: type[TracedModule] = TracedModule) -> Any:
    """A module as a traced one: its class by name, its tensors and children, but no calls."""
    found = cls(type(module).__name__)
    found.__dict__["training"] = module.training
    found._parameters.update(module._parameters)
    found._buffers.update(module._buffers)
    found._non_persistent_buffers_set.update(module._non_persistent_buffers_set)
    for name, child in module._modules.items():
        is_kept = child is None or isinstance(child, ScriptModule)
        found._modules[name] = child if is_kept else tree(child)
    return found


def called_with(program: Program, run: Callable, owner: str | None) -> Callable:
    """A program as a function that says which argument is missing, and which is no tensor."""
    names, n = program.inputs, len(program.inputs)
    start = [] if owner is None else [f"__torch__.{owner} self"]
    declared = (
        f"{program.name}({', '.join(start + [f'Tensor {name}' for name in names])}) -> Tensor"
    )

    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs or len(args) != n:
            args = bind(args, kwargs)
        for i, value in enumerate(args):
            if not isinstance(value, Tensor | list | tuple | dict):
                raise runtime_error(
                    f"{program.name}() Expected a value of type 'Tensor' for argument "
                    f"'{names[i]}' but instead found type '{type(value).__name__}'.\n"
                    f"Position: {i + len(start)}\nValue: {value}\nDeclaration: {declared}\n"
                    f"Cast error details: Unable to cast {value} to Tensor",
                    "Pass a tensor.",
                )
        try:
            return run(*args)
        except Exception as error:
            found = interpreted(error, error.__traceback__)
            if found is error:
                raise
            raise found from error

    def bind(args: tuple, kwargs: dict) -> tuple:
        if len(args) > n:
            raise runtime_error(
                f"{program.name}() expected at most {n + len(start)} argument(s) but received "
                f"{len(args) + len(start)} argument(s). Declaration: {declared}",
                "Pass what was given when it was traced.",
            )
        given = dict(zip(names, args, strict=False))
        for name in kwargs:
            if name in given or name not in names:
                text = f"Unknown keyword argument '{name}' for operator '{program.name}'."
                raise runtime_error(f"{text} Schema: {declared}", "Pass each argument once.")
        given |= kwargs
        for name in names:
            if name not in given:
                raise runtime_error(
                    f"{program.name}() is missing value for argument '{name}'. Declaration: "
                    f"{declared}",
                    "Pass what was given when it was traced.",
                )
        return tuple(given[name] for name in names)

    return call
