"""Calls of tensors, not of proxies, that have proxies among their other arguments."""

from collections.abc import Callable
from functools import cache
from typing import Any

import tapegrad as torch
from tapegrad.fx.patching import _find_proxy
from tapegrad.fx.proxy import Proxy
from tapegrad.overrides import TorchFunctionMode

_MAKERS = "as_tensor asarray tensor promote_types result_type meshgrid".split()


@cache
def _recorded() -> frozenset:
    """Methods of tensors, and functions of which no tensor is asked."""
    methods = (x for kind in torch.Tensor.__mro__ for x in vars(kind).values() if callable(x))
    return frozenset((*map(id, methods), *(id(getattr(torch, name)) for name in _MAKERS)))


class ProxyArguments(TorchFunctionMode):
    """The block in which a program is traced: `mask.to(x.device)` is recorded, too."""

    def __torch_function__(
        self, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if id(func) in _recorded() and _find_proxy(args, kwargs) is not None:
            return Proxy.__torch_function__(func, types, args, kwargs)
        return func(*args, **kwargs)
