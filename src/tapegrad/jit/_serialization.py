"""`torch.jit.save` and `load`.

What runs as Python is saved by reference: the file has parameters, buffers, attributes, and the
name of each class, which has to be imported where the file is loaded. A trace is saved whole. As
with `torch.load`, no code of a file runs, and none is imported for it.
"""

from __future__ import annotations

import io
import os
import sys
import zipfile
from types import FunctionType

import tapegrad
from tapegrad.core.annotations import Any
from tapegrad.core.errors import not_implemented, runtime_error, value_error
from tapegrad.jit._script import RecursiveScriptModule, ScriptFunction, ScriptModule
from tapegrad.jit._state import outdated
from tapegrad.jit.trace_saving import (
    packed_module,
    packed_program,
    unpacked_function,
    unpacked_module,
)
from tapegrad.jit.traced_module import TracedFunction, TracedModule
from tapegrad.nn.modules.module import Module

_FORMAT = "tapegrad.jit 1"
_EXPORT = "switch to `torch.export`"
_TABLES = ("_parameters", "_buffers", "_modules")
_HOOKS = "_hooks", "_pre_hooks", "_hooks_with_kwargs", "_hooks_always_called"


def save(m: Any, f: Any, _extra_files: dict | None = None) -> None:
    """Write a scripted or traced module or function to `f`, a path or a file open for writing.

    Of what was scripted the file has the names of classes and functions, not their code: `load`
    finds them where they are imported. PyTorch cannot read the file.

    Args:
        m: what `torch.jit.script` or `torch.jit.trace` gave
        f: path, or file open for writing
        _extra_files: contents, by name, that go into the file beside it

    Raises:
        RuntimeError: it has hooks, or a class or function that no module has under its name

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.jit.save(torch.jit.script(torch.nn.Linear(2, 1)), file)
    >>> torch.jit.load(io.BytesIO(file.getvalue()))
    RecursiveScriptModule(original_name=Linear)
    """
    outdated("save", _EXPORT)
    write(m, f, _extra_files)


def write(m: Any, f: Any, _extra_files: dict | None = None) -> None:
    """What `save` does, without its warning."""
    if not isinstance(m, ScriptModule | ScriptFunction):
        raise AttributeError(f"'{type(m).__name__}' object has no attribute 'save'")
    extra = {name: _as_bytes(content) for name, content in (_extra_files or {}).items()}
    tapegrad.save({"format": _FORMAT, "extra": extra, "content": packed(m)}, f)


def saved_bytes(m: Any, _extra_files: dict | None = None) -> bytes:
    """What `save` writes."""
    file = io.BytesIO()
    write(m, file, _extra_files)
    return file.getvalue()


def load(
    f: Any,
    map_location: Any = None,
    _extra_files: dict | None = None,
    _restore_shapes: bool = False,
) -> Any:
    """What `torch.jit.save` of tapegrad has written to `f`.

    Args:
        f: path, or file open for reading
        map_location: as that of `torch.load`
        _extra_files: names; each gets the contents that `save` was given under it

    Raises:
        ValueError: there is no such file
        NotImplementedError: the file is PyTorch's, of compiled TorchScript
        RuntimeError: a class or function of the file is not imported, or it is no such file
    """
    outdated("load", _EXPORT)
    if isinstance(f, str | os.PathLike):
        if not os.path.exists(f):
            raise value_error(f"The provided filename {f} does not exist", "Look at the path.")
        if os.path.isdir(f):
            raise value_error(f"The provided filename {f} is a directory", "Name a file.")
    _refuse_torchscript(f)
    found = tapegrad.load(f, map_location, weights_only=False)
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        raise runtime_error(
            "The file has no scripted or traced module",
            "torch.load() reads what torch.save() wrote.",
        )
    for name in _extra_files or ():
        _extra_files[name] = found["extra"].get(name, b"")  # type: ignore[index]
    return unpacked(found["content"])


def _as_bytes(content: Any) -> bytes:
    return content.encode() if isinstance(content, str) else bytes(content)


