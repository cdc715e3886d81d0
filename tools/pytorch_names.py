"""The names of PyTorch's public functions, as PyTorch itself lists them: `pytorch_names.txt`.

python -m tools.pytorch_names               write the file (needs PyTorch: the extra `oracle`)
"""

import sys
from importlib import import_module
from pathlib import Path
from textwrap import fill
from types import ModuleType
from typing import Any

FILE = Path(__file__).with_suffix(".txt")
HOMES = [
    "torch",
    "torch.nn.functional",
    "torch.linalg",
    "torch.fft",
    "torch.special",
    "torch.Tensor",
]


def home_of(name: str, root: str) -> Any:
    """The module or class that PyTorch calls `name`, of the package `root`."""
    if name == "torch.Tensor":
        return import_module(root).Tensor
    return import_module(root + name.removeprefix("torch"))


def functions(owner: Any) -> list[str]:
    """The public names of what can be called and is neither a type nor a module."""
    values = {name: getattr(owner, name, None) for name in dir(owner) if name[0] != "_"}
    return sorted(
        name
        for name, value in values.items()
        if callable(value)
        and not isinstance(value, type | ModuleType)
        and getattr(value, "__module__", None) != "typing"
    )


def stored() -> dict[str, list[str]]:
    """The names in the file, by home."""
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            names = []
            found[line.strip("[]")] = names
        elif line and not line.startswith("#"):
            names.extend(line.split())
    return found


def full_names() -> list[str]:
    """The names in the file, each with its home: `torch.linalg.det`."""
    return [f"{home}.{name}" for home, names in stored().items() for name in names]


def main() -> int:
    """Ask the PyTorch that is installed."""
    version = import_module("torch").__version__.partition("+")[0]
    parts = [f"# The public functions of PyTorch {version}, written by tools/pytorch_names.py.\n"]
    for home in HOMES:
        names = " ".join(functions(home_of(home, "torch")))
        parts.append(f"[{home}]\n{fill(names, 100, break_long_words=False)}\n")
    FILE.write_text("\n".join(parts), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
