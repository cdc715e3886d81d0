"""Arguments of calls by their names: what a function, an operator or a module calls them.

Of native functions the signatures are those of PyTorch's operators (`library/aten_schemas.py`),
whose first argument is called `input`.
"""

from __future__ import annotations

import inspect
import numbers
import types
import typing
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import tapegrad
from tapegrad.core.errors import runtime_error
from tapegrad.core.native_arguments import forms_of
from tapegrad.library.aten_schemas import schema_of, table
from tapegrad.library.overload import OpOverload, OpOverloadPacket
from tapegrad.library.schema import FunctionSchema, Type

__all__ = [
    "ArgsKwargsPair",
    "check_for_mutable_operation",
    "create_type_hint",
    "get_signature_for_torch_op",
    "normalize_function",
    "normalize_module",
    "type_matches",
]

_KINDS = {
    "bool": bool,
    "complex": complex,
    "Device": tapegrad.device,
    "float": float,
    "Generator": tapegrad.Generator,
    "Scalar": numbers.Number,
    "str": str,
    "Tensor": tapegrad.Tensor,
}


class ArgsKwargsPair(NamedTuple):
    """Arguments by place and by name."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def _annotation(kind: Type) -> Any:
    found: Any = _KINDS.get(kind.name, int)
    for layer in kind.layers:
        found = typing.Optional[found] if layer == "?" else typing.List[found]  # noqa: UP006, UP045
    return found


def _signature(schema: FunctionSchema) -> inspect.Signature:
    """A schema as Python would have it."""
    parameters = []
    for argument in schema.arguments:
        parameters.append(
            inspect.Parameter(
                "input" if argument.name == "self" else argument.name,
                inspect.Parameter.KEYWORD_ONLY
                if argument.kwarg_only
                else inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=(
                    argument.default_value
                    if argument.has_default_value()
                    else inspect.Parameter.empty
                ),
                annotation=_annotation(argument.schema_type),
            )
        )
    results = [_annotation(each.schema_type) for each in schema.returns]
    returns = results[0] if len(results) == 1 else tuple(results) or None
    return inspect.Signature(parameters, return_annotation=returns)


def _schemas_of(op: Any) -> list[FunctionSchema]:
    """The signatures of an operator or a native function; none of what Python computes."""
    if isinstance(op, OpOverload):
        return [op._schema] if isinstance(op._schema, FunctionSchema) else []
    if isinstance(op, OpOverloadPacket):
        found = [getattr(op, name)._schema for name in op.overloads()]
        return [schema for schema in found if isinstance(schema, FunctionSchema)]
    if (
        not isinstance(op, types.FunctionType)
        or "return_indices" in inspect.signature(op).parameters
    ):
        return []  # PyTorch chooses by that flag, in Python
    name, forms = forms_of(op)
    found = [schema_of(name, each) for each in table().get(name, {})] if forms else []
    return [schema for schema in found if schema is not None and _can_be_bound(schema)]


def _can_be_bound(schema: FunctionSchema) -> bool:
    return all(argument.name.isidentifier() for argument in schema.arguments)


def get_signature_for_torch_op(op: Callable, return_schemas: bool = False) -> Any:
    """The signatures of a native function or an operator, with `return_schemas` its schemas, too.

    None for any other function.

    >>> torch.fx.operator_schemas.get_signature_for_torch_op(torch.ops.aten.t.default)
    [<Signature (input: torch.Tensor) -> torch.Tensor>]
    """
    schemas = _schemas_of(op)
    if not schemas:
        return (None, None) if return_schemas else None
    signatures = [_signature(schema) for schema in schemas]
    return (signatures, schemas) if return_schemas else signatures


def create_type_hint(x: Any) -> Any:
    """The type of a list or tuple of types: `[int, bool]` gives `list[int]`.

    >>> torch.fx.operator_schemas.create_type_hint((int, int))
    tuple[int, ...]
    """
    if not isinstance(x, list | tuple):
        return x
    if not all(isinstance(each, type) for each in x):
        warnings.warn(
            f"We were not able to successfully create type hint from the type {x}", stacklevel=2
        )
        return x
    widest = next((a for a in x if all(issubclass(b, a) for b in x)), Any)
    return list[widest] if isinstance(x, list) else tuple[widest, ...]  # type: ignore[valid-type]


def type_matches(signature_type: Any, argument_type: Any) -> bool:
    """Whether an argument of a type may stand where a signature has another one.

    >>> torch.fx.operator_schemas.type_matches(list[int], int)
    True
    """
    origin = typing.get_origin(signature_type)
    if origin in (typing.Union, types.UnionType):
        return any(type_matches(each, argument_type) for each in typing.get_args(signature_type))
    if signature_type == argument_type:
        return True
    if origin is list:
        (wanted,) = typing.get_args(signature_type)
        if argument_type is int:
            return wanted is int
        if typing.get_origin(argument_type) not in (list, tuple):
            return False
        given = [each for each in typing.get_args(argument_type) if each is not Ellipsis]
        return all(isinstance(each, type) and issubclass(each, wanted) for each in given)
    if isinstance(argument_type, type) and isinstance(signature_type, type):
        return issubclass(argument_type, signature_type)
    return False


def _matching(op: Any, args: tuple, kwargs: dict) -> list[tuple[inspect.Signature, Any]]:
    """Signatures and schemas that take the arguments, whatever their types."""
    found = []
    for schema in _schemas_of(op):
        signature = _signature(schema)
        try:
            signature.bind(*args, **kwargs)
        except TypeError:
            continue
        found.append((signature, schema))
    return found


def check_for_mutable_operation(target: Callable, args: tuple, kwargs: dict) -> None:
    """Raise for a call of an operator that writes into an argument.

    Raises:
        RuntimeError: the one operator that the arguments fit does
    """
    found = _matching(target, args, kwargs)
    if len(found) == 1 and found[0][1].is_mutable:
        raise runtime_error(
            f"Tried to trace mutable operation {found[0][1]}. FX only supports functional code, so "
            "operations that mutate operands in-place (e.g. via `out` arguments) are not supported",
            "Call what gives a new tensor.",
        )


def normalize_function(
    target: Callable,
    args: tuple,
    kwargs: dict | None = None,
    arg_types: tuple | None = None,
    kwarg_types: dict | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """The arguments of a call with the defaults, those behind the given ones by their names.

    Types choose among several operators that the arguments fit. None for a function whose
    arguments have no names.

    Raises:
        RuntimeError: several operators fit

    >>> torch.fx.operator_schemas.normalize_function(torch.flatten, (torch.ones(1), 0))[1]
    {'end_dim': -1}
    """
    kwargs = kwargs or {}
    if not _schemas_of(target):
        if not isinstance(target, types.FunctionType):
            return None
        return _by_name(inspect.signature(target), args, kwargs, normalize_to_only_use_kwargs)
    found = _matching(target, args, kwargs)
    if len(found) > 1 and (arg_types is not None or kwarg_types is not None):
        given, named = tuple(arg_types or ()), kwarg_types or {}
        found = [each for each in found if _fits(each[0], given, named)][:1] or found
    if len(found) > 1:
        listed = "\n".join(str(signature) for signature, _ in found)
        raise runtime_error(
            f"Tried to normalize arguments to torch.{getattr(target, '__name__', target)} but the "
            "schema match was ambiguous! Please provide argument types to the "
            f"normalize_arguments() call. Available schemas:\n{listed}",
            "arg_types=(torch.Tensor, torch.Tensor)",
        )
    if not found:
        return None
    return _by_name(found[0][0], args, kwargs, normalize_to_only_use_kwargs)


def _fits(signature: inspect.Signature, given: tuple, named: dict) -> bool:
    try:
        bound = signature.bind(*given, **named)
    except TypeError:
        return False
    parameters = signature.parameters
    return all(type_matches(parameters[k].annotation, x) for k, x in bound.arguments.items())


def normalize_module(
    root: Any,
    target: str,
    args: tuple,
    kwargs: dict | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """The same for a call of the submodule `target`.

    Raises:
        RuntimeError: there is none
    """
    try:
        module = root.get_submodule(target)
    except AttributeError as error:
        raise RuntimeError(
            f"Tried to normalize node with target {target} but root did not have that target!"
        ) from error
    if type(module).__name__ not in dir(tapegrad.nn):
        return None
    signature = inspect.signature(module.forward)
    return _by_name(signature, args, kwargs or {}, normalize_to_only_use_kwargs)


def _by_name(
    signature: inspect.Signature, args: tuple, kwargs: dict, only_by_name: bool
) -> ArgsKwargsPair | None:
    """Arguments as a signature has them; None where some of its parameters have no names."""
    plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    if any(parameter.kind not in plain for parameter in signature.parameters.values()):
        return None
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    n = 0 if only_by_name else len(args)
    named = list(bound.arguments.items())
    return ArgsKwargsPair(tuple([value for _, value in named[:n]]), dict(named[n:]))
