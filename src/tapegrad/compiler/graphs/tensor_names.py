"""Names of the tensors that a function is called with."""

from collections.abc import Callable
from inspect import signature
from typing import Any

from tapegrad.nn.modules.module import Module
from tapegrad.tensors.tensor import Tensor


def tensor_names(function: Callable, args: tuple, kwargs: dict) -> dict[int, str]:
    """By the id of each tensor that is given, or is the function's, its name in the graphs."""
    names = {}
    if isinstance(function, Module):
        for kind in ("parameters", "buffers"):
            for path, x in getattr(function, f"named_{kind}")():
                *modules, name = path.split(".")
                parents = "".join(f"modules_{each}_" for each in modules)
                names[id(x)] = f"self_{parents}{kind}_{name}"
    called = function.forward if isinstance(function, Module) else function
    try:
        given = signature(called).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        given = dict(enumerate(args)) | kwargs
    for name, value in given.items():
        names |= _names_below(str(name), value)
    return names


def _names_below(name: str, value: Any) -> dict[int, str]:
    if isinstance(value, Tensor):
        return {id(value): name}
    items: Any = ()
    if isinstance(value, (tuple, list)):
        items = enumerate(value)
    elif isinstance(value, dict):
        items = value.items()
    found: dict[int, str] = {}
    for key, each in items:
        found |= _names_below(f"{name}_{key}", each)
    return found
