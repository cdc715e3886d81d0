"""Traces as plain containers, for files and pickles."""

from __future__ import annotations

import operator

from tapegrad.core.annotations import Any
from tapegrad.core.errors import runtime_error
from tapegrad.jit.program import Program, Ref, Step, check_saved, function_of, name_of
from tapegrad.jit.traced_module import TopLevelTracedModule, TracedFunction, TracedModule


def _packed(value: Any) -> Any:
    """Arguments without classes of ours: each container says what it is."""
    if type(value) is Ref:
        return {"ref": [value.kind, value.key]}
    if isinstance(value, dict):
        return {"dict": [[key, _packed(each)] for key, each in value.items()]}
    if isinstance(value, slice):
        return {"slice": [_packed(x) for x in (value.start, value.stop, value.step)]}
    if isinstance(value, list | tuple):
        return {type(value).__name__ if type(value) is list else "tuple": list(map(_packed, value))}
    return {"ellipsis": []} if value is Ellipsis else value


def _unpacked(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    if kind == "ref":
        return Ref(*inner)
    if kind == "dict":
        return {key: _unpacked(each) for key, each in inner}
    if kind == "ellipsis":
        return Ellipsis
    parts = list(map(_unpacked, inner))
    return slice(*parts) if kind == "slice" else tuple(parts) if kind == "tuple" else parts


def packed_program(program: Program) -> dict:
    """A program as plain containers."""
    steps = [
        [check_saved(step), _packed(step.args), _packed(step.kwargs), _packed(step.results)]
        for step in program.steps
    ]
    return {
        "name": program.name,
        "inputs": program.inputs,
        "structure": _packed(program.structure),
        "steps": steps,
        "output": _packed(program.output),
    }


def unpacked_program(found: dict) -> Program:
    """The program of plain containers; it calls nothing but functions of tensors."""
    names = [found["name"], *found["inputs"]]
    if not all(isinstance(name, str) and name.isidentifier() for name in names):
        raise runtime_error("The file's trace has names that are none", "The file is damaged.")
    steps = [Step(name, _function(name), *map(_unpacked, rest)) for name, *rest in found["steps"]]
    for step in steps:
        if not all(isinstance(key, str) and key.isidentifier() for key in step.kwargs):
            raise runtime_error("The file's trace has names that are none", "The file is damaged.")
    structure, output = _unpacked(found["structure"]), _unpacked(found["output"])
    return Program(found["name"], found["inputs"], structure, steps, output)


_HOMES = ("tapegrad.nn.functional", "tapegrad.operators.", "tapegrad.tensors.")
_OF_FILES = frozenset(["torch.from_file"])
_ARITHMETIC = frozenset("add sub mul truediv floordiv mod pow neg abs eq ne lt le gt ge".split())


def _function(name: str) -> Any:
    """The function that a file names, which must be one of tensors."""
    if name.startswith("self."):
        return None  # a part of the module: `Program.bound_to`
    if name.startswith("operator."):
        if name.removeprefix("operator.") in _ARITHMETIC:
            return getattr(operator, name.removeprefix("operator."))
    else:
        found = function_of(name)
        if name_of(found) == name and _is_of_tensors(name, found):
            return found
    raise runtime_error(
        f"The file's trace calls {name}, which is no function of tensors",
        "A trace calls functions of tensors alone: the file is damaged, or worse.",
    )


def _is_of_tensors(name: str, function: Any) -> bool:
    """Whether a function computes with tensors, and touches nothing else."""
    if name.startswith("torch.Tensor.") and name.endswith(".__get__"):
        return True
    return (function.__module__ or "").startswith(_HOMES) and name not in _OF_FILES


def unpacked_function(found: dict) -> TracedFunction:
    """A traced function out of plain containers."""
    return TracedFunction(None, unpacked_program(found))


def _packed_child(child: Any) -> Any:
    from tapegrad.jit._serialization import packed

    if child is None or isinstance(child, TracedModule):
        return child and {"traced": packed_module(child)}
    return {"scripted": packed(child)}


def _unpacked_child(found: Any) -> Any:
    from tapegrad.jit._serialization import unpacked

    if found is None:
        return None
    return unpacked_module(found["traced"]) if "traced" in found else unpacked(found["scripted"])


def packed_module(module: TracedModule) -> dict:
    """A traced module as plain containers."""
    found: dict[str, Any] = {
        "name": module.original_name,
        "training": module.training,
        "parameters": dict(module._parameters),
        "buffers": dict(module._buffers),
        "temporary": sorted(module._non_persistent_buffers_set),
        "children": {k: _packed_child(x) for k, x in module._modules.items()},
    }
    if isinstance(module, TopLevelTracedModule):
        found["programs"] = [packed_program(each) for each in module._programs.values()]
    return found


def unpacked_module(found: dict) -> Any:
    """A traced module out of plain containers."""
    module: Any = (TopLevelTracedModule if "programs" in found else TracedModule)(found["name"])
    module.__dict__["training"] = found["training"]
    module._parameters.update(found["parameters"])
    module._buffers.update(found["buffers"])
    module._non_persistent_buffers_set.update(found["temporary"])
    for name, child in found["children"].items():
        module._modules[name] = _unpacked_child(child)
    for program in found.get("programs", ()):
        module.add_program(unpacked_program(program))
    return module
