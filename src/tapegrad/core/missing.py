"""Missing parts of PyTorch, and the errors that name them.

A module ends with

    __getattr__ = refuses(__name__)
"""

import sys
from collections.abc import Callable
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
    tapegrad has no torch.sparse_bouquet: dir(torch) lists what there is.
    """
    home = torch_name(module)
    advice = f"tapegrad has no {home}.{name}: dir({home}) lists what there is."
    owner = sys.modules[module]
    asking = sys._getframe(2)
    if asking.f_code.co_code[asking.f_lasti] == opmap["IMPORT_FROM"]:
        path = getattr(owner, "__file__", "unknown location")
        message = f"cannot import name '{name}' from '{home}' ({path})\n{advice}"
        return ImportError(message, name=home, path=path)
    message = f"module '{home}' has no attribute '{name}'\n{advice}"
    return AttributeError(message, name=name, obj=owner)


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
    tapegrad has no torch.Tensor.slice_inverse: dir(torch.Tensor) lists what there is.
    """
    message = (
        f"'{owner}' object has no attribute '{name}'\n"
        f"tapegrad has no torch.Tensor.{name}: dir(torch.Tensor) lists what there is."
    )
    return AttributeError(message, name=name, obj=obj)


def missing_module(name: str) -> ModuleNotFoundError:
    """The error for the import of a module `name` that tapegrad does not have."""
    message = (
        f"No module named '{name}'\n"
        f"tapegrad has no module {name}: dir({name.rpartition('.')[0]}) lists what there is."
    )
    return ModuleNotFoundError(message, name=name)


def torch_name(name: str) -> str:
    """The name under which PyTorch has what tapegrad calls `name`.

    >>> from tapegrad.core.missing import torch_name
    >>> torch_name("tapegrad.nn.functional")
    'torch.nn.functional'
    """
    root, dot, rest = name.partition(".")
    rest = rest.removeprefix("compat.torch.")  # where torch._dynamo and the like are
    return f"torch{dot}{rest}" if root == "tapegrad" else name
