"""Models on several devices, of which there is one here, or in several processes."""

from typing import Any

from tapegrad.core.missing import refuses as _refuses
from tapegrad.nn.parallel.data_parallel import DataParallel, data_parallel

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel", "gather", "scatter"]

_refuse = _refuses(__name__)


def __getattr__(name: str) -> Any:
    if name in ("DistributedDataParallel", "distributed"):
        from importlib import import_module

        module = import_module("tapegrad.nn.parallel.distributed")
        return module if name == "distributed" else module.DistributedDataParallel
    if name in ("gather", "scatter", "scatter_gather"):
        from importlib import import_module

        module = import_module("tapegrad.nn.parallel.scatter_gather")
        return module if name == "scatter_gather" else getattr(module, name)
    return _refuse(name)
