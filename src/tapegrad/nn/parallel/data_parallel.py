"""Models on several GPUs, of which there are none here: `DataParallel` calls the model itself."""

from tapegrad.core.annotations import Any, ModuleLike, Sequence, Tensor
from tapegrad.core.errors import runtime_error
from tapegrad.core.missing import refuses as _refuses
from tapegrad.nn.modules.module import Module

__all__ = ["DataParallel", "data_parallel"]


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

    def forward(self, *inputs: Tensor, **kwargs: object) -> Any:
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: ModuleLike,
    inputs: Sequence,
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


__getattr__ = _refuses(__name__)
