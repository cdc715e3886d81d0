"""Words of annotations: what a kind of argument is called in a stub.

Names such as `float`, `bool` and `dtype` are dtypes or methods in the modules that stubs describe,
so Python's types have an underscore there, and so has what an attribute of a tensor hides.
"""

import types
import typing
from typing import Any, NewType, TypeVar

HEAD = """\
from builtins import bool as _bool, complex as _complex, float as _float, int as _int, str as _str
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import EllipsisType, ModuleType, TracebackType
from typing import Any, Generic, Literal, NoReturn, ParamSpec, Self, TypeAlias, TypeVar, overload

import numpy as np
from typing_extensions import TypeIs

from tapegrad.core.annotations import (
    DeviceLike,
    Dim,
    DTypeLike,
    LayoutLike,
    MemoryFormat,
    Number,
    OneOrMore,
    Out,
    Outs,
    Scalar,
    Shape,
    Source,
)
from tapegrad.core.device import device as _device
from tapegrad.core.dtype import dtype as _dtype
from tapegrad.core.memory_format import layout as _layout, memory_format as _memory_format
"""

KINDS = {
    "Tensor": "Tensor",
    "Number": "Number",
    "int": "_int",
    "float": "_float",
    "bool": "_bool",
    "str": "_str",
    "object": "Any",
    "torch.dtype": "_dtype",
    "torch.device": "_device | _str | _int",
    "torch.layout": "_layout",
    "torch.memory_format": "_memory_format",
    "torch.Generator": "Generator",
    "torch.Storage": "UntypedStorage | TypedStorage",
    "tuple of Tensors": "Sequence[Tensor]",
    "tuple of ints": "Sequence[_int]",
    "tuple of floats": "Sequence[_float]",
    "tuple of bools": "Sequence[_bool]",
    "tuple of Scalars": "Sequence[Number]",
}
"""The words of PyTorch's errors, as types."""

ELEMENTS = {"tuple of ints": "_int", "tuple of floats": "_float", "tuple of Tensors": "Tensor"}

NULLABLE = {
    "_dtype": "DTypeLike",
    "_device | _str | _int": "DeviceLike",
    "_layout": "LayoutLike",
    "_memory_format": "MemoryFormat",
    "Generator": "Source",
}

BUILTIN = {bool: "_bool", int: "_int", float: "_float", complex: "_complex", str: "_str"}

HIDDEN = {"dtype": "_dtype", "device": "_device", "layout": "_layout"}
HIDDEN["memory_format"] = "_memory_format"


def or_none(kind: str) -> str:
    """`kind`, or None."""
    if kind == "Any" or kind.endswith("None"):
        return kind
    return NULLABLE.get(kind, f"{kind} | None")


def either(first: str, second: str) -> str:
    """A union, under its name if it has one."""
    words = [*dict.fromkeys((first + " | " + second).split(" | "))]
    if "Any" in words:
        return "Any"
    if {"Scalar", "Tensor"} <= {*words} or {"Tensor", "Number"} <= {*words}:
        words = ["Scalar", *(w for w in words if w not in ("Tensor", "Number", "Scalar"))]
    return " | ".join(w for w in words if w != "None") + (" | None" if "None" in words else "")


def text(annotation: Any, where: Any) -> str:
    """An annotation as the stubs write it; `where` is the function that has it."""
    if isinstance(annotation, list):
        return f"[{', '.join(text(each, where) for each in annotation)}]"
    if annotation is None or annotation is types.NoneType:
        return "None"
    if annotation is Any or annotation is object:
        return "Any" if annotation is Any else "object"
    if annotation in BUILTIN:
        return BUILTIN[annotation]
    if annotation is Ellipsis:
        return "..."
    if isinstance(annotation, str):
        return text(eval(annotation, vars(typing) | _module(where)), where)
    if isinstance(annotation, NewType):
        return annotation.__name__
    if isinstance(annotation, TypeVar):
        return "Any"
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        words = [text(each, where) for each in args if each is not types.NoneType]
        return " | ".join(words + ["None"] * (types.NoneType in args))
    if origin is typing.Literal:
        return f"Literal[{', '.join(map(repr, args))}]"
    if origin is typing.Unpack:
        return "Any"
    if origin is not None:
        return f"{_name(origin)}[{', '.join(text(each, where) for each in args)}]"
    if annotation in (list, tuple, dict, set):
        return {list: "list[Any]", tuple: "tuple[Any, ...]", dict: "dict[Any, Any]"}.get(
            annotation, "set[Any]"
        )
    name = _name(annotation)
    return {"Callable": "Callable[..., Any]", "Sequence": "Sequence[Any]", "type": "type[Any]"}.get(
        name, {"Iterable": "Iterable[Any]"}.get(name, name)
    )


def _module(function: Any) -> dict[str, Any]:
    from tapegrad.core import annotations

    return {**vars(annotations), **getattr(function, "__globals__", {})}


def _name(kind: Any) -> str:
    """The name of a class; it is imported where it is not among those that every stub has."""
    name = kind.__name__
    if name in ("ndarray", "module"):
        return {"ndarray": "np.ndarray", "module": "ModuleType"}[name]
    return HIDDEN.get(name, name)