def _refuse_torchscript(f: Any) -> None:
    """Raise for an archive of compiled TorchScript."""
    place = f.tell() if hasattr(f, "tell") else None
    is_zip = zipfile.is_zipfile(f)
    names = zipfile.ZipFile(f).namelist() if is_zip else []
    if place is not None:
        f.seek(place)
    if any(name.endswith("/constants.pkl") for name in names):
        raise not_implemented(
            "The file has compiled TorchScript, which tapegrad cannot run",
            "Load it with PyTorch and save its state_dict: torch.load reads that into the same "
            "model in Python.",
        )


# --- to plain containers and back -----------------------------------------------------------------


def packed(m: Any) -> dict:
    if isinstance(m, ScriptFunction) and type(m) is ScriptFunction:
        return {"kind": "function", "name": _name_of(m._function)}
    if isinstance(m, TracedFunction):
        return {"kind": "traced function", "program": packed_program(m._program)}
    if isinstance(m, TracedModule):
        return {"kind": "traced", "module": packed_module(m)}
    if isinstance(m, RecursiveScriptModule):
        return {"kind": "scripted", **_packed_module(m._python)}
    return {"kind": "module", **_packed_module(m)}


def _packed_module(module: Module) -> dict:
    attributes = dict(module.__dict__)
    found: dict[str, Any] = {"class": _name_of(type(module))}
    for name in _TABLES:
        found[name] = dict(attributes.pop(name))
    found["_modules"] = {
        name: None if child is None else packed(child) if isinstance(child, ScriptModule)
        else {"kind": "module", **_packed_module(child)}
        for name, child in found["_modules"].items()
    }  # fmt: skip
    for name in [name for name in attributes if name.endswith(_HOOKS)]:
        if attributes.pop(name):
            raise runtime_error(
                f"{type(module).__name__} has hooks, which are not saved with a module",
                "Remove them first, and register them after loading.",
            )
    by_name = {k: x for k, x in attributes.items() if isinstance(x, FunctionType | ScriptFunction)}
    found["functions"] = {name: _name_of(function) for name, function in by_name.items()}
    found["attributes"] = {k: x for k, x in attributes.items() if k not in by_name}
    return found


def unpacked(found: dict) -> Any:
    kind = found["kind"]
    if kind == "function":
        function = _by_name(found["name"])
        return function if isinstance(function, ScriptFunction) else ScriptFunction(function)
    if kind == "traced function":
        return unpacked_function(found["program"])
    if kind == "traced":
        return unpacked_module(found["module"])
    cls = _by_name(found["class"])
    if not (isinstance(cls, type) and issubclass(cls, Module)):
        raise runtime_error(f"{found['class']} is no class of modules", "The file is damaged.")
    module: Any = object.__new__(cls)
    Module.__init__(module)
    module.__dict__.update(found["attributes"])
    for name, function in found["functions"].items():
        module.__dict__[name] = _by_name(function)
    for name in _TABLES:
        module.__dict__[name].update(found[name])
    for name, child in module._modules.items():
        if child is not None:
            module._modules[name] = unpacked(child)
    return RecursiveScriptModule(module) if kind == "scripted" else module


def _name_of(thing: Any) -> str:
    """The name by which a class or function is found again: `module:name`."""
    # under compat `nn.Linear` calls itself PyTorch's; the file is read without it, too
    home = getattr(sys.modules.get(thing.__module__), "__name__", thing.__module__)
    name = f"{home}:{thing.__qualname__}"
    if "<" in name or _found(name) is None:
        raise runtime_error(
            f"{name} is saved by reference, and no module has it under this name",
            "Define it at the top of a module.",
        )
    return name


def _by_name(name: str) -> Any:
    found = _found(name)
    if not isinstance(found, type | FunctionType | ScriptFunction):
        raise runtime_error(
            f"the file refers to {name}, which is not imported here",
            f"Import the module {name.partition(':')[0]} before loading.",
        )
    return found


def _found(name: str) -> Any:
    module, _, inside = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in inside.split("."):
        found = getattr(found, part, None)
    return found
