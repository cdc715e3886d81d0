"""cuDNN, kernels for GPUs: absent. Its switches may be set, and change nothing."""

from contextlib import AbstractContextManager

from tapegrad.core.switches import set_switches

enabled = True
deterministic = False
benchmark = False
allow_tf32 = True


def is_available() -> bool:
    """Whether there is cuDNN.

    >>> torch.backends.cudnn.is_available()
    False
    """
    return False


def version() -> None:
    """The version of cuDNN: None, there is none."""
    return None


def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
) -> AbstractContextManager[None]:
    """While it lasts, the switches have other positions.

    >>> with torch.backends.cudnn.flags(enabled=False):
    ...     torch.backends.cudnn.enabled
    False
    >>> torch.backends.cudnn.enabled
    True
    """
    return set_switches(
        globals(),
        enabled=enabled,
        benchmark=benchmark,
        deterministic=deterministic,
        allow_tf32=allow_tf32,
    )
