"""All public names of PyTorch, module by module, as PyTorch itself lists them.

python -m tools.pytorch_surface             write pytorch_surface.txt (needs the extra `oracle`)
"""

import logging
import pkgutil
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from textwrap import fill
from types import ModuleType
from typing import Any

FILE = Path(__file__).with_suffix(".txt")
DEPTH = 4  # parts of the longest names of modules that are looked at
WITH_FUNCTIONS_IN_C = ("torch", "torch.nn.functional")


def modules() -> Iterator[str]:
    """The public modules of the `torch` that is installed, those that can be imported."""
    yield "torch"
    todo = [(import_module("torch").__path__, "torch.")]
    while todo:
        for found in pkgutil.iter_modules(*todo.pop()):
            if found.name.rpartition(".")[2].startswith("_"):
                continue
            try:
                module = import_module(found.name)
            except ImportError:  # it needs a package that is not here
                continue
            yield found.name
            path = getattr(module, "__path__", None)
            if path and found.name.count(".") < DEPTH - 1:
                todo.append((path, f"{found.name}."))


def public(module: ModuleType) -> list[str]:
    """What a module exports, or without such a list what it and what is below it define."""
    names = {name for name in vars(module) if _is_own(module, name)}
    if module.__name__ != "torch":
        names = set(getattr(module, "__all__", names))
    return sorted(name for name in names if name[0] != "_")


def _is_own(module: ModuleType, name: str) -> bool:
    value: Any = getattr(module, name)
    home = getattr(value, "__module__", None) or ""
    own = home == module.__name__ or home.startswith(f"{module.__name__}.")
    written_in_c = type(value).__module__ == "torch" or isinstance(value, type(abs))
    return not isinstance(value, ModuleType) and (
        own or (module.__name__ in WITH_FUNCTIONS_IN_C and written_in_c)
    )


def surface() -> dict[str, list[str]]:
    """The public names of the `torch` that is installed, by module; of its tensors, too."""
    logging.disable()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {name: public(import_module(name)) for name in sorted(modules())}
    tensor = import_module("torch").Tensor
    found["torch.Tensor"] = [name for name in dir(tensor) if name[0] != "_"]
    return {name: names for name, names in found.items() if names}


def stored() -> dict[str, list[str]]:
    """The names in the file, by module."""
    found: dict[str, list[str]] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            names = found.setdefault(line.strip("[]"), [])
        elif not line.startswith("#"):
            names.extend(line.split())
    return found


def main() -> int:
    """Write the file."""
    version = import_module("torch").__version__.partition("+")[0]
    lines = [f"# The public names of PyTorch {version}, written by tools/pytorch_surface.py."]
    for module, names in surface().items():
        lines += [f"[{module}]", fill(" ".join(names), 100, break_long_words=False)]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
