"""`torch.ops.aten`, `torch.ops.mylib`: collections of operators by name."""

from types import ModuleType

from tapegrad.core import errors
from tapegrad.library.overload import OpOverloadPacket
from tapegrad.library.registry import PACKETS


class _OpNamespace(ModuleType):
    """The operators of a namespace, each found when it is asked for."""

    def __init__(self, name: str):
        super().__init__(f"torch.ops.{name}")
        self.name = name
        self.__file__ = "torch.ops"

    def __getattr__(self, name: str) -> OpOverloadPacket:
        self._define()
        packet = PACKETS.get(f"{self.name}::{name}")
        if packet is None and self.name == "aten" and name[:2] != "__":
            from tapegrad.library.aten import packet_named

            packet = packet_named(name)
        if packet is None:
            raise errors.advised(
                AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}'"),
                f"No operator of tapegrad is called so; dir(torch.ops.{self.name}) lists them.",
            )
        return packet

    def _define(self) -> None:
        """Define what tapegrad itself has in this namespace, where that is not done at import."""
        if self.name == "profiler":
            from tapegrad.profiler.named_operators import define

            define()

    def __dir__(self) -> list[str]:
        self._define()
        found = {each.__name__ for each in PACKETS.values() if each.namespace == self.name}
        if self.name == "aten":
            from tapegrad.library.aten import names

            found |= names()
        return sorted(found)

    def __repr__(self) -> str:
        return f"<module '{self.__name__}' from 'torch.ops'>"


_OpNamespace.__module__ = "torch._ops"
