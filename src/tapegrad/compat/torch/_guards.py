"""`torch._guards`: what PyTorch's compiler is doing now, which is nothing here."""

from typing import Any

from tapegrad.core.missing import refuses as _refuses


def active_fake_mode() -> None:
    """The mode of tensors without memory that is on: None, there is none."""


def detect_fake_mode(inputs: Any = None) -> None:
    """The mode that tensors without memory are of: None."""


class TracingContext:
    """What is known while a function is traced."""

    @staticmethod
    def try_get() -> None:
        """None: nothing is traced."""


__getattr__ = _refuses(__name__)
