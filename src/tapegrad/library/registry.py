"""Operators that programs have defined, by their names."""

from __future__ import annotations

from collections.abc import Callable

from tapegrad.core import errors
from tapegrad.library.operator import Operator
from tapegrad.library.overload import OpOverload, OpOverloadPacket
from tapegrad.library.schema import FunctionSchema

PACKETS: dict[str, OpOverloadPacket] = {}
"""`mylib::scale` -> all its overloads."""

_PLACES: dict[str, str] = {}  # where each was defined
_KERNELS: dict[str, dict[str, Callable]] = {}  # of each, also of one that is not defined yet


def define(schema: FunctionSchema, place: str, tags: list | None = None) -> OpOverload:
    """Let an operator be known under the name in its signature.

    Raises:
        RuntimeError: there is one of that name.
    """
    namespace, _, name = schema.name.partition("::")
    packet = PACKETS.get(schema.name)
    overload = schema.overload_name or "default"
    if packet is not None and overload in packet._overloads:
        raise errors.runtime_error(
            f"Tried to register an operator ({schema}) with the same name and overload name "
            "multiple times. Each overload's schema should only be registered with a single call "
            f"to def(). Duplicate registration: registered at {place}. Original registration: "
            f"registered at {_PLACES[schema.full_name]}",
            "Take another name.",
        )
    if packet is None:
        packet = PACKETS[schema.name] = OpOverloadPacket(name, (), namespace)
    _PLACES[schema.full_name] = place
    made = packet._overloads[overload] = OpOverload(packet, overload, None)
    made.operator = Operator(schema, made, tags or [], kernels_of(schema.full_name))
    return made


def forget(overload: OpOverload) -> None:
    """Undo `define`."""
    packet = overload.overloadpacket
    if packet._overloads.get(overload._overloadname) is overload:
        del packet._overloads[overload._overloadname]
        _PLACES.pop(overload.name(), None)
    if not packet._overloads:
        PACKETS.pop(packet._qualified_op_name, None)


def kernels_of(qualname: str) -> dict[str, Callable]:
    """What is registered for an operator by the keys; it may be defined later.

    Raises:
        ValueError: the name has no namespace.
        NotImplementedError: the operator is one of tapegrad's own.
    """
    check_name(qualname)
    if find(qualname) is None and qualname.startswith("aten::"):
        raise _own(qualname)
    return _KERNELS.setdefault(qualname.removesuffix(".default"), {})


def find(qualname: str) -> OpOverload | None:
    """The overload called `mylib::scale` or `mylib::scale.out`; None where there is none."""
    name, _, overload = qualname.partition(".")
    packet = PACKETS.get(name)
    return None if packet is None else packet._overloads.get(overload or "default")


def operator_named(qualname: str, error: type[Exception] = RuntimeError) -> Operator:
    """The operator called so.

    Raises:
        ValueError: the name has no namespace.
        RuntimeError: there is none; `error`, where that is given.
        NotImplementedError: it is one of tapegrad's own.
    """
    check_name(qualname)
    found = find(qualname)
    if found is not None:
        assert found.operator is not None
        return found.operator
    namespace, _, name = qualname.partition("::")
    if namespace == "aten":
        raise _own(qualname)
    if error is AttributeError:
        raise errors.advised(
            AttributeError(
                f"'_OpNamespace' '{namespace}' object has no attribute '{name.partition('.')[0]}'"
            ),
            "Define it first: torch.library.define.",
        )
    raise errors.runtime_error(
        f"operator {qualname} does not exist", "Define it first: torch.library.define."
    )


def _own(qualname: str) -> NotImplementedError:
    return errors.not_implemented(
        f"torch.library cannot change the operator {qualname} of tapegrad",
        "Define one of your own; to see or change calls, write a TorchDispatchMode.",
    )


def check_name(qualname: str) -> None:
    """Raise unless a name is of the form "namespace::name"."""
    if qualname.count("::") != 1:
        raise errors.value_error(
            f'Expected `qualname` to be of the form "namespace::name", but got {qualname}. The '
            "qualname passed to the torch.library APIs must consist of a namespace and a name, "
            "e.g. aten::sin",
            "Write mylib::myop.",
        )
