"""The names that PyTorch's dispatcher has for operators: `torch.ops.aten.mm.default`.

    torch.ops.aten                    the names of all operators that tapegrad has
    torch.ops.aten.sum                an operator: PyTorch calls it a packet of overloads
    torch.ops.aten.sum.dim_IntList    one of its overloads: here an operator of its own, as a rule
    torch.ops.mylib                   the operators that a program has defined: `torch.library`

A policy of selective checkpoints is told of operators by their overloads.
"""

from importlib import import_module as _import_module
from pathlib import Path

from tapegrad.core.missing import missing as _missing
from tapegrad.library.aten import overload_named, overload_of
from tapegrad.library.compiled import load as _load
from tapegrad.library.namespace import _OpNamespace
from tapegrad.library.overload import HANDED, OpOverload, OpOverloadPacket

__all__ = ["HANDED", "OpOverload", "OpOverloadPacket", "overload_named", "overload_of"]

loaded_libraries: set[str] = set()


def import_module(module: str) -> None:
    """Import a module, for the operators that it defines."""
    _import_module(module)


def load_library(path: str | Path) -> None:
    """Load a compiled library of operators: here one whose operators tapegrad has in Python.

    Raises:
        OSError: it is any other. tapegrad has no compiled half with which it could be linked.

    >>> torch.ops.load_library("mine.so")
    Traceback (most recent call last):
    OSError: Could not load this library: mine.so
    tapegrad cannot link compiled operators: define them in Python with torch.library.custom_op.
    """
    _load(path)
    loaded_libraries.add(str(path))


def __getattr__(name: str) -> _OpNamespace:
    """The namespace of that name, be there operators in it or not."""
    if name.startswith(("__", "pytest")):  # what Python and pytest ask of every module
        raise _missing(__name__, name)
    namespace = globals()[name] = _OpNamespace(name)
    return namespace
