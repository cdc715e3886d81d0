"""What an override hears of a call: the same for tapegrad and for PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np

WAYS = ("class", "mode")


def name_of(torch: Any, function: Any) -> str:
    """The name of a function without its module, which differs for functions of two."""
    name = function.__name__
    if name in ("__get__", "__set__"):
        of = function.__self__
        known = [n for home in torch.Tensor.__mro__ for n, x in vars(home).items() if x is of]
        return f"{known[0] if known else of.fget.__name__}.{name}"
    return name


def heard(torch: Any, group: Any, call: str, way: str) -> tuple[list[str], Any]:
    """The functions that a subclass or a mode hears of in a call, and its result."""
    log: list[str] = []

    class Logging(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            log.append(name_of(torch, func))
            return super().__torch_function__(func, types, args, kwargs or {})

    class Log(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log.append(name_of(torch, func))
            return func(*args, **(kwargs or {}))

    given = group.tensors(torch)
    scope = {"torch": torch, "F": torch.nn.functional, "np": np}
    torch.manual_seed(0)
    if way == "mode":
        with Log():
            return log, eval(call, scope, given)
    given = {name: x.as_subclass(Logging) for name, x in given.items()}
    log.clear()
    return log, eval(call, scope, given)
