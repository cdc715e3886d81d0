"""Stubs of a package `torch` that has tapegrad's types, for editors and type checkers.

A checker reads files and runs nothing: what makes `import torch` tapegrad in a process is nothing
to it. The stubs say module by module that `torch.x` has the names of `tapegrad.x`.
"""

import re
import sys
from pathlib import Path

import tapegrad
from tapegrad.compat import paths
from tapegrad.core.errors import runtime_error

_PACKAGE = Path(tapegrad.__file__).parent
_INSIDES = _PACKAGE / "compat" / "torch"
_OURS = frozenset(
    "__main__ arrays compat core data demo dispatch inspect lazy_names lazy_table operators "
    "safetensors settings symbolic_numbers tensors".split()
)
"""Files and folders that PyTorch has no module for."""
_ALIASES = frozenset(
    "_bool _int _float _complex _str _dtype _device _layout _memory_format".split()
)
"""What the stubs here call Python's types and others."""
_ANY_NAME = ["from typing import Any", "def __getattr__(name: str) -> Any: ..."]
_MARK = "# Written by `python -m tapegrad stubs`.\n"


def command(folder: str) -> int:
    """What `python -m tapegrad stubs` does; the exit status."""
    try:
        package = write(folder)
    except (OSError, RuntimeError) as error:
        print(f"tapegrad: {error}", file=sys.stderr)
        return 1
    print(f"{package}: stubs of torch; docs/how-to/typing.md says how checkers find them")
    return 0


def write(folder: str | Path) -> Path:
    """Write the package `torch` of stubs into `folder`; returns its path.

    Raises:
        RuntimeError: the folder has a `torch` that is something else; nothing is written.

    >>> import tempfile
    >>> from tapegrad.compat.type_stubs import write
    >>> (write(tempfile.mkdtemp()) / "nn" / "functional" / "__init__.pyi").exists()
    True
    """
    package = Path(folder) / "torch"
    first = package / "__init__.pyi"
    if package.exists() and not (first.exists() and first.read_text().startswith(_MARK)):
        raise runtime_error(
            f"{package} is there, and no stubs of tapegrad's",
            "Name another folder, such as typings.",
        )
    for root in (_PACKAGE, _INSIDES):  # the insides last: they add to packages of the same name
        for path in sorted(root.rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            if root is _PACKAGE and (parts[0] in _OURS or parts == ("__init__",)):
                continue
            target = package.joinpath(*parts).with_suffix(".pyi")
            if parts[-1] == "__init__" and target.exists() and root is _INSIDES:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(_MARK + _forwarding(path), encoding="utf-8")
    for name in sorted(paths.PATHS):
        target = package.joinpath(*name.split("."), *(["__init__"] if paths.below(name) else []))
        if not target.with_suffix(".pyi").exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.with_suffix(".pyi").write_text(_MARK + _of_row(name), encoding="utf-8")
    version = "from tapegrad import __version__ as __version__\n"
    front = _forwarding(_PACKAGE / "__init__.py") + version
    first.write_text(_MARK + front, encoding="utf-8")
    return package


def _module(path: Path) -> str:
    parts = path.relative_to(_PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _forwarding(path: Path) -> str:
    """A stub that has the names of a module, and any name where the module makes some on demand."""
    stub = path.with_suffix(".pyi")
    module = _module(path)
    lines = [f"from {module} import *"]  # for names of others that it lists as its own
    declared = stub if stub.exists() else path
    lines += [f"from {module} import {name} as {name}" for name in _declared(declared)]
    if declared is path and re.search(r"^(def )?__getattr__\b", _text(path), re.MULTILINE):
        lines += _ANY_NAME
    return "\n".join(lines) + "\n"


def _of_row(path: str) -> str:
    """The stub of a module that has no file."""
    lines = [f"from {home} import {name} as {here}" for home, name, here in paths.names_of(path)]
    if path in paths.OLDER:
        lines.append(f"from torch.{paths.OLDER[path]} import *")
    return "\n".join([*lines, *_ANY_NAME]) + "\n"


def _declared(path: Path) -> list[str]:
    """The functions and classes of a file, with those that a star brings and names of its own.

    A star leaves out names with an underscore, and for mypy whatever a computed `__all__` has.
    """
    text = _text(path)
    own = r"^(?:def|class|from [\w.]+ import \w+ as) ([a-zA-Z]\w*|_[a-zA-Z]\w*)"
    found = {*re.findall(own, text, re.MULTILINE)}
    for module in re.findall(r"^from (tapegrad[\w.]*) import \*", text, re.MULTILINE):
        source = _PACKAGE.parent.joinpath(*module.split("."))
        file = source / "__init__.py" if source.is_dir() else source.with_suffix(".py")
        found |= {name for name in _declared(file) if name[0] != "_"}
    return sorted(found - _ALIASES)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
