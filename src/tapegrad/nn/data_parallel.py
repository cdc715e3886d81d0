"""A module on several GPUs, of which there are none here."""

from __future__ import annotations

from typing import Any

from tapegrad.nn.module import Module


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
