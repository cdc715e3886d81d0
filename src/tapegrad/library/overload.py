"""Names of operators: `torch.ops.aten.sum`, a packet of overloads, and each overload."""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import ContextVar
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tapegrad.core import errors
from tapegrad.core.torch_function import hand_over, taking_part

if TYPE_CHECKING:
    from tapegrad.library.operator import Operator

HANDED: ContextVar[Any] = ContextVar("tapegrad_handed", default=None)
"""The call that a `__torch_dispatch__` is being asked about, the innermost one."""


class OpOverload:
    """One overload of an operator. It compares equal to itself alone, and may be called.

    >>> torch.ops.aten.mm.default
    <OpOverload(op='aten.mm', overload='default')>
    >>> torch.ops.aten.mm.default(torch.ones(1, 2), torch.ones(2, 1))
    tensor([[2.]])
    """

    def __init__(self, packet: OpOverloadPacket, name: str, operator: Operator | None = None):
        self.overloadpacket = packet
        self.__module__ = packet.__module__
        self.__qualname__ = f"{packet._qualified_op_name}.{name}"
        self._overloadname = name
        self.operator = operator  # one that `torch.library` knows; None: one of tapegrad's own

    @property
    def namespace(self) -> str:
        """The collection it is of: "aten"."""
        return self.overloadpacket.namespace

    @property
    def __name__(self) -> str:
        return f"{self.overloadpacket.__name__}.{self._overloadname}"

    @property
    def _overloadpacket(self) -> OpOverloadPacket:
        return self.overloadpacket

    @property
    def _namespace(self) -> str:
        return self.namespace

    @property
    def _schema(self) -> Any:
        """The signature; of an operator that PyTorch has not, the names."""
        if self.operator is not None:
            return self.operator.schema
        name = self._overloadname
        if self.namespace == "aten":
            from tapegrad.library.aten_schemas import schema_of

            known = schema_of(self.overloadpacket.__name__, name)
            if known is not None:
                return known
        return SimpleNamespace(
            name=self.overloadpacket._qualified_op_name,
            overload_name="" if name == "default" else name,
            is_mutable=self.overloadpacket.__name__.endswith("_"),
        )

    @property
    def tags(self) -> list[Any]:
        """What is said of it besides: as it was defined, or as PyTorch has it."""
        if self.operator is not None:
            return self.operator.tags
        from tapegrad.library.aten_schemas import tags_of

        return tags_of(self.overloadpacket.__name__, self._overloadname)

    @property
    def is_view(self) -> bool:
        """Whether its result shares the memory of an argument that is not written."""
        arguments = getattr(self._schema, "arguments", ())
        marks = [argument.alias_info for argument in arguments]
        return any(mark is not None and not mark.is_write for mark in marks)

    def name(self) -> str:
        """The name as it is registered: `aten::add.Tensor`."""
        name = self.overloadpacket._qualified_op_name
        return name if self._overloadname == "default" else f"{name}.{self._overloadname}"

    def __call__(self, *args: object, **kwargs: object) -> Any:
        handed = HANDED.get()
        if handed is not None and handed.overload is self:
            result = handed.run(args, kwargs)
            if result is not NotImplemented:
                return result
        if self.operator is not None:
            return self.operator.call(args, kwargs, self)
        return self.overloadpacket._function(args, kwargs, self)

    def __deepcopy__(self, memo: dict) -> OpOverload:
        return self

    def __str__(self) -> str:
        return f"{self.overloadpacket}.{self._overloadname}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.overloadpacket}', overload='{self._overloadname}')>"


class OpOverloadPacket:
    """An operator with all its overloads that tapegrad knows.

    >>> torch.ops.aten.sum
    <OpOverloadPacket(op='aten.sum')>
    >>> torch.ops.aten.sum.overloads()
    ['dim_IntList', 'default', 'IntList_out', 'out']
    """

    def __init__(self, name: str, overloads: tuple[str, ...], namespace: str = "aten"):
        self.__name__ = name
        self.namespace = namespace
        self._qualified_op_name = f"{namespace}::{name}"
        self.__module__ = f"torch._ops.{namespace}"
        self._has_own: bool | None = None  # whether an overload has a function of its own
        self._overloads = {each: OpOverload(self, each) for each in overloads}

    def overloads(self) -> list[str]:
        """The names of the overloads."""
        return list(self._overloads)

    def __iter__(self) -> Iterator[str]:
        return iter(self._overloads)

    def __getattr__(self, name: str) -> OpOverload:
        try:
            return self.__dict__["_overloads"][name]
        except KeyError:
            raise errors.advised(
                AttributeError(f"The underlying op of '{self}' has no overload name '{name}'"),
                f"tapegrad has {', '.join(self.overloads())}.",
            ) from None

    def __call__(self, *args: object, **kwargs: object) -> Any:
        own = [each for each in self._overloads.values() if each.operator is not None]
        if own:
            return _first_that_fits(own, args, kwargs)
        return self._function(args, kwargs, self)

    def _function(self, args: tuple, kwargs: dict, asked: OpOverload | OpOverloadPacket) -> Any:
        """A call of tapegrad's own function, or of whoever overrides `asked`."""
        from tapegrad.library.aten import function_named
        from tapegrad.library.aten_functions import FUNCTIONS

        found = taking_part(args, kwargs)
        if found is not None:
            return hand_over(asked, args, kwargs, found)

        if isinstance(asked, OpOverload):
            name = asked.__name__
        else:
            name = f"{self.__name__}.{self._meant(args, kwargs)}"
        function = FUNCTIONS.get(name) or function_named(self.__name__)
        if function is None or self.namespace != "aten":
            raise errors.not_implemented(
                f"torch.ops.{self} cannot be called in tapegrad",
                "It is the name of an operator that a public function uses: call that function.",
            )
        result = function(*args, **kwargs)
        in_place = self.__name__[:9] == "_foreach_" and self.__name__[-1] == "_"
        return None if in_place else result

    def _meant(self, args: tuple, kwargs: dict) -> str:
        """The first overload that the arguments fit, where one has a function of its own."""
        from tapegrad.library.aten_functions import FUNCTIONS
        from tapegrad.library.binding import bind

        if self._has_own is None:
            self._has_own = any(f"{self.__name__}.{each}" in FUNCTIONS for each in self._overloads)
        if not self._has_own:
            return ""
        for name, overload in self._overloads.items():
            try:
                bind(overload._schema, args, kwargs)
            except RuntimeError:
                continue
            return name
        return ""

    def __deepcopy__(self, memo: dict) -> OpOverloadPacket:
        return self

    def __str__(self) -> str:
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"


OpOverload.__module__ = OpOverloadPacket.__module__ = "torch._ops"


def _first_that_fits(overloads: list[OpOverload], args: tuple, kwargs: dict) -> Any:
    """The result of the first overload whose signature the arguments fit."""
    from tapegrad.library.binding import bind

    packet = overloads[0].overloadpacket
    for each in overloads[:-1]:
        assert each.operator is not None
        try:
            bind(each.operator.schema, args, kwargs)
        except RuntimeError:
            continue
        return each.operator.call(args, kwargs, packet)
    last = overloads[-1].operator
    assert last is not None
    return last.call(args, kwargs, packet)
