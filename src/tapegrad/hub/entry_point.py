"""Functions of a folder's `hubconf.py` that make models."""

import importlib.util
import os
import sys
from types import ModuleType
from typing import Any

from tapegrad.core.errors import runtime_error, value_error

MODULE_HUBCONF = "hubconf.py"
VAR_DEPENDENCY = "dependencies"
"""The list of a `hubconf.py` that says which packages it needs."""


def call_entry_point(folder: Any, name: str, args: tuple, kwargs: dict) -> Any:
    """What the function `name` of the `hubconf.py` in a folder gives.

    >>> import pathlib, tempfile
    >>> from tapegrad.hub.entry_point import call_entry_point
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "hubconf.py").write_text("def double(x): return 2 * x")
    >>> call_entry_point(folder, "double", (4,), {})
    8
    """
    folder = os.fspath(folder)
    sys.path.insert(0, folder)
    try:
        module = _module(os.path.join(folder, MODULE_HUBCONF))
        return _function(module, name)(*args, **kwargs)
    finally:
        if folder in sys.path:
            sys.path.remove(folder)


def _module(path: str) -> ModuleType:
    spec: Any = importlib.util.spec_from_file_location(MODULE_HUBCONF, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _function(module: ModuleType, name: Any) -> Any:
    if not isinstance(name, str):
        raise value_error(
            "Invalid input: model should be a string of function name",
            f"A function of {MODULE_HUBCONF} is called by its name, not by {name!r}.",
        )
    lacking = [each for each in getattr(module, VAR_DEPENDENCY, None) or () if not _is_there(each)]
    if lacking:
        raise runtime_error(
            f"Missing dependencies: {', '.join(lacking)}", "pip install them: the model needs them."
        )
    function = getattr(module, name, None)
    if not callable(function):
        raise runtime_error(
            f"Cannot find callable {name} in hubconf",
            f"{module.__file__} has {sorted(n for n in vars(module) if n[0] != '_')}.",
        )
    return function


def _is_there(package: str) -> bool:
    return importlib.util.find_spec(package) is not None
