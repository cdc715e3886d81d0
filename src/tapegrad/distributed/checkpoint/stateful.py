"""`Stateful`: what says its state and takes it back."""

from typing import Any, Protocol, TypeVar, runtime_checkable

from tapegrad.tensors.tensor import Tensor


@runtime_checkable
class Stateful(Protocol):
    """What `save` asks for its `state_dict`, and `load` gives one."""

    def state_dict(self) -> dict[str, Any]:
        """The state, as tensors and objects in dicts and lists."""
        ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        ...


StatefulT = TypeVar("StatefulT", bound=Stateful)


def is_stateful(x: Any) -> bool:
    """Whether an entry of a state says and takes its state by itself."""
    return isinstance(x, Stateful) and not isinstance(x, Tensor)
