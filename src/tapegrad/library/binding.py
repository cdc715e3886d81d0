"""What a call gives an operator, brought into the form that its signature says."""

from collections.abc import Callable
from typing import Any, NamedTuple

import tapegrad
from tapegrad.core import errors
from tapegrad.core.device import device as Device
from tapegrad.core.dtype import dtype as Dtype
from tapegrad.core.tensor_base import TensorBase
from tapegrad.library.schema import Argument, FunctionSchema, Type


class Bound(NamedTuple):
    """Arguments of a call: by place, less those at the end that are the default, and by keyword."""

    args: tuple
    kwargs: dict[str, Any]

    def tensors(self) -> list[Any]:
        """All tensors among the arguments, those in lists included."""
        found = []
        for value in (*self.args, *self.kwargs.values()):
            for each in value if isinstance(value, list | tuple) else (value,):
                if isinstance(each, TensorBase):
                    found.append(each)
        return found


def bind(schema: FunctionSchema, args: tuple, kwargs: dict[str, Any]) -> Bound:
    """The arguments of a call, converted to what the signature says.

    Raises:
        RuntimeError: they are too many, too few, of another type, or called otherwise.
    """
    if len(args) + len(kwargs) > len(schema.arguments):
        raise errors.runtime_error(
            f"{schema.name}() expected at most {len(schema.arguments)} argument(s) but received "
            f"{len(args) + len(kwargs)} argument(s). Declaration: {schema}",
            "Give no more than it has.",
        )
    places = [argument for argument in schema.arguments if not argument.kwarg_only]
    if len(args) > len(places):
        raise errors.runtime_error(
            f"{schema.name}() takes {len(places)} positional argument(s) but {len(args)} was/were "
            f"given.  Declaration: {schema}",
            "Arguments behind the star are given by keyword.",
        )
    left = dict(kwargs)
    placed: list[Any] = []
    named: dict[str, Any] = {}
    n = 0  # as many have to be given by place: up to the last one that is not its default
    for i, argument in enumerate(schema.arguments):
        if i < len(args):
            value = args[i]
        elif argument.name in left:
            value = left.pop(argument.name)
        elif argument.has_default_value():
            if not argument.kwarg_only:
                placed.append(argument.default_value)
            continue
        else:
            raise errors.runtime_error(
                f"{schema.name}() is missing value for argument '{argument.name}'. Declaration: "
                f"{schema}",
                "It has no default.",
            )
        value = _converted(schema, argument, i, value)
        if argument.kwarg_only:
            if not (argument.has_default_value() and _same(value, argument.default_value)):
                named[argument.name] = value
            continue
        placed.append(value)
        if not (argument.has_default_value() and _same(value, argument.default_value)):
            n = len(placed)
    if left:
        raise errors.runtime_error(
            f"Unknown keyword argument '{next(iter(left))}' for operator '{schema.name}'. Schema: "
            f"{schema}",
            "Names of arguments are those of the signature.",
        )
    return Bound(tuple(placed[:n]), named)


def filled(schema: FunctionSchema, bound: Bound) -> Bound:
    """The same with all defaults."""
    places = [each for each in schema.arguments if not each.kwarg_only]
    rest = tuple([argument.default_value for argument in places[len(bound.args) :]])
    named = {each.name: each.default_value for each in schema.arguments if each.kwarg_only}
    return Bound(bound.args + rest, named | bound.kwargs)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, TensorBase) or isinstance(b, TensorBase):
        return False
    return a is b or bool(a == b)


def _converted(schema: FunctionSchema, argument: Argument, place: int, value: Any) -> Any:
    try:
        return _convert(argument.schema_type, argument.N, value)
    except _Unfit as unfit:
        given = unfit.value
        details = f"Cast error details: Unable to cast {given!r} to {unfit.wanted}"
        if unfit.wanted != "Tensor":
            details = (
                f"Cast error details: Unable to cast Python instance of type {type(given)} to C++ "
                "type '?' (#define PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for "
                "details)"
            )
        raise errors.runtime_error(
            f"{schema.name}() Expected a value of type '{argument.type}' for argument "
            f"'{argument.name}' but instead found type '{type(value).__name__}'.\n"
            f"Position: {place}\nValue: {value!r}\nDeclaration: {schema}\n{details}",
            "Give what the declaration says.",
        ) from None


class _Unfit(Exception):
    """A value that is not of the type wanted."""

    def __init__(self, value: Any, wanted: str):
        self.value = value
        self.wanted = wanted


def _convert(kind: Type, n: int | None, value: Any) -> Any:
    if not kind.layers:
        return _one(kind.name, value)
    inner = Type(kind.name, kind.layers[:-1])
    if kind.layers[-1] == "?":
        return None if value is None else _convert(inner, n, value)
    if n is not None and isinstance(value, int | float) and not inner.layers:
        value = [value] * n  # a single number for all
    if isinstance(value, TensorBase) or not isinstance(value, list | tuple):
        raise _Unfit(value, "list")
    try:
        return [_convert(inner, n, each) for each in value]
    except _Unfit:
        raise _Unfit(value, "list") from None


def _one(name: str, value: Any) -> Any:
    convert = _CONVERSIONS.get(name)
    if convert is None:
        return value
    found = convert(value)
    if found is NotImplemented:
        raise _Unfit(value, name)
    return found


def _tensor(value: Any) -> Any:
    if isinstance(value, TensorBase) or hasattr(type(value), "__torch_function__"):
        return value
    return NotImplemented


def _int(value: Any) -> Any:
    if isinstance(value, TensorBase):
        return int(value) if value.numel() == 1 else NotImplemented
    if isinstance(value, int):
        return int(value)
    index = getattr(type(value), "__index__", None)
    return NotImplemented if index is None else index(value)


def _float(value: Any) -> Any:
    if isinstance(value, TensorBase):
        return float(value) if value.numel() == 1 else NotImplemented
    if isinstance(value, str) or value is None or not hasattr(type(value), "__float__"):
        return NotImplemented
    return float(value)


def _bool(value: Any) -> Any:
    return NotImplemented if isinstance(value, str | list | tuple) else bool(value)


def _number(value: Any) -> Any:
    if isinstance(value, TensorBase):
        return value.item() if value.numel() == 1 else NotImplemented
    if isinstance(value, bool | int | float | complex):
        return value
    return _float(value)


def _str(value: Any) -> Any:
    return value if isinstance(value, str) else NotImplemented


def _dtype(value: Any) -> Any:
    return value if isinstance(value, Dtype | int) else NotImplemented


def _device(value: Any) -> Any:
    return tapegrad.device(value) if isinstance(value, str | Device | int) else NotImplemented


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "Tensor": _tensor,
    "int": _int,
    "SymInt": _int,
    "float": _float,
    "bool": _bool,
    "Scalar": _number,
    "str": _str,
    "ScalarType": _dtype,
    "Device": _device,
}
