"""Loading on first use: tables of names by file, and methods of tensors.

A table says which names a file has; the file is imported when one of them is first asked for.
"""

from importlib import import_module
from operator import attrgetter
from typing import Any

from tapegrad.core.argument_check import method_of
from tapegrad.core.registration import Slot

_INDEX: dict[int, dict[str, str]] = {}


def found(table: dict[str, str], name: str) -> Any:
    """What a file of `table` has under `name`; None if the table does not list it."""
    index = _INDEX.get(id(table))
    if index is None:
        index = {name: file for file, names in table.items() for name in names.split()}
        _INDEX[id(table)] = index
    file = index.get(name)
    return None if file is None else getattr(import_module(file), name)


class method:
    """A method of tensors that is a function of `file`, imported when first asked for.

    The function is `name`, or has the name of the method. In place of a file there may be a slot
    for a package, and in the name the file of it: `method(SPARSE, "matmul.smm")`.

    It then takes the place of this descriptor, and costs what any other method costs.
    """

    __slots__ = ("file", "name", "own_name", "owner")

    def __init__(self, file: str | Slot, name: str = ""):
        self.file, self.name = file, name

    def __set_name__(self, owner: type, name: str) -> None:
        self.owner = owner
        self.own_name = name
        self.name = self.name or name

    def __get__(self, tensor: Any, owner: type) -> Any:
        home = import_module(self.file) if isinstance(self.file, str) else self.file()
        found = method_of(attrgetter(self.name)(home))
        setattr(self.owner, self.own_name, found)
        return found if tensor is None else found.__get__(tensor, owner)
