"""Neural networks: modules, their parameters, layers and losses."""

from typing import Any

from tapegrad.nn import functional, init, utils
from tapegrad.nn.modules import *
from tapegrad.nn.parallel import DataParallel
from tapegrad.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter


def factory_kwargs(kwargs: dict[str, Any] | None) -> dict[str, Any]:
    """`device`, `dtype` and `memory_format` of `kwargs`, and of a dict `factory_kwargs` in it.

    Raises:
        TypeError: `kwargs` has something else, or an option is given twice.

    >>> torch.nn.factory_kwargs({"dtype": torch.float64, "factory_kwargs": {"device": "cpu"}})
    {'device': 'cpu', 'dtype': torch.float64}
    """
    if kwargs is None:
        return {}
    known = ("device", "dtype", "memory_format")
    unknown = {name for name in kwargs if name not in (*known, "factory_kwargs")}
    if unknown:
        raise TypeError(f"unexpected kwargs {unknown}")
    found = dict(kwargs.get("factory_kwargs", {}))
    for name in known:
        if name in kwargs:
            if name in found:
                raise TypeError(f"{name} specified twice, in **kwargs and in factory_kwargs")
            found[name] = kwargs[name]
    return found


def __getattr__(name: str) -> Any:
    if name in ("attention", "common_types", "grad"):
        from importlib import import_module

        return import_module(f"tapegrad.nn.{name}")
    if name in ("intrinsic", "quantized"):
        from importlib import import_module

        return import_module(f"tapegrad.compat.torch.nn.{name}")
    from tapegrad.core.missing import missing

    raise missing(__name__, name)
