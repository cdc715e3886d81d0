"""The names from before in-place functions ended in an underscore. They warn."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any
from warnings import warn

from tapegrad.nn.init.fan import kaiming_normal_, kaiming_uniform_, xavier_normal_, xavier_uniform_
from tapegrad.nn.init.matrix import dirac_, eye_, orthogonal_, sparse_
from tapegrad.nn.init.plain import constant_, normal_, uniform_


def _renamed(function: Callable) -> Callable:
    new = function.__name__
    old = new[:-1]

    @functools.wraps(function)
    def warned(*args: Any, **kwargs: Any) -> Any:
        warn(
            f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new}`.",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    warned.__name__ = warned.__qualname__ = old
    warned.__doc__ = f"The old name of `{new}`."
    return warned


uniform = _renamed(uniform_)
normal = _renamed(normal_)
constant = _renamed(constant_)
eye = _renamed(eye_)
dirac = _renamed(dirac_)
xavier_uniform = _renamed(xavier_uniform_)
xavier_normal = _renamed(xavier_normal_)
kaiming_uniform = _renamed(kaiming_uniform_)
kaiming_normal = _renamed(kaiming_normal_)
orthogonal = _renamed(orthogonal_)
sparse = _renamed(sparse_)
