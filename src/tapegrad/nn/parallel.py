"""Models on several GPUs, of which there are none here: `DataParallel` calls the model itself."""

from typing import Any

from tapegrad.core.errors import runtime_error
from tapegrad.core.missing import refuses as _refuses
from tapegrad.nn.modules.module import Module

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]


class DataParallel(Module):
    """A batch split over GPUs; without any, the module itself, one level deeper.

    >>> model = torch.nn.DataParallel(torch.nn.Linear(2, 1))
    >>> list(model.state_dict())
    ['module.weight', 'module.bias']
    >>> model(torch.ones(3, 2)).shape
    torch.Size([3, 1])
    """

    def __init__(
        self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0
    ) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


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


__getattr__ = _refuses(__name__)
