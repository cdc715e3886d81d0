"""Missing parts of PyTorch, and the errors that name them.

A module ends with

    __getattr__ = refuses(__name__)
"""

import sys
from collections.abc import Callable
from functools import cache
from opcode import opmap
from typing import Any


def public_names(scope: dict[str, Any], others: str = "") -> list[str]:
    """The functions and classes that a file defines, and `others` that it only imports.

    The last line of a file is `__all__ = public_names(globals())`. Names that begin with an
    underscore are its own.
    """
    here = scope["__name__"]
    own = [n for n, x in scope.items() if n[0] != "_" and getattr(x, "__module__", None) == here]
    return [*own, *others.split()]


def missing(module: str, name: str) -> Exception:
    """The error for a `name` that the module called `module` does not have.

    An ImportError for `from module import name`, an AttributeError for `module.name`, as Python's
    own. To be called by the `__getattr__` of that module.

    >>> torch.sparse_bouquet
    Traceback (most recent call last):
    AttributeError: module 'torch' has no attribute 'sparse_bouquet'
    tapegrad has no torch.sparse_bouquet: dir(torch) lists what there is
    >>> from tapegrad.nn import Liner
    Traceback (most recent call last):
    ImportError: cannot import name 'Liner' from 'torch.nn' (...)
    Did you mean: 'Linear'?
    """
    home = torch_name(module)
    owner = sys.modules[module]
    asking = sys._getframe(2)
    if asking.f_code.co_code[asking.f_lasti] == opmap["IMPORT_FROM"]:
        path = getattr(owner, "__file__", "unknown location")
        message = f"cannot import name '{name}' from '{home}' ({path})"
        error: Any = ImportError(message, name=home, path=path)
        suggested = False
    else:
        message = f"module '{home}' has no attribute '{name}'"
        error = AttributeError(message, name=name, obj=owner)
        suggested = len(dir(owner)) < _MOST_NAMES
    similar = _similar(module, name)
    if similar is None:
        error.add_note(f"tapegrad has no {home}.{name}: dir({home}) lists what there is")
    elif not suggested:
        error.add_note(f"Did you mean: '{similar}'?")
    return error


_MOST_NAMES = 750  # of an object for whose attributes Python itself makes suggestions


@cache
def _similar(module: str, name: str) -> str | None:
    """The name of a module that `name` is close to; programs ask often for what is not there."""
    if name[:1] == "_":
        return None
    from difflib import get_close_matches

    names = [n for n in dir(sys.modules[module]) if abs(len(n) - len(name)) < 3]
    near = [n for n in names if n[0].lower() == name[0].lower() or n[1:2] == name[0]]
    return next(iter(get_close_matches(name, near, 1, 0.75)), None)


def refuses(module: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module that lacks whatever it is asked for."""

    def __getattr__(name: str) -> Any:
        raise missing(module, name)

    return __getattr__


def missing_attribute(owner: str, name: str, obj: object) -> AttributeError:
    """The error for a `name` that PyTorch's tensors have and tapegrad's do not.

    >>> torch.ones(2).slice_inverse
    Traceback (most recent call last):
    AttributeError: 'Tensor' object has no attribute 'slice_inverse'
    tapegrad has no torch.Tensor.slice_inverse: dir(torch.Tensor) lists what there is
    """
    error = AttributeError(f"'{owner}' object has no attribute '{name}'", name=name, obj=obj)
    error.add_note(f"tapegrad has no torch.Tensor.{name}: dir(torch.Tensor) lists what there is")
    return error


def missing_module(name: str) -> ModuleNotFoundError:
    """The error for the import of a module `name` that tapegrad does not have."""
    error = ModuleNotFoundError(f"No module named '{name}'", name=name)
    above = name.rpartition(".")[0]
    error.add_note(f"tapegrad has no module {name}: dir({above}) lists what there is")
    return error


def torch_name(name: str) -> str:
    """The name under which PyTorch has what tapegrad calls `name`.

    >>> from tapegrad.core.missing import torch_name
    >>> torch_name("tapegrad.nn.functional")
    'torch.nn.functional'
    """
    root, dot, rest = name.partition(".")
    rest = rest.removeprefix("compat.torch.")  # where torch._dynamo and the like are
    return f"torch{dot}{rest}" if root == "tapegrad" else name
