"""`torch.jit.isinstance`: whether a value is of a type, the types of what it holds included."""

import typing
from collections.abc import Mapping
from types import UnionType

from tapegrad.core.annotations import Any
from tapegrad.core.errors import runtime_error, type_error, warn

_BARE: dict[Any, str] = {
    **{
        bare: f"{name} without a contained type. Please add a contained type, e.g. {name}[int]"
        for bare, name in (
            (typing.List, "List"),  # noqa: UP006
            (typing.Tuple, "Tuple"),  # noqa: UP006
            (typing.Optional, "Optional"),
            (list, "list"),
            (tuple, "tuple"),
        )
    },
    **{
        bare: f"{name} without contained types. Please add contained type, e.g. {name}[int, int]"
        for bare, name in ((typing.Dict, "Dict"), (dict, "dict"))  # noqa: UP006
    },
}


def is_instance(obj: Any, target_type: Any) -> bool:
    """Whether `obj` is of `target_type`, or of one of several: `list[int]`, `dict[str, int]`, ...

    Raises: RuntimeError for a container whose elements have no type, and for what is no type.

    >>> torch.jit.isinstance([1, 2], list[int]), torch.jit.isinstance([1, "a"], list[int])
    (True, False)
    >>> torch.jit.isinstance(None, torch.Tensor | None)
    True
    """
    if isinstance(target_type, list):
        raise runtime_error(
            "The second argument to `torch.jit.isinstance` must be a type or a tuple of types",
            "Pass a tuple.",
        )
    wanted = target_type if isinstance(target_type, tuple) else (target_type,)
    return any(_is(obj, each, check_empty=True) for each in wanted)


def _is(obj: Any, wanted: Any, check_empty: bool = False) -> bool:
    if isinstance(wanted, typing.Hashable) and wanted in _BARE:
        raise runtime_error(f"Attempted to use {_BARE[wanted]}", "Say what it holds.")
    kind, inner = typing.get_origin(wanted), typing.get_args(wanted)
    if kind is None:
        return obj is None if wanted is None else isinstance(obj, wanted)
    if kind is typing.Union or kind is UnionType:
        return any(_is(obj, each) for each in inner)
    if check_empty and isinstance(obj, list | dict | tuple) and not obj:
        warn(
            "The inner type of a container is lost when calling torch.jit.isinstance in eager "
            "mode. For example, List[int] would become list and therefore falsely return True for "
            "List[float] or List[str].",
            3,
        )
    if not isinstance(obj, kind):
        return False
    if kind is list:
        return all(_is(each, inner[0]) for each in obj)
    if kind is tuple:
        if Ellipsis in inner:
            raise type_error(
                "isinstance() arg 2 must be a type, a tuple of types, or a union",
                "Name the type of each element: a tuple of TorchScript has a fixed length.",
            )
        return len(obj) == len(inner) and all(map(_is, obj, inner))
    if issubclass(kind, Mapping):
        return all(_is(k, inner[0]) and _is(v, inner[1]) for k, v in obj.items())
    return True
