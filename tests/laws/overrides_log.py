"""What an override hears of a call: the same for tapegrad and for PyTorch."""

from __future__ import annotations

from functools import cache
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


@cache
def _overrides(torch: Any) -> tuple[list[str], type, type]:
    """A list, and the subclass and the mode that write in it what they hear.

    They are made once: the more subclasses there are, the longer it takes to enter a mode.
    """
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

    return log, Logging, Log


def heard(torch: Any, group: Any, call: str, way: str) -> tuple[list[str], Any]:
    """The functions that a subclass or a mode hears of in a call, and its result."""
    log, Logging, Log = _overrides(torch)
    given = group.tensors(torch)
    scope = {"torch": torch, "F": torch.nn.functional, "np": np}
    torch.manual_seed(0)
    if way == "class":
        given = {name: x.as_subclass(Logging) for name, x in given.items()}
    log.clear()
    if way == "class":
        result = eval(call, scope, given)
    else:
        with Log():
            result = eval(call, scope, given)
    return list(log), result
