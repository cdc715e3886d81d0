"""What a fake kernel may ask: sizes that depend on the data."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, NoReturn

from tapegrad.core import errors

_CONTEXT: ContextVar[Any] = ContextVar("tapegrad_fake_context", default=None)


class FakeImplCtx:
    """The context of a fake kernel: in tapegrad it runs on tensors of the meta device.

    These have sizes that are numbers, so that a size which the data decide cannot be made.
    """

    def __init__(self, name: str):
        self._name = name

    def new_dynamic_size(self, *, min: int = 0, max: int | None = None) -> NoReturn:
        """A size that depends on the data.

        Raises:
            RuntimeError: the call is with tensors of the meta device.
        """
        raise errors.runtime_error(
            f"{self._name}: You're trying to run this operator with meta Tensors (as opposed to "
            "FakeTensors), but this operator may return an output Tensor with data-dependent "
            "shape. Meta Tensors don't support operators with outputs that have data-dependent "
            "shapes but FakeTensors do. If your operator does not return an output with "
            "data-dependent shape, make sure the FakeTensor and/or meta kernel does not call "
            "torch.library.get_ctx(). Otherwise, please use FakeTensors.",
            "tapegrad has no FakeTensors: call it with tensors that have elements.",
        )

    def new_dynamic_sizes(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Several of them."""
        self.new_dynamic_size()

    def create_unbacked_symint(self, *, min: int = 2, max: int | None = None) -> NoReturn:
        """The old name of `new_dynamic_size`."""
        self.new_dynamic_size()


def get_ctx() -> FakeImplCtx | None:
    """The context of the fake kernel that is running; None outside.

    >>> torch.library.get_ctx() is None
    True
    """
    return _CONTEXT.get()


def on_meta(name: str, kernel: Callable, args: tuple, kwargs: dict) -> Any:
    """What a fake kernel gives for tensors of the meta device."""
    token = _CONTEXT.set(FakeImplCtx(name))
    try:
        return kernel(*args, **kwargs)
    finally:
        _CONTEXT.reset(token)
