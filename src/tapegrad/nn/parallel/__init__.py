"""Models on several devices or in several processes, of which there is one here."""

from tapegrad.core.missing import refuses as _refuses
from tapegrad.nn.parallel.data_parallel import DataParallel, data_parallel

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]

_refuse = _refuses(__name__)


def __getattr__(name: str):
    if name in ("DistributedDataParallel", "distributed"):
        from importlib import import_module

        module = import_module("tapegrad.nn.parallel.distributed")
        return module if name == "distributed" else module.DistributedDataParallel
    return _refuse(name)
