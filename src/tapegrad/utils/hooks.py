"""What registering a hook returns, where PyTorch users look for it."""

from tapegrad.autograd.hooks import RemovableHandle

__all__ = ["RemovableHandle"]


def __getattr__(name: str):
    from tapegrad.missing import missing

    raise missing(__name__, name)
