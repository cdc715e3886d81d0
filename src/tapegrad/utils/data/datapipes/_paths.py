"""Modules at PyTorch's paths whose steps are defined in another file."""

import sys

from tapegrad.core.made_module import made_module
from tapegrad.core.missing import refuses


def hand_out(home: str, **paths: str) -> None:
    """Have modules beside the module `home`, each with some of its names."""
    package = home.rpartition(".")[0]
    for path, names in paths.items():
        name = f"{package}.{path}"
        module = made_module(name, f"Steps of `{home}`, under PyTorch's path.", refuses(name))
        module.__all__ = names.split()
        for each in module.__all__:
            setattr(module, each, getattr(sys.modules[home], each))
        setattr(sys.modules[package], path, module)
