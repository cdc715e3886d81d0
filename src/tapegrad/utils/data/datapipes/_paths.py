"""Modules at PyTorch's paths whose steps are defined in another file."""

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from tapegrad.core.missing import refuses


def hand_out(home: str, **paths: str) -> None:
    """Have modules beside the module `home`, each with some of its names."""
    package = home.rpartition(".")[0]
    for path, names in paths.items():
        module: Any = ModuleType(f"{package}.{path}", f"Steps of `{home}`, under PyTorch's path.")
        module.__spec__ = ModuleSpec(module.__name__, None)
        module.__all__ = names.split()
        for name in module.__all__:
            setattr(module, name, getattr(sys.modules[home], name))
        module.__getattr__ = refuses(module.__name__)
        sys.modules[module.__name__] = module
        setattr(sys.modules[package], path, module)
