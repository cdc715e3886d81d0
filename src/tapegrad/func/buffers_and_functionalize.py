"""Smaller functions of `torch.func`: modules without running statistics, `functionalize`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tapegrad.core.errors import runtime_error


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Let all batch norms of a module do without running statistics, in place; returns it.

    Running statistics are written by every call, which members of a batch cannot do together.

    >>> model = torch.func.replace_all_batch_norm_modules_(torch.nn.BatchNorm1d(3))
    >>> model.running_mean is None, model.track_running_stats
    (True, False)
    """
    from tapegrad.nn.batch_norm import _BatchNorm

    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def functionalize(func: Callable, *, remove: str = "mutations") -> Callable:
    """`func` itself: nothing here traces programs, for which writes would have to be taken out.

    >>> torch.func.functionalize(lambda x: x.clone().add_(1))(torch.ones(2))
    tensor([2., 2.])
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise runtime_error(
            f"functionalize(f, remove='mutations'): received invalid argument for "
            f"remove={remove}. Valid options are:\n     remove='mutations': all inplace and "
            "out= operators will be removed from the program, and replaced with their "
            "out-of-place equivalents.\n     remove='mutations_and_views': In addition to the "
            "above, all aliasing operators {view} will be replaced with their non-aliasing "
            "counterparts, {view}_copy.\n",
            "Leave remove= away.",
        )

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return wrapper
