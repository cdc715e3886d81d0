"""Models on several GPUs, of which there are none here: `DataParallel` calls the model itself."""

from __future__ import annotations

from typing import Any

from tapegrad.core.errors import runtime_error
from tapegrad.nn.data_parallel import DataParallel

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]


def data_parallel(
    module: Any,
    inputs: Any,
    device_ids: Any = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict | None = None,
) -> Any:
    """Raises, as in PyTorch on a machine without GPUs: there is no device to run on.

    >>> torch.nn.parallel.data_parallel(torch.nn.Linear(2, 1), torch.ones(3, 2))
    Traceback (most recent call last):
    RuntimeError: device type could not be determined
    Call the module itself, or DataParallel(module), which does that without GPUs.
    """
    raise runtime_error(
        "device type could not be determined",
        "Call the module itself, or DataParallel(module), which does that without GPUs.",
    )


class DistributedDataParallel:
    """Raises: there are no process groups."""

    def __init__(self, module: Any, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "tapegrad has no DistributedDataParallel: train the module itself in one process"
        )


def __getattr__(name: str) -> Any:
    from tapegrad.core.missing import missing

    raise missing(__name__, name)
