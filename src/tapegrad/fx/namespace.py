"""Names that are not given twice, and that generated code may use."""

import builtins
import keyword
import math
import re
from typing import Any, NamedTuple


class _CustomBuiltin(NamedTuple):
    """A name that all generated code knows, and the import that gives it."""

    import_str: str
    obj: Any


def custom_builtins() -> dict[str, _CustomBuiltin]:
    """Names that every generated function has, since reprs of constants use them."""
    import tapegrad as torch
    from tapegrad.fx import _pytree as fx_pytree
    from tapegrad.utils import _pytree as pytree

    return {
        "inf": _CustomBuiltin("from math import inf", math.inf),
        "nan": _CustomBuiltin("from math import nan", math.nan),
        "NoneType": _CustomBuiltin("NoneType = type(None)", type(None)),
        "torch": _CustomBuiltin("import torch", torch),
        "device": _CustomBuiltin("from torch import device", torch.device),
        "fx_pytree": _CustomBuiltin("import torch.fx._pytree as fx_pytree", fx_pytree),
        "pytree": _CustomBuiltin("import torch.utils._pytree as pytree", pytree),
    }


_TAKEN = frozenset("inf nan NoneType torch device fx_pytree pytree".split())
_NUMBERED = re.compile(r"(.*)_(\d+)")
_ILLEGAL = re.compile(r"\W+")


def snake_case(name: str) -> str:
    """`fooBar` as `foo_bar`.

    >>> from tapegrad.fx.namespace import snake_case
    >>> snake_case("fooBar"), snake_case("NT")
    ('foo_bar', 'nt')
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


class _Namespace:
    """Gives names, each once.

    >>> from tapegrad.fx.graph import _Namespace
    >>> names = _Namespace()
    >>> [names.create_name(name, None) for name in ("x", "x", "sum", "0.weight")]
    ['x', 'x_1', 'sum_1', '_0_weight']
    """

    def __init__(self) -> None:
        self._obj_to_name: dict[int, tuple[Any, str]] = {}
        self._used_names: set[str] = set()
        self._highest: dict[str, int] = {}

    def create_name(self, candidate: str, obj: object | None) -> str:
        """A name like `candidate`; for an `obj` that has one, its name."""
        if obj is not None and id(obj) in self._obj_to_name:
            return self._obj_to_name[id(obj)][1]
        candidate = _ILLEGAL.sub("_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = f"_{candidate}"
        match = _NUMBERED.fullmatch(candidate)
        base, number = (match[1], int(match[2])) if match else (candidate, 0)
        if candidate in self._used_names or self._is_illegal_name(candidate, obj):
            number = max(number, self._highest.get(base, 0)) + 1
            while f"{base}_{number}" in self._used_names:
                number += 1
            candidate = f"{base}_{number}"
        self._highest[base] = max(number, self._highest.get(base, 0))
        self._used_names.add(candidate)
        if obj is not None:
            self._obj_to_name[id(obj)] = obj, candidate
        return candidate

    def associate_name_with_obj(self, name: str, obj: object) -> None:
        """Let `name` be that of `obj`."""
        known = self._obj_to_name.setdefault(id(obj), (obj, name))
        if known[1] != name:
            raise AssertionError("obj is already associated")

    def _rename_object(self, obj: object, name: str) -> None:
        self._obj_to_name[id(obj)] = obj, name
        self._used_names.add(name)

    def _is_illegal_name(self, name: str, obj: object) -> bool:
        if name in keyword.kwlist:
            return True
        if name in vars(builtins):
            return vars(builtins)[name] is not obj
        return name in _TAKEN and custom_builtins()[name].obj is not obj
