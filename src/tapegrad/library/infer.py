"""The signature of an operator from the annotations of a Python function."""

import collections.abc
import inspect
import typing
from collections.abc import Callable, Iterable
from typing import Any, Optional, Union

import tapegrad
from tapegrad.core import errors
from tapegrad.core.device import device as Device
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.tensors.tensor import Tensor

_NUMBER = Union[int, float, bool]  # noqa: UP007 - as PyTorch's error prints it

# Python's type, its name in a signature, and of what it may be an element: a list, a list in which
# some are None, a list that may itself be None.
_BASES: tuple[tuple[Any, str, bool, bool, bool], ...] = (
    (Tensor, "Tensor", True, True, False),
    (int, "SymInt", True, False, True),
    (float, "float", True, False, True),
    (bool, "bool", True, False, True),
    (str, "str", False, False, False),
    (_NUMBER, "Scalar", True, False, False),
    (Dtype, "ScalarType", False, False, False),
    (Device, "Device", False, False, False),
)


def _lists(kind: Any) -> tuple:
    return (
        typing.Sequence[kind],
        typing.List[kind],  # noqa: UP006
        collections.abc.Sequence[kind],
        list[kind],
    )


def _parameters() -> dict[Any, str]:
    found: dict[Any, str] = {}
    for base, name, in_list, optional_in_list, optional_list in _BASES:
        found[base] = name
        found[Optional[base]] = f"{name}?"  # noqa: UP045
        if in_list:
            found |= dict.fromkeys(_lists(base), f"{name}[]")
        if optional_in_list:
            found |= dict.fromkeys(_lists(Optional[base]), f"{name}?[]")  # noqa: UP045
        if optional_list:
            lists = [Optional[each] for each in _lists(base)]  # noqa: UP045
            found |= dict.fromkeys(lists, f"{name}[]?")
    return found


_PARAMETERS = _parameters()
_RETURNS: dict[Any, str] = {
    Tensor: "Tensor",
    typing.List[Tensor]: "Tensor[]",  # noqa: UP006
    list[Tensor]: "Tensor[]",
    int: "SymInt",
    float: "float",
    bool: "bool",
    _NUMBER: "Scalar",
}


def infer_schema(
    prototype_function: Callable,
    /,
    *,
    mutates_args: str | Iterable[str],
    op_name: str | None = None,
) -> str:
    """The signature of a function as `torch.library` writes it, from its annotations.

    Args:
        mutates_args: the names of the arguments that it writes, or "unknown": all tensors.
        op_name: the name to begin with.

    Raises:
        ValueError: an annotation is missing, or is none that an operator may have.

    >>> def f(x: torch.Tensor, n: int = 1, *, how: str = "up") -> torch.Tensor: ...
    >>> torch.library.infer_schema(f, mutates_args=())
    '(Tensor x, SymInt n=1, *, str how="up") -> Tensor'
    """
    signature = inspect.signature(prototype_function)

    def refuse(message: str) -> ValueError:
        return errors.value_error(
            f"infer_schema(func): {message} Got func with signature {signature})",
            "Or give the signature as a text: schema='(Tensor x) -> Tensor'.",
        )

    scope = getattr(prototype_function, "__globals__", {}) | {"torch": tapegrad, "Tensor": Tensor}

    def meant(annotation: Any) -> Any:
        if not isinstance(annotation, str):
            return annotation
        try:
            return eval(annotation, scope)
        except Exception as error:
            raise refuse(f"Unsupported type annotation {annotation}. It is not a type.") from error

    written = set() if mutates_args == "unknown" else set(mutates_args)
    unseen = written - signature.parameters.keys()
    parts = []
    star = False
    for i, (name, parameter) in enumerate(signature.parameters.items()):
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise refuse("We do not support positional-only args, varargs, or varkwargs.")
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        if parameter.annotation is parameter.empty:
            raise refuse(f"Parameter {name} must have a type annotation.")
        kind = _PARAMETERS.get(_hashed(meant(parameter.annotation)))
        if kind is None:
            raise refuse(
                f"Parameter {name} has unsupported type {meant(parameter.annotation)}. The valid "
                f"types are: {_PARAMETERS.keys()}."
            )
        if name in written or (mutates_args == "unknown" and kind.startswith("Tensor")):
            if not kind.startswith("Tensor"):
                raise refuse(
                    f"Parameter {name} is in mutable_args but only Tensors or collections of "
                    "Tensors can be mutated"
                )
            kind = f"Tensor(a{i}!){kind.removeprefix('Tensor')}"
        default = "" if parameter.default is parameter.empty else f"={_default(parameter, refuse)}"
        parts.append(f"{kind} {name}{default}")
    if unseen:
        raise refuse(
            f"{unseen} in mutates_args were not found in the custom op's signature. mutates_args "
            "should contain the names of all args that the custom op mutates, or just the string "
            "'unknown' if you don't know."
        )
    returns = _returns(meant(signature.return_annotation), refuse)
    return f"{op_name or ''}({', '.join(parts)}) -> {returns}"


def _default(parameter: inspect.Parameter, refuse: Callable) -> str:
    value = parameter.default
    if value is None or isinstance(value, int | float | bool):
        return str(value)
    if isinstance(value, str | Device):
        return f'"{value}"'
    if isinstance(value, Dtype):
        return str(value).removeprefix("torch.")
    raise refuse(
        f"Parameter {parameter.name} has an unsupported default value type {type(value)}. Please "
        "file an issue on GitHub so we can prioritize this."
    )


def _returns(annotation: Any, refuse: Callable) -> str:
    if annotation is inspect.Signature.empty:
        raise refuse("No return type annotation was provided. Please add one.")
    if annotation is None:
        return "()"
    origin = typing.get_origin(annotation)
    kinds = typing.get_args(annotation) if origin is tuple else (annotation,)
    found = [_RETURNS.get(_hashed(kind)) for kind in kinds]
    if None in found:
        raise refuse(f"Return has unsupported type {annotation}. The valid types are: {_RETURNS}.")
    text = ", ".join(map(str, found))
    return f"({text})" if origin is tuple else text


def _hashed(annotation: Any) -> Any:
    """An annotation as a key; one that cannot be one is of no known type."""
    try:
        hash(annotation)
    except TypeError:
        return None
    return annotation
